"""A step is a value: every iterative algorithm is a generator of immutable states.

``next()`` on the generator is the debugger; whatever watches a run observes the one stream of steps.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from mlnlab.errors import ArgumentError


class State(Protocol):
    """A state of an algorithm: an immutable value that can return its metrics."""

    def metrics(self) -> Mapping[str, float]:
        """Return the numbers worth plotting, by name."""
        ...


S_co = TypeVar("S_co", bound=State, covariant=True)
S = TypeVar("S", bound=State)


@dataclass(frozen=True, slots=True)
class Step(Generic[S_co]):
    """One state with its place in the run and the time since the run began."""

    index: int
    seconds: float
    state: S_co


class Observer(Protocol):
    """Something that is told of each step, and of the last one once more."""

    def on_step(self, step: Step[State], /) -> None:
        """Take notice of a step."""
        ...

    def on_end(self, last: Step[State], /) -> None:
        """Take notice of the end of the run."""
        ...


class ObserverWarning(UserWarning):
    """An observer failed and was dropped; the run went on."""


def number_states(
    states: Iterable[S],
    first: int = 0,
    seconds: float = 0.0,
    clock: Callable[[], float] = time.perf_counter,
) -> Generator[Step[S], None, None]:
    """Yield the states as steps, with their indices and the seconds since the first was asked for.

    A resumed run goes on counting where its checkpoint was taken: ``first`` and ``seconds`` say where.
    """
    began = clock() - seconds
    for index, state in enumerate(states, first):
        yield Step(index, clock() - began, state)


def notify_observers(
    steps: Iterable[Step[S]], observers: Iterable[Observer] | None
) -> Generator[Step[S], None, None]:
    """Yield the steps after telling every observer; one that fails is dropped with a warning."""
    active = list(observers or ())
    last: Step[S] | None = None
    try:
        for step in steps:
            last = step
            active = [observer for observer in active if _notify_observer(observer, "on_step", step)]
            yield step
    finally:
        # Also when the run is closed or interrupted: recorders write what they have.
        if last is not None:
            for observer in active:
                _notify_observer(observer, "on_end", last)


def _notify_observer(observer: Observer, method: str, step: Step[State]) -> bool:
    try:
        getattr(observer, method)(step)
    except Exception as problem:  # noqa: BLE001 - whatever an observer does, the run goes on
        message = f"{type(observer).__name__} failed in {method} and is dropped: {problem!r}"
        warnings.warn(message, ObserverWarning, stacklevel=2)
        return False
    return True


def run(
    states: Iterable[S],
    *,
    stop: Callable[[Step[S]], bool] | None = None,
    observers: Iterable[Observer] | None = (),
    first: int = 0,
    seconds: float = 0.0,
) -> Step[S]:
    """Run to the end, or to the first step for which ``stop`` is true, and return the last step.

    The iterator itself stays open: after a stop, the caller may go on asking it for states.
    """
    last: Step[S] | None = None
    stream = notify_observers(number_states(states, first, seconds), observers)
    try:
        for step in stream:
            last = step
            if stop is not None and stop(step):
                break
    finally:
        stream.close()
    if last is None:
        raise no_states()
    return last


def no_states() -> ArgumentError:
    """Return the error for an algorithm that ends before its first state."""
    return ArgumentError("The algorithm yielded no state, so there is no last step.")
