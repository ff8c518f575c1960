"""What lifted inference is asked with: what circuits and cells refuse alike, in a sentence."""

from __future__ import annotations

import pytest

import mlnlab as ml

TEXT = "S(a)\nF(a, a)\n0.9 F(x, y) ^ S(x) => S(y)\n"
METHODS = ("rules", "cells")


@pytest.fixture(scope="module")
def lifted():
    return {method: ml.lift(ml.MLN.from_text(TEXT)).compile(method=method) for method in METHODS}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ask", ["log_z", "expected_counts", "sweep"])
def test_weights_that_add_up_to_no_number_are_refused(lifted, method, ask):
    asked = getattr(lifted[method], ask)
    for weight, size in ((1e308, 3), (-1e299, 4), (1e290, 10**9)):
        with pytest.raises(ml.ArgumentError, match=r"add up to more than 1e\+300, too much to compute with"):
            asked({"a": size}, [weight])
    asked({"a": 3}, [1e299])


def test_what_takes_too_much_is_refused_before_it_is_begun(lifted):
    rules, cells = lifted.values()
    signed = ml.lift(ml.MLN.from_text(TEXT + "EXIST y F(x, y).")).compile()
    for size in (10**8, 10**15):
        with pytest.raises(ml.TooLargeError, match="method='cells'"):
            rules.log_z({"a": size})
        with pytest.raises(ml.TooLargeError, match=r"sums take about .* numbers"):
            rules.sweep({"a": [2, size]})
        with pytest.raises(ml.TooLargeError, match="sums take"):
            signed.expected_counts({"a": size})
        assert cells.log_z({"a": size}).value > size
    for compiled in (rules, cells):
        with pytest.raises(ml.TooLargeError, match="more than can be counted with"):
            compiled.log_z({"a": 10**30})
        assert compiled.log_z({"a": 10**6}).value == pytest.approx(1.59314718056e12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("Z()\nQ(a)\n-1.3 (!Z() => Q(x))\n|Q| >= 2.", {"a": 0}),
        ("R(a, b!)\n0.5 R(x, y)", {"a": 2, "b": 0}),
    ],
)
def test_numbers_of_atoms_that_cannot_be_leave_no_world_whatever_the_weights(method, text, sizes):
    compiled = ml.lift(ml.MLN.from_text(text)).compile(method=method)
    for ask in (compiled.log_z, compiled.expected_counts):
        with pytest.raises(ml.UnsatisfiableError, match="No world satisfies"):
            ask(sizes)
