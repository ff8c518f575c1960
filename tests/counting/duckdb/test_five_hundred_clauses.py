"""Five hundred random typed clauses: n, Δn and counts that follow flips equal brute force.

Of these `make test` has the first two hundred.

Brute force is a tensor of truth values over all groundings (:mod:`tests.counting.duckdb.typed_clauses`),
itself compared with the definition of truth, grounding by grounding. Both ways to count are held to it,
DuckDB on some of them and, where the profile is thorough, on all; on larger worlds they equal each other.
"""

from __future__ import annotations

from collections import Counter as Tally

import numpy as np
import pytest

from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.deltas.deltas import DeltaCounter
from mlnlab.counting.duckdb.duckdb_clusters import estimate_in_files
from mlnlab.counting.duckdb.duckdb_counter import count_in_duckdb
from mlnlab.counting.duckdb.duckdb_store import store_of
from mlnlab.counting.facts.sorted_facts import facts_from_tables
from mlnlab.counting.incremental.incremental import IncrementalCounts
from mlnlab.factors.join_graphs.propagation import ClusterParams
from mlnlab.logic.evaluation import evaluate, groundings
from mlnlab.logic.formulas.formulas import Constant, Equality, Not, Or, Quantified
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import atoms, subformulas
from mlnlab.logic.vocabulary import FrozenMapping, Predicate, SizedDomain, Vocabulary
from mlnlab.model.mln.mln import MLN
from tests.counting.duckdb.typed_clauses import (
    counts_in_worlds,
    every_row,
    expected_deltas,
    random_cases,
)
from tests.counting.shared_duckdb import facts_in
from tests.support.thoroughness import examples

NUMBER, SEED = min(500, examples(400)), 2026
LARGER = 50


@pytest.fixture(scope="module")
def cases():
    return list(random_cases(NUMBER, SEED))


def in_one_world(case, tensors):
    alone = {name: table[None] for name, table in tensors.items()}
    return counts_in_worlds(case.formula, case.vocabulary, alone)[0]


