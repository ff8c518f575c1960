"""Counting in DuckDB: equal to brute force on small cases, equal to the planner on larger ones."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

import mlnlab as ml
from mlnlab.counting.counter import Counter
from mlnlab.counting.duckdb_counter import count_in_duckdb
from mlnlab.counting.duckdb_deltas import deltas_in_duckdb
from mlnlab.counting.duckdb_store import store_of
from mlnlab.counting.facts import facts_from_tables, facts_of
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.ground_atoms import GroundAtom
from mlnlab.logic.vocabulary import FrozenMapping, Predicate, SizedDomain, Vocabulary
from mlnlab.model.world import World
from tests import strategies
from tests.counting.clause_cases import clause_cases

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))


def in_duckdb(formula, facts):
    with store_of(facts, threads=1) as store:
        tables = len(store.rows)
        number = count_in_duckdb(formula, store)
        # What was made for the formula is gone; empty tables of predicates without facts may have come.
        assert len(store.rows) <= max(tables, len(store.tables))
    return number


def brute_force(formula, world):
    return sum(evaluate(formula, world, binding) for binding in groundings(formula, world))


@settings(SLOW, max_examples=500)
@given(clause_cases())
def test_random_clauses_are_counted_as_brute_force_counts(case):
    facts = facts_of(case.world)
    counted = in_duckdb(case.formula, facts)
    assert counted == brute_force(case.formula, case.world)
    assert counted == Counter(case.formula, facts.vocabulary)(facts)
    assert type(counted) is int


@settings(SLOW, max_examples=300)
@given(strategies.cases())
def test_formulas_of_every_kind_are_counted_as_brute_force_counts(case):
    world = World(case.vocabulary, frozenset(GroundAtom(*atom) for atom in case.world.true_atoms))
    try:
        expected = brute_force(case.formula, world)
    except ml.ArgumentError:  # a comparison of what is undefined
        assume(False)
    assert in_duckdb(case.formula, facts_of(world)) == expected


@settings(SLOW, max_examples=200)
@given(clause_cases(most_literals=4))
def test_changes_by_one_atom_are_those_of_counting_twice(case):
    check_changes(case.formula, case.world)


@settings(SLOW, max_examples=60)
@given(strategies.cases())
def test_changes_of_formulas_of_every_kind(case):
    world = World(case.vocabulary, frozenset(GroundAtom(*atom) for atom in case.world.true_atoms))
    check_changes(case.formula, world)


def check_changes(formula, world):
    for predicate in world.vocabulary.predicates.values():
        domains = [world.vocabulary.domain(type_) for type_ in predicate.types]
        atoms = [GroundAtom(predicate.name, names) for names in product(*domains)]
        if not atoms:
            continue
        numbers = [[d.number(n) for d, n in zip(domains, a.arguments, strict=True)] for a in atoms]
        rows = np.array(numbers, np.uint32).reshape(len(atoms), len(domains))
        try:
            with store_of(facts_of(world), threads=1) as store:
                found = deltas_in_duckdb(formula, store, predicate.name)
            expected = [
                brute_force(formula, World(world.vocabulary, world.true_atoms | {atom}))
                - brute_force(formula, World(world.vocabulary, world.true_atoms - {atom}))
                for atom in atoms
            ]
        except ml.ArgumentError:  # a comparison of what is undefined
            assume(False)
        assert found.at(rows).tolist() == expected
