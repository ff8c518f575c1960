"""n_i against brute force: random clauses, formulas of every kind, and numbers beyond 64 bits."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings

import mlnlab as ml
from mlnlab.counting.counter import Counter
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.ground_atoms import GroundAtom
from mlnlab.model.world import World
from tests import strategies
from tests.counting.clause_cases import clause_cases

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))


def brute_force(formula, world):
    return sum(evaluate(formula, world, binding) for binding in groundings(formula, world))


@settings(SLOW, max_examples=500)
@given(clause_cases())
def test_random_clauses_are_counted_as_brute_force_counts(case):
    counted = Counter(case.formula, case.world.vocabulary)(case.world)
    assert counted == brute_force(case.formula, case.world)
    assert type(counted) is int


@settings(SLOW, max_examples=400)
@given(strategies.cases())
def test_formulas_of_every_kind_are_counted_as_brute_force_counts(case):
    world = World(case.vocabulary, frozenset(GroundAtom(*atom) for atom in case.world.true_atoms))
    try:
        expected = brute_force(case.formula, world)
    except ml.ArgumentError:  # a comparison of what is undefined
        assume(False)
    assert Counter(case.formula, case.vocabulary)(world) == expected
