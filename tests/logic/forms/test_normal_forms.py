"""Negation normal form, standardising apart and prenex form keep the truth and have their shapes."""

from __future__ import annotations

import pytest
from hypothesis import given

from mlnlab.errors import TooLargeError
from mlnlab.logic.evaluation import evaluate
from mlnlab.logic.forms.normal_forms import nnf, prenex, standardise_apart
from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
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
    Quantified,
    Variable,
)
from mlnlab.logic.formulas.substitution import all_variables, free_variables
from mlnlab.logic.formulas.traversal import children, subformulas
from tests.support.strategies import VARIABLES, cases

X, Y = Variable("x", "person"), Variable("y", "person")
T = Variable("t", "time")
A, B = Atom("A", ()), Atom("B", ())


def p(term):
    return Atom("P", (term,))


def q(term):
    return Atom("Q", (term,))


@given(cases())
def test_nnf_keeps_the_truth(case):
    normal = nnf(case.formula)
    for binding in case.bindings():
        assert evaluate(normal, case.world, binding) == evaluate(case.formula, case.world, binding)


@given(cases())
def test_nnf_negates_only_atoms_and_equalities(case):
    for part in subformulas(nnf(case.formula)):
        assert not isinstance(part, Implies | Iff)
        assert not isinstance(part, Not) or isinstance(part.operand, Atom | Equality)


def test_nnf_by_hand():
    assert nnf(Not(ForAll((X,), Implies(p(X), q(X))))) == Exists((X,), And((p(X), Not(q(X)))))
    assert nnf(Not(Iff(A, B))) == And((Or((Not(A), Not(B))), Or((A, B))))
    assert nnf(Not(Comparison("<", T, T))) == Comparison(">=", T, T)
    counting = CountingExists("<=", 2, (X,), Not(Not(p(X))))
    assert nnf(Not(counting)) == CountingExists(">", 2, (X,), p(X))


def test_nested_equivalences_are_refused_before_they_explode():
    formula = A
    for _ in range(90):
        formula = Iff(formula, B)
    with pytest.raises(TooLargeError, match="<=>"):
        nnf(formula)


@given(cases())
def test_standardising_apart_keeps_the_truth(case):
    apart = standardise_apart(case.formula)
    for binding in case.bindings():
        assert evaluate(apart, case.world, binding) == evaluate(case.formula, case.world, binding)


@given(cases())
def test_standardising_apart_gives_every_quantifier_names_of_its_own(case):
    taken = VARIABLES["person"][:1]
    apart = standardise_apart(case.formula, taken)
    bound = [
        variable.name
        for part in subformulas(apart)
        if isinstance(part, Quantified)
        for variable in part.variables
    ]
    other = {variable.name for variable in (*free_variables(apart), *taken)}
    assert len(set(bound)) == len(bound)
    assert not other & set(bound)
    assert free_variables(apart) == free_variables(case.formula)


def test_standardising_apart_keeps_names_that_are_free_to_use():
    formula = And((p(X), ForAll((X,), p(X)), ForAll((Y,), p(Y)), ForAll((Y,), p(Y))))
    first, second = Variable("x1", "person"), Variable("y1", "person")
    assert standardise_apart(formula) == And(
        (p(X), ForAll((first,), p(first)), ForAll((Y,), p(Y)), ForAll((second,), p(second)))
    )


def test_standardising_apart_respects_hidden_variables():
    apart = standardise_apart(Exists((X,), And((p(X), ForAll((X,), q(X))))))
    assert apart == Exists(
        (X,), And((p(X), ForAll((Variable("x1", "person"),), q(Variable("x1", "person")))))
    )


def test_standardising_apart_avoids_names_of_constants():
    constant = Constant("x", "person")
    apart = standardise_apart(And((p(constant), ForAll((X,), p(X)))))
    assert [variable.name for variable in all_variables(apart)] == ["x1"]


@given(cases(empty_types=False, depth=2))
def test_prenex_keeps_the_truth_where_no_type_is_empty(case):
    front = prenex(case.formula)
    for binding in case.bindings(most=8):
        assert evaluate(front, case.world, binding) == evaluate(case.formula, case.world, binding)


def has_plain_quantifier(formula):
    if isinstance(formula, ForAll | Exists):
        return True
    return not isinstance(formula, CountingExists) and any(map(has_plain_quantifier, children(formula)))


@given(cases())
def test_prenex_has_all_quantifiers_in_front(case):
    front = prenex(case.formula)
    while isinstance(front, ForAll | Exists):
        front = front.body
    assert not has_plain_quantifier(front)


def test_prenex_by_hand():
    formula = Or((Exists((X,), p(X)), ForAll((X,), q(X)), Exists((Y,), q(Y))))
    x1 = Variable("x1", "person")
    assert prenex(formula) == ForAll((x1,), Exists((X, Y), Or((p(X), q(x1), q(Y)))))


def test_prenex_leaves_arithmetic_where_nothing_moves():
    step = Arithmetic("+", T, Constant("1", "time"))
    formula = ForAll((T,), Or((Not(p(T)), p(step))))
    assert prenex(formula) == formula


def test_prenex_names_arithmetic_that_would_restrict_too_much():
    step = Arithmetic("+", T, Constant("1", "time"))
    value = Variable("t1", "time")
    expected = Exists((T, value), Or((A, And((Equality(value, step), p(value))))))
    assert prenex(Or((A, Exists((T,), p(step))))) == expected
