"""SampleSAT beside the same loop in C, and MC-SAT from end to end beside a recorded rival.

On the thousand smokers (6,675 clauses, 1,800 open atoms) a sample takes 70 microseconds of a core that others
use as well: 17 to choose clauses, 32 to propagate units, 7 to find components, 7 to draw them. It took 160
while branches followed chance, which a processor cannot foresee, and calls counted who holds their arrays.
"""

from __future__ import annotations

import time

import pytest

import mlnlab as ml
from mlnlab.experiments.bench import sample_sat_speed
from mlnlab.experiments.bench.measurement import FULL
from mlnlab.grounding.question import pose
from mlnlab.inference import mc_sat
from mlnlab.steps.step import run

pytestmark = pytest.mark.benchmark

LEAST_RATIO = 0.95  # measured at 0.98 to 1.00; it was 0.90 while references to arrays were counted
ATTEMPTS = 3


@pytest.mark.parametrize("atoms", sample_sat_speed.SIZES)
def test_moves_beside_the_same_loop_in_c(in_c, atoms):
    ground, constraints = sample_sat_speed.three_sat(atoms)
    best = 0.0
    for _ in range(ATTEMPTS):
        found = sample_sat_speed.moves_per_second("3-SAT", ground, constraints, FULL, in_c)
        print(f"\nSampleSAT: ours {found.ours:.2f}, C {found.in_c:.2f} M moves/s, ratio {found.ratio:.2f}")
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
    shared = mc_sat.prepared(pose(mln, ml.load_db(folder / facts, mln), query))
    params = mc_sat.Params(samples=1_000, burn_in=100, chains=1)
    next(mc_sat.steps_on(params, shared))
    fastest = 0.0
    for _ in range(3):
        began = time.thread_time()
        run(mc_sat.steps_on(params, shared))
        fastest = max(fastest, 1_100 / (time.thread_time() - began))
    print(f"\n{model}: {fastest:,.0f} samples a second, {fastest / rival:.0f} times the recorded rival")
    assert fastest > 10 * rival
