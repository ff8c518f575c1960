"""Whole worlds of samplers against the exact joint distribution: chi-square, with effective sample sizes.

Samples of a chain depend on each other, so a plain chi-square test would reject a right sampler. The counts
are those of many batches; a quadratic form with the covariance that the batches themselves show takes its
place (Hotelling's T^2), which is what chi-square becomes with an effective sample size for each direction.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare, f

import mlnlab as ml
from mlnlab.grounding.question.question import pose
from mlnlab.inference.methods import gibbs, mc_sat, simulated_tempering
from mlnlab.inference.sampling.chains import random_world
from mlnlab.inference.sampling.slices import room_for
from mlnlab.kernels.chains.gibbs_sweeps import sweep
from mlnlab.kernels.chains.sample_sat_components import Effort
from mlnlab.kernels.chains.sample_sat_slices import next_sample
from mlnlab.kernels.random_numbers import streams

LEAST = 1e-4  # of a right sampler one seed in ten thousand is refused; seeds are fixed
CLAUSES = "e = {A, B}\nS(e)\nC(e)\n1.1 S(x) => C(x)\n-0.7 S(A) v S(B)\n0.8 S(A) <=> C(B)"
BLOCKS = (
    "e = {A, B}\nh = {H, I, J}\nLives(e, h!)\nS(e)\n0.9 Lives(x, H) => S(x)\n0.6 Lives(A, h) ^ Lives(B, h)"
)
HARD = "a = {A, B, C, D}\nT(a)\nT(A) v T(B) v T(C).\n!T(A) v T(D).\n!T(B) v !T(C).\n1 T(D)\n-0.5 T(A) v T(C)"


def exact(ground):
    """The distribution over all combinations of options, from the log-weight of each."""
    clauses = ground.clauses
    every = np.indices(tuple(clauses.options)).reshape(len(clauses.options), -1).T.astype(np.uint32)
    weights = np.array([clauses.log_weight(options) for options in every])
    shares = np.exp(weights - weights.max())
    return {options.tobytes(): share for options, share in zip(every, shares / shares.sum(), strict=True)}


def gibbs_batches(ground, seed, chains=4, batches=100, samples=200):
    """How often each world was there, in each batch of each chain."""
    found = []
    for random in streams(seed, chains):
        chain = random_world(ground, random)
        sweep(ground.network, chain, 50)
        for _ in range(batches):
            seen = Counter()
            for _ in range(samples):
                sweep(ground.network, chain, 1)
                seen[chain.chosen.tobytes()] += 1
            found.append(seen)
    return found


def likelihood_of(batches, truth):
    """How probable so large a distance of the batches' mean from the truth is, if the truth is right."""
    worlds = sorted((world for world, share in truth.items() if share > 0), key=truth.get)[1:]
    samples = sum(batches[0].values())
    rows = np.array([[seen[world] / samples for world in worlds] for seen in batches])
    gap = rows.mean(axis=0) - [truth[world] for world in worlds]
    number, width = rows.shape
    squared = number * gap @ np.linalg.solve(np.cov(rows.T), gap)
    return f.sf(squared * (number - width) / (width * (number - 1)), width, number - width)


@pytest.mark.parametrize("model", [CLAUSES, BLOCKS])
def test_gibbs_draws_whole_worlds_as_often_as_they_are_probable(model):
    ground = gibbs.ground(pose(ml.MLN.from_text(model), None, None))
    truth = exact(ground)
    assert likelihood_of(gibbs_batches(ground, 1), truth) > LEAST


def test_a_weight_that_is_a_little_wrong_is_seen():
    ground = gibbs.ground(pose(ml.MLN.from_text(CLAUSES), None, None))
    other = gibbs.ground(pose(ml.MLN.from_text(CLAUSES.replace("1.1", "1.2")), None, None))
    assert likelihood_of(gibbs_batches(ground, 1), exact(other)) < LEAST


def mc_sat_draws(model, effort, number, seed=1, apart=1):
    shared = mc_sat.prepare_question(pose(ml.MLN.from_text(model), None, None))
    chain = random_world(shared.ground, streams(seed, 1)[0])
    room, seen = room_for(shared.ground), []
    for _ in range(number):
        for _ in range(apart):
            next_sample(shared.ground.network, shared.constraints, chain, room, effort)
        seen.append(chain.chosen.tobytes())
    return shared.ground, seen


def in_batches(seen, size=200):
    return [Counter(seen[start : start + size]) for start in range(0, len(seen), size)]


@pytest.mark.parametrize("model", [CLAUSES, BLOCKS, HARD])
@pytest.mark.parametrize("effort", [
    Effort(10_000, 0.0, 0.5, 0.0, 1, 100),  # uniform: tried at random until it fits
    Effort(0, 0.0, 0.5, 0.0, 1, 100),  # moves that leave the uniform distribution as it is, alone
], ids=["uniform", "annealing"])  # fmt: skip
def test_mc_sat_is_right_where_slices_are_drawn_uniformly(model, effort):
    ground, seen = mc_sat_draws(model, effort, 20_000)
    assert likelihood_of(in_batches(seen), exact(ground)) > LEAST


def test_a_slice_tried_at_random_is_uniform():
    model = HARD.partition("\n1 ")[0]
    ground, seen = mc_sat_draws(model, Effort(10_000, 0.0, 0.5, 0.0, 1, 100), 20_000)
    worlds = [world for world, share in exact(ground).items() if share > 0]
    counts = Counter(seen)
    assert set(counts) == set(worlds)
    assert chisquare([counts[world] for world in worlds]).pvalue > LEAST


def test_the_cold_chain_of_simulated_tempering_has_the_right_distribution_of_counts():
    question = pose(ml.MLN.from_text(CLAUSES), None, ["S", "C"])
    truth = ml.infer(ml.MLN.from_text(CLAUSES), method="enumeration")
    params = simulated_tempering.Params(samples=4_000, seed=3)
    found = simulated_tempering.METHOD.marginals(params, question, ())
    z = [(found[query] - truth[query]) / found.error(query) for query in truth]
    assert max(np.abs(z)) < 4.5
