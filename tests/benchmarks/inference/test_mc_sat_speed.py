"""SampleSAT beside the same loop in C, and MC-SAT from end to end beside a recorded rival.

On the thousand smokers (6,675 clauses, 1,800 open atoms) a sample takes 70 microseconds of a core that others
use as well: 17 to choose clauses, 32 to propagate units, 7 to find components, 7 to draw them. It took 160
while branches followed chance, which a processor cannot foresee, and calls counted who holds their arrays.
"""

from __future__ import annotations

import time
import warnings
from functools import partial

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.grounding.question.question import pose
from mlnlab.inference.answers.memory import bytes_of
from mlnlab.inference.ask.asking import SamplingWarning
from mlnlab.inference.methods import mc_sat
from mlnlab.steps.step import run
from tests.benchmarks.beside_c import sample_sat_speed
from tests.benchmarks.beside_c.measurement import FULL

pytestmark = pytest.mark.benchmark

LEAST_RATIO = 0.95  # measured at 0.98 to 1.00; it was 0.90 while references to arrays were counted
ATTEMPTS = 3
MOST_SQUARE = 1.3  # of a difference in units of its error, on average; 1 where errors are what they say


@pytest.mark.parametrize(("name", "model"), [
    ("friends", sample_sat_speed.smokers_torn),
    *((f"3-SAT of {n:,} atoms", partial(sample_sat_speed.three_sat, n)) for n in sample_sat_speed.SIZES),
])  # fmt: skip
def test_moves_beside_the_same_loop_in_c(in_c, name, model):
    best, parts = 0.0, model()
    for _ in range(ATTEMPTS):
        found = sample_sat_speed.moves_per_second(name, *parts, FULL, in_c)
        speeds = f"ours {found.ours:.2f}, C {found.in_c:.2f} M moves/s, ratio {found.ratio:.2f}"
        print(f"\nSampleSAT, {name}: {speeds}; {found.memory / 1e6:.2f} MB")
        assert found.memory > 0
        assert found.same_results
        best = max(best, found.ratio)
        if best >= LEAST_RATIO:
            break
    assert best >= LEAST_RATIO


@pytest.mark.parametrize(("model", "facts", "query", "rival"), [
    ("smokers1000.mln", "smokers1000.db", ["Smokes", "Cancer"], 500.0),  # samples a second, as recorded
    ("imdb1-gen-learned.mln", "imdb_fold5_noq.db", ["workedUnder"], 1_100 / 6.34),
])  # fmt: skip
def test_samples_beside_the_recorded_rival(reference_folder, model, facts, query, rival):
    folder = reference_folder / "alchemy-inputs"
    mln = ml.load(folder / model)
    shared = mc_sat.prepare_question(pose(mln, ml.load_db(folder / facts, mln), query))
    params = mc_sat.Params(samples=1_000, burn_in=100, chains=1)
    next(mc_sat.steps_on(params, shared))
    fastest, memory = 0.0, 0
    for _ in range(3):
        began = time.thread_time()
        last = run(mc_sat.steps_on(params, shared))
        fastest = max(fastest, 1_100 / (time.thread_time() - began))
        memory = bytes_of(shared, last.state)
    speed = f"{fastest:,.0f} samples a second, {memory / 1e6:.2f} MB"
    print(f"\n{model}: {speed}; {fastest / rival:.0f} times the recorded rival")
    assert fastest > 10 * rival


def test_marginals_on_the_reference_equal_those_of_a_long_gibbs_run(reference_folder):
    """A change of one atom at a time is slow there, but free of SampleSAT's bias: no formula is strong."""
    folder = reference_folder / "alchemy-inputs"
    mln = ml.load(folder / "smokers1000.mln")
    asked = mln, ml.load_db(folder / "smokers1000.db", mln), ["Smokes", "Cancer"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SamplingWarning)  # of atoms so improbable that they never changed
        gibbs = ml.infer(*asked, method="gibbs", samples=10_000, burn_in=1_000, seed=1)
        slices = ml.infer(*asked, method="mc-sat", samples=5_000, burn_in=500, seed=2)
    seen = [atom for atom in gibbs if 0.002 < (gibbs[atom] + slices[atom]) / 2 < 0.998]
    errors = np.array([np.hypot(gibbs.error(atom), slices.error(atom)) for atom in seen])
    away = np.array([slices[atom] - gibbs[atom] for atom in seen]) / errors
    said = f"root mean square {np.sqrt((away**2).mean()):.2f} errors, at most {abs(away).max():.2f}"
    largest = max(abs(slices[atom] - gibbs[atom]) for atom in gibbs)
    print(f"\n{len(away):,} marginals: {said}; largest difference {largest:.4f}")
    for found in (gibbs, slices):
        print(f"{found.method}: {found.seconds:.1f} s, {found.memory / 1e6:.2f} MB")
    assert len(seen) > 1_000
    assert all(abs(slices[atom] - gibbs[atom]) < 0.002 for atom in set(gibbs) - set(seen))
    assert abs(away.mean()) < 0.3
    assert (away**2).mean() < MOST_SQUARE
    assert abs(away).max() < 6
