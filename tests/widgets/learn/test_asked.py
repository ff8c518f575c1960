"""What people hand to dashboards and races: what fits, what is refused in a sentence, and ``None``."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.errors import ArgumentError, InputError

MODEL = "Smokes(person)\nCancer(person)\nSmokes(x) => Cancer(x)\nCancer(x)\nSmokes(x)"
FACTS = "Smokes(Anna)\nSmokes(Bob)\nCancer(Anna)\nCancer(Carla)"


@pytest.fixture(scope="module")
def data():
    mln = ml.MLN.from_text(MODEL)
    return mln, ml.Database.from_text(FACTS, mln)


@pytest.fixture(scope="module")
def learner(data):
    return ml.weight_learner("vp", *data, "Cancer", iterations=8)


@pytest.fixture
def view(learner):
    made = ml.dashboard(learner)
    made.step(3)
    yield made
    made.close()


def test_no_observers_are_none(data, learner):
    mln, db = data
    weighted = mln.with_weights([1.0, 1.0, 1.0])
    asked = {"observers": None}
    ml.learn_weights(mln, db, **asked)
    ml.weight_posterior(mln, db, samples=4, burn_in=1, **asked)
    ml.infer(weighted, db, ["Cancer"], method="belief-propagation", **asked)
    ml.map_state(weighted, db, ["Cancer"], method="max-walk-sat", flips=5, **asked)
    ml.marginals(ml.sample_network("greenhouse"), **asked)
    ml.evaluate(weighted, db, ["Cancer"], **asked)
    ml.cross_validate(weighted, [db, db], {"none": _unlearned}, ["Cancer"], **asked)
    for begin in (ml.dashboard, ml.live, ml.stepper):
        begin(learner, breaks=None, **asked).close()
    ml.race({"vp": learner}, breaks=None, **asked).close()
    ml.stepper(ml.Trace.of(learner), **asked).close()


def _unlearned(mln, _databases, _seed):
    return mln


def test_whatever_takes_observers_takes_none():
    for name in ml.__all__:
        thing = getattr(ml, name)
        given = inspect.signature(thing).parameters.get("observers") if inspect.isfunction(thing) else None
        assert given is None or "None" in str(given.annotation), name


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda view: setattr(view, "rate", "x"), "A rate must be a number, not 'x'"),
        (lambda view: setattr(view, "rate", True), "A rate must be a number"),
        (lambda view: setattr(view, "rate", -1), "A rate must be a number above 0"),
        (lambda view: view.scale_rate(0), "multiplied by a number above 0"),
        (lambda view: view.scale_rate("a"), "must be a number, not 'a'"),
        (lambda view: view.set_weight("0", 1), "A formula is named by a whole number, not by '0'"),
        (lambda view: view.set_weight(0.5, 1), "A formula is named by a whole number"),
        (lambda view: view.set_weight(0, "a"), "A weight must be a number, not 'a'"),
        (lambda view: view.freeze(0, math.nan), "A weight must be a finite number"),
        (lambda view: view.freeze(0, math.inf), "A weight must be a finite number"),
        (lambda view: view.set_weight(0, 1e300), "No weight may be beyond"),
        (lambda view: view.freeze(0, -1e13), "No weight may be beyond"),
        (lambda view: view.freeze("a"), "A formula is named by"),
        (lambda view: view.freeze(-1), "there is no number -1"),
        (lambda view: view.weight_of(99), "there is no number 99"),
        (lambda view: view.weight_of(-1), "there is no number -1"),
        (lambda view: setattr(view, "formula", None), "A formula is named by"),
        (lambda view: view.take("x"), "A step is named by a whole number"),
        (lambda view: view.seek(1.5), "A step is named by a whole number"),
        (lambda view: view.step("a"), "step takes 1 or more"),
        (lambda view: view.back(2.5), "back takes 1 or more"),
        (lambda view: setattr(view, "breaks", 3), "breaks must be a list of conditions"),
        (lambda view: view.beside(3), "learner's run is compared with another"),
        (lambda view: view.parting(ml.Trace()), "learner's run is compared with another"),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(view, asked, said):
    with pytest.raises(ArgumentError, match=said):
        asked(view)
    assert view.shown.index == 3
    assert len(view.trace) == 4


def test_numbers_of_numpy_fit(view):
    view.set_weight(np.int64(0), np.float32(0.5))
    assert view.shown.state.weights[0] == 0.5
    view.seek(np.int64(1))
    assert view.shown.index == 1


def test_frozen_weights_keep_their_bounds(data):
    view = ml.dashboard(ml.weight_learner("pll", *data, bounds=(-1, 1)))
    with pytest.raises(ArgumentError, match="between -1 and 1, and 7 does not"):
        view.freeze(0, 7)
    view.close()


def test_only_learners_have_dashboards(learner, view, tmp_path):
    with pytest.raises(ArgumentError, match="not something of type Trace"):
        ml.dashboard(view.trace)
    with pytest.raises(ArgumentError, match="held_out must be an observer"):
        ml.dashboard(learner, held_out=3)
    with pytest.raises(ArgumentError, match="stop must be a function"):
        ml.dashboard(learner, stop=3)
    with pytest.raises(ArgumentError, match="observers must be a list"):
        ml.dashboard(learner, observers=3)
    with pytest.raises(InputError, match="no folder"):
        ml.dashboard(learner, checkpoint=tmp_path / "none" / "run.npz")
