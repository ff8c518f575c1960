"""A state of another problem is refused in a sentence before any kernel sees it."""

from __future__ import annotations

import dataclasses
from itertools import islice

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError
from mlnlab.learning.ask.steering import Change, SteeredLearner
from mlnlab.learning.studies.race import race_of
from mlnlab.steps.files.checkpoint import save_checkpoint

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
        ({"model": FEWER}, "was made with other formulas"),
        ({"fixed": (0,)}, "with other weights to begin at, fixed, tied or bounded"),
        ({"tied": [(0, 1)]}, "with other weights to begin at, fixed, tied or bounded"),
        ({"start": [0.5, -0.5, 0.0]}, "with other weights to begin at"),
        ({"model": MODEL.replace("\nCancer(x)", "\n0.5 Cancer(x)")}, "with other weights to begin at"),
        ({"prior": ml.Gaussian(0, 3)}, "with another prior"),
        ({"seed": 5}, "with seed 0 instead of 5"),
        ({"facts": "Smokes(A)"}, "from other data"),
        ({"facts": "Smokes(Anna)\nSmokes(Bob)\nCancer(Carla)"}, "from other data"),
        ({"copies": 2}, "from other data"),
        ({"copies": 3, "batch": 2, "optimizer": "gradient-descent"}, "from other data|was made by"),
    ],
)
def test_states_of_other_problems_are_refused(method, other, said):
    options = {name: value for name, value in other.items() if name != "optimizer" or method in OF_VALUES}
    made, state = learner(method, **options), state_of(learner(method))
    with pytest.raises(ArgumentError, match=said):
        made.resume(state)


def test_states_of_other_optimizers_are_refused():
    for one, other in (("dn", "pscg"), ("pll", "vp"), ("vp", "pll"), ("cd", "smd"), ("dn", "cd")):
        with pytest.raises(ArgumentError, match="was made by"):
            learner(other).resume(state_of(learner(one)))


def test_options_that_there_are_not_never_reach_a_kernel():
    made = learner()
    state = state_of(made)
    chains = state.memory.chains[0]
    for chosen in (chains.chosen + np.uint32(2**31), chains.chosen[:, :-1], chains.chosen[0]):
        wrong = dataclasses.replace(state.memory, chains=(dataclasses.replace(chains, chosen=chosen),))
        with pytest.raises(ArgumentError, match="its memory"):
            made.resume(dataclasses.replace(state, memory=wrong))
    with pytest.raises(ArgumentError, match="its memory"):
        made.resume(dataclasses.replace(state, memory=None))


@pytest.mark.parametrize("batch", [None, 2])
def test_own_states_are_gone_on_from(batch):
    made = learner(copies=3, batch=batch, tied=[(0, 1)], iterations=5)
    assert len(list(made.resume(state_of(made)))) == 3


def test_steered_learners_and_races_refuse_them_too(tmp_path):
    steered = SteeredLearner(learner(iterations=8))
    *_, changed = islice(steered.apply_change(state_of(steered), Change("freeze", 2, 0.5, 2, 3)), 2)
    assert len(list(islice(steered.resume(changed), 2))) == 2
    *_, first = islice(steered.apply_change(state_of(steered), Change("freeze", 0, 0.5, 2, 3)), 2)
    assert first.weights[0] == 0.5
    assert steered.check_change(first, Change("free", 0, 0.5, 2, 3)).formula == 0
    with pytest.raises(ArgumentError, match=r"numbered 0 to \d; there is no number -1"):
        steered.check_change(state_of(steered), Change("freeze", -1, 0.5, 2, 3))
    with pytest.raises(ArgumentError, match="other formulas"):
        SteeredLearner(learner(model=FEWER)).resume(changed)
    raced = state_of(race_of({"cd": learner()}))
    with pytest.raises(ArgumentError, match="The state of cd was made with other formulas"):
        race_of({"cd": learner(model=FEWER)}).resume(raced)
    save_checkpoint(tmp_path / "run.npz", changed, {"index": 3, "seconds": 1.0})
    with pytest.raises(ArgumentError, match="other data"):
        ml.dashboard(learner(copies=2), checkpoint=tmp_path / "run.npz")
