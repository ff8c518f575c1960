"""What people hand to structure learners: a refusal in a sentence says what would fit."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from mlnlab.steps.step import Observer


def is_whole(value: object) -> bool:
    """Tell whether something is a whole number; ``True`` and 1.0 are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Tell whether something is a finite number; ``True`` is none."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and isfinite(value)


def checked_seed(seed: object) -> int:
    """Return a seed of random numbers."""
    if not is_whole(seed) or int(seed) < 0:  # type: ignore[call-overload]  # is_whole has looked
        raise ArgumentError(f"seed is a whole number from 0 on, not {seed!r:.60}.")
    return int(seed)  # type: ignore[call-overload,no-any-return]


def checked_truth(name: str, value: object) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{name} is True or False, not {value!r:.60}.")


def checked_hours(most_hours: object) -> float:
    """Return how long a run may take; it may be infinite."""
    if most_hours == float("inf") or (is_number(most_hours) and float(most_hours) > 0):  # type: ignore[arg-type]
        return float(most_hours)  # type: ignore[arg-type]
    raise ArgumentError(
        f"most_hours is a number of hours above 0, such as 1, or infinity, not {most_hours!r:.60}."
    )


def checked_observers(observers: Iterable[Observer] | None) -> list[Observer]:
    """Return what is told of each step; ``None`` is none of them."""
    given: object = () if observers is None else observers
    found: list[Any] = list(given) if isinstance(given, Iterable) else [None]
    if not all(callable(getattr(one, "on_step", None)) for one in found):
        raise ArgumentError(
            "observers is a list of those that are told of each step, such as [ml.Trace()], not "
            f"{given!r:.60}."
        )
    return found


def checked_file(path: object) -> Path:
    """Return the name of a file to which checkpoints can be written."""
    if not isinstance(path, str | PathLike):
        raise ArgumentError(f'checkpoint is the name of a file, such as "run.npz", not {path!r:.60}.')
    return Path(path)
