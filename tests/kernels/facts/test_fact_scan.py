"""The byte scanner: compiled, as plain Python, and as a regular expression it finds the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.facts import comments, names
from mlnlab.kernels.facts import fact_scan as kernel
from mlnlab.syntax.facts.fact_findings import MOST_SHOWN
from mlnlab.syntax.facts.fact_mistakes import explain
from mlnlab.syntax.facts.fact_text import blanked_by_pattern
from mlnlab.syntax.facts.plain_facts import MOST_ARGUMENTS, scan_by_kernel, scan_by_pattern

FIELDS = ("names", "foreign", "predicates", "kinds", "lines", "ends", "arguments", "odd_lines", "odd_starts")
REASONS = {kernel.UNCLOSED: "unclosed-parenthesis", kernel.JUNK: "junk-after-fact"}

line = st.one_of(
    st.sampled_from(["P(a)", "!P(a,b)", " ?Q( O'Neil ,-1.5)\t", "", "  ", "P()", "P(a", "P(a))", "0.5 P(a)"]),
    st.sampled_from(
        ['P("a b",b)', '1 P("a")', r'+.5e-1 P("\"a\\", "")', "P(a, b).", "P(a,", "v(a", "5 (a)", '"P"(a)']
    ),
    st.text("PQab'.-,()!? \t\"é“9\\v;", max_size=12),
    st.text('ab"\\ ', max_size=8).map(lambda inner: f'P("{inner}", a)'),
    st.text("0123456789.eE+-", max_size=8).map(lambda number: f"{number} P(a, {number})"),
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
@example("0 P(a, 0)\n1.5 P(b)")
def test_kernel_and_pattern_agree(text):
    ours, twin = scan_by_kernel(text.encode()), scan_by_pattern(text.encode())
    assert ours.odd == twin.odd
    # A name that only odd lines use may have got a number from the kernel, so facts are compared by names.
    assert facts(ours) == facts(twin)


def names_of(scan, start, end):
    return [scan.names[number] for number in scan.arguments[start:end]]


def facts(scan):
    starts = [0, *scan.ends.tolist()]
    masses = [1.0] * len(scan.lines) if scan.probabilities is None else scan.probabilities.tolist()
    return [
        (scan.names[predicate], int(kind), int(line), mass, names_of(scan, start, end))
        for predicate, kind, line, mass, start, end in zip(
            scan.predicates, scan.kinds, scan.lines, masses, starts, scan.ends, strict=False
        )
    ]


@given(text)
def test_compiled_and_plain_python_agree(text):
    source = text.encode()
    compiled, blanked = kernel.scan_facts(source), comments.without_comments(source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "_scan", plain_twin(kernel._scan))
        patch.setattr(kernel, "move", plain_twin(names.move))
        patch.setattr(comments, "_blank", plain_twin(comments._blank))
        plain = kernel.scan_facts(source)
        assert comments.without_comments(source) == blanked
    assert as_plain(compiled) == as_plain(plain)
    assert facts(compiled) == facts(plain)


@given(text)
@example("P(a\nP(a,\nP(a).\n!P(a),\nP(a) ;\n v(a\nP(EXIST , a).\nP(a, v \n2 (a")
def test_lines_whose_mistake_the_kernel_names_have_that_mistake(text):
    scan, lines = kernel.scan_facts(text.encode()), text.split("\n")
    for line, reason in zip(scan.odd_lines.tolist(), scan.odd_reasons.tolist(), strict=True):
        if reason != kernel.ODD:
            assert explain(line, lines[line - 1]).code == REASONS[reason]


def test_of_many_lines_with_one_mistake_only_the_first_are_read_closely():
    scan = scan_by_kernel(b"P(a)\n" + b"P(a\nP(a).\n" * 1_000)
    assert len(scan.odd) == 2 * MOST_SHOWN
    assert {code: len(lines) for code, lines in scan.unread.items()} == dict.fromkeys(REASONS.values(), 950)


@given(st.text('"\\/*aé \n', max_size=25))
@example('"\\\n/**/')
@example("/*/")
@example('"/*"*/// é\n/*é"')
def test_comments_are_blanked_as_by_the_pattern(text):
    source = text.encode()
    ours, twin = comments.without_comments(source), blanked_by_pattern(source)
    assert (bytes(ours[0]), ours[1]) == twin


@given(st.floats(0, 1))
@example(0.1 + 0.2)
@example(5e-324)
@example(0.12345678901234567)
def test_probabilities_are_those_that_python_reads(value):
    for written in (repr(value), f"{value:.3f}", f"{value:.25f}", f"{value:e}"):
        scan = scan_by_kernel(f"{written} P(a)".encode())
        soft = 0 < float(written) < 1
        assert (scan.probabilities.tolist() == [float(written)]) if soft else scan.probabilities is None
        assert scan.kinds.tolist() == [{0.0: 1, 1.0: 0}.get(float(written), 3)]


def test_names_with_and_without_quotes_are_one_constant():
    scan = kernel.scan_facts(rb"""P(a, "a", "b\\c", "b\"c", "b\c", "")""")
    assert scan.names == ["P", "a", r"b\c", 'b"c', ""]
    assert scan.arguments.tolist() == [1, 1, 2, 3, 2, 4]
    assert not len(scan.odd_lines)


def test_names_are_numbered_in_order_of_first_appearance():
    scan = kernel.scan_facts(b"P(b, a)\nQ(a, c)\n")
    assert scan.names == ["P", "b", "a", "Q", "c"]
    assert scan.arguments.tolist() == [1, 2, 2, 4]


def test_lines_are_counted_over_blank_and_odd_ones():
    scan = kernel.scan_facts(b"\nP(a)\n\n= P(b)\n \t\nP(c)")
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
    plain.__globals__["_read_atom"].__globals__["read_bare"].__globals__["_PRIME"] = 0
    monkeypatch.setattr(kernel, "_scan", plain)
    assert as_plain(kernel.scan_facts(source)) == as_plain(expected)
    assert len(np.unique(expected.arguments)) == 50
