"""Width-bounded elimination against brute force and against transfer matrices, whatever the signs."""

from __future__ import annotations

from hypothesis import HealthCheck, assume, given, settings

import mlnlab as ml
from mlnlab.counting.facts import facts_of
from mlnlab.counting.formula_networks import formula_network
from mlnlab.counting.network_counter import BoundNetwork, DenseRun
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.ground_atoms import GroundAtom
from mlnlab.model.world import World
from tests import strategies
from tests.counting.clause_cases import clause_cases

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))


def brute_force(formula, world):
    return sum(evaluate(formula, world, binding) for binding in groundings(formula, world))


def by_network(formula, world):
    network = BoundNetwork(formula_network(formula), world.vocabulary)
    return int(network.counts(DenseRun(facts_of(world, world.vocabulary))))


@settings(SLOW, max_examples=300)
@given(clause_cases(most_literals=9))
def test_random_clauses_by_elimination_equal_brute_force(case):
    assert by_network(case.formula, case.world) == brute_force(case.formula, case.world)


@settings(SLOW, max_examples=400)
@given(strategies.cases())
def test_formulas_of_every_kind_by_elimination_equal_brute_force(case):
    world = World(case.vocabulary, frozenset(GroundAtom(*atom) for atom in case.world.true_atoms))
    try:
        expected = brute_force(case.formula, world)
    except ml.ArgumentError:  # a comparison of what is undefined
        assume(False)
    assert by_network(case.formula, world) == expected
