"""Equal groundings of a formula as one clause: same counts, same weights, fewer clauses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.grounding.clauses.gathering import gather_clauses
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.question.question import pose
from mlnlab.inference.methods import gibbs
from mlnlab.inference.sampling.chains import prepare_chains
from mlnlab.kernels.chains.gibbs_sweeps import count
from mlnlab.kernels.chains.world_arrays import new_chain
from tests.support.strategies import PEOPLE
from tests.support.thoroughness import examples

RULES = """
person = {Anna, Bob, Carl, Dora}
Friends(person, person)
Smokes(person)
Cancer(person)
0.5 Friends(x, y) => Smokes(x)
-0.25 Friends(x, y) ^ Smokes(x) ^ Cancer(y)
1 Friends(x, y) ^ Friends(y, z) ^ Smokes(x) => Cancer(z)
0.75 EXIST y Friends(x, y) ^ Smokes(y)
Friends(x, y) ^ Smokes(x) => Smokes(x) v Cancer(x) v Smokes(y).
"""
FACTS = (
    "Friends(Anna, Bob)\nFriends(Anna, Carl)\nFriends(Anna, Dora)\nFriends(Bob, Carl)\nFriends(Carl, Dora)"
)


def question():
    mln = ml.MLN.from_text(RULES)
    return pose(mln, ml.Database.from_text(FACTS, mln), ["Smokes", "Cancer"])


def counts_in(clauses, chosen):
    ground = prepare_chains(clauses)
    chain = new_chain(ground.network, chosen, np.zeros(4, np.uint64))
    counts = np.zeros(len(clauses.sources), np.int64)
    count(ground.network, ground.groups, chain, counts)
    return counts.tolist()


def test_formulas_are_counted_as_before_in_every_world():
    clauses = ground_clauses(question())
    fewer = gather_clauses(clauses)
    assert fewer.number_of_clauses < clauses.number_of_clauses == fewer.groundings.sum()
    assert fewer.groundings.max() >= 3
    for world in np.ndindex(*[2] * len(clauses.options)):
        chosen = np.array(world, np.uint32)
        assert counts_in(fewer, chosen) == counts_in(clauses, chosen)


def test_each_clause_has_the_weight_of_its_groundings():
    clauses = ground_clauses(question())
    fewer = gather_clauses(clauses)
    for formula in range(len(clauses.sources)):
        before = clauses.weights[clauses.clause_sources == formula].sum()
        assert fewer.weights[fewer.clause_sources == formula].sum() == pytest.approx(before)
    again = gather_clauses(fewer)
    assert again.groundings.tolist() == fewer.groundings.tolist()
    assert again.weights.tolist() == fewer.weights.tolist()


@pytest.mark.parametrize("method", ["gibbs", "mc-sat", "simulated-tempering"])
@settings(max_examples=examples(6))
@given(st.lists(st.tuples(st.sampled_from(PEOPLE), st.sampled_from(PEOPLE)), min_size=6), st.integers(0, 9))
def test_sampling_over_gathered_clauses_is_right(method, pairs, seed):
    mln = ml.MLN.from_text(
        "Friends(person, person)\nSmokes(person)\nLikes(person)\n"
        "0.3 Friends(x, y) ^ Friends(y, z) => Smokes(x)\n-0.4 Friends(x, y) ^ Smokes(x) ^ Likes(x)\n"
        "0.2 Likes(x)"
    )
    db = ml.Database.from_text("\n".join(f"Friends({x}, {y})" for x, y in sorted(set(pairs))), mln)
    exact = ml.infer(mln, db, ["Smokes", "Likes"], method="enumeration")
    sampled = ml.infer(mln, db, ["Smokes", "Likes"], method=method, seed=seed, samples=4_000)
    for name in exact:
        assert sampled[name] == pytest.approx(exact[name], abs=0.06)
    assert sampled.expected_counts == pytest.approx(exact.expected_counts, rel=0.05, abs=0.5)


def test_gibbs_looks_at_equal_groundings_once():
    people = "\n".join(f"Friends(Anna, P{number})" for number in range(50))
    mln = ml.MLN.from_text("Friends(person, person)\nSmokes(person)\n0.1 Friends(x, y) => Smokes(x)")
    found = gibbs.ground(pose(mln, ml.Database.from_text(people, mln), ["Smokes"]))
    assert found.clauses.number_of_clauses == 1
    assert found.clauses.groundings.tolist() == [50]
