"""Whatever the text: no exception, no hang, and always a position."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.logic.vocabulary import Predicate
from mlnlab.syntax.facts.fact_files import analyse_facts
from mlnlab.syntax.facts.plain_facts import scan_by_kernel, scan_by_pattern
from mlnlab.syntax.sources import decode_bytes
from tests.support.pace import slower
from tests.syntax.facts.fact_samples import PEOPLE, assert_well_placed, atoms, culprit, same, vocabulary

MILLION = 1_000_000

HOSTILE = {
    "a line of 10 MB": "Smokes(" + "x" * 10 * MILLION + ")",
    "a line of 10 MB of words": "Smokes(" + "x, " * (3 * MILLION) + ")",
    "a line of 10 MB without a fact": "x " * (5 * MILLION),
    "a name of almost 1 MB": "Smokes(" + "x" * (MILLION - 100) + ")",
    "almost 1 MB of words": "Smokes(" + "x, " * (MILLION // 3 - 10) + ")",
    "almost 1 MB without a fact": "x " * (MILLION // 2),
    "a misspelt name of 1 MB": "Q" * (MILLION - 3) + "(a)",
    "an open quote and 10 MB": 'Smokes("' + "\\" * 10 * MILLION,
    "an open quote and 1 MB": 'Smokes("' + "\\" * (MILLION - 100),
    "many escaped quotes, never closed": 'Smokes("' + '\\"' * (MILLION // 2 - 100),
    "the same with a comment": 'Smokes("' + '\\"' * (MILLION // 2 - 100) + "// x",
    "many quotes": '"' * MILLION,
    "deep parentheses": "P(" * MILLION,
    "deep braces": "person = " + "{" * MILLION,
    "many braces": "person = { Anna,\n" * 100_000,
    "many comments": "/* */" * 200_000,
    "slashes": "/" * MILLION,
    "spaces": " " * (10 * MILLION) + "x",
    "tabs and dots": "\t." * MILLION,
    "commas": "P(" + "," * MILLION,
    "digits": "9" * MILLION + " Smokes(Anna)",
    "a number without end": "0." + "1" * MILLION,
    "70,000 arguments": "Smokes(" + ", ".join(["a"] * 70_000) + ")",
    "zero bytes": "\0" * MILLION,
    "line ends": "\r" * MILLION + "x",
    "many bad lines": "Smokes(a\n" * 100_000,
    "many lines almost too long": ("Smokes(" + "x" * (MILLION - 100) + ")\n") * 20,
    "many signs": "!" * MILLION,
    "equals signs": "a = " * 100_000,
    "a range of ranges": "person = {" + "1, ..., 900000, " * 3 + "x }",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts(name):
    text = HOSTILE[name]
    start = time.process_time()
    analysis = analyse_facts(text, PEOPLE)
    assert time.process_time() - start < 20 * slower()  # a hang takes minutes
    assert_well_placed(analysis, text)
    assert all(len(str(diagnostic)) < 2_000 for diagnostic in analysis.diagnostics)


def test_thirty_arguments():
    base = vocabulary(Predicate("Wide", ("thing",) * 30))
    analysis = analyse_facts(f"Wide({', '.join(map(str, range(30)))})\nWide(1)", base)
    assert len(atoms(analysis, "Wide")) == 1
    assert [item.code for item in analysis.diagnostics] == ["wrong-arity"]


def test_latin_1_is_said_with_its_place_and_read_on():
    analysis = analyse_facts("Smokes(Anna)\r\nSmokes(José)\r\nSmokes(Eve)".encode("latin-1"), PEOPLE)
    (diagnostic,) = analysis.diagnostics
    assert (diagnostic.code, diagnostic.message) == ("not-utf-8", "this is not UTF-8 text")
    assert "é" in diagnostic.repair
    assert culprit(diagnostic) == "\ufffd"
    assert (diagnostic.span.line, diagnostic.span.column) == (2, 11)
    assert atoms(analysis, "Smokes") == [("Anna",), ("Jos\ufffd",), ("Eve",)]


FACTS = "Smokes(Anna)\nFriends(Anna, Bob)\n" * 50


@pytest.mark.parametrize(
    "source",
    [FACTS.encode("utf-16"), FACTS.encode("utf-16-le"), FACTS.encode("utf-32"),
     "Smokes(東京)".encode("utf-16"), FACTS.encode() + b"\0", random.Random(1).randbytes(200_000),
     bytes(range(128, 256)) * 100],
)  # fmt: skip
def test_what_is_no_text_is_said_once_and_not_read(source):
    analysis = analyse_facts(source, PEOPLE)
    (diagnostic,) = analysis.diagnostics
    assert diagnostic.code == "not-text"
    assert diagnostic.message.startswith("this is not text")
    assert not analysis.relations


def test_the_model_reader_calls_both_by_the_same_names():
    for source in (FACTS.encode() + b"\0", b"Smokes(Jos\xe9)"):
        theirs, ours = decode_bytes(source, "x")[1][0], analyse_facts(source, PEOPLE).diagnostics[0]
        assert (ours.code, ours.message, ours.expected) == (theirs.code, theirs.message, theirs.expected)


@pytest.mark.parametrize("line", ["Smokes({})", 'Smokes("{}")', "Smokes(a) // {}", "Smokes(é{})", "{}"])
def test_endless_lines_are_refused_and_the_others_read(line):
    text = f"Smokes(Anna)\n{line.format('x' * 10 * MILLION)}\nSmokes(Bob)\n" + "\n" * MILLION + "Smokes(Eve)"
    analysis = analyse_facts(text, PEOPLE)
    (diagnostic,) = analysis.diagnostics
    assert (diagnostic.code, diagnostic.message) == ("too-long", "a line of more than 1,000,000 characters")
    assert (diagnostic.span.line, diagnostic.span.column) == (2, 1)
    assert text.split("\n")[1].startswith(diagnostic.source_line)
    assert len(diagnostic.source_line) == 1_000
    assert atoms(analysis, "Smokes") == [("Anna",), ("Bob",), ("Eve",)]


def test_a_line_of_a_million_characters_is_not_too_long():
    """Characters, not bytes."""
    name = "é" * (MILLION - len("Smokes()"))
    assert atoms(analyse_facts(f"Smokes({name})\n", PEOPLE), "Smokes") == [(name,)]
    assert analyse_facts(f"Smokes({name}é)\n", PEOPLE).diagnostics[0].code == "too-long"


def test_half_characters_in_a_python_text():
    analysis = analyse_facts("Smokes(Anna)\nSmokes(B\ud800b)", PEOPLE)
    (diagnostic,) = analysis.diagnostics
    assert (diagnostic.code, culprit(diagnostic)) == ("not-unicode", "\ufffd")


@pytest.mark.parametrize("size", [100, 5 * MILLION])
def test_binary_junk(size):
    junk = random.Random(size).randbytes(size)
    analysis = analyse_facts(junk, PEOPLE)
    assert analysis.diagnostics
    assert_well_placed(analysis, junk)


VALID = [
    "Smokes(Anna)", "!Friends(Anna, Bob)", "?Smokes(Zoë)", '0.7 Smokes("Anna Lee")', "Anna = MotherOf(Bob)",
    "person = { Anna, Bob,", "  Carl }", "// a comment", "/* a", "comment */", "", "On(3)",
    "time = {1,...,5}", "Likes(Anna, Red)", "Likes(Bob, Red)",
    "!Likes(Anna, Green)", "Smokes(Bob) // x", "Rains()",
]  # fmt: skip
PIECES = [*"(),!?.\"\\={}/* \t\n\r'-é“\u00a0\1^v0", "//", "/*", "*/", "...", "=>", "1.5 ", "Smokes(", "Red"]


@st.composite
def mutated(draw):
    """A valid text, in places cut or mixed up."""
    text = draw(st.sampled_from(["\n", "\r\n", "\r"])).join(
        draw(st.lists(st.sampled_from(VALID), max_size=12))
    )
    for _ in range(draw(st.integers(0, 6))):
        start = draw(st.integers(0, len(text)))
        stop = start + draw(st.integers(0, 3))
        text = text[:start] + draw(st.one_of(st.just(""), st.sampled_from(PIECES))) + text[stop:]
    return text


@given(mutated())
def test_mutated_texts_always_have_positions_and_both_scanners_agree(text):
    analysis = analyse_facts(text, PEOPLE)
    assert_well_placed(analysis, text)
    by_kernel = analyse_facts(text.encode(), PEOPLE, scanner=scan_by_kernel)
    by_pattern = analyse_facts(text.encode(), PEOPLE, scanner=scan_by_pattern)
    assert by_kernel.diagnostics == by_pattern.diagnostics == analysis.diagnostics
    assert same(by_kernel, by_pattern)
    assert same(by_kernel, analysis)


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200)))
def test_any_bytes_and_any_text(source):
    analysis = analyse_facts(source, PEOPLE)
    if isinstance(source, bytes) or not any("\ud800" <= c <= "\udfff" for c in source):
        assert_well_placed(analysis, source)
