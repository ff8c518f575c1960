"""Formulas as values, and the Python operators that build them."""

from __future__ import annotations

import copy
import pickle
import warnings
from dataclasses import FrozenInstanceError

import pytest
from hypothesis import given

from mlnlab.errors import ArgumentError, FormulaHint
from mlnlab.logic.building import exists, for_all, variables
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
    Comparison,
    Constant,
    Equality,
    Exists,
    ForAll,
    Iff,
    Implies,
    Not,
    Or,
    Variable,
    as_term,
)
from tests.support.strategies import cases

A, B, C = (Atom(name, ()) for name in "ABC")
T = Variable("t", "time")
X, Y = Variable("x"), Variable("y")


def test_operators():
    assert And((A, B)) == A & B
    assert Or((A, B)) == A | B
    assert Not(A) == ~A
    assert Implies(A, B) == A >> B
    assert (A & B).implies(C) == Implies(And((A, B)), C)
    assert A.iff(B) == Iff(A, B)
    assert A.conjoin(B) == And((A, B))
    assert A.disjoin(B) == Or((A, B))


def test_chains_are_flat_and_nothing_else_is_simplified():
    assert A & B & C == A & (B & C) == And((A, B, C))
    assert A | B | C == A | (B | C) == Or((A, B, C))
    assert And((Or((A, B)), C)) == (A | B) & C
    assert And((A, A)) == A & A
    assert Not(Not(A)) == ~~A
    assert A.conjoin(B & C) == And((A, And((B, C))))


def test_forgotten_parentheses_get_a_hint():
    with pytest.warns(FormulaHint, match=r"\(A & B\)\.implies\(C\)"):
        formula = A & B >> C
    assert formula == And((A, Implies(B, C)))
    with pytest.warns(FormulaHint, match=r"\(A \| B\)\.implies\(C\)"):
        formula = A | B >> C
    assert formula == Or((A, Implies(B, C)))


def test_the_hint_points_to_the_line_of_the_user():
    with pytest.warns(FormulaHint) as caught:
        A & B >> C
    assert caught[0].filename == __file__


def test_implications_in_a_row_group_to_the_left_in_python():
    with pytest.warns(FormulaHint, match=r"A >> \(B >> C\)"):
        assert Implies(Implies(A, B), C) == A >> B >> C


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: A ^ B, "write & for and"),
        (lambda: (X == Y) & A, "x.equals"),
        (lambda: A & (X != Y), "x.differs"),
        (lambda: (X == Y) >> A, "joins two formulas"),
        (lambda: (X != Y) | A, "joins two formulas"),
        (lambda: exists("y", A), "binds variables"),
        (lambda: exists(X, "A"), "A formula is needed"),
        (lambda: exists(X, A, number="two"), "compared like"),
        (lambda: variables(["x"]), "one string of names"),
    ],
)
def test_slips_of_the_pen_get_advice(wrong, words):
    with pytest.raises(ArgumentError, match=words):
        wrong()


def test_parentheses_and_named_forms_get_no_hint():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Implies(And((A, B)), C) == (A & B) >> C
        assert A.conjoin(B.implies(C)) == And((A, Implies(B, C)))
        assert Implies(Implies(A, B), C) == A.implies(B).implies(C)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: A and B,
        lambda: A or B,
        lambda: not A,
        lambda: bool(A),
        lambda: 1 if A else 2,
        lambda: X < Y < T,
        lambda: any([A, B]),
    ],
)
def test_python_words_get_a_sentence(wrong):
    with pytest.raises(ArgumentError, match=r"& \| ~ >>"):
        wrong()


@pytest.mark.parametrize(
    ("wrong", "sign"),
    [
        (lambda: A & 1, "&"),
        (lambda: A | "B", r"\|"),
        (lambda: A >> X, ">>"),
        (lambda: A.implies(True), "implies"),
        (lambda: A.iff(None), "iff"),
        (lambda: A.conjoin(X), "conjoin"),
        (lambda: A.disjoin(X), "disjoin"),
    ],
)
def test_what_is_no_formula_gets_a_sentence(wrong, sign):
    with pytest.raises(ArgumentError, match=f"^{sign} joins two formulas"):
        wrong()


def test_terms():
    assert Arithmetic("+", T, Constant("1")) == T + 1
    assert Arithmetic("-", T, Constant("1")) == T - 1
    assert (T < 3) == Comparison("<", T, Constant("3"))
    assert (T <= 3) == Comparison("<=", T, Constant("3"))
    assert (T > 3) == Comparison(">", T, Constant("3"))
    assert (T >= T + 1) == Comparison(">=", T, T + 1)
    assert X.equals("Anna") == Equality(X, Constant("Anna"))
    assert X.differs(Y) == Not(Equality(X, Y))
    assert Variable("x") == X
    assert Variable("x", "person") != X


def test_calculations_inside_of_others_are_printed_with_parentheses():
    assert str(Atom("P", (T - (X - Y),))) == "P(t - (x - y))"
    assert str(Atom("P", ((T - X) - Y,))) == "P((t - x) - y)"


@pytest.mark.parametrize("wrong", [1.5, True, None, [X], A])
def test_what_is_no_term_gets_a_sentence(wrong):
    with pytest.raises(ArgumentError, match="A term must be a variable, a string or a whole number"):
        as_term(wrong)


def test_builders():
    assert variables("x y") == variables("x, y") == (X, Y)
    assert for_all(X, A) == ForAll((X,), A)
    assert exists((X, Y), A) == Exists((X, Y), A)


@given(cases())
def test_formulas_are_values(case):
    formula = case.formula
    for twin in (copy.deepcopy(formula), pickle.loads(pickle.dumps(formula))):
        assert twin == formula
        assert hash(twin) == hash(formula)
        assert repr(twin) == repr(formula)


def test_formulas_are_frozen():
    with pytest.raises(FrozenInstanceError):
        A.predicate = "B"
