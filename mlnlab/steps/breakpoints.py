"""Where to pause: conditions on two steps in a row, for looking into a learner or sampler that goes astray.

    live = Live(steps(...), breaks=[sign_change("weights"), not_finite(), decreases("objective")])
    run(steps(...), stop=Break("a step is rejected", lambda before, now: now.state.rejected))

Where a condition takes a quantity, that is a metric's name, an attribute's name, or a function of the state;
arrays are looked at entry by entry.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mlnlab.errors import ArgumentError
from mlnlab.steps.quantities import Quantity, metric_of, numbers_of, quantity_name, quantity_of
from mlnlab.steps.sameness import differing_parts
from mlnlab.steps.step import State, Step
from mlnlab.steps.stopping import StopRule

# Of the previous step (none at the first) and the current one; a text says more than that it is true.
Condition: TypeAlias = Callable[[Step[Any] | None, Step[Any]], bool | str | None]
_Numbers: TypeAlias = NDArray[np.float64]


class Break(StopRule):
    """A named condition on a step and the one before it."""

    def __init__(self, name: str, condition: Condition) -> None:
        if not callable(condition):
            raise ArgumentError(f"The break {name!r} needs a function of two steps, not {condition!r}.")
        self.name = name
        self._condition = condition
        self._previous: Step[State] | None = None

    def verdict(self, step: Step[State]) -> str | None:
        """Ask the condition; where the steps begin anew, there is no step before."""
        before = self._previous
        if before is not None and step.index <= before.index:
            before = None
        self._previous = step
        found = self._condition(before, step)
        if not found:
            return None
        return f"{self.name} at step {step.index}{': ' + found if isinstance(found, str) else ''}."

    def __repr__(self) -> str:
        return f"Break({self.name!r})"


def crosses(quantity: Quantity, value: float, *, name: str | None = None) -> Break:
    """Break when a number reaches or passes a value, from either side."""
    called = quantity_name(quantity, name)
    return Break(f"{called} crosses {value:g}", _crossing(quantity, value))


def sign_change(quantity: Quantity, *, name: str | None = None) -> Break:
    """Break when a number reaches zero or passes it; one that leaves zero has not changed its sign."""
    return Break(f"{quantity_name(quantity, name)} changes sign", _crossing(quantity, 0.0))


def _crossing(quantity: Quantity, value: float) -> Condition:
    def condition(before: Step[Any] | None, now: Step[Any]) -> str | None:
        if before is None:
            numbers_of(now, quantity)  # a misspelt name is said at once
            return None
        old, new = numbers_of(before, quantity), numbers_of(now, quantity)
        if old.shape != new.shape:
            return None
        return _first_of((old < value) & (new >= value) | (old > value) & (new <= value), old, new)

    return condition


def _first_of(where: NDArray[np.bool_], old: _Numbers, new: _Numbers) -> str | None:
    """Return the first place at which something holds with the numbers there, and how many more there are."""
    places = np.argwhere(where)
    if not len(places):
        return None
    place = tuple(places[0])
    index = f"[{', '.join(map(str, place))}] " if place else ""
    others = f", and {len(places) - 1:,} more" if len(places) > 1 else ""
    return f"{index}{old[place]:.6g} became {new[place]:.6g}{others}"


def changes(quantity: Quantity, *, name: str | None = None) -> Break:
    """Break when a quantity of any kind is not what it was."""

    def condition(before: Step[Any] | None, now: Step[Any]) -> str | None:
        value = quantity_of(now, quantity)
        if before is None:
            return None
        return "; ".join(differing_parts(quantity_of(before, quantity), value, most=3)) or None

    return Break(f"{quantity_name(quantity, name)} changes", condition)


def not_finite(quantity: Quantity | None = None, *, name: str | None = None) -> Break:
    """Break when a number is infinite or no number at all; without a quantity, any metric."""

    def condition(_: Step[Any] | None, now: Step[Any]) -> str | None:
        if quantity is None:
            metrics = now.state.metrics()
            return ", ".join(f"{n} is {v}" for n, v in metrics.items() if not isfinite(v)) or None
        numbers = numbers_of(now, quantity)
        places = np.argwhere(~np.isfinite(numbers))
        return f"{numbers[tuple(places[0])]} at {places[0].tolist()}" if len(places) else None

    called = "a metric" if quantity is None else quantity_name(quantity, name)
    return Break(f"{called} is not finite", condition)


def decreases(metric: str, *, by_more_than: float = 0.0) -> Break:
    """Break when a metric is smaller than at the step before."""

    def condition(before: Step[Any] | None, now: Step[Any]) -> str | None:
        value = metric_of(now, metric)
        if before is None:
            return None
        old = metric_of(before, metric)
        return f"{old:.6g} became {value:.6g}" if old - value > by_more_than else None

    return Break(f"{metric} decreases", condition)
