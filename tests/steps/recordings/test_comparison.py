"""Two traces side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from mlnlab.errors import ArgumentError
from mlnlab.steps.recordings.comparison import compare_traces
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.runs.stopping import AfterSteps
from mlnlab.steps.step import Step, run
from tests.steps.toys import counting, walk


@dataclass(frozen=True, slots=True)
class Merge:
    cluster: str
    score: float
    size: int = 1

    def metrics(self):
        return {"score": self.score, **({} if self.size == 1 else {"size": float(self.size)})}


def trace_of(*states, **options):
    trace = Trace(**options)
    for index, state in enumerate(states):
        trace.on_step(Step(index, 0.0, state))
    return trace


def test_equal_runs_do_not_part():
    one, other = Trace(), Trace()
    for trace in (one, other):
        run(walk(3), observers=[trace], stop=AfterSteps(30))
    found = compare_traces(one, other)
    assert len(found) == 30
    assert (found.only_left, found.only_right) == ((), ())
    assert found.first_divergence() is None
    assert found.first_divergence(tolerance=0) is None
    assert found.largest_differences() == {"norm": 0, "moves": 0}


def test_the_first_divergence_is_found_with_what_differs():
    left = [Merge("a", 1.0), Merge("b", 2.0), Merge("c", 3.0), Merge("d", 4.0)]
    right = [Merge("a", 1.0), Merge("b", 2.0), Merge("x", 3.5), Merge("y", 9.0)]
    found = compare_traces(trace_of(*left), trace_of(*right)).first_divergence()
    assert (found.left.index, found.right.index) == (2, 2)
    assert str(found) == "The runs diverge at step 2: cluster: 'c' and 'x'; score: 3 and 3.5."
    near = compare_traces(trace_of(*left), trace_of(*right)).first_divergence(tolerance=0.2)
    assert str(near) == "The runs diverge at step 3: score is 4 and 9."


def test_steps_are_laid_side_by_side_by_their_index():
    one, other = trace_of(*counting(40), most_steps=10), trace_of(*counting(30))
    found = compare_traces(one, other)
    assert found.pairs == tuple((i, i) for i in range(0, 30, 4))
    assert found.only_left == (32, 36, 39)
    assert found.only_right == tuple(i for i in range(30) if i % 4)
    assert repr(found) == "<Comparison of 8 pairs of steps; 3 only left, 22 only right>"


def test_steps_can_be_laid_side_by_side_by_what_they_are():
    left = trace_of(Merge("a", 1.0), Merge("b", 2.0), Merge("a", 3.0), Merge("c", 4.0))
    right = trace_of(Merge("b", 2.0), Merge("a", 1.0), Merge("d", 0.0), Merge("a", 5.0), Merge("a", 6.0))
    found = compare_traces(left, right, key=lambda state: state.cluster)
    assert found.pairs == ((0, 1), (1, 0), (2, 3))
    assert (found.only_left, found.only_right) == ((3,), (2, 4))
    assert str(found.first_divergence()) == "The runs diverge at steps 2 and 3: score: 3 and 5."
    assert found.differences("score").tolist() == [0, 0, 2]


def test_metrics_stand_side_by_side_in_a_frame():
    left = trace_of(Merge("a", 1.0), Merge("b", 2.0), watches={"twice": lambda state: 2 * state.score})
    right = trace_of(Merge("a", 1.5), Merge("b", 5.0, 7))
    found = compare_traces(left, right)
    frame = found.to_frame()
    assert frame["left step"].tolist() == frame["right step"].tolist() == [0, 1]
    assert frame["score difference"].tolist() == [0.5, 3.0]
    assert frame["twice left"].tolist() == [2.0, 4.0]
    np.testing.assert_array_equal(frame["size right"], [np.nan, 7])
    assert found.largest_differences() == {"score": 3.0}
    with pytest.raises(ArgumentError, match="no metric 'size'; there is 'score'"):
        found.differences("size")


def test_traces_without_a_common_step_can_be_compared():
    found = compare_traces(Trace(), trace_of(*counting(2)))
    assert found.first_divergence() is None
    assert found.largest_differences() == {}
    assert len(found.to_frame()) == 0
    with pytest.raises(ArgumentError, match="tolerance"):
        found.first_divergence(tolerance=float("nan"))


def test_pairs_of_which_a_step_was_dropped_meanwhile_are_left_out():
    one, other = trace_of(*counting(8), most_steps=8), trace_of(*counting(8))
    found = compare_traces(one, other)
    for step in trace_of(*counting(20))[8:]:
        one.on_step(step)
    assert [left.index for left, _ in found] == [0, 4]
    assert len(found.to_frame()) == 2
