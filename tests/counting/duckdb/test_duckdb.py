"""Counting in DuckDB: equal to brute force on small cases, equal to the planner on larger ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.counts.counting_methods import count_all_in_duckdb
from mlnlab.counting.deltas.deltas import DeltaCounter
from mlnlab.counting.duckdb import duckdb_counter
from mlnlab.counting.duckdb.duckdb_counter import count_in_duckdb
from mlnlab.counting.facts.sorted_facts import facts_from_tables, facts_of
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.weights import Soft, WeightedFormula
from mlnlab.logic.vocabulary import FrozenMapping, Predicate, SizedDomain, Vocabulary
from mlnlab.model.database.world import World
from mlnlab.steps import budget
from tests.counting.clause_cases import clause_cases
from tests.counting.shared_duckdb import facts_in
from tests.support import strategies
from tests.support.thoroughness import examples

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))


def in_duckdb(formula, facts, connection):
    with facts_in(connection, facts) as store:
        tables = len(store.rows)
        number = count_in_duckdb(formula, store)
        # What was made for the formula is gone; empty tables of predicates without facts may have come.
        assert len(store.rows) <= max(tables, len(store.tables))
    return number


def brute_force(formula, world):
    return sum(evaluate(formula, world, binding) for binding in groundings(formula, world))


@settings(SLOW, max_examples=examples(60))  # five hundred others are in test_five_hundred_clauses.py
@given(clause_cases())
def test_random_clauses_are_counted_as_brute_force_counts(duckdb, case):
    facts = facts_of(case.world)
    counted = in_duckdb(case.formula, facts, duckdb)
    assert counted == brute_force(case.formula, case.world)
    assert counted == Counter(case.formula, facts.vocabulary)(facts)
    assert type(counted) is int


@settings(SLOW, max_examples=examples(100))
@given(strategies.cases())
def test_formulas_of_every_kind_are_counted_as_brute_force_counts(duckdb, case):
    world = World(case.vocabulary, frozenset(GroundAtom(*atom) for atom in case.world.true_atoms))
    try:
        expected = brute_force(case.formula, world)
    except ml.ArgumentError:  # a comparison of what is undefined
        assume(False)
    assert in_duckdb(case.formula, facts_of(world), duckdb) == expected


def test_an_equality_and_its_negation_contradict_after_renaming(duckdb):
    mln = ml.MLN.from_text("P(t, t)\nt = {A, B}\nP(x,x) v x = y v !P(x,y)")
    for facts in ([], [("P", ("A", "A"))], [("P", ("A", "B")), ("P", ("B", "B"))]):
        world = ml.World.of(mln.vocabulary, facts)
        formula = mln.formulas[0].formula
        assert in_duckdb(formula, facts_of(world), duckdb) == brute_force(formula, world)


# --- beyond brute force -------------------------------------------------------------------------


def vocabulary(size):
    signatures = {**dict.fromkeys("ABCD", ("t", "t")), "U": ("t",), "T": ("t", "t", "t")}
    predicates = {name: Predicate(name, types) for name, types in signatures.items()}
    return Vocabulary(FrozenMapping({"t": SizedDomain("K", size)}), FrozenMapping(predicates))


def random_facts(size, tuples, seed=0):
    rng, words = np.random.default_rng(seed), vocabulary(size)
    return facts_from_tables(
        words,
        {
            name: rng.integers(0, size, (tuples, p.arity)).astype(np.uint32)
            for name, p in words.predicates.items()
        },
    )


LARGER = [
    "A(x,y) ^ B(y,z) => C(x,z)",
    "A(x,y) ^ B(y,z) ^ C(z,w) ^ D(w,x)",
    "A(x,y) ^ B(y,z) ^ C(z,x) ^ !D(x,z) ^ x != y",
    "A(x,y) v B(y,z) v !C(z,w)",
    "A(x,x) v !U(x) v x = K7",
    "A(x,y) <=> A(y,x)",
    "T(x,y,z) ^ A(x,y) ^ B(y,z) ^ C(x,z) => T(z,y,x)",
    "EXIST y (A(x,y) ^ B(y,z)) => C(x,z)",
    "FORALL y (A(x,y) => U(y))",
    "EXIST>=2 y (A(x,y) ^ U(y)) v B(x,K3)",
    "U(x) ^ !A(x,y) ^ !B(y,x) ^ U(y)",
]


@pytest.mark.parametrize("text", LARGER)
def test_larger_counts_equal_those_by_plans(duckdb, text):
    facts = random_facts(400, 3_000)
    formula = ml.MLN(facts.vocabulary).parse(text)
    assert in_duckdb(formula, facts, duckdb) == Counter(formula, facts.vocabulary)(facts)


@pytest.mark.parametrize("text", LARGER[:7])
@pytest.mark.parametrize("predicate", ["A", "U"])
def test_changes_by_plans_equal_two_counts_in_duckdb(duckdb, text, predicate):
    facts = random_facts(60, 300)
    formula = ml.MLN(facts.vocabulary).parse(text)
    changes = DeltaCounter([formula], facts.vocabulary)(facts, predicate)
    listed, other = facts.rows(predicate)[0], np.full_like(facts.rows(predicate)[0], 17)
    for row in (listed, other):
        rest = facts.rows(predicate)[(facts.rows(predicate) != row).any(axis=1)]
        numbers = [
            in_duckdb(formula, facts_from_tables(facts.vocabulary, {**facts.tables, predicate: rows}), duckdb)
            for rows in (np.vstack([rest, row]), rest)
        ]
        assert changes.at(row[None])[0, 0] == numbers[0] - numbers[1]


def test_counts_pass_128_bits(duckdb):
    facts = random_facts(5_000_000, 300)
    star, small = (" ^ ".join(f"A(x,y{k})" for k in range(width)) for width in (12, 4))
    everywhere = f"U(v1) v U(v2) v ({small})"  # among 5,000,000 to the 7th power
    for text in (small, everywhere):
        formula = ml.MLN(facts.vocabulary).parse(text)
        assert in_duckdb(formula, facts, duckdb) == Counter(formula, facts.vocabulary)(facts)
    hub = np.column_stack([np.zeros(3_000, np.uint32), np.arange(3_000, dtype=np.uint32)])
    facts = facts_from_tables(facts.vocabulary, {"A": hub})
    assert in_duckdb(ml.MLN(facts.vocabulary).parse(star), facts, duckdb) == 3_000**12 > 1 << 128


def test_numbers_are_found_from_their_remainders():
    for number in (0, 1, 3_000**16, (1 << 300) - 1):
        moduli = duckdb_counter._moduli(1 << 300)
        assert duckdb_counter.from_remainders([number % m for m in moduli], moduli) == number


def test_joins_without_end_are_refused_before_they_begin(monkeypatch):
    facts = random_facts(100, 5_000)
    monkeypatch.setattr(budget, "MOST_JOINED_ROWS", 1e5)
    mln = ml.MLN(facts.vocabulary, (WeightedFormula(ml.MLN(facts.vocabulary).parse(LARGER[1]), Soft(1.0)),))
    with pytest.raises(
        ml.TooLargeError, match=r"A\(x, y\).* too large to count(.|\n)*would join(.|\n)*Ways out"
    ):
        count_all_in_duckdb([one.formula for one in mln.formulas], facts)
