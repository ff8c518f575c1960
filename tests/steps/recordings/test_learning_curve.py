"""Learning curves as values: from traces and lists, their frames, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from mlnlab.errors import ArgumentError
from mlnlab.steps.recordings.learning_curve import LearningCurve, Series
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.step import Step


class Scored:
    def __init__(self, **metrics):
        self._metrics = metrics

    def metrics(self):
        return self._metrics


def trace_of(*rows, first=0):
    trace = Trace()
    for index, row in enumerate(rows, first):
        trace.on_step(Step(index, 0.5 * index, Scored(**row)))
    return trace


def test_the_metrics_of_a_trace():
    trace = trace_of({"loss": 3.0}, {"loss": 2.0, "gap": 0.5}, {"loss": 1.5, "gap": 0.25})
    curve = LearningCurve.from_trace(trace)
    assert curve.names == ("loss", "gap")
    assert curve["loss"].values.tolist() == [3, 2, 1.5]
    assert curve["gap"].steps.tolist() == [0, 1, 2]
    assert np.isnan(curve["gap"].values[0])
    assert curve["gap"].across("seconds").tolist() == [0, 0.5, 1]
    assert LearningCurve.from_trace(trace, "gap").measure == "gap"
    with pytest.raises(ArgumentError, match="no metric 'los'; there is 'loss', 'gap'"):
        LearningCurve.from_trace(trace, ["los"])


def test_one_metric_of_several_runs():
    traces = {"fast": trace_of({"loss": 3.0}, {"loss": 1.0}), "slow": trace_of({"loss": 2.5}, first=1)}
    curve = LearningCurve.from_traces(traces, "loss")
    frame = curve.to_frame()
    assert frame.columns.tolist() == ["step", "seconds", "fast", "slow"]
    assert frame["step"].tolist() == [0, 1]
    assert frame["step"].dtype == np.int64
    assert frame["fast"].tolist() == [3, 1]
    assert np.isnan(frame["slow"][0])
    assert frame["slow"][1] == 2.5
    with pytest.raises(ArgumentError, match="In the run 'fast': There is no metric 'gap'"):
        LearningCurve.from_traces(traces, "gap")


def test_lists_with_errors():
    curve = LearningCurve.from_values({"a": [1, 2]}, [10, 20.5], {"a": [0.1, 0.2]}, "cost")
    frame = curve.to_frame()
    assert frame.to_dict("list") == {"step": [10, 20.5], "a": [1, 2], "a error": [0.1, 0.2]}
    assert repr(curve) == "<LearningCurve of cost: a, 2 steps>"
    halves = LearningCurve.from_values({"a": [1, 2]}, [0.5, 1.5])
    assert halves.to_frame()["step"].tolist() == [0.5, 1.5]


def test_names_of_our_own_columns_are_kept_apart():
    frame = LearningCurve.from_values({"step": [7, 8], "seconds": [1, 2]}).to_frame()
    assert frame.columns.tolist() == ["step", "step (values)", "seconds"]
    assert frame["step"].tolist() == [0, 1]


def test_it_is_a_value():
    given = np.array([1.0, 2.0])
    curve = LearningCurve.from_values({"a": given})
    given[0] = 9
    assert curve["a"].values.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        curve["a"].values[0] = 3
    other = curve.on_log_scale().at(1)
    assert (other.log, other.marked, curve.log, curve.marked) == (True, 1, False, None)
    assert len(repr(LearningCurve.from_values({"x" * 10**6: [1]}))) < 200


def test_nothing_is_a_curve_too():
    assert repr(LearningCurve(())) == "<LearningCurve of nothing, 0 steps>"
    assert LearningCurve(()).to_frame().empty
    assert LearningCurve.from_trace(Trace()).names == ()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Series("a", [0], [1, 2]), "'a' has 2 values, but 1 steps"),
        (lambda: Series("a", [1, 0], [1, 2]), "The steps of 'a' have to be numbers that never fall"),
        (lambda: Series("a", [0, np.nan], [1, 2]), "The steps of 'a' have to be numbers that never fall"),
        (lambda: Series("a", [0], [1], errors=[-1]), "The errors of 'a' have to be numbers from 0 up"),
        (lambda: Series("a", [0], ["x"]), "The values of 'a' have to be numbers"),
        (lambda: Series("a", [0], [[1]]), "The values of 'a' have to be a list of numbers"),
        (lambda: LearningCurve((Series("a", [0], [1]),) * 2), "Two series of a learning curve"),
        (lambda: LearningCurve((), by="hours"), "is drawn over 'step' or 'seconds', not over 'hours'"),
        (lambda: LearningCurve.from_values({"a": [1]}).by_seconds(), "The seconds of 'a' are not known"),
        (lambda: LearningCurve.from_values({"a": [1]})["b"], "There is no metric 'b'"),
    ],
)
def test_what_makes_no_sense_gets_a_sentence(make, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        make()
