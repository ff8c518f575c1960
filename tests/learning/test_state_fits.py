"""A state of another problem is refused in a sentence before any kernel sees it."""

from __future__ import annotations

import dataclasses
from itertools import islice

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.learning.race import race_of
from mlnlab.learning.steering import Change, SteeredLearner
from mlnlab.steps.checkpoint import save_checkpoint

MODEL = "Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\nCancer(x)\nSmokes(x)"
FACTS = "Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)"


def learner(method="cd", model=MODEL, facts=FACTS, copies=1, **options):
    mln = ml.MLN.from_text(model)
    db = ml.Database.from_text(facts, mln)
    return ml.weight_learner(method, mln, [db] * copies, **options)


def state_of(made, steps=3):
    return list(islice(made, steps))[-1]


OF_VALUES = {"pll", "wpll", "ll"}  # whose usual optimisers know no batches
FEWER = MODEL.rpartition("\n")[0]


@pytest.mark.parametrize("method", ["pll", "wpll", "ll", "vp", "cd", "dn", "pscg", "smd"])
@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"model": FEWER}, "it has 3 weights, and here there are 2 formulas"),
        ({"fixed": (0,)}, "other weights are tied or fixed"),
        ({"tied": [(0, 1)]}, "other weights are tied or fixed"),
        ({"facts": "Smokes(A)"}, "of another problem"),
        ({"facts": "Smokes(Anna)\nSmokes(Bob)\nCancer(Carla)"}, "the counts in its data are others than"),
        ({"copies": 2}, "of another problem"),
        ({"copies": 3, "batch": 2, "optimizer": "gradient-descent"}, "of another problem|not made by"),
    ],
)
def test_states_of_other_problems_are_refused(method, other, said):
    options = {name: value for name, value in other.items() if name != "optimizer" or method in OF_VALUES}
    made, state = learner(method, **options), state_of(learner(method))
    with pytest.raises(ArgumentError, match=said):
        made.resume(state)


def test_states_of_other_optimizers_are_refused():
    for one, other in (("dn", "pscg"), ("pll", "vp"), ("vp", "pll"), ("cd", "smd"), ("dn", "cd")):
        with pytest.raises(ArgumentError, match="which cannot go on from it"):
            learner(other).resume(state_of(learner(one)))


def test_options_that_there_are_not_never_reach_a_kernel():
    made = learner()
    state = state_of(made)
    chains = state.memory.chains[0]
    for chosen in (chains.chosen + np.uint32(2**31), chains.chosen[:, :-1], chains.chosen[0]):
        wrong = dataclasses.replace(state.memory, chains=(dataclasses.replace(chains, chosen=chosen),))
        with pytest.raises(ArgumentError, match="what it remembers"):
            made.resume(dataclasses.replace(state, memory=wrong))
    with pytest.raises(ArgumentError, match="what it remembers"):
        made.resume(dataclasses.replace(state, memory=None))


@pytest.mark.parametrize("batch", [None, 2])
def test_own_states_are_gone_on_from(batch):
    made = learner(copies=3, batch=batch, tied=[(0, 1)], iterations=5)
    assert len(list(made.resume(state_of(made)))) == 3


def test_steered_learners_and_races_refuse_them_too(tmp_path):
    steered = SteeredLearner(learner(iterations=8))
    *_, changed = islice(steered.changed(state_of(steered), Change("freeze", 2, 0.5, 2, 3)), 2)
    assert len(list(islice(steered.resume(changed), 2))) == 2
    with pytest.raises(ArgumentError, match="another problem"):
        SteeredLearner(learner(model=FEWER)).resume(changed)
    raced = state_of(race_of({"cd": learner()}))
    with pytest.raises(ArgumentError, match="another problem"):
        next(race_of({"cd": learner(model=FEWER)}).resume(raced))
    save_checkpoint(tmp_path / "run.npz", changed, {"index": 3, "seconds": 1.0})
    with pytest.raises(ArgumentError, match="another problem"):
        ml.dashboard(learner(copies=2), checkpoint=tmp_path / "run.npz")
