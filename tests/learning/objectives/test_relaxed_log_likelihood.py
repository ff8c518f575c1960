"""Learn weights by counts alone: scalable contrastive divergence, voted perceptron, pseudo-likelihood."""

from __future__ import annotations

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.steps.files.checkpoint import load_checkpoint, save_checkpoint
from mlnlab.steps.values.sameness import same_state

TEXT = """
Smokes(person)
Friends(person, person)
Likes(person, person)
Friends(x, y) ^ Smokes(x) => Smokes(y)
!Friends(x, y) v !Likes(y, z) v Friends(x, z)
Smokes(x)
"""
FACTS = """
Friends(A, B)
Friends(B, C)
Friends(C, A)
Friends(D, A)
Likes(B, C)
Likes(C, D)
Smokes(A)
Smokes(B)
Smokes(D)
"""


@pytest.fixture(scope="module")
def mln():
    return ml.MLN.from_text(TEXT)


@pytest.fixture(scope="module")
def db(mln):
    return ml.Database.from_text(FACTS, mln)


METHODS = ("cd", "vp", "pll", "wpll", "dn", "cd-pw")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("query", [None, ["Smokes"]])
def test_above_the_treewidth_clusters_learn_the_weights_of_exact_counts(mln, db, method, query):
    short = {} if "pll" in method else {"iterations": 4}
    if method in {"cd", "dn", "cd-pw"}:
        short["samples"] = 150
    elif method == "vp":
        short["flips"] = 150
    exact = ml.learn_weights(mln, db, method, query, counter="planned", seed=3, **short)
    clusters = ml.learn_weights(mln, db, method, query, counter="ijgp", i=3, seed=3, **short)
    assert clusters.weights == pytest.approx(exact.weights, abs=1e-9)
    assert np.abs(exact.weights).max() > 0.01


@pytest.mark.parametrize("method", ["cd", "vp"])
def test_a_run_goes_on_from_a_checkpoint_bit_for_bit(mln, db, method, tmp_path):
    size = {"samples": 60} if method == "cd" else {"flips": 60}
    learner = ml.weight_learner(method, mln, db, counter="ijgp", i=2, iterations=5, **size)
    whole = list(learner)
    save_checkpoint(tmp_path / "state.npz", whole[2])
    start = load_checkpoint(tmp_path / "state.npz").state
    again = ml.weight_learner(method, mln, db, counter="ijgp", i=2, iterations=5, **size)
    rest = list(again.resume(start))
    assert len(rest) == len(whole) - 3
    for left, right in zip(rest, whole[3:], strict=True):
        for name in ("weights", "expected", "observed", "memory"):
            assert same_state(getattr(left, name), getattr(right, name)), name
