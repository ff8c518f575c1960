"""Arguments that people type: seeds, numbers, lists of names; a refusal says what would fit."""

from __future__ import annotations

from collections.abc import Container, Iterable

import numpy as np

from mlnlab.errors import ArgumentError


def whole_number(value: object, what: str, least: int = 0) -> int:
    """Return a whole number from ``least`` on; ``True`` and 1.5 are none."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer) or value < least:
        raise ArgumentError(f"{what} is a whole number of {least} or more, not {value!r:.60}.")
    return int(value)


def generator(seed: object) -> np.random.Generator:
    """Return the random numbers of a seed."""
    return np.random.default_rng(whole_number(seed, "A seed"))


def is_one_of(name: object, known: Container[str]) -> bool:
    """Tell whether something is one of some names; what is no text is none of them."""
    return isinstance(name, str) and name in known


def names_listed(names: object, option: str, example: str) -> tuple[str, ...]:
    """Return a list of names, all of which are texts."""
    listed = tuple(names) if isinstance(names, Iterable) and not isinstance(names, str | bytes) else None
    if listed is None or not all(isinstance(name, str) for name in listed):
        raise ArgumentError(f'{option}= takes a list of predicates, as in {option}=["{example}"],'
                            f" not {names!r:.60}.")  # fmt: skip
    return listed
