"""What lifted inference is asked with: what circuits and cells refuse alike, in a sentence."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.lifted.ask.cell_rows import cell_rows

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
    if method == "rules" or ask == "log_z":
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


def test_cells_say_who_tells_what_they_do_not(lifted):
    with pytest.raises(ml.ArgumentError, match=r"compile\(method='rules'\)"):
        lifted["cells"].most_probable_counts({"a": 2})


@pytest.mark.parametrize("method", METHODS)
def test_what_is_no_list_of_weights_or_sizes_is_refused(lifted, method):
    compiled = lifted[method]
    for weights in (3.0, ["x"], {0: 1}, "1", [1j], [10**400]):
        with pytest.raises(
            ml.ArgumentError, match=r"list of one number for each formula|must be finite numbers"
        ):
            compiled.log_z({"a": 2}, weights)
    for domains in (5, {"a": None}, {"a": [1.7, 2]}, {"a": "12"}, {"a": [True, -1]}):
        with pytest.raises(ml.ArgumentError, match=r"whole numbers of at least 0|needs sizes like"):
            compiled.sweep(domains)
    for direction in (3.0, ["x"], {0: 1}, "1", [1.0, 2.0], [float("nan")], None):
        with pytest.raises(ml.ArgumentError, match=r"finite number"):
            compiled.covariances_times(direction, {"a": 2})
    for queries in (None, 3, "P(x)", [3]):
        with pytest.raises(ml.ArgumentError, match=r"needs a list such as|A query is an atom"):
            compiled.marginals(queries, {"a": 2})
    with pytest.raises(ml.ArgumentError, match="by the names of types"):
        compiled.log_z({3: 3})
    for rows in ([[1.0], [1.0, 2.0]], 3.0, [["x"]], [[1.0], 2.0]):
        with pytest.raises(ml.ArgumentError, match="eights"):
            compiled.sweep({"a": 2}, rows)


def test_options_and_models_are_checked(lifted):
    mln = ml.MLN.from_text(TEXT)
    for options in (
        {"foo": 1},
        {"limit": "a"},
        {"limit": 0},
        {"recursions": -1},
        {"rules": "a"},
        {"rules": None},
    ):
        with pytest.raises(ml.ArgumentError, match=r"limit, recursions|must be a number of|rules= are"):
            ml.lift(mln, **options)
    with pytest.raises(ml.ArgumentError, match=r"^\|P\| <= 1 has a weight, or is inside"):
        ml.lift(ml.MLN.from_text("P(a)\n0.7 |P| <= 1"))
    for model in ("text", None):
        with pytest.raises(ml.ArgumentError, match="needs a model"):
            ml.lift(model)
    with pytest.raises(ml.ArgumentError, match="numbered 0 to"):
        lifted["rules"].why_not("atom counting", "x")
    with pytest.raises(IndexError, match="There are 2 worlds"):
        lifted["rules"].sample_worlds(2, {"a": 2})[7]


def test_counts_of_too_many_bits_are_refused_before_they_are_begun(lifted):
    for compiled in lifted.values():
        assert compiled.world_count({"a": 100}) == 2**10_100
        for size in (30_000, 100_000, 10**9, 10**15):
            with pytest.raises(ml.TooLargeError, match=r"worlds are counted by .*numbers|sums take"):
                compiled.world_count({"a": size})
    with pytest.raises(ml.TooLargeError, match=r"by more than [\d,]+ numbers of up to 9e\+06 bits"):
        lifted["rules"].world_count({"a": 3_000})


@pytest.mark.parametrize("method", METHODS)
def test_sizes_that_nobody_gave_are_asked_for(method):
    one = ml.lift(ml.MLN.from_text("R(a, b)\n0.5 R(x, y)")).compile(method=method)
    named = (lambda *of: one.marginal("R(x, y)", *of), lambda *of: one.sample_worlds(1, *of))
    for ask in (one.log_z, one.expected_counts, one.world_count, *named):
        with pytest.raises(ml.ArgumentError, match=r"How many constants are there of a, b\?"):
            ask()
        with pytest.raises(ml.ArgumentError, match=r"there of b\? Give sizes such as \{'b': 10\}"):
            ask({"a": 2})
    with pytest.raises(ml.ArgumentError, match="How many constants are there of b"):
        one.sweep({"a": [1, 2]})
    assert one.log_z({"a": 0, "b": 0}).value == 0.0


def test_cells_are_right_with_large_weights_or_refuse_them(lifted):
    rules, cells = lifted.values()
    for weight in (800.0, -1e4, 1e15, 1e16, -1e18, 1e20, 1e290):
        assert cells.log_z({"a": 3}, [weight]).value == pytest.approx(rules.log_z({"a": 3}, [weight]).value)
        expected = rules.expected_counts({"a": 3}, [weight])
        assert cells.expected_counts({"a": 3}, [weight]) == pytest.approx(expected, abs=1e-9)
        with pytest.raises(ml.ArgumentError, match="Cells are shown where all weights together"):
            cell_rows(cells, [weight])
