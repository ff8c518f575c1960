"""Every problem of a fact file is said in a sentence, with the culprit under the caret."""

from __future__ import annotations

import pytest

from mlnlab.logic.vocabulary import NamedDomain
from mlnlab.syntax.facts.fact_files import analyse_facts
from mlnlab.syntax.facts.fact_findings import MOST_EXPLAINED
from tests.syntax.facts.fact_samples import PEOPLE, assert_well_placed, atoms, culprit, only_problem, read

LINES = [
    # text, code, what stands over the caret, a piece of the message or of the repair
    ("Smoke(Anna)", "unknown-predicate", "Smoke", "did you mean Smokes?"),
    ("Friends(Anna)", "wrong-arity", "Friends", "takes 2 arguments, but here is 1"),
    ("!Friends(Anna, Bob, Carl)", "wrong-arity", "Friends", "but here are 3"),
    ("MotherOf(Bob)", "wrong-arity", "MotherOf", "Value = MotherOf"),
    ("Anna = MotherOf(Bob, Carl)", "wrong-arity", "MotherOf", "1 argument and a value, but here are 2"),
    ("Anna = Smokes(Bob)", "not-a-function", "Smokes", "is a predicate, not a function"),
    ("MotherOf(Bob) = Anna", "reversed-function", "=", "Anna = MotherOf(Bob)"),
    ("Anna != MotherOf(Bob)", "not-a-fact", "!", "no inequalities"),
    ("Friends(MotherOf(Bob), Anna)", "function-term", "(", "constants, not functions"),
    ("Smokes(Anna", "unclosed-parenthesis", "(", "Smokes(Anna)"),
    ("Friends(Anna,\n", "unclosed-parenthesis", "", "breaks off"),
    ("Friends(Anna Bob)", "missing-comma", "Bob", 'Anna, Bob  or  "Anna Bob"'),
    ('Friends("Anna" "Bob")', "missing-comma", '"Bob"', '"Anna Bob"'),
    ("Friends(Anna,,Bob)", "missing-constant", ",", "before “,”"),
    ("Friends(Anna,)", "missing-constant", ")", "before “)”"),
    ("Friends(,Anna)", "missing-constant", ",", "before “,”"),
    ("Smokes(Anna).", "junk-after-fact", ".", "Smokes(Anna)"),
    ("Smokes(Anna),", "junk-after-fact", ",", "Smokes(Anna)"),
    ("Smokes(Anna))", "junk-after-fact", ")", "Smokes(Anna)"),
    ("Smokes(Anna) 0.7", "junk-after-fact", "0.7", "0.7 Smokes(Anna)"),
    ("Smokes(Anna) Smokes(Bob)", "several-facts", "Smokes", "a line of its own"),
    ("Smokes(Anna), Smokes(Bob)", "several-facts", ",", "a line of its own"),
    ("Smokes(Anna) => Smokes(Bob)", "formula-in-facts", "=>", "belong in the model"),
    ("Smokes(Anna) v Smokes(Bob)", "formula-in-facts", "v", "belong in the model"),
    ("Smokes(Anna) ^ Smokes(Bob)", "formula-in-facts", "^", "belong in the model"),
    ("¬Smokes(Anna)", "formula-in-facts", "¬", "belong in the model"),
    ("EXIST x Smokes(x)", "formula-in-facts", "EXIST", "belong in the model"),
    ("1.5 Smokes(Anna)", "bad-probability", "1.5", "facts have no weights"),
    ("-0.5 Smokes(Anna)", "bad-probability", "-0.5", "not a probability"),
    ("0.7: Smokes(Anna)", "bad-probability", ":", "after the number"),
    ("0.7 !Smokes(Anna)", "bad-sign", "!", "0.3 Smokes(Anna)"),
    ("!!Smokes(Anna)", "bad-sign", "!", "one sign"),
    ("@0.7 Smokes(Anna)", "not-a-fact", "@", "belongs in a model"),
    ('#include "more.db"', "not-a-fact", "#", "belongs in a model"),
    ("0.7", "not-a-fact", "", "no atom"),
    ("Anna", "missing-parenthesis", "", "in parentheses"),
    ("Smokes Anna", "missing-parenthesis", "Anna", "after Smokes"),
    (", Smokes(Anna)", "not-a-fact", ",", "does not begin with"),
    ('"Anna" Smokes', "not-a-fact", "Smokes", "does not begin with the constant"),
    ('Smokes("Anna)', "unclosed-quote", '"', "not closed"),
    ("Smokes(...)", "bad-constant", "...", "is not a name"),
    ("Smokes('Anna')", "bad-constant", "'Anna'", '"Anna"'),
    ("Smokes('Anna Lee')", "bad-constant", "'Anna Lee'", '"Anna Lee"'),
    ("Friends(Anna, 'tis)", "bad-constant", "'tis", '"\'tis"'),
    ("person = { Anna, 'Bob' }", "bad-constant", "'Bob'", '"Bob"'),
    ("'Anna' = MotherOf(Bob)", "bad-constant", "'Anna'", '"Anna"'),
    ("Friends(Anna, a.b)", "bad-constant", "a.b", '"a.b"'),
    ("0.5 Smokes(127.0.0.1)", "bad-constant", "127.0.0.1", '"127.0.0.1"'),
    ("person = { e.g, Anna }", "bad-constant", "e.g", '"e.g"'),
    ("Smokes(“Anna”)", "bad-character", "“", "straight double quotes"),
    ("Smokes(An\u00a0na)", "bad-character", "\u00a0", "no-break space"),
    ("Smokes(a:b)", "bad-character", ":", "colon"),
    ("Smokes(Anna; Bob)", "bad-character", ";", "semicolon"),
    ("Smo→kes(Anna)", "formula-in-facts", "→", "formula"),
    ("/* a comment", "unclosed-comment", "/*", "never ends"),
    ("persn = { Anna }", "unknown-type", "persn", "did you mean person?"),
    ("person = { Anna", "unclosed-brace", "person", "not closed"),
    ("person = { Anna Bob }", "missing-comma", "Bob", "comma"),
    ("person = { Anna } x", "junk-after-fact", "x", "the closing brace"),
    ("person = Anna", "not-a-fact", "", "constants in braces"),
    ("person = { 1, ..., b }", "bad-range", "...", "whole number"),
    ("person = { 5, ..., 1 }", "bad-range", "...", "greater"),
    ("person = { 1, ..., 99999999999 }", "bad-range", "...", "1,000,000"),
    ("person = { 1...5 }", "bad-range", "1...5", "between commas"),
    ("On(6)", "outside-domain", "6", "the range 1, ..., 5"),
    ("On(05)", "outside-domain", "05", "5"),
    ("On(Anna)", "outside-domain", "Anna", "is not a time"),
    ("Sits(Seat4, Anna)", "outside-domain", "Seat4", "Seat1, Seat2, Seat3"),
    ("time = { 1, 7 }", "outside-domain", "7", "the range 1, ..., 5"),
    ("Smokes(Red)", "wrong-type", "Red", "Red is a color; a person is expected here"),
    ("Red = MotherOf(Bob)", "wrong-type", "Red", "Red is a color; a person is expected here"),
    ("Likes(Anna, Blue)", "unlisted-constant", "Blue", "not among the constants listed for color"),
    ("Likes(Anna, red)", "unlisted-constant", "red", "did you mean Red?"),
    ("Smokes(Anna)\n!Smokes(Anna)", "contradiction", "!Smokes(Anna)", "true in line 1 and false in line 2"),
    ("?Smokes(Anna)\n0.5 Smokes(Anna)", "contradiction", "0.5 Smokes(Anna)", "probability 0.5"),
    ("0.4 Smokes(A)\n0.5 Smokes(A)", "contradiction", "0.5 Smokes(A)", "probability 0.4 in line 1"),
    ("Likes(A, Red)\nLikes(A, Green)", "broken-block", "Likes(A, Green)", "excludes Likes(A, Red) in line 1"),
    ("A = MotherOf(B)\nB = MotherOf(B)", "broken-block", "B = MotherOf(B)", "one value"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "code", "caret", "piece"), LINES, ids=[line[0][:40] for line in LINES])
