"""Numbering, observing and running: the one stream of steps."""

from __future__ import annotations

import pytest

from mlnlab.errors import ArgumentError
from mlnlab.steps.step import ObserverWarning, Step, notify_observers, number_states, run
from tests.steps.toys import counting


class Recorder:
    def __init__(self, fail_at=None, fail_at_end=False):
        self.steps, self.ends, self.fail_at, self.fail_at_end = [], [], fail_at, fail_at_end

    def on_step(self, step):
        if step.index == self.fail_at:
            raise ValueError("full")
        self.steps.append(step.index)

    def on_end(self, last):
        self.ends.append(last.index)
        if self.fail_at_end:
            raise OSError("disk")


def test_steps_are_numbered_and_timed():
    ticks = iter([10.0, 11.0, 13.0, 16.0])
    steps = list(number_states(counting(3), first=5, seconds=2.0, clock=lambda: next(ticks)))
    assert [(s.index, s.seconds, s.state.value) for s in steps] == [(5, 3.0, 0), (6, 5.0, 1), (7, 8.0, 2)]


def test_a_run_returns_its_last_step_and_tells_every_observer():
    one, other = Recorder(), Recorder()
    last = run(counting(4), observers=[one, other])
    assert (last.index, last.state.value) == (3, 3)
    assert one.steps == other.steps == [0, 1, 2, 3]
    assert one.ends == other.ends == [3]


def test_a_run_stops_at_the_first_step_for_which_the_rule_is_true_and_can_go_on():
    states = counting()
    assert run(states, stop=lambda step: step.state.value == 7).index == 7
    last = run(states, stop=lambda step: step.state.value == 9, first=8)
    assert (last.index, last.state.value) == (9, 9)


def test_a_failing_observer_is_dropped_with_a_warning_and_the_run_goes_on():
    bad, good = Recorder(fail_at=2), Recorder()
    with pytest.warns(
        ObserverWarning, match=r"Recorder failed in on_step and is dropped: ValueError\('full'\)"
    ):
        run(counting(5), observers=[bad, good])
    assert (bad.steps, bad.ends) == ([0, 1], [])
    assert (good.steps, good.ends) == ([0, 1, 2, 3, 4], [4])


def test_an_observer_that_fails_at_the_end_keeps_no_other_from_its_end():
    bad, good = Recorder(fail_at_end=True), Recorder()
    with pytest.warns(ObserverWarning, match="on_end"):
        run(counting(2), observers=[bad, good])
    assert good.ends == [1]


def test_observers_learn_of_the_end_when_the_algorithm_fails():
    def failing():
        yield from counting(2)
        raise RuntimeError("no more")

    recorder = Recorder()
    with pytest.raises(RuntimeError, match="no more"):
        run(failing(), observers=[recorder])
    assert recorder.ends == [1]


def test_an_algorithm_without_a_state_is_an_error():
    with pytest.raises(ArgumentError, match="yielded no state"):
        run(iter([]), observers=[recorder := Recorder()])
    assert recorder.ends == []


def test_a_closed_stream_tells_the_end():
    recorder = Recorder()
    stream = notify_observers(number_states(counting()), [recorder])
    next(stream)
    stream.close()
    assert recorder.ends == [0]
    with pytest.raises(AttributeError):
        Step(0, 0.0, None).index = 1
