"""Flips of MaxWalkSAT per second beside the same loop in C, in one run: same random numbers, same way."""

from __future__ import annotations

import time

import pytest

import mlnlab as ml
from mlnlab.grounding.question.question import pose
from mlnlab.inference.answers.memory import bytes_of
from mlnlab.inference.search.landscape import landscape, landscape_of
from mlnlab.inference.search.walk_arrays import first_walk, members_of
from mlnlab.kernels.random_numbers import streams
from mlnlab.kernels.search.walk_sat import search
from tests.benchmarks.beside_c import walk_sat_speed
from tests.benchmarks.beside_c.gibbs_speed import smokers
from tests.benchmarks.beside_c.measurement import FULL

pytestmark = pytest.mark.benchmark

LEAST_RATIO = 0.9  # measured at 0.98 to 1.28
ATTEMPTS = 3  # a machine that does something else meanwhile disturbs one of them, not all
RIVAL = {"smokers": 1.2, "imdb": 2.0}  # million flips a second, of Alchemy on the same files
FILES = {
    "smokers": ("smokers1000.mln", "smokers1000.db", ["Smokes", "Cancer"]),
    "imdb": ("imdb1-gen-learned.mln", "imdb_fold5_noq.db", ["workedUnder"]),
}


def friends():
    found = landscape_of(smokers())
    return found, members_of(found.ground)


def three_sat(atoms):
    return walk_sat_speed.three_sat(atoms)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("friends", friends),
        ("3-SAT 10^4", lambda: three_sat(10_000)),
        ("3-SAT 10^5", lambda: three_sat(100_000)),
    ],
)
def test_flips_beside_the_same_loop_in_c(in_c, name, model):
    best, parts = 0.0, model()
    for _ in range(ATTEMPTS):
        found = walk_sat_speed.flips_per_second(name, *parts, FULL, in_c)
        speeds = f"ours {found.ours:.1f}, C {found.in_c:.1f} M flips/s, ratio {found.ratio:.2f}"
        print(f"\n{name}: {speeds}; {found.memory / 1e6:.2f} MB")
        assert found.memory > 0
        assert found.same_results
        best = max(best, found.ratio)
        if best >= LEAST_RATIO:
            break
    assert best >= LEAST_RATIO


@pytest.mark.parametrize("name", RIVAL)
def test_flips_beside_another_program(reference_folder, name):
    model, facts, query = FILES[name]
    mln = ml.load(reference_folder / "alchemy-inputs" / model)
    ground = landscape(pose(mln, ml.load_db(reference_folder / "alchemy-inputs" / facts, mln), query))
    walker, members = first_walk(ground, streams(1, 1)[0], 1), members_of(ground.ground)
    search(ground.network, members, *walker, 1_000, 0.05, 1, 0.0)
    began = time.thread_time()
    search(ground.network, members, *walker, 1_000_000, 0.05, 1, 0.0)
    speed, memory = 1 / (time.thread_time() - began), bytes_of(ground.network, members, walker)
    rival = f"another program on a busier machine: {RIVAL[name]}"
    print(f"\n{name}: {speed:.1f} M flips/s, {memory / 1e6:.2f} MB; {rival}")
    assert speed > 2 * RIVAL[name]
