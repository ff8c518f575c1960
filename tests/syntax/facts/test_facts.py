"""What a fact file may hold, and what it means."""

from __future__ import annotations

import numpy as np
import pytest

from mlnlab.logic.vocabulary import NamedDomain, Predicate
from mlnlab.syntax.facts.fact_files import analyse_facts
from tests.syntax.facts.fact_samples import PEOPLE, atoms, read, vocabulary


def test_true_false_unknown_and_soft_facts():
    analysis = read("Smokes(Anna)\n!Smokes(Bob)\n?Smokes(Carl)\n0.7 Smokes(Dora)\n.25 Smokes(Eve)\n")
    assert atoms(analysis, "Smokes") == [("Anna",)]
    assert atoms(analysis, "Smokes", "false") == [("Bob",)]
    assert atoms(analysis, "Smokes", "unknown") == [("Carl",)]
    assert atoms(analysis, "Smokes", "soft") == [("Dora",), ("Eve",)]
    assert analysis.relations["Smokes"].probabilities.tolist() == [0.7, 0.25]


def test_probabilities_zero_and_one_are_false_and_true():
    analysis = read("0 Smokes(Anna)\n1.0 Smokes(Bob)")
    assert atoms(analysis, "Smokes", "false") == [("Anna",)]
    assert atoms(analysis, "Smokes") == [("Bob",)]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("anna", "anna"), ("O'Neil", "O'Neil"), ("Mary-Jo", "Mary-Jo"), ("-5", "-5"), ("3.14", "3.14"),
        ("x_1", "x_1"),
        ("-.5", "-.5"), ("1.5e-3", "1.5e-3"), ("f'", "f'"), (r'"a\tb"', r"a\tb"), ('"a.b"', "a.b"),
        ("\"'a'\"", "'a'"),
        ("Zoë", "Zoë"), ("Ἀθῆναι", "Ἀθῆναι"), ("東京", "東京"), ("e\u0301", "e\u0301"),
        ('"Anna"', "Anna"), ('"Anna Lee"', "Anna Lee"), (r'"say \"hi\""', 'say "hi"'), (r'"a\\b"', r"a\b"),
        (r'"$\frac{1}{2}$"', r"$\frac{1}{2}$"), ('"http://x/*y*/"', "http://x/*y*/"), ('"(a, b)"', "(a, b)"),
        ('"<script>alert(1)</script>"', "<script>alert(1)</script>"), ('""', ""), ('" "', " "),
    ],
)  # fmt: skip
def test_names_of_constants(written, name):
    assert atoms(read(f"Friends({written}, Bob)\n"), "Friends") == [(name, "Bob")]


@pytest.mark.parametrize(
    "text",
    [
        "Friends(Anna,Bob)", "Friends(Anna,Bob)\n", "\n\nFriends(Anna,Bob)\r\n", "\ufeffFriends(Anna,Bob)",
        "  Friends ( Anna ,\tBob )  ", "Friends(Anna,Bob) // a comment",
        "/* Smokes(Bob)\nSmokes(Eve) */\nFriends(Anna,Bob)",
        "Friends(Anna, /* who? */ Bob)", "// Smokes(Bob)\rFriends(Anna,Bob)\r", "/**/Friends(Anna,Bob)//",
        'Friends(Anna,Bob)\nFriends(Anna, Bob)\nFriends("Anna",Bob)',
    ],
)  # fmt: skip
def test_space_comments_line_ends_and_duplicates(text):
    for source in (text, text.encode()):
        analysis = read(source)
        assert list(analysis.relations) == ["Friends"]
        assert atoms(analysis, "Friends") == [("Anna", "Bob")]
        assert list(analysis.vocabulary.domain("person")) == ["Anna", "Bob"]


@pytest.mark.parametrize(
    "text", ["", "\n", " \t\r\n", "// nothing", "/* nothing */", "\ufeff", b"\xef\xbb\xbf"]
)
def test_empty_files(text):
    analysis = read(text)
    assert not analysis.relations
    assert analysis.vocabulary == PEOPLE


def test_values_of_functions_are_facts_with_the_value_last():
    analysis = read('Anna = MotherOf(Bob)\n"Anna Lee"=MotherOf(Carl)\n!MotherOf(Bob, Carl)\n')
    assert atoms(analysis, "MotherOf") == [("Bob", "Anna"), ("Carl", "Anna Lee")]
    assert atoms(analysis, "MotherOf", "false") == [("Bob", "Carl")]
    assert list(analysis.vocabulary.domain("person")) == ["Anna", "Bob", "Anna Lee", "Carl"]


