"""What makes a formula's gap: shares of atoms add up to it, those of blocks and of known atoms included."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.learning.studies.heaviest import heaviest

BLOCKS = """
Smokes(person)
In(person, room!)
Next(room, room)
Likes(person, food?)
In(x, +r) ^ Smokes(x)
In(x, r) ^ In(y, r) ^ Smokes(x) => Smokes(y)
In(x, r) ^ Likes(x, f)
Likes(x, f) ^ Smokes(x)
In(x, r) ^ Next(r, s) => !Smokes(x)
Smokes(Anna) v In(Anna, Hall).
"""
FACTS = """
In(Anna, Hall)
In(Bob, Attic)
In(Carla, Hall)
In(Dora, Cellar)
Smokes(Anna)
Smokes(Carla)
Next(Hall, Attic)
Likes(Anna, Tea)
Likes(Dora, Soup)
food = {Bread}
"""


@pytest.fixture(scope="module")
def data():
    mln = ml.MLN.from_text(BLOCKS)
    return mln, ml.Database.from_text(FACTS, mln)


@pytest.mark.parametrize("method", ["pll", "wpll"])
@pytest.mark.parametrize("query", [None, ["In"], ["Likes", "Smokes"]])
def test_shares_of_atoms_and_blocks_add_up_to_the_gap(data, method, query):
    learner = ml.weight_learner(method, *data, query, prior=None)
    for state in islice(learner, 3):
        for formula in range(len(learner.data.formulas)):
            found = heaviest(learner.data, learner.problem, state, formula, most=10_000)
            assert sum(row.share for row in found.rows) == pytest.approx(state.gap[formula], abs=1e-9)
            assert "Left out" not in found.remark


def test_atoms_of_blocks_are_named_with_their_truth(data):
    learner = ml.weight_learner("pll", *data, ["In"], prior=None)
    state = list(islice(learner, 2))[-1]
    found = heaviest(learner.data, learner.problem, state, 3, most=10_000)
    assert found.rows
    for row in found.rows:
        assert row.text.startswith("In(")
        assert row.true == (f"{row.text}\n" in FACTS.replace(", ", ",").replace(",", ", "))
        assert 0 <= row.probability <= 1
        assert row.share == pytest.approx(row.alike * (row.true - row.probability) * row.change)


def test_what_is_known_beforehand_is_no_part_of_a_gap():
    mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\nFriends(x, y) ^ Smokes(x) => Smokes(y)")
    text = "Smokes(A)\nFriends(A, B)\n!Friends(A, C)\n!Friends(B, C)\nFriends(C, A)\n!Smokes(C)"
    db = ml.Database.from_text(text, mln)
    for method in ("pll", "wpll"):
        learner = ml.weight_learner(method, mln, db, prior=None, false_facts="evidence")
        state = next(iter(learner))
        found = heaviest(learner.data, learner.problem, state, 0, most=100)
        assert sum(row.share for row in found.rows) == pytest.approx(state.gap[0], abs=1e-9)
        assert "Smokes(C)" not in {row.text for row in found.rows}


def test_of_batches_all_databases_are_looked_at(data):
    mln, db = data
    learner = ml.weight_learner(
        "pll", mln, [db, db], prior=None, optimizer="gradient-descent", batch=1, iterations=3
    )
    state = next(iter(learner))
    found = heaviest(learner.data, learner.problem, state, 3, most=10_000)
    assert sum(row.share for row in found.rows) == pytest.approx(state.gap[3], abs=1e-9)
    assert np.isfinite([row.share for row in found.rows]).all()
