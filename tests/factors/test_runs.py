"""Runs of exact inference as streams of states: recorded, saved, read back, taken up again."""

from __future__ import annotations

import dataclasses
from itertools import islice

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.steps.values.sameness import same_state

GREENHOUSE = ml.sample_network("greenhouse")
each = pytest.mark.parametrize(
    "source",
    [
        ml.junction_tree(GREENHOUSE),
        ml.junction_tree(GREENHOUSE).passing({"Wilting": "yes"}),
        ml.elimination_order(ml.sample_network("lattice")),
        ml.variable_elimination(GREENHOUSE, ["Soil", "Alarm"]),
    ],
    ids=["tree", "passing", "order", "query"],
)


@each
def test_the_same_source_gives_the_same_states(source):
    first, second = list(source), list(source)
    assert len(first) > 5
    assert all(map(same_state, first, second))


@each
def test_states_are_frozen_values_with_finite_metrics(source):
    states = list(source)
    assert len({id(state) for state in states}) == len(states)
    for state in states:
        assert all(np.isfinite(value) for value in state.metrics().values())
        with pytest.raises(dataclasses.FrozenInstanceError):
            state.step = 7


@each
def test_stopping_after_any_step_breaks_nothing(source):
    for number in (1, 3, 6):
        steps = iter(source)
        list(islice(steps, number))
        del steps
    assert all(map(same_state, list(source), list(source)))


@each
def test_a_recording_is_saved_and_read_back(source, tmp_path):
    trace = ml.Trace.of(source)
    trace.save(tmp_path / "run.trace")
    found = ml.Trace.load(tmp_path / "run.trace")
    assert len(found) == len(trace)
    assert all(same_state(one.state, other.state) for one, other in zip(found, trace, strict=True))
