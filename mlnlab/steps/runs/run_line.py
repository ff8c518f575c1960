"""Show a long run's status line: its progress and the time left; cleared at the end.

Every question of the public face writes it in the same way: to a terminal after half a second, into the page
of a notebook after some seconds, and nowhere else unless somebody wants it (``progress=True``).
"""

from __future__ import annotations

import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, TextIO

from mlnlab.steps.runs.status_line import StatusLine, bar_of, lasting, watched_stream
from mlnlab.steps.runs.working import observers_of_work, watched_work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from mlnlab.steps.step import Observer, State, Step

_PATIENCE = 0.5  # seconds: what is quicker needs no line


class RunLine(StatusLine):
    """Writes how far a question is: by the part of its run that is done, where that can be told."""

    def __init__(
        self, name: str, stream: TextIO, *, clock: Callable[[], float] = time.monotonic,
        patience: float = _PATIENCE,
    ) -> None:  # fmt: skip
        super().__init__(stream, clock=clock, patience=patience)
        self._name = name
        self._part: Callable[[State], float] | None = None
        self._words = ""

    def begin(self, name: str, part: Callable[[State], float] | None = None, words: str = "") -> None:
        """Store the method's name, the function from a state to the share done, and further words."""
        self._name, self._part, self._words = name, part, words

    def line(self, step: Step[State]) -> str:
        """Return the line of a step."""
        part = None if self._part is None else self._part(step.state)
        if not part:
            return "  ".join([self._name, f"step {step.index:,}", f"{step.seconds:.0f} s"])
        left = lasting(step.seconds * (1 - part) / part)
        return "  ".join(filter(None, [self._name, bar_of(part), f"{left} left", self._words]))

    def name_run(self) -> str:
        """Return the name of the method."""
        return self._name


@contextmanager
def show_progress(
    name: str, progress: bool | None = None, observers: Iterable[Observer] = ()
) -> Iterator[RunLine | None]:
    """Write a line while a question is answered: always, never, or, where nothing is said, if somebody looks.

    Where a line is there already, of a question around this one or among the observers, that one is told.
    """
    known = [one for one in observers if isinstance(one, StatusLine)]
    stream = None if known or observers_of_work() else watched_stream(progress)
    if stream is None:
        with show_lines(known):
            yield None
        return
    line = RunLine(name, stream)
    with show_lines([line]):
        yield line


@contextmanager
def show_lines(lines: Sequence[StatusLine]) -> Iterator[None]:
    """Tell lines of the work that is done inside, keep them moving, and clear them behind it."""
    with ExitStack() as stack:
        for line in lines:
            stack.enter_context(line.kept_moving())
        stack.enter_context(watched_work([*lines] or observers_of_work()))
        yield
