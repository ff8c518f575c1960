"""The kernels of MaxWalkSAT: compiled and plain move for move, and all they keep against counting anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.grounding.question.question import pose
from mlnlab.inference.search.landscape import landscape
from mlnlab.inference.search.walk_arrays import first_walk, members_of
from mlnlab.kernels.chains.modes import cost_of, descend
from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.random_numbers import streams
from mlnlab.kernels.search.walk_sat import search
from mlnlab.kernels.search.walk_steps import BEST, BROKEN, FLIPS, NOW, find_broken, new_walk
from tests.kernels.chains.test_gibbs import MIXED
from tests.support import small_models
from tests.support.thoroughness import examples


def same_walker(one, other):
    parts = [*zip(one.chain[:5], other.chain[:5], strict=True), *zip(one.walk, other.walk, strict=True)]
    return all(np.array_equal(left, right) for left, right in parts)


def is_consistent(ground, walker):
    """Whether counts, broken constraints and costs are what they are when computed from the world alone."""
    chain, walk = walker
    again = ground.chain(chain.chosen, chain.random)
    assert all(np.array_equal(left, right) for left, right in zip(again[:4], chain[:4], strict=True))
    fresh = new_walk(ground.network, 0)
    find_broken(ground.network, again, fresh)
    number = walk.numbers[BROKEN]
    assert sorted(walk.broken[:number]) == sorted(fresh.broken[: fresh.numbers[BROKEN]])
    assert np.array_equal(walk.places[walk.broken[:number]], np.arange(1, number + 1))
    assert walk.costs[NOW] == pytest.approx(cost_of(ground.network, again))
    best = ground.chain(walk.best, chain.random)
    assert walk.costs[BEST] == pytest.approx(cost_of(ground.network, best))
    return True


def walked(question, seed, noise, tabu, stretches=6):
    ground = landscape(question)
    members = members_of(ground.ground)
    fast, plain = (first_walk(ground, streams(seed, 1)[0], tabu) for _ in range(2))
    with np.errstate(over="ignore"):
        for length in range(1, stretches):
            search(ground.network, members, *fast, length, noise, tabu, 0.0)
            plain_twin(search)(ground.network, members, *plain, length, noise, tabu, 0.0)
            assert same_walker(fast, plain)
            assert is_consistent(ground, fast)
    return ground, fast


@settings(max_examples=examples(40))
@given(
    small_models.questions(), st.integers(0, 2**64 - 1), st.sampled_from([0.0, 0.3, 1.0]), st.integers(0, 3)
)
def test_compiled_and_plain_agree_move_for_move(asked, seed, noise, tabu):
    walked(asked.question, seed, noise, tabu)


def test_blocks_tables_and_hard_formulas_agree_move_for_move():
    question = pose(ml.MLN.from_text(MIXED), None, None)
    for seed in range(4):
        ground, walker = walked(question, seed, 0.3, seed, stretches=12)
        assert walker.walk.numbers[FLIPS] > 10
        assert len(ground.clauses.table_weights)
        assert (ground.clauses.options > 2).any()


def test_a_tabu_atom_stays_as_it_is():
    mln = ml.MLN.from_text("e = {A, B, C}\nS(e)\n1 S(x)\n1.5 !S(x)\n0.3 S(x) v S(y)")
    ground = landscape(pose(mln, None, None))
    members, tabu = members_of(ground.ground), 2
    walker = first_walk(ground, streams(3, 1)[0], tabu)
    flipped = []
    for _ in range(60):
        before = walker.chain.values.copy()
        search(ground.network, members, *walker, 1, 0.0, tabu, 0.0)
        (atoms,) = np.nonzero(before != walker.chain.values)
        assert not set(atoms) & set(flipped[-tabu:])
        flipped += atoms.tolist() or [None]


def test_nothing_broken_and_a_target_end_a_walk():
    mln = ml.MLN.from_text("e = {A, B, C}\nS(e)\n1 S(x)")
    ground = landscape(pose(mln, None, None))
    walker = first_walk(ground, streams(1, 1)[0], 0)
    search(ground.network, members_of(ground.ground), *walker, 1000, 0.0, 0, 0.0)
    assert walker.walk.numbers[BROKEN] == 0
    assert walker.walk.numbers[FLIPS] <= 3
    other = first_walk(ground, streams(1, 1)[0], 0, np.ones(3, np.uint32))
    search(ground.network, members_of(ground.ground), *other, 1000, 0.0, 0, 1.0)
    assert other.walk.costs[BEST] == 1
    assert other.walk.numbers[FLIPS] == 2


@settings(max_examples=examples(40))
@given(small_models.questions())
def test_downhill_ends_where_no_single_change_helps(asked):
    ground = landscape(asked.question)
    walker = first_walk(ground, streams(1, 1)[0], 0)
    chain = walker.chain
    plain = ground.chain(chain.chosen, chain.random)
    while descend(ground.network, chain):
        plain_twin(descend)(ground.network, plain)
        assert np.array_equal(chain.chosen, plain.chosen)
    least = cost_of(ground.network, chain)
    assert plain_twin(cost_of)(ground.network, chain) == least
    for choice, options in enumerate(ground.network.options):
        for option in range(options):
            chosen = chain.chosen.copy()
            chosen[choice] = option
            assert cost_of(ground.network, ground.chain(chosen, chain.random)) >= least - 1e-9
