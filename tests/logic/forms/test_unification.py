"""Unifiers unify and are most general; matching goes one way."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.logic.forms.simplification import simplify
from mlnlab.logic.forms.unification import match, unify
from mlnlab.logic.formulas.formulas import Arithmetic, Atom, Constant, Variable
from mlnlab.logic.formulas.substitution import free_variables, substitute

X, Y, Z = (Variable(name, "person") for name in "xyz")
M = Variable("m", "movie")
ANNA, BOB = Constant("Anna", "person"), Constant("Bob", "person")
T, S = Variable("t", "time"), Variable("s", "time")
ONE, THREE, FOUR = (Constant(name, "time") for name in "134")


def p(*terms):
    return Atom("P", terms)


def plus(left, right):
    return Arithmetic("+", left, right)


plain_terms = st.sampled_from([X, Y, Z, ANNA, BOB])
argument_lists = st.lists(plain_terms, min_size=4, max_size=4)


@given(argument_lists, argument_lists)
def test_unifiers_unify_and_none_means_that_nothing_does(left, right):
    first, second = p(*left), p(*right)
    unifier = unify(first, second)
    solutions = [
        binding
        for names in product([ANNA, BOB], repeat=3)
        if substitute(first, binding := dict(zip((X, Y, Z), names, strict=True)))
        == substitute(second, binding)
    ]
    if unifier is None:
        assert not solutions
        return
    assert substitute(first, unifier) == substitute(second, unifier)
    # Most general: every solution is an instance of it (Robinson 1965), here binding o unifier = binding.
    for binding in solutions:
        for variable, term in unifier.items():
            assert substitute(p(term), binding) == p(binding[variable])


@given(argument_lists, argument_lists)
def test_unifiers_are_resolved_and_symmetric(left, right):
    unifier = unify(p(*left), p(*right))
    assert (unifier is None) == (unify(p(*right), p(*left)) is None)
    for term in (unifier or {}).values():
        assert term not in unifier


@given(argument_lists, st.dictionaries(st.sampled_from([X, Y, Z]), plain_terms))
def test_matching_finds_the_instance(pattern, binding):
    target = substitute(p(*pattern), binding)
    found = match(p(*pattern), target)
    assert found is not None
    assert substitute(p(*pattern), found) == target
    assert set(found) == set(free_variables(p(*pattern)))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (p(X), p(ANNA), {X: ANNA}),
        (p(ANNA), p(X), {X: ANNA}),
        (p(X, X), p(Y, ANNA), {X: ANNA, Y: ANNA}),
        (p(X), p(X), {}),
        (p(ANNA), p(BOB), None),
        (p(X, X), p(ANNA, BOB), None),
        (p(X), p(M), None),
        (p(M), p(ANNA), None),
        (p(X), p(X, Y), None),
        (p(X), Atom("Q", (X,)), None),
        (p(T), p(plus(S, ONE)), {T: plus(S, ONE)}),
        (p(T), p(plus(T, ONE)), None),
        (p(plus(T, ONE)), p(plus(T, ONE)), {}),
        (p(plus(T, ONE)), p(plus(S, ONE)), None),
        (p(plus(THREE, ONE)), p(FOUR), {}),
        (p(plus(THREE, ONE)), p(THREE), None),
        (p(plus(Constant("3"), Constant("1"))), p(FOUR), {}),
        (p(plus(Constant("3"), Constant("1"))), p(T), {T: plus(Constant("3"), Constant("1"))}),
        (p(plus(T, ONE), T), p(FOUR, THREE), {T: THREE}),
        (p(plus(T, ONE), T), p(plus(S, ONE), S), {T: S}),
    ],
)
def test_unify_by_hand(left, right, expected):
    assert unify(left, right) == expected


@pytest.mark.parametrize(
    ("pattern", "atom", "expected"),
    [
        (p(X, Y), p(Y, X), {X: Y, Y: X}),
        (p(X, X), p(Y, Z), None),
        (p(ANNA), p(X), None),
        (p(X), p(M), None),
        (p(X, ANNA), p(X, ANNA), {X: X}),
        (p(T, plus(T, ONE)), p(THREE, FOUR), {T: THREE}),
        (p(T, plus(T, ONE)), p(S, plus(S, ONE)), {T: S}),
        (p(plus(T, ONE)), p(FOUR), None),
        (p(plus(T, ONE)), p(plus(T, ONE)), None),
        (p(T, T), p(FOUR, plus(THREE, ONE)), {T: FOUR}),
    ],
)
def test_match_by_hand(pattern, atom, expected):
    assert match(pattern, atom) == expected


def test_what_is_unified_by_value_is_equal_after_simplification():
    left, right = p(T, T), p(plus(THREE, ONE), FOUR)
    unifier = unify(left, right)
    assert simplify(substitute(left, unifier)) == simplify(substitute(right, unifier))


def test_undefined_arithmetic_is_equal_to_nothing_but_itself():
    half = Arithmetic("/", THREE, Constant("2", "time"))
    zeroth = Arithmetic("/", THREE, Constant("0", "time"))
    assert unify(p(half), p(zeroth)) is None
    assert unify(p(half), p(half)) == {}
