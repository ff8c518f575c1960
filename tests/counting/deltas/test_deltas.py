"""Δn against counting twice: every ground atom of random formulas, merged rows, large numbers."""

from __future__ import annotations

from collections import Counter as Multiset
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.deltas.deltas import DeltaCounter, deltas
from mlnlab.counting.facts.sorted_facts import Facts, facts_from_tables
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.relations import sorted_rows
from mlnlab.logic.vocabulary import FrozenMapping, NamedDomain, Predicate, Vocabulary
from mlnlab.model.database.world import World
from tests.counting.clause_cases import clause_cases
from tests.counting.counts.test_counter import brute_force
from tests.counting.plans.test_plans import formula, vocabulary
from tests.support import strategies
from tests.support.thoroughness import examples

SLOW = settings(deadline=None, suppress_health_check=list(HealthCheck))


def with_atom(facts, predicate, row, *, true):
    """The facts with one ground atom true or false."""
    rows = facts.rows(predicate)
    others = rows[~np.all(rows == np.array(row, np.uint32), axis=1)] if len(row) else rows[:0]
    if true:
        others = np.concatenate([others, np.array([row], np.uint32).reshape(1, len(row))])
    return Facts(facts.vocabulary, {**facts.tables, predicate: sorted_rows(others)})


def all_rows(world, predicate):
    sizes = [len(world.vocabulary.domain(type_)) for type_ in world.vocabulary[predicate].types]
    rows = list(product(*map(range, sizes)))
    return np.array(rows, np.uint32).reshape(len(rows), len(sizes))


def flipped_and_counted(formula_, world, predicate):
    """The count with each atom true minus the count with it false, by brute force twice."""
    domains = [world.vocabulary.domain(type_) for type_ in world.vocabulary[predicate].types]
    here, found = brute_force(formula_, world), []  # one of the two is the world itself
    for arguments in product(*domains):
        atom = GroundAtom(predicate, arguments)
        there = brute_force(formula_, world.flipped(atom))
        found.append(here - there if world.holds(*atom) else there - here)
    return found


def check(formula_, world):
    counter = DeltaCounter([formula_], world.vocabulary)
    for predicate in world.vocabulary.predicates:
        rows, expected = all_rows(world, predicate), flipped_and_counted(formula_, world, predicate)
        found = counter(world, predicate)
        assert found.at(rows)[:, 0].tolist() == expected
        merged = found.merged()
        truths = found.truths(rows).tolist()
        assert merged.atoms == len(rows)
        rows_again = zip(merged.values[:, 0].tolist(), merged.truths.tolist(), strict=True)
        numbers = dict(zip(rows_again, merged.multiplicities, strict=True))
        assert len(numbers) == len(merged.multiplicities)  # equal rows are one
        assert numbers == Multiset(zip(expected, truths, strict=True))


@settings(SLOW, max_examples=examples(150))
@given(clause_cases(most_literals=4))
def test_random_clauses_change_as_counting_twice_says(case):
    check(case.formula, case.world)


@settings(SLOW, max_examples=examples(70))
@given(strategies.cases(depth=2))
def test_formulas_of_every_kind_change_as_counting_twice_says(case):
    world = World(case.vocabulary, frozenset(GroundAtom(*atom) for atom in case.world.true_atoms))
    try:
        brute_force(case.formula, world)
    except ml.ArgumentError:
        assume(False)
    check(case.formula, world)


@settings(SLOW, max_examples=examples(100))
@given(strategies.cases(depth=3))
def test_deep_formulas_of_every_kind_change_as_counting_twice_says(case):
    world = World(case.vocabulary, frozenset(GroundAtom(*atom) for atom in case.world.true_atoms))
    try:
        brute_force(case.formula, world)
        check(case.formula, world)
    except ml.ArgumentError as refusal:  # a comparison of what is undefined
        if "division" not in str(refusal):
            raise
        assume(False)


