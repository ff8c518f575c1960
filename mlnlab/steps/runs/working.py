"""Report work that is not a stream of steps: it is done in parts, and observers get the number done.

An algorithm goes through its parts by :func:`in_parts` and knows nothing of who watches. A question of the
public face says who does, by :func:`watched_work`; what is asked on other threads is not watched.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import chain, repeat
from typing import TypeVar

from mlnlab.steps.step import Observer, Step

T = TypeVar("T")

_observers: ContextVar[tuple[Observer, ...]] = ContextVar("observers of work", default=())


@dataclass(frozen=True, slots=True)
class Working:
    """The progress of a piece of work, by the weights of its parts."""

    doing: str
    done: float
    total: float

    @property
    def part(self) -> float:
        """The share that is done."""
        return min(1.0, self.done / self.total) if self.total else 0.0

    def metrics(self) -> Mapping[str, float]:
        """Return the amounts done and in all."""
        return {"done": self.done, "total": self.total}


@contextmanager
def watched_work(observers: Iterable[Observer]) -> Iterator[None]:
    """Tell observers of the work that is done inside."""
    token = _observers.set(tuple(observers))
    try:
        yield
    finally:
        _observers.reset(token)


def observers_of_work() -> tuple[Observer, ...]:
    """Return who watches now."""
    return _observers.get()


def in_parts(parts: Iterable[T], doing: str, sizes: Sequence[float]) -> Iterator[T]:
    """Yield the parts of a piece of work, which take time by their sizes; whoever watches is told."""
    observers = _observers.get()
    if not observers:
        yield from parts
        return
    began, done, total = time.perf_counter(), 0.0, float(sum(sizes))
    for number, (part, size) in enumerate(zip(parts, chain(sizes, repeat(0.0)), strict=False)):
        step = Step(number, time.perf_counter() - began, Working(doing, done, total))
        for observer in observers:
            with suppress(Exception):  # whatever an observer does, the work goes on
                observer.on_step(step)
        yield part
        done += size


def one_by_one(parts: Collection[T], doing: str) -> Iterator[T]:
    """Yield parts that take about as long as each other."""
    return in_parts(parts, doing, [1.0] * len(parts))
