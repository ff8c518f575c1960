"""The progress of a compilation in a plain terminal: definitions made, and those that wait."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from mlnlab.errors import count_of
from mlnlab.lifted.compile.compiling import CompileState
from mlnlab.steps.runs.status_line import StatusLine, watched_stream
from mlnlab.steps.runs.working import Working, observers_of_work
from mlnlab.steps.step import Observer, State, Step

_PATIENCE = 0.5  # seconds: what is quicker needs no line


class CompilingLine(StatusLine):
    """Writes how far a compilation is; how much is left is known only at its end."""

    def __init__(
        self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic, patience: float | None = None
    ) -> None:
        super().__init__(stream, clock=clock, patience=_PATIENCE if patience is None else patience)

    def line(self, step: Step[State]) -> str:
        """Return the line of a step."""
        state = step.state
        if not isinstance(state, CompileState):
            return super().line(step)
        return "  ".join([compiling_words(state), f"{step.seconds:.0f} s"])


class CompilingWork:
    """Report the steps of a compilation to the observers of the larger work that it is part of."""

    def __init__(self, observers: tuple[Observer, ...]) -> None:
        self._observers = observers

    def on_step(self, step: Step[State]) -> None:
        """Tell of a definition."""
        if isinstance(step.state, CompileState):
            work = Step(step.index, step.seconds, Working(compiling_words(step.state), 0.0, 0.0))
            for observer in self._observers:
                observer.on_step(work)

    def on_end(self, last: Step[State]) -> None:
        """Leave the end to whatever the compilation is a part of."""


def compiling_words(state: CompileState) -> str:
    """Return how many definitions are made, and how many wait."""
    return f"compiling  {count_of(state.done, 'definition')}  {state.named - state.done:,} waiting"


def compiling_lines(progress: bool | None = None, stream: TextIO | None = None) -> tuple[Observer, ...]:
    """Return a line: always, never, or, where nothing is said, if somebody looks; or one that is there."""
    if progress is None and observers_of_work():
        return (CompilingWork(observers_of_work()),)
    chosen = watched_stream(progress, stream)
    return () if chosen is None else (CompilingLine(chosen),)
