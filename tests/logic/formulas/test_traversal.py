"""The folds over formulas."""

from __future__ import annotations

from hypothesis import given

from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
    Cardinality,
    Comparison,
    Constant,
    CountingExists,
    Equality,
    ForAll,
    Iff,
    Implies,
    Not,
    Or,
    Truth,
    Variable,
)
from mlnlab.logic.formulas.traversal import (
    atoms,
    children,
    constants,
    leaves,
    map_children,
    map_terms,
    predicates,
    subformulas,
    terms,
)
from tests.support.strategies import cases

X, Y = Variable("x", "person"), Variable("y", "person")
ANNA, ONE = Constant("Anna", "person"), Constant("1", "time")
P, Q = Atom("P", (X, ANNA)), Atom("Q", (Arithmetic("+", Y, ONE),))
EVERYTHING = ForAll(
    (X,),
    Implies(
        And((P, Or((Q, Not(P))))),
        Iff(CountingExists("=", 1, (Y,), Equality(X, Y)), Cardinality("R", ("person",), "<", 3)),
    ),
)


@given(cases())
def test_changing_nothing_changes_nothing(case):
    for part in subformulas(case.formula):
        assert map_children(part, lambda child: child) == part
        assert map_terms(part, lambda term: term) == part


@given(cases())
def test_every_child_is_changed(case):
    for part in subformulas(case.formula):
        changed = map_children(part, Not)
        assert type(changed) is type(part)
        assert children(changed) == tuple(map(Not, children(part)))


def test_reading_order():
    assert atoms(EVERYTHING) == (P, Q)
    assert predicates(EVERYTHING) == ("P", "Q", "R")
    assert constants(EVERYTHING) == (ANNA, ONE)
    assert [type(part).__name__ for part in subformulas(EVERYTHING)] == [
        *("ForAll", "Implies", "And", "Atom", "Or", "Atom", "Not", "Atom"),
        *("Iff", "CountingExists", "Equality", "Cardinality"),
    ]


def test_terms_of_atomic_formulas_only():
    assert terms(P) == (X, ANNA)
    assert terms(Comparison("<", X, ONE)) == (X, ONE)
    assert terms(Not(P)) == ()
    assert terms(Truth(True)) == ()
    assert list(leaves(Arithmetic("*", Arithmetic("+", X, ONE), Y))) == [X, ONE, Y]


def test_changing_terms():
    assert map_terms(P, lambda _: Y) == Atom("P", (Y, Y))
    assert map_terms(Equality(X, Y), lambda _: ANNA) == Equality(ANNA, ANNA)
    assert map_terms(Comparison(">", X, Y), lambda _: ONE) == Comparison(">", ONE, ONE)
    assert map_terms(Not(P), lambda _: Y) == Not(P)
