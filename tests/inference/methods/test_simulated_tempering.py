"""Simulated tempering leaves where Gibbs sampling stays; its rungs are visited evenly after learning."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.grounding.question.question import pose
from mlnlab.inference.methods import simulated_tempering
from mlnlab.inference.sampling.chains import random_world
from mlnlab.kernels.chains.tempering_sweeps import sample_cold, temper
from mlnlab.kernels.chains.world_arrays import new_chain
from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.random_numbers import streams

SIDES = "side = {A, B, C, D}\nLeft(side)\n1.6 Left(x) <=> Left(y)\n0.6 Left(A)"


@pytest.mark.parametrize("seed", [1, 2])
def test_it_is_right_where_gibbs_sampling_stays(seed):
    mln = ml.MLN.from_text(SIDES)
    truth = ml.infer(mln, method="enumeration")
    found = ml.infer(mln, method="simulated-tempering", seed=seed)
    for query, probability in truth.items():
        assert abs(found[query] - probability) <= 5 * found.error(query) + 1e-9
        assert found.error(query) < 0.05


def test_rungs_are_visited_about_equally_often_once_their_weights_are_learned():
    question = pose(ml.MLN.from_text(SIDES), None, None)
    *_, last = simulated_tempering.steps(simulated_tempering.Params(samples=2_000), question)
    assert last.metrics()["evenness_of_rungs"] > 0.3
    learned = list(simulated_tempering.steps(simulated_tempering.Params(samples=500), question))
    assert np.array_equal(learned[-1].offsets, next(s for s in learned if s.samples).offsets)  # fixed


def test_one_rung_is_gibbs_sampling():
    mln = ml.MLN.from_text("e = {A, B}\nS(e)\nC(e)\n1.5 S(x) => C(x)\n0.4 S(A)")
    truth = ml.infer(mln, method="enumeration")
    found = ml.infer(mln, method="simulated-tempering", rungs=1)
    assert all(abs(found[query] - p) <= 5 * found.error(query) for query, p in truth.items())


def test_compiled_and_plain_agree():
    params = simulated_tempering.Params(chains=1, rungs=3)
    mln = ml.MLN.from_text(
        SIDES + "\nIn(side, room!)\nroom = {R, S, T}\nIn(x, R) => Left(x).\n0.4 EXIST>=2 x Left(x)"
    )
    ground = simulated_tempering.ground_question(pose(mln, None, None))
    begin = random_world(ground, streams(1, 1)[0])
    chains = [new_chain(ground.network, begin.chosen, begin.random) for _ in range(2)]
    ladders = [simulated_tempering.ladders(params, ground)[0] for _ in range(2)]
    sums = [
        np.zeros(ground.clauses.number_of_atoms + len(ground.clauses.sources), np.int64) for _ in range(2)
    ]
    counts = [np.zeros(len(ground.clauses.sources), np.int64) for _ in range(2)]
    shared = (ground.network, ground.groups)
    with np.errstate(over="ignore"):
        temper(*shared, chains[0], ladders[0], 30, 0, 60)
        plain_twin(temper)(*shared, chains[1], ladders[1], 30, 0, 60)
        sample_cold(*shared, chains[0], ladders[0], 10, sums[0], counts[0])
        plain_twin(sample_cold)(*shared, chains[1], ladders[1], 10, sums[1], counts[1])
    assert np.array_equal(*sums)
    assert all(np.array_equal(*pair) for pair in zip(chains[0][:5], chains[1][:5], strict=True))
    assert np.allclose(ladders[0].offsets, ladders[1].offsets)


def test_options_are_checked():
    for bad in ({"rungs": 0}, {"hottest": 1.5}, {"samples": 0}, {"burn_in": -1}):
        with pytest.raises(ml.ArgumentError):
            simulated_tempering.Params(**bad)
