"""What incremental counts are given: models, formulas, worlds, rows, chains; sentences for the rest."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.logic.formulas.ground_atoms import GroundAtom

MODEL = """
Smokes(person)
Friends(person, person)
Rain()
1.5 Smokes(x) ^ Friends(x, y) => Smokes(y)
2 Smokes(Zoe)
"""


@pytest.fixture
def mln():
    return ml.MLN.from_text(MODEL)


@pytest.fixture
def db(mln):
    return ml.Database.from_text("Friends(Anna, Bob)\nSmokes(Anna)", mln)


@pytest.fixture
def counts(mln, db):
    return ml.IncrementalCounts(mln, db)


def test_a_model_is_followed_with_all_its_formulas_and_constants(mln, db, counts):
    assert counts.numbers == list(ml.count(mln, db))
    counts.flip(GroundAtom("Smokes", ("Zoe",)))
    more = ml.Database.from_text("Friends(Anna, Bob)\nSmokes(Anna)\nSmokes(Zoe)", mln)
    assert counts.numbers == list(ml.count(mln, more))


def test_one_formula_and_a_generator_of_formulas_are_formulas_too(mln, db):
    formula = mln.parse("Smokes(x)")
    assert ml.IncrementalCounts(formula, db).numbers == [1]
    assert ml.IncrementalCounts((one for one in [formula, formula]), db).numbers == [1, 1]
    assert ml.IncrementalCounts([], db).flip(GroundAtom("Smokes", ("Bob",))) == []


@pytest.mark.parametrize("rows", [[], (), np.zeros((0, 2), np.int64), np.zeros((0, 2))])
def test_no_rows_change_nothing_and_undo_takes_nothing_back(counts, rows):
    before = counts.numbers
    assert counts.flip_rows("Friends", rows).shape == (0, 2)
    assert counts.changes_of("Friends", rows, []).shape == (0, 2)
    assert counts.undo() == [0, 0]
    assert counts.numbers == before


def test_atoms_without_arguments_are_rows_of_nothing(counts):
    assert counts.flip_rows("Rain", [[]]).shape == (1, 2)
    assert counts.holds(GroundAtom("Rain", ()))


@pytest.mark.parametrize(
    ("rows", "chains", "message"),
    [
        ([["Anna", "Bob"]], 0, "rows of 2 constant numbers"),
        ([[0.0, 1.0]], 0, "rows of 2 constant numbers"),
        ([[True, False]], 0, "rows of 2 constant numbers"),
        ([[0, 1], [0]], 0, "rows of 2 constant numbers"),
        ([0, 1], 0, "rows of 2 constant numbers"),
        (None, 0, "rows of 2 constant numbers"),
        ([[10**30, 0]], 0, "rows of 2 constant numbers"),
        ([[2**62, 0]], 0, "not a constant"),
        ([[0, -1]], 0, "not a constant"),
        ([[0, 1]], [0.7], "by its number"),
        ([[0, 1]], "0", "by its number"),
        ([[0, 1]], [0, 0], "one for each"),
        ([[0, 1]], 1, "There is one chain, 0"),
    ],
)
def test_rows_and_chains_that_are_none_get_a_sentence(counts, rows, chains, message):
    before = counts.numbers
    for method in (counts.flip_rows, counts.changes_of):
        with pytest.raises(ml.ArgumentError, match=message):
            method("Friends", rows, chains)
    assert counts.numbers == before


def test_models_worlds_and_atoms_that_are_none_get_a_sentence(mln, db, counts):
    for wrong in ("Smokes(x)", ["Smokes(x)"], None, 3, [mln]):
        with pytest.raises(ml.ArgumentError, match=r"mln\.parse"):
            ml.IncrementalCounts(wrong, db)
    for first in (mln, [mln.parse("Smokes(x)")]):
        with pytest.raises(ml.ArgumentError, match="Database or a World"):
            ml.IncrementalCounts(first, "Smokes(Anna)")
    for chains in ("2", 2.0, True, None):
        with pytest.raises(ml.ArgumentError, match="whole number"):
            ml.IncrementalCounts(mln, db, chains=chains)
    for predicate in ("Smoke", ["Smokes"], None):
        with pytest.raises(ml.ArgumentError, match="no predicate"):
            counts.flip_rows(predicate, [[0]])
    for atoms in (5, None):
        with pytest.raises(ml.ArgumentError, match="list of ground atoms"):
            counts.flip_all(atoms)
    with pytest.raises(ml.ArgumentError, match="2 chains, numbered from 0"):
        ml.IncrementalCounts(mln, db, chains=2).flip_rows("Smokes", [[0]], 2)
