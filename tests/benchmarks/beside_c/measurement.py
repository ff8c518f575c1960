"""Measure our speed and that of C by turns: speeds depend on the machine, ratios hardly do."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured: rounds in which we and C take turns, and how much work a round is."""

    rounds: int
    updates: int  # Gibbs updates in a round


FULL = Effort(rounds=11, updates=4_000_000)
TINY = Effort(rounds=1, updates=20_000)  # enough to see whether both come to the same


@dataclass(frozen=True, slots=True)
class Measurement:
    """Speeds in millions of ``unit`` a second; ``ratio`` is ours over that of C, so above 1 we are faster."""

    name: str
    unit: str
    ours: float
    in_c: float
    ratio: float
    same_results: bool  # as in C: trajectories bit for bit, sums to nine digits
    memory: int = 0  # bytes of the arrays that we work on


def compared(
    name: str,
    unit: str,
    work: int,
    seconds: Sequence[tuple[float, float]],
    *,
    same_results: bool,
    memory: int = 0,
) -> Measurement:
    """Return the medians over rounds of so much work; the ratio is the median of the rounds' own ratios."""
    ours = work / median(own for own, _ in seconds) / 1e6
    in_c = work / median(other for _, other in seconds) / 1e6
    ratio = median(other / own for own, other in seconds)
    return Measurement(name, unit, ours, in_c, ratio, same_results, memory)


def by_turns(
    effort: Effort, ours: Callable[[], object], in_c: Callable[[], object]
) -> list[tuple[float, float]]:
    """Return the seconds of both in each round, after one that compiles and fills the caches."""
    return [(own_seconds(ours), own_seconds(in_c)) for _ in range(effort.rounds + 1)][1:]


def same_arrays(ours: object, theirs: object, names: Iterable[str]) -> bool:
    """Tell whether the arrays of these names are equal, bit for bit."""
    return all(np.array_equal(getattr(ours, name), getattr(theirs, name)) for name in names)


def own_seconds(work: Callable[[], object]) -> float:
    """Return how much of this thread's own time some work takes, whatever else the machine does."""
    began = time.thread_time()
    work()
    return time.thread_time() - began
