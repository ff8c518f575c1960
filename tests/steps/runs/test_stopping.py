"""Stop rules: when they are true, why they say they are, and their combinations."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from mlnlab.errors import ArgumentError
from mlnlab.steps.runs.stopping import AfterSeconds, AfterSteps, AllOf, AnyOf, Converged, Reaches, reason_of
from mlnlab.steps.step import Step, run
from tests.steps.toys import counting


@dataclass(frozen=True, slots=True)
class Value:
    objective: float

    def metrics(self):
        return {"objective": self.objective}


def values(numbers):
    return [Step(index, index / 2, Value(number)) for index, number in enumerate(numbers)]


def first_true(rule, numbers):
    return next((step.index for step in values(numbers) if rule(step)), None)


def test_after_so_many_steps():
    rule = AfterSteps(5)
    assert run(counting(), stop=rule).index == 4
    assert rule.reason == "The run has 5 steps."
    # Steps before a resumption count, so that a resumed run ends where the whole one would.
    assert run(counting(), stop=rule, first=3).index == 4
    assert run(counting(), stop=rule, first=30).index == 30


def test_after_so_many_seconds():
    rule = AfterSeconds(1.5)
    assert first_true(rule, range(10)) == 3
    assert rule.reason == "The run has taken 1.5 of 1.5 seconds."


def test_when_a_metric_reaches_a_value():
    above, below = Reaches("objective", at_least=3), Reaches("objective", at_most=-1)
    assert first_true(above, [0, 2, 3, 4]) == 2
    assert above.reason == "objective is 3, which is at least 3."
    assert first_true(below, [0, 2, -5]) == 2
    assert below.reason == "objective is -5, which is at most -1."
    assert first_true(above, [float("nan")] * 3) is None
    assert above.reason == ""


class TestConvergence:
    def test_the_range_over_the_window_has_to_be_small(self):
        rule = Converged("objective", tolerance=0.01, window=3)
        assert first_true(rule, [100, 50, 20, 10, 10, 10.05, 10.05, 10]) == 6
        assert rule.reason == "objective changed by at most 0.01 of its size in 3 steps."

    def test_a_metric_that_swings_has_not_converged(self):
        assert first_true(Converged("objective", tolerance=0.1, window=2), [1, 5] * 20) is None

    def test_a_metric_that_approaches_zero_needs_an_absolute_range(self):
        halving = [2.0**-k for k in range(40)]
        assert first_true(Converged("objective", window=2), halving) is None
        rule = Converged("objective", window=2, absolute=1e-3)
        assert first_true(rule, halving) == 12
        assert rule.reason == "objective changed by at most 0.001 in 2 steps."
        assert first_true(Converged("objective", window=2), [0.0] * 5) == 2

    def test_what_is_no_number_has_not_converged(self):
        assert first_true(Converged("objective", window=1), [float("nan")] * 9) is None
        assert first_true(Converged("objective", window=1), [float("-inf")] * 9) is None

    def test_each_run_fills_the_window_anew(self):
        rule = Converged("objective", window=3)
        assert first_true(rule, [1, 1, 1]) is None
        assert first_true(rule, [1, 1, 1, 1]) == 3


def test_any_of_several():
    rule = AfterSteps(100) | Reaches("objective", at_least=5) | AfterSeconds(2.5)
    assert isinstance(rule, AnyOf)
    assert first_true(rule, range(50)) == 5
    assert rule.reason == "objective is 5, which is at least 5. The run has taken 2.5 of 2.5 seconds."


def test_all_of_several_are_asked_at_every_step():
    rule = AfterSteps(4) & Converged("objective", window=2)
    assert isinstance(rule, AllOf)
    assert first_true(rule, [1, 1, 1, 1, 1]) == 3
    assert first_true(rule, [5, 4, 3, 2, 1, 1, 1, 1]) == 6


def test_functions_are_rules_too():
    def late(step):
        return step.index > 2

    rule = AnyOf(late)
    assert first_true(rule, range(9)) == 3
    assert rule.reason == "late is true."
    assert reason_of(late) == "late is true."


@pytest.mark.parametrize(
    "make",
    [
        lambda: AfterSteps(0),
        lambda: AfterSeconds(-1),
        lambda: AfterSeconds(float("nan")),
        lambda: Converged("a", window=0),
        lambda: Converged("a", tolerance=-1),
        lambda: Reaches("a"),
        AnyOf,
        lambda: AllOf(AfterSteps(1), 3),
    ],
)
def test_odd_arguments_get_a_sentence(make):
    with pytest.raises(ArgumentError, match=r"\.$"):
        make()


def test_a_misspelt_metric_is_said_at_the_first_step():
    for rule in (Converged("objectiv"), Reaches("objectiv", at_least=1)):
        with pytest.raises(ArgumentError, match=r"no metric 'objectiv'.* Did you mean 'objective'\?"):
            first_true(rule, [1])
