"""The canonical form is blind to names and order, and to nothing else."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.logic.evaluation import evaluate
from mlnlab.logic.forms.canonical import canonical, equivalent_up_to_renaming
from mlnlab.logic.forms.normal_forms import standardise_apart
from mlnlab.logic.formulas.formulas import (
    And,
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
    Variable,
)
from mlnlab.logic.formulas.substitution import all_variables, free_variables, substitute, with_body
from tests.support.formula_variants import renamed, shuffled, with_names
from tests.support.strategies import cases, formulas, literals, vocabularies

PEOPLE = [Variable(f"a{number}", "person") for number in range(16)]
X, Y, Z = PEOPLE[:3]


def edge(first, second):
    return Atom("E", (first, second))


def p(term):
    return Atom("P", (term,))


# --- an independent meaning of "equal up to renaming and order" -----------------------------------


def without_order(formula):
    """A value that is equal for formulas that differ in order only."""
    match formula:
        case And(operands) | Or(operands):
            return type(formula).__name__, tuple(sorted(map(repr, map(without_order, operands))))
        case Iff(left, right):
            return "Iff", tuple(sorted([repr(without_order(left)), repr(without_order(right))]))
        case Equality(left, right):
            return "Equality", tuple(sorted([repr(left), repr(right)]))
        case ForAll(variables, body) | Exists(variables, body) | CountingExists(_, _, variables, body):
            head = repr(with_body(formula, (), p(X)))
            return head, tuple(sorted(map(repr, variables))), without_order(body)
        case Not() | Implies():
            parts = (formula.operand,) if isinstance(formula, Not) else (formula.premise, formula.conclusion)
            return (type(formula).__name__, *map(without_order, parts))
        case _:
            return repr(formula)


def equal_by_brute_force(left, right):
    """Try every renaming of the variables."""
    left, right = standardise_apart(left), standardise_apart(right)
    mine, other = all_variables(left), all_variables(right)
    target = without_order(right)
    return any(
        without_order(with_names(left, dict(zip(mine, order, strict=True)))) == target
        for order in permutations(other)
        if len(mine) == len(other) and all(one.type == two.type for one, two in zip(mine, order, strict=True))
    )


# --- properties -----------------------------------------------------------------------------------


@given(cases(), st.randoms(use_true_random=False))
def test_names_and_order_do_not_matter(case, chance):
    variant = shuffled(renamed(case.formula, chance), chance)
    assert canonical(variant) == canonical(case.formula)


def test_parts_that_only_their_own_order_tells_apart_are_alike():
    def q(term):
        return Atom("Q", (term,))

    loop, away, last = edge(X, X), And((edge(X, Y), q(Z))), PEOPLE[3]
    assert canonical(Or((And((q(last), loop)), away))) == canonical(Or((And((loop, q(last))), away)))


@given(cases())
def test_the_canonical_form_is_a_form_of_the_formula(case):
    form = canonical(case.formula)
    assert canonical(form) == form
    assert equal_up_to_order_after_renaming(case, form)


def equal_up_to_order_after_renaming(case, form):
    """Compare truth values: the form's free variables can be matched with the formula's in some way."""
    mine, other = free_variables(case.formula), free_variables(form)
    if sorted(variable.type for variable in mine) != sorted(variable.type for variable in other):
        return False
    matchings = (
        dict(zip(mine, order, strict=True))
        for order in permutations(other)
        if all(one.type == two.type for one, two in zip(mine, order, strict=True))
    )
    bindings = case.bindings(most=12)
    return any(
        all(
            evaluate(case.formula, case.world, binding)
            == evaluate(form, case.world, {new[variable]: name for variable, name in binding.items()})
            for binding in bindings
        )
        for new in matchings
    )


@given(st.data())
def test_equal_exactly_if_brute_force_says_so(data):
    vocabulary = data.draw(vocabularies())
    small = formulas(vocabulary, depth=2).filter(
        lambda formula: len(all_variables(standardise_apart(formula))) < 6
    )
    left, right = data.draw(small), data.draw(small)
    assert equivalent_up_to_renaming(left, right) == equal_by_brute_force(left, right)


@given(st.data())
def test_clauses_that_are_nearly_alike(data):
    vocabulary = data.draw(vocabularies())
    clause = data.draw(st.lists(literals(vocabulary), min_size=1, max_size=4))
    left = Or(tuple(clause))
    variables = free_variables(left)
    if not variables:
        return
    # Identifying or exchanging variables in one literal only gives neighbours that are easily confused.
    one, two = data.draw(st.sampled_from(variables)), data.draw(st.sampled_from(variables))
    if one.type != two.type:
        return
    place = data.draw(st.integers(0, len(clause) - 1))
    right = Or((*clause[:place], substitute(clause[place], {one: two, two: one}), *clause[place + 1 :]))
    assert equivalent_up_to_renaming(left, right) == equal_by_brute_force(left, right)


# --- by hand ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (Or((p(X), Not(p(Y)))), Or((Not(p(X)), p(Y))), True),
        (Or((edge(X, Y), edge(Y, X))), Or((edge(X, Y), edge(X, Y))), False),
        (Or((edge(X, Y), edge(Y, Z))), Or((edge(Z, X), edge(Y, Z))), True),
        (Or((edge(X, Y), edge(Y, Z))), Or((edge(X, Y), edge(X, Z))), False),
        (Exists((X,), edge(X, Y)), Exists((Y,), edge(Y, X)), True),
        (Exists((X,), edge(X, Y)), Exists((X,), edge(Y, X)), False),
        (Exists((X, Y), edge(X, Y)), Exists((Y, X), edge(X, Y)), True),
        (Exists((X,), ForAll((Y,), edge(X, Y))), Exists((X,), ForAll((Y,), edge(Y, X))), False),
        (And((p(X), p(X))), And((p(X),)), False),
        (Implies(p(X), p(Y)), Implies(p(Y), p(X)), True),
        (Implies(p(X), edge(X, Y)), Implies(edge(X, Y), p(X)), False),
        (Iff(p(X), edge(X, Y)), Iff(edge(Z, X), p(Z)), True),
        (Equality(X, Constant("Anna", "person")), Equality(Constant("Anna", "person"), Y), True),
        (p(X), p(Variable("x", "movie")), False),
        (And((p(X), Exists((X,), p(X)))), And((p(Y), Exists((X,), p(X)))), True),
        (CountingExists("=", 1, (X,), p(X)), CountingExists("=", 2, (X,), p(X)), False),
    ],
)
def test_by_hand(left, right, same):
    assert equivalent_up_to_renaming(left, right) == same