@pytest.mark.random
def test_the_clauses_are_of_every_kind(cases):
    kinds = Tally()
    for case in cases:
        parts = list(subformulas(case.formula))
        found = atoms(case.formula)
        literals = [p for p in parts if not isinstance(p, Not | Or | Quantified)]
        names = [atom.predicate for atom in found]
        every = case.world().number_of_groundings(case.formula)
        kinds["five literals"] += len(literals) >= 5
        kinds["four or five variables"] += len(free_variables(case.formula)) >= 4
        kinds["arity 3"] += any(len(atom.arguments) == 3 for atom in found)
        kinds["repeated predicate"] += len(set(names)) < len(names)
        kinds["constant"] += any(isinstance(t, Constant) for atom in found for t in atom.arguments)
        kinds["equality"] += any(isinstance(p, Equality) for p in parts)
        kinds["quantifier"] += any(isinstance(p, Quantified) for p in parts)
        kinds["some groundings are false"] += 0 < in_one_world(case, case.tensors) < every
    print(dict(kinds))
    assert len({str(case.formula) for case in cases}) == NUMBER
    assert all(number >= NUMBER // 10 for number in kinds.values())
    assert kinds["some groundings are false"] > 0.7 * NUMBER


@pytest.mark.random
def test_the_tensors_hold_what_truth_is_defined_to_be(cases):
    for case in cases:
        world = case.world()
        one_by_one = sum(evaluate(case.formula, world, b) for b in groundings(case.formula, world))
        assert in_one_world(case, case.tensors) == one_by_one, str(case.formula)


@pytest.mark.random
def test_planned_counts_and_changes_equal_brute_force(cases):
    for case in cases:
        facts = case.facts()
        counted = Counter(case.formula, case.vocabulary)(facts)
        assert counted == in_one_world(case, case.tensors), str(case.formula)
        assert type(counted) is int
        deltas = DeltaCounter([case.formula], case.vocabulary)
        for predicate, table in case.tensors.items():
            found, expected = deltas(facts, predicate), expected_deltas(case, predicate)
            assert found.at(every_row(case, predicate))[:, 0].tolist() == expected, str(case.formula)
            assert merged_rows(found) == Tally(zip(expected, table.ravel().tolist(), strict=True))


def merged_rows(found):
    merged = found.merged()
    rows = zip(merged.values[:, 0].tolist(), merged.truths.tolist(), strict=True)
    return dict(zip(rows, merged.multiplicities, strict=True))


@pytest.mark.random
def test_counts_that_follow_flips_equal_brute_force(cases):
    rng = np.random.default_rng(SEED)
    for case in cases:
        counts = IncrementalCounts([case.formula], case.world())
        tensors = {name: table.copy() for name, table in case.tensors.items()}
        assert counts.numbers == [in_one_world(case, tensors)]
        for _ in range(8):
            predicate, row = random_atom(rng, tensors)
            before = in_one_world(case, tensors)
            tensors[predicate][row] ^= True
            after = in_one_world(case, tensors)
            atom = named(case, predicate, row)
            assert counts.change(atom) == [after - before], (str(case.formula), atom)
            assert counts.flip(atom) == [after - before]
            assert counts.numbers == [after]


def random_atom(rng, tensors):
    predicate = sorted(tensors)[rng.integers(len(tensors))]
    return predicate, tuple(int(rng.integers(size)) for size in tensors[predicate].shape)


def named(case, predicate, row):
    domains = map(case.vocabulary.domain, case.vocabulary[predicate].types)
    return GroundAtom(predicate, tuple(domain[n] for domain, n in zip(domains, row, strict=True)))


@pytest.mark.random
def test_counts_in_duckdb_equal_brute_force(cases, duckdb):
    for case in cases[: examples(75)]:
        with facts_in(duckdb, case.facts()) as store:
            number = count_in_duckdb(case.formula, store)
            assert number == in_one_world(case, case.tensors), str(case.formula)


@pytest.mark.random
def test_clusters_over_tables_that_duckdb_aggregates_equal_brute_force(cases, duckdb):
    for case in cases[: examples(75)]:
        with facts_in(duckdb, case.facts()) as store:
            found = estimate_in_files(case.formula, store, ClusterParams(i=9))
            assert (found.number, found.exact) == (in_one_world(case, case.tensors), True), str(case.formula)


def test_on_larger_worlds_both_ways_equal_each_other(duckdb):
    numbers, rng = [], np.random.default_rng(SEED)
    for case in random_cases(LARGER, SEED + 1, people=(9, 14, 20), houses=(7, 11)):
        facts = case.facts()
        with facts_in(duckdb, facts) as store:
            numbers.append(count_in_duckdb(case.formula, store))
            assert numbers[-1] == Counter(case.formula, case.vocabulary)(facts), str(case.formula)
        # A flip changes the count by Δn of its atom.
        predicate, row = random_atom(rng, case.tensors)
        change = DeltaCounter([case.formula], case.vocabulary)(facts, predicate)
        change = change.at(np.array([row], np.uint32))[0, 0]
        case.tensors[predicate][row] ^= True
        with facts_in(duckdb, case.facts()) as store:
            after = count_in_duckdb(case.formula, store)
        assert after - numbers[-1] == (change if case.tensors[predicate][row] else -change), str(case.formula)
    assert len(numbers) == LARGER
    assert max(numbers) > 100_000


def test_dense_cycles_with_parallel_atoms_are_counted_alike_by_both():
    """Several atoms over the same two variables, both ways round, in tables of very different lengths."""
    rng = np.random.default_rng(SEED)
    names = dict.fromkeys("ABCDE", ("t", "t"))
    words = Vocabulary(
        FrozenMapping({"t": SizedDomain("K", 60)}),
        FrozenMapping({name: Predicate(name, types) for name, types in names.items()}),
    )
    lengths = {"A": 1500, "B": 900, "C": 700, "D": 300, "E": 60}
    facts = facts_from_tables(
        words, {name: rng.integers(0, 60, (lengths[name], 2)).astype(np.uint32) for name in names}
    )
    with store_of(facts, threads=1) as store:
        for _ in range(60):
            atoms_ = [f"{'ABCDE'[rng.integers(5)]}({a},{b})" for a, b in cycle_with_parallels(rng)]
            formula = MLN(words).parse(" ^ ".join(atoms_))
            assert Counter(formula, words)(facts) == count_in_duckdb(formula, store), str(formula)


def cycle_with_parallels(rng):
    """The edges of a cycle over three or four variables, and one or two of them again; each way round."""
    variables = "xyzw"[: rng.integers(3, 5)]
    edges = list(zip(variables, variables[1:] + variables[:1], strict=True))
    edges += [edges[rng.integers(len(edges))] for _ in range(rng.integers(1, 3))]
    return [edge[::-1] if rng.random() < 0.5 else edge for edge in edges]
