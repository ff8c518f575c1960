"""Counts of most probable worlds: equal clauses as one, searches that end when there is nothing to gain."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.inference.search.landscape import landscape_of
from mlnlab.inference.search.walk_arrays import first_walk
from mlnlab.kernels.random_numbers import streams
from mlnlab.learning.counts.counts_of_best_worlds import BestWorldCounts

MLN = ml.MLN.from_text(
    """Smokes(person)
    Cancer(person)
    Friends(person, person)
    In(person, room!)
    Smokes(x) => Cancer(x)
    Friends(x, y) ^ Smokes(x) => Smokes(y)
    Cancer(x)
    !Cancer(x)
    (Smokes(x) ^ !Cancer(x)) v (!Smokes(x) ^ Cancer(x))
    (Smokes(x) ^ Cancer(x)) v (!Smokes(x) ^ !Cancer(x))
    In(x, +r) => Smokes(x)
    Smokes(x) => In(x, R).
    """
)
DATABASE = ml.Database.from_text(
    "Friends(A, B)\nFriends(B, C)\nSmokes(A)\nCancer(A)\nIn(A, R)\nIn(B, Q)\nIn(C, R)", MLN
)
QUERY = ["Smokes", "Cancer", "In"]


@pytest.fixture(scope="module")
def example():
    return ml.weight_learner("vp", MLN, DATABASE, QUERY).problem.objective.examples[0]


def all_worlds(example):
    return [np.array(options, np.uint32) for options in product(*map(range, example.ground.clauses.options))]


def weights_of(example, seed):
    return np.where(example.hard, 0.0, np.random.default_rng(seed).normal(size=example.formulas))


@pytest.mark.parametrize("seed", range(4))
def test_equal_clauses_as_one_leave_the_differences_of_costs_as_they_are(example, seed):
    weights = weights_of(example, seed)
    apart = landscape_of(example.reweigh_clauses(weights))
    merged = example.searched.landscape(example.reweigh_clauses(weights))
    assert merged.clauses.number_of_clauses < apart.clauses.number_of_clauses
    costs = [(apart.cost(world), merged.cost(world)) for world in all_worlds(example)]
    assert all((one.hard > 0) == (other.hard > 0) for one, other in costs)
    possible = np.array([(one.soft, other.soft) for one, other in costs if not one.hard])
    np.testing.assert_allclose(np.ptp(possible[:, 0] - possible[:, 1]), 0, atol=1e-9)
    assert (possible[:, 1] <= possible[:, 0] + 1e-9).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_counts_are_those_of_a_most_probable_world(example, seed):
    weights, expecting = weights_of(example, seed), BestWorldCounts(seed=seed)
    landscape = landscape_of(example.reweigh_clauses(weights))
    chains = expecting.first(example, 0)
    for _ in range(3):
        rows, chains = expecting.draw_counts(example, weights, chains)
    least = min(landscape.cost(world) for world in all_worlds(example))
    found = landscape.cost(chains.chosen[0])
    assert (found.hard, found.soft) == (0, pytest.approx(least.soft))
    world = example.chain(chains.chosen[0], np.zeros(4, np.uint64))
    assert rows.tolist() == [example.counts_in(world).tolist()]


def walk_in(example, weights, chosen):
    landscape = example.searched.landscape(example.reweigh_clauses(weights))
    return landscape, first_walk(landscape, streams(1, 1)[0].copy(), 1, chosen)


def test_a_search_ends_where_nothing_is_broken(example):
    weights = np.where(example.hard, 0.0, 0.0)
    landscape, walker = walk_in(example, weights, example.data)
    assert BestWorldCounts(flips=1).walk_until_mended(landscape, example.searched.members, walker) == 0


def test_a_search_ends_when_patience_found_nothing_better(example):
    weights = weights_of(example, 0)
    expecting = BestWorldCounts(flips=10_000, patience=200)
    _, chains = expecting.draw_counts(example, weights, expecting.first(example, 0))
    landscape, walker = walk_in(example, weights, chains.chosen[0])
    assert expecting.walk_until_mended(landscape, example.searched.members, walker) == 200
    impatient = BestWorldCounts(flips=150, patience=200)
    landscape, walker = walk_in(example, weights, chains.chosen[0])
    assert impatient.walk_until_mended(landscape, example.searched.members, walker) == 150


def test_patience_is_a_number_of_moves():
    with pytest.raises(ArgumentError, match="patience must be a whole number of at least 1"):
        ml.weight_learner("vp", MLN, DATABASE, QUERY, patience=0)