def test_one_problem(text, code, caret, piece):
    diagnostic = only_problem(text)
    assert diagnostic.code == code
    assert culprit(diagnostic) == caret
    assert piece in diagnostic.message or piece in diagnostic.repair
    assert diagnostic.expected or diagnostic.repair
    assert not diagnostic.message.endswith(".")


def test_all_problems_in_one_pass_in_order():
    text = "\n".join(line[0] for line in LINES if "\n" not in line[0] and "/*" not in line[0])
    analysis = analyse_facts(text, PEOPLE)
    assert_well_placed(analysis, text)
    lines = [diagnostic.span.line for diagnostic in analysis.diagnostics]
    assert lines == sorted(lines)
    assert len({diagnostic.code for diagnostic in analysis.diagnostics}) > 20


def test_good_facts_beside_bad_ones_are_read():
    analysis = analyse_facts("Smokes(Anna)\nSmokes(Red)\nSmokes(\nSmokes(Bob)", PEOPLE)
    assert atoms(analysis, "Smokes") == [("Anna",), ("Bob",)]


def test_positions_count_characters_and_look_through_comments():
    diagnostic = only_problem("\ufeff/* é */ Friends(Zoë, /* 東京 */ a:b)\r\n")
    assert culprit(diagnostic) == ":"
    assert diagnostic.source_line == "/* é */ Friends(Zoë, /* 東京 */ a:b)"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Friends(Anna,\nBob)", (1, 14)),
        ("Smokes(\n  Anna)", (1, 8)),
    ],
)
def test_facts_over_several_lines_are_refused_at_the_break(text, first):
    analysis = analyse_facts(text, PEOPLE)
    assert_well_placed(analysis, text)
    assert (analysis.diagnostics[0].span.line, analysis.diagnostics[0].span.column) == first
    assert analysis.diagnostics[0].code == "unclosed-parenthesis"