def test_event_calculus_names_the_values_of_its_functions():
    """As in a narrative of event calculus: the line above says which event the name stands for."""
    base = vocabulary(
        Predicate("walking", ("id", "event"), function=True), Predicate("Happens", ("event", "time"))
    )
    analysis = read("Walking_ID0 = walking(ID0)\nHappens(Walking_ID0, 5)", base)
    assert atoms(analysis, "walking") == [("ID0", "Walking_ID0")]
    assert atoms(analysis, "Happens") == [("Walking_ID0", "5")]


def test_predicates_without_arguments():
    assert len(read("Rains()").relations["Rains"].true) == 1
    assert len(read("?Rains()\n").relations["Rains"].unknown) == 1


def test_variables_are_constants_here():
    assert atoms(read("Friends(x,y)"), "Friends") == [("x", "y")]


def test_constants_in_braces():
    analysis = read("person = { Anna, Bob }\nperson={Carl}\nSmokes(Dora)\nperson = { }")
    assert list(analysis.vocabulary.domain("person")) == ["Anna", "Bob", "Carl", "Dora"]


def test_braces_over_several_lines():
    text = 'person = { Anna,\n  "Bob B.", // two\n\n  Carl\n, Dora }\nSmokes(Anna)'
    assert list(read(text).vocabulary.domain("person")) == ["Anna", "Bob B.", "Carl", "Dora"]


def test_ranges_in_braces_are_written_out():
    base = vocabulary(Predicate("On", ("hour",)))
    text = "On(3)\nhour = { -1, ..., 2, 7, 9,\n...,\n11 }"
    hours = list(map(int, read(text, base).vocabulary.domain("hour")))
    assert hours == [3, -1, 0, 1, 2, 7, 9, 10, 11]


def test_constants_of_a_range_and_of_a_size():
    analysis = read("On(5)\nOn(1)\ntime = {1,...,5}\nSits(Seat3, Anna)")
    assert analysis.relations["On"].true.tolist() == [[0], [4]]
    assert atoms(analysis, "Sits") == [("Seat3", "Anna")]
    assert analysis.vocabulary.domain("time") == PEOPLE.domain("time")


def test_new_constants_come_behind_the_old_ones_in_the_order_of_the_text():
    base = vocabulary(Predicate("P", ("thing", "thing")), thing=NamedDomain(("Z", "A")))
    analysis = read('!P(d, A)\nP(c, "e 1")\n0.5 P(b, d)\nP(Z, a)', base)
    assert list(analysis.vocabulary.domain("thing")) == ["Z", "A", "d", "c", "e 1", "b", "a"]


def test_a_constant_may_have_two_types():
    base = vocabulary(Predicate("P", ("left", "right")))
    analysis = read("P(a, b)\nP(b, a)", base)
    assert list(analysis.vocabulary.domain("left")) == ["a", "b"]
    assert list(analysis.vocabulary.domain("right")) == ["b", "a"]


def test_relations_are_sorted_and_frozen_and_in_the_order_of_declaration():
    analysis = read("Friends(B, A)\nFriends(A, B)\nSmokes(B)\nFriends(B, A)")
    assert list(analysis.relations) == ["Smokes", "Friends"]
    rows = analysis.relations["Friends"].true
    assert rows.dtype == np.uint32
    assert rows.tolist() == [[0, 1], [1, 0]]
    with pytest.raises(ValueError, match="read-only"):
        rows[0, 0] = 7


def test_rows_too_wide_for_one_number_are_sorted_all_the_same():
    base = vocabulary(Predicate("Wide", ("thing",) * 30))
    rows = [[f"t{(row * 7 + column * row) % 40}" for column in range(30)] for row in range(60)]
    analysis = read("\n".join(f"Wide({', '.join(row)})" for row in rows), base)
    numbers = analysis.relations["Wide"].true.tolist()
    assert numbers == sorted(numbers)
    assert {tuple(row) for row in rows} == set(atoms(analysis, "Wide"))


def test_only_listed_predicates_have_relations():
    assert list(read("Smokes(Anna)").relations) == ["Smokes"]


def test_an_incomplete_vocabulary_leaves_facts_out_with_a_warning():
    analysis = analyse_facts("Drinks(Anna)\nSmokes(Bob)", PEOPLE, complete=False)
    (diagnostic,) = analysis.diagnostics
    assert (diagnostic.code, str(diagnostic.severity)) == ("unknown-predicate", "warning")
    assert list(analysis.vocabulary.domain("person")) == ["Bob"]
