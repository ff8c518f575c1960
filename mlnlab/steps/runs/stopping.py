"""When to stop: small rules that can be combined, each of which says why it stopped the run.

    rule = AfterSteps(1000) | Converged("objective", tolerance=1e-6)
    last = run(steps(...), stop=rule)
    rule.reason             # 'objective changed by less than 1e-06 of its size over the last 10 steps.'

A rule may be used for one run after the other: where the steps begin anew, so does what it remembers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from math import isfinite
from typing import Any, TypeAlias

from mlnlab.errors import ArgumentError
from mlnlab.steps.step import State, Step
from mlnlab.steps.values.quantities import metric_of

# Any predicate of a step will do; it knows the algorithm's own type of state.
Predicate: TypeAlias = Callable[[Step[Any]], object]


class StopRule(ABC):
    """A predicate of steps with a sentence, ``reason``, that is empty until it is true."""

    reason: str = ""

    def __call__(self, step: Step[State]) -> bool:
        """Say whether to stop at this step."""
        self.reason = self.verdict(step) or ""
        return bool(self.reason)

    @abstractmethod
    def verdict(self, step: Step[State]) -> str | None:
        """Return the sentence that says why to stop, or nothing; asked exactly once for each step."""

    def __or__(self, other: Predicate) -> AnyOf:
        return AnyOf(self, other)

    def __and__(self, other: Predicate) -> AllOf:
        return AllOf(self, other)


def reason_of(rule: Predicate) -> str:
    """Return the sentence of a rule that is true; functions of other kinds are called by their name."""
    reason = getattr(rule, "reason", "")
    return reason if isinstance(reason, str) and reason else f"{name_of(rule)} is true."


def name_of(rule: Predicate) -> str:
    """Return a rule's name for use in sentences."""
    name = getattr(rule, "__name__", type(rule).__name__)
    return "a condition" if name == "<lambda>" else str(name)


class AfterSteps(StopRule):
    """Stop when the run has a number of steps, those before a resumption included."""

    def __init__(self, steps: int) -> None:
        if steps < 1:
            raise ArgumentError(f"A run has at least one step; AfterSteps({steps}) cannot be met.")
        self._steps = steps

    def verdict(self, step: Step[State]) -> str | None:
        """Look at the step's index, which counts from zero."""
        return f"The run has {step.index + 1:,} steps." if step.index + 1 >= self._steps else None


class AfterSeconds(StopRule):
    """Stop at the first step after a number of seconds, those before a resumption included."""

    def __init__(self, seconds: float) -> None:
        if not seconds >= 0:
            raise ArgumentError(f"AfterSeconds needs a number of seconds, not {seconds}.")
        self._seconds = seconds

    def verdict(self, step: Step[State]) -> str | None:
        """Look at the step's own time."""
        if step.seconds < self._seconds:
            return None
        return f"The run has taken {step.seconds:.3g} of {self._seconds:g} seconds."


class Converged(StopRule):
    """Stop when a metric has kept within a small part of its size over the last ``window`` steps.

    The whole range counts, not only its two ends, so that a metric which swings to and fro does not pass.
    ``absolute`` is a range that is small whatever the metric's size: for metrics that approach zero.
    """

    def __init__(
        self, metric: str, tolerance: float = 1e-4, window: int = 10, *, absolute: float = 0.0
    ) -> None:
        if window < 1 or not tolerance >= 0 or not absolute >= 0:
            raise ArgumentError("Converged needs a window of at least 1 step, and tolerances of 0 or more.")
        self._metric, self._tolerance, self._absolute = metric, tolerance, absolute
        self._values: deque[float] = deque(maxlen=window + 1)
        self._last_index: int | None = None

    def verdict(self, step: Step[State]) -> str | None:
        """Look at the metric's range over the window, once that is full."""
        if self._last_index is not None and step.index <= self._last_index:
            self._values.clear()
        self._last_index = step.index
        self._values.append(metric_of(step, self._metric))
        if len(self._values) < (self._values.maxlen or 0) or not all(map(isfinite, self._values)):
            return None
        low, high = min(self._values), max(self._values)
        size = max(abs(low), abs(high))
        if high - low > max(self._tolerance * size, self._absolute):
            return None
        window = len(self._values) - 1
        if high - low <= self._tolerance * size:
            return f"{self._metric} changed by at most {self._tolerance:g} of its size in {window} steps."
        return f"{self._metric} changed by at most {self._absolute:g} in {window} steps."


class Reaches(StopRule):
    """Stop when a metric is ``at_least`` or ``at_most`` a value."""

    def __init__(self, metric: str, *, at_least: float | None = None, at_most: float | None = None) -> None:
        if at_least is None and at_most is None:
            raise ArgumentError(f"Say which value {metric!r} has to reach: at_least= or at_most=.")
        self._metric, self._at_least, self._at_most = metric, at_least, at_most

    def verdict(self, step: Step[State]) -> str | None:
        """Compare the metric with the bounds."""
        value = metric_of(step, self._metric)
        if self._at_least is not None and value >= self._at_least:
            return f"{self._metric} is {value:g}, which is at least {self._at_least:g}."
        if self._at_most is not None and value <= self._at_most:
            return f"{self._metric} is {value:g}, which is at most {self._at_most:g}."
        return None


class _Combined(StopRule):
    def __init__(self, *rules: Predicate) -> None:
        if not rules or not all(map(callable, rules)):
            raise ArgumentError(f"{type(self).__name__} needs rules: functions of a step.")
        self._rules = rules

    def _reasons(self, step: Step[State]) -> list[str]:
        # All are asked, because each may count what it sees.
        return [reason_of(rule) for rule in self._rules if rule(step)]


class AnyOf(_Combined):
    """Stop when one of the rules is true; the reasons are those of all that are."""

    def verdict(self, step: Step[State]) -> str | None:
        """Ask all rules."""
        return " ".join(self._reasons(step)) or None


class AllOf(_Combined):
    """Stop at a step for which all the rules are true."""

    def verdict(self, step: Step[State]) -> str | None:
        """Ask all rules."""
        reasons = self._reasons(step)
        return " ".join(reasons) if len(reasons) == len(self._rules) else None
