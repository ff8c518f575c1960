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


def test_changes_by_every_atom_are_the_same_by_both_ways(data_folder):
    mln, db = real_theory(data_folder, "imdb")
    planned, second = ml.deltas(mln, db), ml.deltas(mln, db, method="duckdb")
    assert set(planned) == set(second) == set(mln.vocabulary.predicates)
    assert planned.to_frame().equals(second.to_frame())


@pytest.mark.parametrize("name", [*SETS, "published"])
def test_little_memory_is_enough(data_folder, name):
    found = measured(data_folder, name, "planned")
    print(f"{name}: {found['wall']:.2f} s, {found['peak']:.0f} MB, of which {found['loaded']:.0f} before")
    assert found["peak"] < MOST_MEGABYTES
