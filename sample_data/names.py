"""Invented names, and choices that come out the same on every version of Python.

Only ``random()`` of a generator is used: what ``choice`` or ``shuffle`` make of it has changed over time.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TypeVar

Item = TypeVar("Item")

_BEGINNINGS = (
    "Bal", "Cor", "Dav", "Elm", "Fen", "Gar", "Hol", "Ist", "Jor", "Kel", "Lan", "Mor", "Nev", "Ost", "Pel",
    "Quin", "Ras", "Sol", "Tam", "Ulf", "Vex", "Wen", "Yar", "Zim",
)  # fmt: skip
_ENDINGS = (
    "adel", "aric", "bira", "dane", "eko", "elin", "fort", "gani", "hild", "ima", "jalo", "kov", "lius",
    "mara", "nesh", "oru", "pia", "quist", "ren", "sanu", "tove", "ulan", "vik", "zora",
)  # fmt: skip
_MIDDLES = ("", "an", "el", "or", "i", "u")


def invented_names(count: int, rng: Random) -> list[str]:
    """Return different names of persons that nobody bears on purpose."""
    every = [b + m + e for m in _MIDDLES for b in _BEGINNINGS for e in _ENDINGS]
    first = every[: max(len(_BEGINNINGS) * len(_ENDINGS), count)]
    names = shuffled(first, rng)[:count]
    return names + [f"Person{number}" for number in range(len(names) + 1, count + 1)]


def pick(items: Sequence[Item], rng: Random) -> Item:
    """Return one of the items, each as likely."""
    return items[int(rng.random() * len(items))]


def pick_weighted(weights: dict[Item, float], rng: Random) -> Item:
    """Return one of the items, each as likely as its weight says."""
    left = rng.random() * sum(weights.values())
    for item, weight in weights.items():
        left -= weight
        if left < 0:
            return item
    return list(weights)[-1]


def shuffled(items: Sequence[Item], rng: Random) -> list[Item]:
    """Return the items in random order (Fisher and Yates)."""
    result = list(items)
    for last in range(len(result) - 1, 0, -1):
        other = int(rng.random() * (last + 1))
        result[last], result[other] = result[other], result[last]
    return result


def happens(probability: float, rng: Random) -> bool:
    """Return whether something of this probability happens."""
    return rng.random() < probability
