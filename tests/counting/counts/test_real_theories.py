"""Theories of fifty clauses about UW-CSE, IMDB and Cora: both ways of counting agree, in little memory."""

from __future__ import annotations

import pytest

import mlnlab as ml
from tests.counting.real_theories import NUMBER, SETS, measured, published_theory, real_theory

MOST_MEGABYTES = 500


@pytest.mark.parametrize("name", SETS)
def test_fifty_clauses_are_counted_alike_by_both_ways(data_folder, name):
    mln, db = real_theory(data_folder, name)
    planned, second = ml.count(mln, db), ml.count(mln, db, method="duckdb")
    assert planned == second
    assert planned.groundings == second.groundings
    assert len(planned) == len({str(weighted.formula) for weighted in mln.formulas}) == NUMBER
    assert sum(false > 0 for false in planned.false) > NUMBER // 5


def test_the_published_theory_is_counted_alike_by_both_ways(data_folder):
    mln, db = published_theory(data_folder)
    planned = ml.count(mln, db)
    assert len(planned) == 94
    assert planned == ml.count(mln, db, method="duckdb")


def test_changes_by_an_atom_are_those_of_counting_twice_in_duckdb(data_folder):
    mln, db = real_theory(data_folder, "imdb")
    world, changes = db.world(), ml.deltas(mln, db)
    assert set(changes) == set(mln.vocabulary.predicates)
    before = list(ml.count(mln, world, method="duckdb"))
    for predicate in ("workedUnder", "movie"):
        atom = min(atom for atom in world.true_atoms if atom.predicate == predicate)
        without = ml.count(mln, world.flipped(atom), method="duckdb")
        assert [n - m for n, m in zip(before, without, strict=True)] == list(changes.at(atom))


@pytest.mark.parametrize("name", [*SETS, "published"])
def test_little_memory_is_enough(data_folder, name):
    found = measured(data_folder, name, "planned")
    print(f"{name}: {found['wall']:.2f} s, {found['peak']:.0f} MB, of which {found['loaded']:.0f} before")
    assert found["peak"] < MOST_MEGABYTES
