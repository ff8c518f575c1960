"""Δn by width-bounded elimination: every ground atom flipped, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.deltas.deltas import DeltaCounter, deltas_by_elimination
from mlnlab.counting.facts.sorted_facts import facts_of
from mlnlab.errors import TooLargeError
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.traversal import predicates
from mlnlab.model.database.world import World
from tests.counting.clause_cases import clause_cases
from tests.counting.counts.test_counter import brute_force
from tests.counting.formulas.test_formula_networks import chain, parsed, random_facts
from tests.support import strategies
from tests.support.thoroughness import examples

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))
REFUSED = TooLargeError("It was too large.", 1.0, ["ask for less"])


def with_and_without(world, atom):
    return [
        World(world.vocabulary, found) for found in (world.true_atoms | {atom}, world.true_atoms - {atom})
    ]


def check(formula, world):
    facts = facts_of(world, world.vocabulary)
    for name in predicates(formula):
        predicate = world.vocabulary[name]
        domains = [world.vocabulary.domain(type_) for type_ in predicate.types]
        sizes = [len(domain) for domain in domains]
        rows = np.array(list(np.ndindex(*sizes)), np.uint32).reshape(int(np.prod(sizes)), len(sizes))
        values = deltas_by_elimination(formula, predicate, facts, REFUSED)
        found = sum((value.at(rows, sizes, object) for value in values), np.zeros(len(rows), object))
        for row, change in zip(rows.tolist(), found, strict=True):
            atom = GroundAtom(name, tuple(domain[k] for domain, k in zip(domains, row, strict=True)))
            true, false = (brute_force(formula, one) for one in with_and_without(world, atom))
            assert change == true - false, str(atom)


@settings(SLOW, max_examples=examples(50))
@given(clause_cases(most_literals=6))
def test_random_clauses_change_as_brute_force_says(case):
    check(case.formula, case.world)


@settings(SLOW, max_examples=examples(50))
@given(strategies.cases())
def test_formulas_of_every_kind_change_as_brute_force_says(case):
    world = World(case.vocabulary, frozenset(GroundAtom(*atom) for atom in case.world.true_atoms))
    try:
        brute_force(case.formula, world)
    except ml.ArgumentError:  # a comparison of what is undefined
        assume(False)
    check(case.formula, world)


EXISTS = " ^ ".join(f"(EXIST y P(x{i},y))" for i in range(12))


@pytest.mark.parametrize("text", [chain(20), chain(14, " ^ "), EXISTS])
def test_many_occurrences_of_one_predicate_are_counted_by_elimination(text):
    facts = random_facts(4, density=0.8)
    formula = parsed(facts, text)
    counter, counter_of_all = DeltaCounter([formula], facts.vocabulary), Counter(formula, facts.vocabulary)
    rows = np.array(list(np.ndindex(4, 4)), np.uint32)
    found = counter(facts, "P").at(rows)[:, 0]
    world = ml.World.of(
        facts.vocabulary,
        [("P", tuple(facts.vocabulary.domain("t")[k] for k in row)) for row in facts.rows("P").tolist()],
    )
    for row, change in list(zip(rows.tolist(), found, strict=True))[::3]:
        atom = GroundAtom("P", tuple(facts.vocabulary.domain("t")[k] for k in row))
        true, false = (counter_of_all(one) for one in with_and_without(world, atom))
        assert change == true - false


def test_changes_that_are_too_large_are_refused_at_once():
    facts = random_facts(200)
    counter = DeltaCounter([parsed(facts, chain(20))], facts.vocabulary)
    with pytest.raises(ml.TooLargeError, match=r"cells(.|\n)*plan:(.|\n)*Ways out"):
        counter(facts, "P")
