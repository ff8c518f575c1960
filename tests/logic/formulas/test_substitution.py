"""Substitution: the substitution lemma, and that nothing is captured."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mlnlab.logic.evaluation import evaluate
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
    Constant,
    CountingExists,
    Exists,
    ForAll,
    Or,
    Variable,
)
from mlnlab.logic.formulas.substitution import (
    all_variables,
    free_variables,
    fresh_variable,
    ground,
    substitute,
    substitute_term,
    with_body,
)
from tests.support.strategies import VARIABLES, cases

X, Y, Z = (Variable(name, "person") for name in "xyz")
X1 = Variable("x1", "person")
ANNA = Constant("Anna", "person")


def p(*terms):
    return Atom("P", terms)


@given(cases())
def test_substitution_lemma_for_constants(case):
    """Evaluating with x bound to c is evaluating after x := c (van Dalen, Logic and Structure, 2.5)."""
    for binding in case.bindings():
        assert evaluate(ground(case.formula, binding), case.world) == evaluate(
            case.formula, case.world, binding
        )


@given(cases(), st.data())
def test_substitution_lemma_for_variables(case, data):
    """Renaming free variables, also onto names that are bound inside, is composing the bindings."""
    free = free_variables(case.formula)
    renaming = {variable: data.draw(st.sampled_from(VARIABLES[variable.type])) for variable in free}
    changed = substitute(case.formula, renaming)
    assert set(free_variables(changed)) == set(renaming.values())
    for binding in case.bindings():
        values = {renaming[variable]: name for variable, name in binding.items()}
        if all(values[renaming[variable]] == name for variable, name in binding.items()):
            assert evaluate(changed, case.world, values) == evaluate(case.formula, case.world, binding)


@given(cases())
def test_substituting_nothing_or_absent_variables_changes_nothing(case):
    absent = Variable("absent", "person")
    assert substitute(case.formula, {}) == case.formula
    assert substitute(case.formula, {absent: ANNA}) == case.formula
    assert substitute(case.formula, {variable: variable for variable in free_variables(case.formula)}) == (
        case.formula
    )


def test_a_bound_variable_makes_way():
    assert substitute(Exists((X,), p(X, Y)), {Y: X}) == Exists((X1,), p(X1, X))
    assert substitute(CountingExists("<", 3, (X,), p(X, Y)), {Y: X}) == CountingExists(
        "<", 3, (X1,), p(X1, X)
    )


def test_the_new_name_is_not_captured_by_an_inner_quantifier():
    formula = Exists((X,), ForAll((X1,), p(X, X1, Y)))
    changed = substitute(formula, {Y: X})
    inner = changed.body.body
    assert len(set(inner.arguments)) == 3
    assert inner.arguments[2] == X
    assert (changed.variables[0], changed.body.variables[0]) == inner.arguments[:2]


def test_bound_variables_are_not_replaced():
    assert substitute(And((p(X), ForAll((X,), p(X)))), {X: ANNA}) == And((p(ANNA), ForAll((X,), p(X))))


def test_all_at_once():
    assert substitute(p(X, Y), {X: Y, Y: X}) == p(Y, X)
    assert substitute_term(Arithmetic("+", X, Y), {X: Y, Y: ANNA}) == Arithmetic("+", Y, ANNA)


def test_variables_in_reading_order():
    formula = Or((p(Y), Exists((Z,), p(X, Z)), p(Arithmetic("+", X1, Y))))
    assert free_variables(formula) == (Y, X, X1)
    assert all_variables(formula) == (Y, Z, X, X1)


def test_a_variable_is_its_name_and_its_type():
    movie = Variable("x", "movie")
    assert free_variables(Exists((X,), p(X, movie))) == (movie,)


def test_fresh_names():
    assert fresh_variable(X, []) == X
    assert fresh_variable(X, [X, X1]) == Variable("x2", "person")
    assert fresh_variable(X1, [X1]) == Variable("x2", "person")
    assert fresh_variable(Variable("12"), [Variable("12")]) == Variable("121")


def test_a_quantifier_keeps_its_kind():
    assert with_body(CountingExists("=", 1, (X,), p(X)), (Y,), p(Y)) == CountingExists("=", 1, (Y,), p(Y))
