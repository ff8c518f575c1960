"""Gibbs updates per second beside the same loop in C, in one run: same random numbers, same trajectory."""

from __future__ import annotations

import time
from functools import partial

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.grounding.question.question import pose
from mlnlab.inference.methods import gibbs
from mlnlab.inference.sampling.chains import random_world
from mlnlab.kernels.chains.gibbs_sweeps import sample, sweep
from mlnlab.kernels.random_numbers import streams
from tests.benchmarks.beside_c import gibbs_speed
from tests.benchmarks.beside_c.measurement import FULL

pytestmark = pytest.mark.benchmark

LEAST_RATIO = 0.9  # measured at 0.96 to 1.00
ATTEMPTS = 3  # a machine that does something else meanwhile disturbs one of them, not all


def reference(reference_folder):
    """The 1,000 smokers on which other programs were measured."""
    folder = reference_folder / "alchemy-inputs"
    mln = ml.load(folder / "smokers1000.mln")
    return gibbs.ground(pose(mln, ml.load_db(folder / "smokers1000.db", mln), ["Smokes", "Cancer"]))


def beside_c(name, ground, in_c):
    best = None
    for _ in range(ATTEMPTS):
        found = gibbs_speed.updates_per_second(name, ground, FULL, in_c)
        speeds = f"ours {found.ours:.1f}, C {found.in_c:.1f} M updates/s, ratio {found.ratio:.2f}"
        print(f"\n{name}: {speeds}; {found.memory / 1e6:.2f} MB")
        assert found.memory > 0
        assert found.same_results
        best = max(best or 0, found.ratio)
        if best >= LEAST_RATIO:
            break
    assert best >= LEAST_RATIO


@pytest.mark.parametrize(("name", "model"), [
    ("friends", gibbs_speed.smokers),
    *((f"3-SAT of {atoms:,} atoms", partial(gibbs_speed.three_sat, atoms)) for atoms in gibbs_speed.SIZES),
])  # fmt: skip
def test_updates_beside_the_same_loop_in_c(in_c, name, model):
    beside_c(name, model(), in_c)


def test_updates_on_the_reference_beside_the_same_loop_in_c(in_c, reference_folder):
    beside_c("smokers1000", reference(reference_folder), in_c)


def test_recording_costs_less_than_sampling(reference_folder):
    ground = reference(reference_folder)
    chain = random_world(ground, streams(1, 1)[0])
    columns = ground.clauses.number_of_atoms + len(ground.clauses.sources)
    sums, counts = np.zeros(columns, np.int64), np.zeros(len(ground.clauses.sources), np.int64)
    taken = {"sweeps": [], "samples": []}
    for _ in range(5):
        began = time.thread_time()
        sweep(ground.network, chain, 1000)
        taken["sweeps"].append(time.thread_time() - began)
        began = time.thread_time()
        sample(ground.network, ground.groups, chain, 1000, 1, sums, counts)
        taken["samples"].append(time.thread_time() - began)
    share = min(taken["samples"]) / min(taken["sweeps"]) - 1
    print(f"\nrecording each sweep adds {share:.0%}")
    assert share < 1
