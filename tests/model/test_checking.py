"""``check``: which texts it takes for what, that it never raises on bad text, and each of its remarks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.errors import ArgumentError, Severity

DECLARATIONS = "Smokes(person)\nCancer(person)\nFriends(person, person)\n"
USED = "1 Smokes(x) v Cancer(y) v Friends(x, y)\n"


def codes(text, **options):
    return [(d.code, d.span.line) for d in ml.check(DECLARATIONS + USED + text, **options)]


def test_a_sound_model_has_nothing_against_it():
    assert ml.check(DECLARATIONS + USED) == ()


def test_a_text_with_a_vocabulary_is_of_facts():
    mln = ml.MLN.from_text(DECLARATIONS)
    assert ml.check("Smokes(Anna)", mln) == ()
    (found,) = ml.check("Smoke(Anna)", mln.vocabulary)
    assert found.code == "unknown-predicate"
    assert ml.check("1 Smokes(Anna)", mln, kind="model") == ()


def test_facts_without_a_model_are_checked_for_their_form():
    found = ml.check("Anything(Anna)\nOpen(\n", kind="facts")
    assert next(d.code for d in found) == "no-model"
    assert any(d.span.line == 2 and d.severity is Severity.ERROR for d in found)
    assert not any(d.code == "unknown-predicate" for d in found)


def test_files_are_told_by_their_endings(tmp_path):
    model, facts = tmp_path / "a.mln", tmp_path / "a.db"
    model.write_text(DECLARATIONS + "1 Smoke(x)\n")
    facts.write_text("Smokes(Anna, Bob)\n")
    (found,) = ml.check(str(model))
    assert str(found.span) == f"{model}:4:3"
    (found,) = ml.check(facts, ml.MLN.from_text(DECLARATIONS))
    assert (found.code, found.span.file) == ("wrong-arity", str(facts))


def test_included_files_are_found_beside_the_file(tmp_path):
    (tmp_path / "common.mln").write_text(DECLARATIONS)
    (tmp_path / "main.mln").write_text('#include "common.mln"\n' + USED)
    assert ml.check(tmp_path / "main.mln") == ()
    assert ml.check('#include "common.mln"\n' + USED, folder=tmp_path) == ()


@pytest.mark.parametrize("name", ["none.mln", "folder.mln"])
def test_what_cannot_be_read_is_a_finding(name, tmp_path):
    (tmp_path / "folder.mln").mkdir()
    (found,) = ml.check(tmp_path / name)
    assert (found.code, found.severity) == ("unreadable", Severity.ERROR)


@pytest.mark.parametrize(
    "bad", [b"\x00\x01", "café".encode("latin-1"), bytes(range(256)), b"", "(" * 100_000]
)
@pytest.mark.parametrize("kind", ["model", "facts"])
def test_junk_is_never_an_exception(bad, kind):
    for found in ml.check(bad, kind=kind):
        assert found.span.line >= 1


@given(st.text(alphabet='Pabcxy(),.!?*+v^=<>" \n0123EXIST|:', max_size=60))
def test_no_text_raises(text):
    ml.check("P(a)\n" + text)
    ml.check(text, kind="facts")


def test_what_is_no_text_is_an_argument_error():
    with pytest.raises(ArgumentError, match="not int"):
        ml.check(3)


@pytest.mark.parametrize(
    ("formula", "number", "weight"),
    [
        ("1.1 Friends(x, y) => (Smokes(x) <=> Smokes(y))", 2, "0.55"),
        ("@3 Smokes(x) ^ Cancer(x) ^ Friends(x, x)", 3, "1"),
        ("-1 Smokes(x) ^ Cancer(x)", 2, "-0.5"),
    ],
)
def test_what_alchemy_splits(formula, number, weight):
    (found,) = ml.check(DECLARATIONS + USED + formula)
    assert (found.code, found.severity) == ("alchemy-splits", Severity.NOTE)
    assert f"{number} clauses of weight {weight} each" in found.message
    assert found.source_line == formula
    expanded = ml.MLN.from_text(DECLARATIONS + formula, semantics="alchemy").expand({"person": 2})
    assert len(expanded.formulas) == number
    assert expanded.weights == [float(weight)] * number


@pytest.mark.parametrize(
    "formula",
    ["1.1 Smokes(x) => Cancer(x)", "2 EXIST y Friends(x, y)", "Smokes(x) ^ Cancer(y) ^ Friends(x, y).",
     "Smokes(x) <=> Friends(x, x)", "1 !(Smokes(x) ^ Cancer(x))"],
)  # fmt: skip
def test_what_alchemy_does_not_split(formula):
    assert "alchemy-splits" not in [code for code, _ in codes(formula)]


def test_how_often_alchemy_splits_may_depend_on_the_constants():
    (found,) = ml.check(DECLARATIONS + USED + "0.7 EXIST y (Friends(x, y) ^ Smokes(y))")
    assert "as many as the constants make" in found.message


def test_the_note_follows_the_semantics():
    (found,) = ml.check(DECLARATIONS + USED + "1 Smokes(x) ^ Cancer(x)", semantics="alchemy")
    assert found.message.startswith("Alchemy's semantics, chosen here,")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1 Smokes(x) => Cancer(x)", "2 Smokes(z) => Cancer(z)"),
        ("1 Smokes(x) v Cancer(x)", "Cancer(a) v Smokes(a)."),
        ("1 Smokes(+x)", "2 Smokes(+y)"),
        ("1 EXIST y Friends(x, y)", "1 EXIST z Friends(y, z)"),
    ],
)
def test_repetitions(first, second):
    assert ("repeated-formula", 6) in codes(f"{first}\n{second}")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1 Smokes(x) => Cancer(x)", "1 Cancer(x) => Smokes(x)"),
        ("1 Friends(x, y)", "1 Friends(x, x)"),
        ("1 Friends(+x, y)", "1 Friends(x, +y)"),
        ("1 Smokes(x)", "1 Smokes(+x)"),
        ("1 *Smokes(x) v Cancer(x)", "1 Smokes(x) v Cancer(x)"),
    ],
)
def test_no_repetitions(first, second):
    assert not [line for code, line in codes(f"{first}\n{second}") if code == "repeated-formula"]


@pytest.mark.parametrize(
    "formula", ["1 Smokes(x) v !Smokes(x)", "1 Smokes(x) ^ Cancer(x) => Smokes(x)", "x = x."]
)
def test_what_is_always_true(formula):
    if formula == "x = x.":
        formula = "Smokes(x) => x = x."
    assert ("always-true", 5) in codes(formula)


@pytest.mark.parametrize("formula", ["1 Smokes(x) ^ !Smokes(x)", "Smokes(x) ^ (Smokes(x) => !Smokes(x))."])
def test_what_is_always_false(formula):
    assert ("always-false", 5) in codes(formula)


def test_predicates_without_formulas():
    found = ml.check("Smokes(person) // Lonely\nLonely(person)\n1 Smokes(x)")
    assert [(d.code, str(d.span)) for d in found] == [("unused-predicate", "<text>:2:1")]
    assert ml.check("Smokes(person)") == ()
    assert ml.check("Smokes(person)\n|Smokes| = 2.") == ()


def test_a_model_with_errors_gets_no_remarks():
    assert {d.severity for d in ml.check("Smokes(person)\nLonely(person)\n1 Smoke(x)")} == {Severity.ERROR}


def test_large_models_and_formulas_do_not_take_long():
    many = "\n".join(f"{n} Smokes(x) v Friends(x, C{n})" for n in range(2_000))
    huge = "1 " + " v ".join(f"Smokes(A{n})" for n in range(2_000))
    pairs = " v ".join(f"(Smokes(A{n}) ^ Cancer(A{n}))" for n in range(40))
    assert "repeated-formula" not in [code for code, _ in codes(f"{many}\n{huge}\n1 {pairs}")]


def test_a_formula_that_is_too_large_to_be_written_out_gets_no_remark():
    chain = " <=> ".join(f"S(x{i})" for i in range(20))
    assert ml.check(f"S(p)\n1 {chain}\n{chain}.\n-1 !({chain}) v (EXIST y S(y) <=> {chain})") != ()


def test_a_text_that_says_nothing_gets_a_note():
    for text in ("", "\n\n", "// nothing\n/* at all */"):
        for options in ({}, {"kind": "model"}, {"vocabulary": ml.MLN.from_text("P(t)")}):
            (found,) = ml.check(text, **options)
            assert (found.code, found.severity, str(found.span)) == (
                "says-nothing", Severity.NOTE, "<text>:1:1",
            )  # fmt: skip
    assert ml.check("person = {Anna}") == ()
    assert ml.check("person = {Anna}", ml.MLN.from_text("P(person)")) == ()


@pytest.mark.parametrize(
    ("first", "second", "effect"),
    [
        ("1 Smokes(x)", "2 Smokes(y)", "the weights of the two add up"),
        ("1 Smokes(x)", "Smokes(y).", "beside the hard one, the other changes no probability"),
        ("Smokes(x).", "2 Smokes(y)", "beside the hard one, the other changes no probability"),
        ("Smokes(x).", "Smokes(y).", "once is enough"),
        ("w: Smokes(x)", "2 Smokes(y)", "once learned, the weights of the two add up"),
    ],
)
def test_what_a_repetition_means(first, second, effect):
    found = ml.check(f"{DECLARATIONS}{USED}{first}\n{second}")
    (repeated,) = [d for d in found if d.code == "repeated-formula"]
    assert repeated.message.endswith(f"order of operands; {effect}")


def test_findings_are_a_tuple_that_prints():
    found = ml.check("Smokes(person)\n1 Smoke(x)")
    assert found == tuple(found)
    assert isinstance(found, tuple)
    assert "1 Smoke(x)\n      ^^^^^" in str(found)
    assert str(ml.check("Smokes(person)\n1 Smokes(x)")) == "no problems"
