"""The byte scanner: compiled, as plain Python, and as a regular expression it finds the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlnlab.kernels import fact_scan as kernel
from mlnlab.kernels.compiled import plain_twin
from mlnlab.syntax.fact_scan import MOST_ARGUMENTS, scan_by_kernel, scan_by_pattern

FIELDS = ("names", "predicates", "kinds", "lines", "ends", "arguments")

line = st.one_of(
    st.sampled_from(["P(a)", "!P(a,b)", " ?Q( O'Neil ,-1.5)\t", "", "  ", "P()", "P(a", "P(a))", "0.5 P(a)"]),
    st.text("PQab'.-,()!? \t\"é“9", max_size=12),
)
text = st.lists(line, max_size=12).map("\n".join)


def as_plain(scan):
    return [list(getattr(scan, field)) for field in FIELDS]


@given(text)
@example("")
@example("P(a)")
@example("P(a)\n")
@example("P(é)\nP(a, “)\nQ(b, a)\nP“(a)\nP(b)\n“P(b)")
@example("P(...)\nP(.a.)\nP(a,'')")
def test_kernel_and_pattern_agree(text):
    ours, twin = scan_by_kernel(text.encode()), scan_by_pattern(text.encode())
    assert ours.odd == twin.odd
    # A name that only odd lines use may have got a number from the kernel, so facts are compared by names.
    assert facts(ours) == facts(twin)


def facts(scan):
    starts = [0, *scan.ends.tolist()]
    return [
        (scan.names[predicate], int(kind), int(line), [scan.names[i] for i in scan.arguments[start:end]])
        for predicate, kind, line, start, end in zip(
            scan.predicates, scan.kinds, scan.lines, starts, scan.ends, strict=False
        )
    ]


@given(text)
def test_compiled_and_plain_python_agree(text):
    compiled = kernel.scan_facts(text.encode())
    with pytest.MonkeyPatch.context() as patch:
        for name in ("_scan", "_fill", "_join"):
            patch.setattr(kernel, name, plain_twin(getattr(kernel, name)))
        plain = kernel.scan_facts(text.encode())
    assert as_plain(compiled) == as_plain(plain)
    assert compiled.odd_lines.tolist() == plain.odd_lines.tolist()
    assert compiled.odd_starts.tolist() == plain.odd_starts.tolist()


def test_names_are_numbered_in_order_of_first_appearance():
    scan = kernel.scan_facts(b"P(b, a)\nQ(a, c)\n")
    assert scan.names == ["P", "b", "a", "Q", "c"]
    assert scan.arguments.tolist() == [1, 2, 2, 4]


def test_lines_are_counted_over_blank_and_odd_ones():
    scan = kernel.scan_facts(b"\nP(a)\n\n0.5 P(b)\n \t\nP(c)")
    assert scan.lines.tolist() == [2, 6]
    assert scan.odd_lines.tolist() == [4]
    assert scan.odd_starts.tolist() == [7]


def test_the_table_of_names_grows(monkeypatch):
    """Many more names than the first table holds, in calls of a few lines each."""
    monkeypatch.setattr(kernel, "_CHUNK", 1_000)
    source = "".join(f"P(c{number}, c{number // 2})\n" for number in range(20_000))
    scan = kernel.scan_facts(source.encode())
    assert scan.names == ["P", *(f"c{number}" for number in range(20_000))]
    assert scan.arguments[::2].tolist() == list(range(1, 20_001))
    assert facts(scan) == facts(scan_by_pattern(source.encode()))


@pytest.mark.parametrize("number", [1, MOST_ARGUMENTS, MOST_ARGUMENTS + 1, 70_000])
def test_lines_with_very_many_arguments_are_odd(number):
    assert kernel.MOST_ARGUMENTS == MOST_ARGUMENTS
    source = f"P({', '.join(['a'] * number)})\nP(a)".encode()
    ours, twin = scan_by_kernel(source), scan_by_pattern(source)
    assert len(ours.odd) == len(twin.odd) == (number > MOST_ARGUMENTS)
    assert facts(ours) == facts(twin)


def test_names_with_equal_hashes_stay_apart(monkeypatch):
    """With every hash the same, only the comparison of the bytes tells names apart."""
    source = "".join(f"P(c{number % 50})\n" for number in range(200)).encode()
    expected = kernel.scan_facts(source)
    plain = plain_twin(kernel._scan)
    plain.__globals__["_read_word"].__globals__["_PRIME"] = 0
    monkeypatch.setattr(kernel, "_scan", plain)
    assert as_plain(kernel.scan_facts(source)) == as_plain(expected)
    assert len(np.unique(expected.arguments)) == 50
