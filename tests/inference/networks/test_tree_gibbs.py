"""Gibbs sampling in networks with decision trees agrees with enumeration, and goes on where it stopped."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log

import numpy as np
import pytest

from mlnlab.errors import ArgumentError
from mlnlab.factors.graphs.tree_network import tree_arrays
from mlnlab.inference.networks.tree_gibbs import TreeGibbsParams, steps
from mlnlab.kernels.chains import tree_sweeps
from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.random_numbers import streams
from mlnlab.steps.values.sameness import same_state
from tests.support.tree_networks import joint_distribution, random_tree_network


@pytest.mark.parametrize("seed", range(4))
def test_shares_of_samples_are_the_probabilities_of_enumeration(seed: int) -> None:
    network = random_tree_network(np.random.default_rng(seed), variables=5, splits=8)
    event, evidence = {0: 1, 4: 0}, {2: 1}
    joint = joint_distribution(network)
    given = sum(p for row, p in joint.items() if row[2] == 1)
    wanted = sum(p for row, p in joint.items() if row[2] == 1 and row[0] == 1 and row[4] == 0) / given
    *_, last = steps(TreeGibbsParams(samples=20_000, chains=4), network, event, evidence)
    sizes = tuple(network.variables[v].size for v in event)
    assert exp(last.log_probability(sizes)) == pytest.approx(wanted, abs=0.015)
    marginals = last.sums / last.sums.sum(axis=1, keepdims=True)
    for variable in range(5):
        for value in range(network.variables[variable].size):
            exact = sum(p for row, p in joint.items() if row[2] == 1 and row[variable] == value) / given
            assert marginals[variable, value] == pytest.approx(exact, abs=0.015)


def test_an_event_that_no_sample_hit_has_its_part_of_one_sample() -> None:
    network = random_tree_network(np.random.default_rng(1), variables=3)
    *_, last = steps(TreeGibbsParams(samples=9, chains=1), network, {0: 1}, {})
    unseen = replace(last, matches=0)
    assert unseen.log_probability((2,) * 2000) == pytest.approx(-2000 * log(2) - log(10))
    assert replace(last, matches=4).log_probability((2, 2)) == pytest.approx(log(4.25 / 10))


def test_a_run_goes_on_from_a_state_as_if_it_had_not_stopped() -> None:
    network = random_tree_network(np.random.default_rng(2))
    params = TreeGibbsParams(samples=600, burn_in=150, chains=5)
    states = list(steps(params, network, {0: 1}, {1: 0}))
    assert states[-1].samples == 600
    resumed = list(steps(params, network, {0: 1}, {1: 0}, start=states[1]))
    assert all(same_state(one, other) for one, other in zip(states[2:], resumed, strict=True))
    with pytest.raises(ArgumentError, match="question"):
        next(steps(params, network, {0: 1}, {1: 1}, start=states[1]))
    forged = replace(states[1], values=np.ones_like(states[1].values))
    with pytest.raises(ArgumentError, match="contradict the evidence"):
        next(steps(params, network, {0: 1}, {1: 0}, start=forged))


def test_the_compiled_sweep_is_the_plain_one() -> None:
    network = random_tree_network(np.random.default_rng(3), variables=6, splits=10)
    trees = tree_arrays(network)
    free = np.array([0, 2, 3, 5], np.uint32)
    walks: list[tuple[list[int], list[int]]] = []
    for kernel in (tree_sweeps.sweep, plain_twin(tree_sweeps.sweep)):
        values, random = np.zeros(6, np.uint32), streams(5, 1)[0]
        for _ in range(50):
            with np.errstate(over="ignore"):
                kernel(trees, free, values, random, np.zeros(3))
        walks.append((values.tolist(), random.tolist()))
    assert walks[0] == walks[1]
