"""Check the arguments of views: numbers of steps, conditions, observers; refusals name valid values."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from mlnlab.steps.runs.stopping import Predicate
    from mlnlab.steps.step import Observer


def is_whole(value: object) -> bool:
    """Tell whether something is a whole number; ``True`` and 1.0 are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def read_steps(n: object, verb: str, other: str) -> int:
    """Return by how many steps to move."""
    if not is_whole(n) or int(n) < 1:  # type: ignore[call-overload]  # is_whole has looked
        raise ArgumentError(f"{verb} takes 1 or more, not {n!r:.60}; {other}() goes the other way.")
    return int(n)  # type: ignore[call-overload,no-any-return]


def read_number(value: object, what: str) -> int:
    """Return a whole number, such as that of a step or a formula."""
    if not is_whole(value):
        raise ArgumentError(f"{what} is named by a whole number, not by {value!r:.60}.")
    return int(value)  # type: ignore[call-overload,no-any-return]


def read_real(value: object, what: str) -> float:
    """Return a number, such as a weight or a rate."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ArgumentError(f"{what} must be a number, not {value!r:.60}.")
    return float(value)


def conditions(given: Iterable[Predicate] | None) -> tuple[Predicate, ...]:
    """Return the conditions that pause a run; ``None`` is none of them."""
    found: Any = () if given is None else given
    listed = tuple(found) if isinstance(found, Iterable) else ()
    if not isinstance(found, Iterable) or not all(map(callable, listed)):
        raise ArgumentError(
            f"breaks must be a list of conditions, such as [lambda step: step.index >= 10], not"
            f" {given!r:.60}."
        )
    return listed


def condition(given: Predicate | None) -> Predicate | None:
    """Return the condition that ends a run."""
    if given is not None and not callable(given):
        raise ArgumentError(
            f"stop must be a function of a step that returns True at the end, not {given!r:.60}."
        )
    return given


def observers_of(given: Iterable[Observer] | None) -> tuple[Observer, ...]:
    """Return the observers; ``None`` is none of them."""
    found: Any = () if given is None else given
    if not isinstance(found, Iterable):
        raise ArgumentError(
            f"observers must be a list of observers, such as [ml.Trace()], not {given!r:.60}."
        )
    return tuple(found)