def test_braces_do_not_go_on_over_facts():
    analysis = analyse_facts("person = { Anna,\nSmokes(Bob)\nCarl }", PEOPLE)
    assert analysis.diagnostics[0].code == "unclosed-brace"
    assert atoms(analysis, "Smokes") == [("Bob",)]


def test_an_unknown_predicate_is_said_once_with_its_number():
    analysis = analyse_facts("Smoke(Anna)\n" * 3 + "0.5 Smoke(Bob)", PEOPLE)
    (diagnostic,) = analysis.diagnostics
    assert "(4 facts)" in diagnostic.message
    assert diagnostic.span.line == 1


def test_at_most_fifty_of_a_kind_are_given_in_full():
    text = "\n".join(f"Friends(P{number})" for number in range(1_284)) + "\nSmokes(Anna).\n"
    analysis = analyse_facts(text, PEOPLE)
    codes = [item.code for item in analysis.diagnostics]
    assert codes == ["wrong-arity"] * 51 + ["junk-after-fact"]
    assert analysis.diagnostics[50].message == "and 1,234 more of this kind"


@pytest.mark.parametrize(
    "line",
    ["On({})", "Smokes(Anna).{}", "{} {}", "Smokes({})\n!Smokes({})", "Likes(A{0},Red)\nLikes(A{0},Green)"],
)
def test_long_lists_of_problems_stay_short(line):
    text = "\n".join(line.format(number, number) for number in range(10, 500))
    analysis = analyse_facts(text, PEOPLE)
    assert_well_placed(analysis, text)
    assert len(analysis.diagnostics) == 51


def test_of_very_many_bad_lines_the_first_are_explained_and_the_others_counted():
    text = "Friends(Anna Bob)\n" * (MOST_EXPLAINED + 1_000) + "Smokes(Anna)"
    analysis = analyse_facts(text, PEOPLE)
    assert_well_placed(analysis, text)
    assert [item.code for item in analysis.diagnostics] == ["missing-comma"] * 51 + ["not-a-fact"]
    assert analysis.diagnostics[-1].message == "from here on 1,000 lines more cannot be read as facts"
    assert analysis.diagnostics[-1].span.line == MOST_EXPLAINED + 1
    assert atoms(analysis, "Smokes") == [("Anna",)]


def test_wrong_types_are_said_once_for_each_culprit():
    analysis = analyse_facts("Smokes(Red)\nFriends(Anna, Red)\nFriends(Red, Green)", PEOPLE)
    assert [culprit(item) for item in analysis.diagnostics] == ["Red", "Green"]


def test_unlisted_constants_are_said_once_for_each_type():
    base = PEOPLE.with_domain("person", NamedDomain(("Anna", "Bob"), is_listed=True))
    analysis = analyse_facts("Smokes(Ann)\nSmokes(Carl)\nSmokes(Ann)\nLikes(Anna, Blue)", base)
    person, color = analysis.diagnostics
    assert (str(person.severity), str(color.severity)) == ("warning", "warning")
    assert "Ann and 1 other name are not among the constants listed for person" in person.message
    assert person.repair == "Anna"
    assert list(analysis.vocabulary.domain("person")) == ["Anna", "Bob", "Ann", "Carl"]


def test_constants_in_braces_of_the_file_are_listed_wherever_they_stand():
    analysis = read("Likes(Anna, Blue)\nSmokes(Red)\ncolor = { Blue }\nperson = { Red }")
    assert list(analysis.vocabulary.domain("color")) == ["Red", "Green", "Blue"]


def test_the_first_of_two_contradicting_facts_counts():
    analysis = analyse_facts("!Smokes(Anna)\nSmokes(Anna)", PEOPLE)
    assert atoms(analysis, "Smokes", "false") == [("Anna",)]
    assert atoms(analysis, "Smokes") == []


def test_an_empty_block_is_no_problem():
    assert atoms(read("!Likes(Anna, Red)"), "Likes", "false") == [("Anna", "Red")]
