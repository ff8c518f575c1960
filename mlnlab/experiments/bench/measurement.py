"""What one measurement says."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured: rounds in which we and C take turns, and how much work a round is."""

    rounds: int
    updates: int  # Gibbs updates in a round
    open_atoms: int  # of the enumeration, which visits 2 to this many worlds: 24 or 26
    sums: int  # over all worlds


FULL = Effort(rounds=11, updates=4_000_000, open_atoms=26, sums=3)
QUICK = Effort(rounds=5, updates=1_000_000, open_atoms=24, sums=1)


@dataclass(frozen=True, slots=True)
class Measurement:
    """Speeds in millions of ``unit`` a second; ``ratio`` is ours over that of C, so above 1 we are faster."""

    name: str
    unit: str
    ours: float
    in_c: float | None = None
    ratio: float | None = None
    same_results: bool | None = None  # as in C: trajectories bit for bit, sums to nine digits
    memory: int = 0  # bytes of the arrays that we work on


def compared(
    name: str,
    unit: str,
    work: int,
    seconds: list[tuple[float, float | None]],
    *,
    same_results: bool | None,
    memory: int = 0,
) -> Measurement:
    """Return the medians over rounds of so much work; the ratio is the median of the rounds' own ratios."""
    ours = work / median(own for own, _ in seconds) / 1e6
    pairs = [(own, other) for own, other in seconds if other is not None]
    if not pairs:
        return Measurement(name, unit, ours, memory=memory)
    in_c = work / median(other for _, other in pairs) / 1e6
    ratio = median(other / own for own, other in pairs)
    return Measurement(name, unit, ours, in_c, ratio, same_results, memory)


def own_seconds(work: Callable[[], object]) -> float:
    """Return how much of this thread's own time some work takes, whatever else the machine does."""
    began = time.thread_time()
    work()
    return time.thread_time() - began
