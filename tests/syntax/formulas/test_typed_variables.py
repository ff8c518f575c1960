"""Quantified variables with their type beside them: where it is needed, read, written, and refused."""

from __future__ import annotations

import pytest

import mlnlab as ml
from mlnlab.logic.formulas.formulas import Atom, CountingExists, Exists, ForAll, Variable
from mlnlab.logic.formulas.printing import to_latex, to_text, to_unicode

MODEL = "person = {A, B}\ncity = {C}\nP(person)\nQ(city)\nR(person, city)\n"
Y, X = Variable("y", "person"), Variable("x", "city")
VACUOUS = Exists((X,), Atom("P", (Y,)))


@pytest.fixture(scope="module")
def mln():
    return ml.MLN.from_text(MODEL)


def test_a_vacuous_quantifier_reads_back(mln):
    assert to_text(VACUOUS) == "EXIST x:city P(y)"
    assert mln.parse(to_text(VACUOUS)) == VACUOUS
    for formula in (
        ForAll((X,), Atom("P", (Y,))),
        CountingExists("<=", 2, (X, Y), Atom("P", (Y,))),
        Exists((Y,), Exists((Y,), Atom("P", (Y,)))),
    ):
        assert mln.parse(to_text(formula)) == formula
    assert to_unicode(VACUOUS) == "∃x:city P(y)"
    assert to_latex(VACUOUS).startswith(r"\exists  x:\text{city}")


def test_a_model_with_one_is_saved_and_loaded(tmp_path):
    model = ml.MLN.from_text(f"{MODEL}1.5 {VACUOUS}")
    assert model.formulas[0].formula == VACUOUS
    model.save(tmp_path / "vacuous.mln")
    assert ml.load(tmp_path / "vacuous.mln").formulas == model.formulas


def test_over_no_constants_at_all_it_is_false():
    empty = ml.MLN.from_text("person = {A}\ncity = {}\nP(person)\nQ(city)\nP(A).\n2 EXIST x:city P(y)")
    assert ml.log_z(empty).value == pytest.approx(0)
    one = ml.MLN.from_text("person = {A}\ncity = {C}\nP(person)\nQ(city)\nP(A).\n!Q(C).\n2 EXIST x:city P(y)")
    assert ml.log_z(one).value == pytest.approx(2)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("EXIST x:city Q(x)", "EXIST x Q(x)"),
        ("EXIST x : city (x = z ^ Q(z))", "EXIST x (x = z ^ Q(z))"),
        ("FORALL x:person,y:person x = y", "FORALL x:person,y:person x = y"),
        ("EXIST x:person,y (x = y ^ P(y))", "EXIST x,y (x = y ^ P(y))"),
        ("EXIST x:city,y (R(y, z) ^ x != x)", "EXIST x:city,y (R(y, z) ^ x != x)"),
        ("EXIST=1 x:person x = A", "EXIST=1 x x = A"),
        ("P(y) => EXIST x:person x = y", "P(y) => (EXIST x x = y)"),
        ("∀x:city,z:person ∃z:person R(z, x)", "FORALL x,z:person EXIST z R(z, x)"),
    ],
)
def test_the_type_is_written_where_nothing_else_tells_it(mln, written, shown):
    formula = mln.parse(written)
    assert to_text(formula) == shown
    assert mln.parse(shown) == formula


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("EXIST x P(y)", "nothing under this quantifier uses its x in an atom"),
        ("EXIST x P(y)", "write its type beside it, x:type"),
        ("EXIST x:cit P(y)", "there is no type cit; did you mean city?"),
        ("EXIST x:zzz P(y)", "expected: person, city"),
        ("EXIST x:city P(x)", "x is a city (line 1), but P takes a person here"),
        ("EXIST x:city,y:person (x = y)", "x is a city and y a person"),
        ("EXIST x: P(y)", "there is no type P"),
        ("EXIST x:city:person P(y)", ": cannot stand here"),
        ("EXIST x:3 P(y)", "3 cannot stand here"),
        ("P(x:person)", ": cannot stand here"),
    ],
)
def test_what_cannot_be_gets_a_sentence(mln, written, sentence):
    with pytest.raises(ml.MlnlabError) as caught:
        mln.parse(written)
    assert sentence in str(caught.value)
