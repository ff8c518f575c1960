"""Clausal form means the same as the formula, binding by binding and as a whole."""

from __future__ import annotations

import pytest
from hypothesis import assume, given

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.logic.building import variables
from mlnlab.logic.evaluation import bindings, evaluate, groundings
from mlnlab.logic.forms.clauses import clause_formula, cnf, is_clause, is_literal
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
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
from mlnlab.logic.formulas.substitution import free_variables
from tests.support.strategies import cases

X, Y = Variable("x", "person"), Variable("y", "person")
T, S = Variable("t", "time"), Variable("s", "time")
A, B, C = (Atom(name, ()) for name in "ABC")
ONE = Constant("1", "time")
PEOPLE = {"person": ("Anna", "Bob")}


def friends(first, second):
    return Atom("Friends", (first, second))


def smokes(person):
    return Atom("Smokes", (person,))


def clauses_or_skip(case):
    try:
        clauses = cnf(case.formula, case.vocabulary.types)
    except TooLargeError:
        assume(False)
    assume(sum(map(len, clauses)) < 300)
    return clauses


@given(cases(depth=2))
def test_clauses_hold_exactly_where_the_formula_does(case):
    clauses = [clause_formula(clause) for clause in clauses_or_skip(case)]
    for binding in case.bindings(most=4):
        expected = evaluate(case.formula, case.world, binding)
        assert expected == all(holds_for_all(clause, case.world, binding) for clause in clauses)


def holds_for_all(clause, world, binding):
    further = [variable for variable in free_variables(clause) if variable not in binding]
    return all(evaluate(clause, world, full) for full in bindings(further, clause, world, binding))


@given(cases(depth=2))
def test_the_closed_clauses_together_are_the_closed_formula(case):
    clauses = [clause_formula(clause) for clause in clauses_or_skip(case)]
    expected = all(
        evaluate(case.formula, case.world, binding) for binding in groundings(case.formula, case.world)
    )
    found = all(
        evaluate(clause, case.world, binding)
        for clause in clauses
        for binding in groundings(clause, case.world)
    )
    assert found == expected


@given(cases(depth=2))
def test_clauses_are_clauses(case):
    for clause in clauses_or_skip(case):
        assert is_clause(clause_formula(clause))
        assert len(set(clause)) == len(clause)


def test_the_clauses_that_alchemy_prints():
    formula = Implies(friends(X, Y), Iff(smokes(X), smokes(Y)))
    assert cnf(formula) == (
        (Not(friends(X, Y)), Not(smokes(X)), smokes(Y)),
        (Not(friends(X, Y)), smokes(X), Not(smokes(Y))),
    )


def test_untyped_variables_are_enough_for_propositional_work():
    x, y = variables("x y")
    assert cnf((smokes(x) & friends(x, y)) >> smokes(y)) == ((Not(smokes(x)), Not(friends(x, y)), smokes(y)),)


def test_repeated_and_contradicting_literals():
    assert cnf(Or((A, And((A, B))))) == ((A,), (A, B))
    assert cnf(Or((And((A, B)), And((Not(A), C))))) == ((A, C), (B, Not(A)), (B, C))
    assert cnf(Or((A, Not(A)))) == ()
    assert cnf(And((A, Not(A)))) == ((),)
    assert cnf(Truth(True)) == ()
    assert cnf(And((Or((A, B)), Or((B, A))))) == ((A, B),)


def test_existential_quantifiers_are_written_out():
    formula = Exists((Y,), friends(X, Y))
    anna, bob = (Constant(name, "person") for name in PEOPLE["person"])
    assert cnf(formula, PEOPLE) == ((friends(X, anna), friends(X, bob)),)
    assert cnf(formula, {"person": ()}) == ()
    assert cnf(Or((A, Exists((Y,), smokes(Y)))), {"person": ()}) == ((A,),)


def test_copies_for_constants_have_universal_variables_of_their_own():
    clauses = cnf(Exists((X,), ForAll((Y,), friends(X, Y))), PEOPLE)
    assert len(clauses) == 1
    assert len(free_variables(clause_formula(clauses[0]))) == 2


def test_existential_quantifiers_need_constants():
    with pytest.raises(ArgumentError, match="pass domains="):
        cnf(Exists((Y,), friends(X, Y)))
    with pytest.raises(ArgumentError, match="person"):
        cnf(Exists((Y,), friends(X, Y)), {"movie": ("M",)})
    assert cnf(CountingExists("<=", 1, (Y,), friends(X, Y))) == (
        (CountingExists("<=", 1, (Y,), friends(X, Y)),),
    )


def test_universal_variables_are_free_and_do_not_collide():
    clauses = cnf(Or((smokes(X), ForAll((X,), friends(X, X)))))
    x1 = Variable("x1", "person")
    assert clauses == ((smokes(X), friends(x1, x1)),)


def test_blow_up_of_quantifiers_is_refused_at_once():
    many = {"person": tuple(f"P{number}" for number in range(2000))}
    with pytest.raises(TooLargeError, match="Written out over the constants") as caught:
        cnf(Exists((X, Y), friends(X, Y)), many)
    assert caught.value.estimate == 2000**2


def test_blow_up_of_distribution_is_refused_at_once():
    pairs = tuple(And((Atom(f"P{number}", ()), Atom(f"Q{number}", ()))) for number in range(2000))
    with pytest.raises(TooLargeError, match=r"more than 10\^"):
        cnf(Or(pairs))


def test_a_lost_guard_becomes_a_literal():
    # Off(t+1) lets t only be a moment with a successor; On(t) alone would claim it of the last one too.
    step = Arithmetic("+", T, ONE)
    on, off = Atom("On", (T,)), Atom("Off", (step,))
    assert cnf(Or((on, off))) == ((on, off),)
    value = Variable("t1", "time")
    assert cnf(And((on, off))) == ((on, Not(Equality(value, step))), (off,))


def test_arithmetic_over_outer_and_inner_variables():
    far = Atom("P", (Arithmetic("+", T, S),))
    clauses = cnf(Exists((S,), far), {"time": ("1", "2", "3")})
    one, two, three = (Constant(name, "time") for name in "123")
    assert clauses == (
        (Not(Equality(T, one)), Atom("P", (two,)), Atom("P", (three,))),
        (Not(Equality(T, two)), Atom("P", (three,))),
        (Not(Equality(T, three)),),
    )


@pytest.mark.parametrize(
    ("formula", "clause", "literal"),
    [
        (A, True, True),
        (Not(A), True, True),
        (Or((A, Not(B))), True, False),
        (Truth(False), True, False),
        (Truth(True), False, False),
        (Not(Not(A)), False, False),
        (And((A, B)), False, False),
        (Or((A, And((B, C)))), False, False),
        (Exists((X,), smokes(X)), False, False),
        (CountingExists("=", 1, (X,), smokes(X)), True, True),
    ],
)
def test_what_is_a_clause(formula, clause, literal):
    assert is_clause(formula) == clause
    assert is_literal(formula) == literal


def test_clauses_become_formulas():
    assert clause_formula(()) == Truth(False)
    assert clause_formula((A,)) == A
    assert clause_formula((A, B)) == Or((A, B))
