"""Simplification keeps the truth value everywhere, and does what it promises to the textbook cases."""

from __future__ import annotations

import pytest
from hypothesis import given

from mlnlab.logic.evaluation import evaluate
from mlnlab.logic.forms.simplification import complement, simplify
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
    Cardinality,
    Comparison,
    Constant,
    CountingExists,
    Equality,
    Exists,
    ForAll,
    Iff,
    Implies,
    Not,
    Or,
    Truth,
    Variable,
)
from mlnlab.logic.formulas.traversal import subformulas
from mlnlab.logic.vocabulary import FrozenMapping, RangeDomain, Vocabulary
from tests.support.strategies import SmallWorld, cases

TRUE, FALSE = Truth(True), Truth(False)
A, B, C = (Atom(name, ()) for name in "ABC")
X, Y = Variable("x", "person"), Variable("y", "person")
T = Variable("t", "time")
ANNA, BOB = Constant("Anna", "person"), Constant("Bob", "person")
ONE, THREE = Constant("1", "time"), Constant("3", "time")
P_OF_X = Atom("P", (X,))


def plus_one(term):
    return Arithmetic("+", term, Constant("1"))


@given(cases())
def test_truth_is_kept_under_every_binding(case):
    simple = simplify(case.formula)
    for binding in case.bindings():
        assert evaluate(simple, case.world, binding) == evaluate(case.formula, case.world, binding)


@given(cases())
def test_simplifying_twice_changes_nothing(case):
    assert simplify(simplify(case.formula)) == simplify(case.formula)


@given(cases(arithmetic=False))
def test_nothing_trivial_is_left(case):
    simple = simplify(case.formula)
    for part in subformulas(simple):
        match part:
            case Not(operand):
                assert not isinstance(operand, Not | Truth)
            case And(operands) | Or(operands):
                assert len(set(operands)) == len(operands) >= 2
                assert not any(isinstance(operand, type(part) | Truth) for operand in operands)
            case Implies() | Iff():
                assert not isinstance(part, Truth)


@given(cases())
def test_a_complement_is_the_negation(case):
    opposite = complement(case.formula)
    for binding in case.bindings():
        assert evaluate(opposite, case.world, binding) != evaluate(case.formula, case.world, binding)


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (Not(Not(A)), A),
        (Not(TRUE), FALSE),
        (And(()), TRUE),
        (Or(()), FALSE),
        (And((A, And((B, And((A, C)))))), And((A, B, C))),
        (Or((A, FALSE, Or((B, A)))), Or((A, B))),
        (And((A, B, Not(A))), FALSE),
        (Or((A, B, Not(A))), TRUE),
        (Or((And((A, TRUE)), FALSE)), A),
        (Implies(A, FALSE), Not(A)),
        (Implies(TRUE, A), A),
        (Implies(A, TRUE), TRUE),
        (Implies(FALSE, A), TRUE),
        (Implies(A, A), TRUE),
        (Iff(A, TRUE), A),
        (Iff(FALSE, A), Not(A)),
        (Iff(A, Not(A)), FALSE),
        (Equality(X, X), TRUE),
        (Equality(ANNA, BOB), FALSE),
        (Equality(ANNA, Constant("Anna", "movie")), Equality(ANNA, Constant("Anna", "movie"))),
        (Or((Equality(X, Y), Not(Equality(Y, X)))), TRUE),
        (Comparison("<", ONE, THREE), TRUE),
        (Comparison(">", T, T), FALSE),
        (Comparison("<", ANNA, BOB), Comparison("<", ANNA, BOB)),
        (And((Comparison("<", T, THREE), Comparison(">=", T, THREE))), FALSE),
        (And((Not(Comparison("<", T, THREE)), Comparison("<", T, THREE))), FALSE),
        (And((Comparison("<", T, THREE), Not(Comparison("<", T, THREE)))), FALSE),
        # Without a value it cannot be compared, so this is not true everywhere.
        (Comparison("<=", Arithmetic("/", T, T), Arithmetic("/", T, T)),) * 2,
        (Atom("On", (plus_one(THREE),)), Atom("On", (Constant("4", "time"),))),
        (Atom("On", (plus_one(Constant("3")),)), Atom("On", (plus_one(Constant("3")),))),
        (
            Atom("On", (Arithmetic("/", THREE, Constant("2", "time")),)),
            Atom("On", (Arithmetic("/", THREE, Constant("2", "time")),)),
        ),
        (CountingExists(">=", 0, (X,), P_OF_X), TRUE),
        (CountingExists("<", 0, (X,), P_OF_X), FALSE),
        (CountingExists("=", 0, (X,), Not(Not(P_OF_X))), CountingExists("=", 0, (X,), P_OF_X)),
        (CountingExists("=", 2, (X, Y), P_OF_X), CountingExists("=", 2, (X, Y), P_OF_X)),
        (CountingExists("=", 2, (X,), And((P_OF_X, FALSE))), FALSE),
        (Cardinality("P", ("person",), "!=", -1), TRUE),
        (Cardinality("P", ("person",), "=", 0), Cardinality("P", ("person",), "=", 0)),
    ],
)
def test_rules(formula, expected):
    assert simplify(formula) == expected


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        # Over no constants the one is true and the other false, so both must stay.
        (ForAll((X,), A), ForAll((X,), A)),
        (Exists((X,), A), Exists((X,), A)),
        (ForAll((X,), TRUE), TRUE),
        (Exists((X,), FALSE), FALSE),
        (Exists((X,), TRUE), Exists((X,), TRUE)),
        # One variable of the type is enough to show that there is a constant.
        (Exists((X, Y), P_OF_X), Exists((X,), P_OF_X)),
        (Exists((X, Y), A), Exists((X,), A)),
        (ForAll((X,), Or((P_OF_X, Exists((Y,), A)))), ForAll((X,), Or((P_OF_X, A)))),
        (Or((P_OF_X, Exists((Y,), A))), Or((P_OF_X, A))),
        # An unknown type shows nothing about another unknown type.
        (Exists((Variable("u"), Variable("v")), A), Exists((Variable("u"), Variable("v")), A)),
    ],
)
def test_quantifiers_over_possibly_empty_types(formula, expected):
    assert simplify(formula) == expected


def test_types_known_to_be_inhabited_lose_their_idle_quantifiers():
    assert simplify(ForAll((X,), A), inhabited=["person"]) == A


def test_arithmetic_that_restricts_a_quantifier_stays():
    # With time = {1} no t has a successor, so FORALL t (On(t+1) ^ !On(t+1)) is true.
    on = Atom("On", (plus_one(T),))
    formula = ForAll((T,), And((on, Not(on))))
    one_moment = SmallWorld(Vocabulary(FrozenMapping({"time": RangeDomain(1, 1)})), frozenset())
    assert evaluate(formula, one_moment)
    assert evaluate(simplify(formula), one_moment)