@pytest.mark.random
@pytest.mark.parametrize(
    "text",
    [
        "S(x) v S(y)",
        "F(x,y) => F(y,x)",
        "F(x,y) ^ F(y,z) => F(x,z)",
        "F(x,x) v S(x)",
        "F(A,x) v F(x,A)",
        "(EXIST y F(x,y)) ^ (EXIST y F(y,x))",
        "(EXIST y F(x,y)) ^ (EXIST x S(x))",
        "F(x,z) ^ (EXIST y F(x,y))",
        "S(x) v (EXIST y (F(x,y) ^ (FORALL z (F(y,z) => F(z,x)))))",
        "(EXIST=1 y F(x,y)) <=> (FORALL y (F(y,x) => S(y)))",
        "EXIST y (F(x,y) ^ (EXIST>=2 z (F(y,z) ^ (EXIST x S(x)))))",
        "(|F| > 2) v (EXIST y (F(y,y) ^ |F| != 4))",
    ],
)
@pytest.mark.parametrize("bits", range(0, 4096, 4096 // examples(11) | 1))
def test_atoms_that_occur_several_times_in_a_grounding(text, bits):
    predicates = {"S": Predicate("S", ("t",)), "F": Predicate("F", ("t", "t"))}
    words = Vocabulary(FrozenMapping({"t": NamedDomain(("A", "B", "C"))}), FrozenMapping(predicates))
    atoms = [GroundAtom(*atom) for atom in strategies.ground_atoms(words)]
    world = World(words, frozenset(atom for place, atom in enumerate(atoms) if bits >> place & 1))
    check(ml.MLN(words).parse(text), world)


def test_several_formulas_are_merged_together():
    words = vocabulary(40)
    rng = np.random.default_rng(5)
    tables = {name: rng.integers(0, 40, (60, 2)).astype(np.uint32) for name in "ABC"}
    facts = facts_from_tables(words, tables)
    formulas = [formula(words, text) for text in ("A(x,y) ^ B(y,z) => C(x,z)", "A(x,y) v A(y,x)")]
    found = DeltaCounter(formulas, words)(facts, "A")
    rows = np.array(list(product(range(40), range(40))), np.uint32)
    expected = Multiset(
        (*values, truth) for values, truth in zip(found.at(rows).tolist(), found.truths(rows), strict=True)
    )
    merged = found.merged()
    assert merged.atoms == 1600
    got = {(*row, truth): number for row, truth, number in
           zip(merged.values.tolist(), merged.truths, merged.multiplicities, strict=True)}  # fmt: skip
    assert got == expected
    assert len(got) < 200
    for row in rows[::211].tolist():
        for column, one in enumerate(formulas):
            counts = [Counter(one, words)(with_atom(facts, "A", tuple(row), true=t)) for t in (True, False)]
            assert found.at(np.array([row], np.uint32))[0, column] == counts[0] - counts[1]


def test_changes_pass_64_bits():
    words = vocabulary(3_000_000)
    facts = facts_from_tables(words, {"U": np.array([[5]], np.uint32)})
    found = deltas_of(words, facts, "U(x) v V(y) v V(z) v V(w) ^ A(z,w)")
    row = np.array([[7]], np.uint32)
    assert found["U"].at(row)[0, 0] == 3_000_000**3
    merged = found["U"].merged()
    assert merged.atoms == 3_000_000
    assert sorted(merged.multiplicities) == [1, 2_999_999]


def deltas_of(words, facts, text):
    return DeltaCounter([formula(words, text)], words).all(facts)


def test_databases_are_taken_as_they_are():
    mln = ml.MLN.from_text("S(t)\nF(t, t)")
    db = ml.Database.from_text("F(A, B)\nS(A)", mln)
    found = deltas([mln.parse("S(x) ^ F(x, y) => S(y)")], db)
    assert found["S"].at(np.array([[0], [1]], np.uint32)).tolist() == [[-1], [1]]
    with pytest.raises(ml.ArgumentError):
        deltas([], db)


def test_quantified_formulas_over_many_atoms_change_where_they_tip():
    words = vocabulary(1000)
    facts = facts_from_tables(words, {"A": np.array([[0, 5], [1, 5], [1, 6], [2, 0]], np.uint32)})
    found = deltas_of(words, facts, "EXIST y A(x, y)")["A"]
    rows = np.array([[0, 5], [0, 6], [1, 5], [2, 0], [3, 3]], np.uint32)
    assert found.at(rows)[:, 0].tolist() == [1, 0, 0, 1, 1]
    merged = found.merged()
    numbers = zip(merged.values[:, 0].tolist(), merged.truths.tolist(), merged.multiplicities, strict=True)
    assert set(numbers) == {(1, True, 2), (0, True, 2), (1, False, 997_000), (0, False, 2996)}


DEEP = [
    "A(x,z) ^ (EXIST y A(x,y))",
    "EXIST y (A(x, y) ^ (FORALL z (A(y, z) => U(z))))",
    "FORALL y (A(x,y) => EXIST z (A(y,z) ^ B(z,x)))",
    "EXIST y (A(x,y) ^ A(y,z))",
    "EXIST y (A(x,y) v U(y))",
    "(EXIST y (A(x,y) ^ A(y,x))) <=> U(x)",
    "EXIST>=2 y (A(x,y) ^ !U(y))",
    "|A| > 1999 ^ U(x) => EXIST y (A(x, y) ^ |A| < 2001)",
    "EXIST y (U(x) ^ U(y))",
]


@pytest.mark.parametrize("text", DEEP)
def test_deep_formulas_over_a_million_atoms_change_as_counting_anew_says(text):
    words, rng = vocabulary(1000), np.random.default_rng(2)
    tables = {name: rng.integers(0, 1000, (2000, 2)).astype(np.uint32) for name in "AB"}
    tables["U"] = rng.integers(0, 1000, (400, 1)).astype(np.uint32)
    tables["A"] = sorted_rows(tables["A"])
    free = np.setdiff1d(np.arange(1000_000), tables["A"].astype(int) @ [1000, 1])[: 2000 - len(tables["A"])]
    tables["A"] = np.concatenate([tables["A"], np.stack(np.divmod(free, 1000), 1).astype(np.uint32)])
    facts = facts_from_tables(words, tables)
    one = formula(words, text)
    counter = Counter(one, words)
    for predicate in ("A", "U"):
        rows = facts.rows(predicate)
        found = DeltaCounter([one], words)(facts, predicate)
        sample = [*rows[:: len(rows) // 12].tolist(), *rng.integers(0, 1000, (12, rows.shape[1])).tolist()]
        expected = [
            counter(with_atom(facts, predicate, tuple(row), true=True))
            - counter(with_atom(facts, predicate, tuple(row), true=False))
            for row in sample
        ]
        assert found.at(np.array(sample, np.uint32))[:, 0].tolist() == expected
        assert found.merged().atoms == 1000 ** rows.shape[1]


def test_an_atom_below_a_quantifier_is_one_of_a_hundred_million():
    words = vocabulary(10_000)
    rng = np.random.default_rng(9)
    rows = rng.integers(0, 10_000, (20_000, 2)).astype(np.uint32)
    found = deltas_of(words, facts_from_tables(words, {"A": rows}), "EXIST y A(x, y)")["A"]
    merged = found.merged()
    assert merged.atoms == 10_000**2
    lonely = np.bincount(np.unique(rows, axis=0)[:, 0], minlength=10_000)
    numbers = zip(merged.values[:, 0].tolist(), merged.truths.tolist(), merged.multiplicities, strict=True)
    expected = {(1, True): int((lonely == 1).sum()), (1, False): int((lonely == 0).sum()) * 10_000}
    assert {(v, t): number for v, t, number in numbers if v} == expected


def test_what_would_be_too_long_a_table_is_refused_with_ways_out():
    words, rng = vocabulary(30_000), np.random.default_rng(9)
    tables = {name: rng.integers(0, 30_000, (90_000, 2)).astype(np.uint32) for name in "ABC"}
    with pytest.raises(ml.TooLargeError, match="intermediate table") as refusal:
        deltas_of(words, facts_from_tables(words, tables), "EXIST y, w (A(x, y) ^ B(z, w))")["A"]
    assert refusal.value.remedies


def test_large_numbers_beside_empty_tables_are_zeros():
    mln = ml.MLN.from_text("e = {A, B, C}\nt = {1, ..., 100000}\nR(e, e)\nQ(t, t, t, t)")
    db = ml.Database.from_text("R(A, B)", mln)
    conjunction = mln.parse("R(x, z) ^ R(z, y) ^ !Q(a, b, c, d)")
    found = DeltaCounter([conjunction], db.vocabulary)(db, "R")
    rows = np.array([[0, 0], [1, 2], [0, 1]], np.uint32)  # R(A, A), R(B, C), R(A, B)
    assert found.at(rows)[:, 0].tolist() == [2 * 10**20, 10**20, 0]
    assert ml.groundings(mln, db, "R(x, z) ^ R(z, y) ^ !Q(a, b, c, d)").by("x", "y", kind="true") is not None
