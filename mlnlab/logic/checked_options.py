"""Check options, in every layer that has some: refusals name the option and the values it may have."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from os import PathLike
from pathlib import Path
from sys import float_info
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    from mlnlab.steps.step import Observer


def is_whole(value: object) -> bool:
    """Tell whether something is a whole number; ``True`` and 1.0 are none."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Tell whether something is a finite number; ``True`` is none."""
    return _is_real(value) and abs(value) <= float_info.max  # type: ignore[arg-type]  # _is_real has looked


def _is_real(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def refuse_unknown_options(
    called: str, options: Iterable[str], known: Sequence[str], hints: Mapping[str, str] | None = None
) -> None:
    """Refuse an option that a method does not have; ``hints`` are said of some instead of a likely repair."""
    for name in options:
        if name not in known:
            hint = (hints or {}).get(name) or did_you_mean(name, known) or "."
            own = f"It has: {', '.join(known)}." if known else "It has none."
            raise ArgumentError(f"{called} has no option {name:.60}{hint} {own}")


@dataclass(frozen=True, slots=True)
class Kind:
    """Which values an option may have: in words, and as a test."""

    words: str
    holds: Callable[[Any], bool]

    def or_none(self) -> Kind:
        """Return the kind that ``None`` is of, too."""
        return Kind(f"{self.words}, or None", lambda value: value is None or self.holds(value))


def whole(least: int = 0, most: int | None = None) -> Kind:
    """Return the kind of whole numbers from some number on."""
    words = f"of at least {least}" if most is None else f"from {least} to {most}"
    return Kind(
        f"a whole number {words}", lambda v: type(v) is int and v >= least and (most is None or v <= most)
    )


def real(least: float, most: float = inf, *, below: bool = False, endless: bool = False) -> Kind:
    """Return the kind of numbers from ``least`` to ``most`` (or ``below`` it); ``endless``: infinity, too."""
    is_kind = _is_real if endless else is_number
    words = f"of at least {least:,}" if most == inf else f"from {least:,} to {'below ' * below}{most:,}"
    return Kind(
        f"a number {words}", lambda v: is_kind(v) and least <= v <= most and not (below and v == most)
    )


def above(least: float, most: float = inf, *, endless: bool = False) -> Kind:
    """Return the kind of numbers above ``least``, up to ``most``; ``endless``: infinity, too."""
    is_kind = _is_real if endless else is_number
    words = f"above {least:,}" + ("" if most == inf else f" and up to {most:,}")
    return Kind(f"a number {words}", lambda v: is_kind(v) and least < v <= most)


def one_of(words: Sequence[str]) -> Kind:
    """Return the kind of some words."""
    return Kind(f"one of {', '.join(words)}", lambda value: isinstance(value, str) and value in words)


def check_options(params: object, **kinds: int | Kind) -> None:
    """Refuse parameters that are not of their kinds; a number stands for whole numbers from it on.

    Whole numbers of numpy become plain ones, because states keep plain numbers only.

    >>> from types import SimpleNamespace
    >>> check_options(SimpleNamespace(samples=10, seed=-1), samples=1, seed=0)
    Traceback (most recent call last):
    mlnlab.errors.ArgumentError: seed must be a whole number of at least 0, not -1.
    >>> check_options(SimpleNamespace(noise=1.5), noise=real(0, 1))
    Traceback (most recent call last):
    mlnlab.errors.ArgumentError: noise must be a number from 0 to 1, not 1.5.
    """
    for name, given in kinds.items():
        kind = given if isinstance(given, Kind) else whole(given)
        value = getattr(params, name)
        if isinstance(value, np.integer):
            value = int(value)
            object.__setattr__(params, name, value)
        if not kind.holds(value):
            raise ArgumentError(f"{name} must be {kind.words}, not {value!r:.60}.")


def whole_number(value: object, called: str, least: int = 0) -> int:
    """Return a whole number from ``least`` on; ``True`` and 1.5 are none."""
    if not is_whole(value) or value < least:  # type: ignore[operator]  # is_whole has looked
        raise ArgumentError(f"{called} must be a whole number of at least {least}, not {value!r:.60}.")
    return int(value)  # type: ignore[call-overload,no-any-return]


def checked_seed(seed: object) -> int:
    """Return a seed of random numbers."""
    return whole_number(seed, "seed")


def generator(seed: object) -> np.random.Generator:
    """Return the random numbers of a seed."""
    return np.random.default_rng(whole_number(seed, "A seed"))


def is_one_of(name: object, known: Container[str]) -> bool:
    """Tell whether a value is one of some names; a value that is not a text never is."""
    return isinstance(name, str) and name in known


def check_names(names: object, option: str, example: str) -> tuple[str, ...]:
    """Return a list of names, all of which are texts."""
    listed = tuple(names) if isinstance(names, Iterable) and not isinstance(names, str | bytes) else None
    if listed is None or not all(isinstance(name, str) for name in listed):
        raise ArgumentError(f'{option}= takes a list of predicates, as in {option}=["{example}"],'
                            f" not {names!r:.60}.")  # fmt: skip
    return listed


def checked_truth(name: str, value: object) -> None:
    """Refuse a value that is neither True nor False."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{name} must be True or False, not {value!r:.60}.")


def checked_hours(most_hours: object) -> float:
    """Return how long a run may take; it may be infinite."""
    if most_hours == float("inf") or (is_number(most_hours) and float(most_hours) > 0):  # type: ignore[arg-type]
        return float(most_hours)  # type: ignore[arg-type]
    raise ArgumentError(
        f"most_hours must be a number of hours above 0, such as 1, or infinity, not {most_hours!r:.60}."
    )


def checked_observers(observers: Iterable[Observer] | None) -> list[Observer]:
    """Return the observers as a list; ``None`` means no observers."""
    given: object = () if observers is None else observers
    found: list[Any] = list(given) if isinstance(given, Iterable) else [None]
    if not all(callable(getattr(one, "on_step", None)) for one in found):
        raise ArgumentError(
            f"observers must be a list of observers, such as [ml.Trace()], not {given!r:.60}."
        )
    return found


def checked_file(path: object) -> Path:
    """Return the name of a file to which checkpoints can be written."""
    if not isinstance(path, str | PathLike):
        raise ArgumentError(f'checkpoint is the name of a file, such as "run.npz", not {path!r:.60}.')
    return Path(path)
