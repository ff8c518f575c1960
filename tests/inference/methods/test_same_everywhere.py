"""The same seed gives the same answer in every process: nothing depends on the order of a set of names."""

from __future__ import annotations

import os
import subprocess
import sys

from tests.support.patience import PATIENCE

# Python orders sets of texts by a number that it draws when it starts, unless PYTHONHASHSEED fixes it.
SCRIPT = """
import hashlib
import warnings

import numpy as np

import mlnlab as ml
from mlnlab.inference.method_registry import methods

warnings.simplefilter("ignore")
sample = ml.sample("florentine_families")
asked = (sample.mln, sample.db, ["Medicean"])
clauses = ml.ground(*asked).clauses
for array in (clauses.starts, clauses.literals):
    print(hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest())
FEW = {"samples": 50, "burn_in": 10, "flips": 200, "sweeps": 20, "tries": 2}
for method in (one for one in methods() if one.answers_all):
    few = {name: value for name, value in FEW.items() if method.knows(name)}
    if method.marginals is not None:
        print(method.name, sorted(ml.infer(*asked, method=method.name, **few).items()))
    if method.most_probable is not None:
        print(method.name, sorted(map(str, ml.map_state(*asked, method=method.name, **few).world.true_atoms)))
"""


def _printed(hash_seed: int) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed)}
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        timeout=5 * PATIENCE,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_no_answer_depends_on_the_order_of_a_set():
    first, second = (_printed(hash_seed).splitlines() for hash_seed in (1, 2))
    assert len(first) > 12
    assert first == second
