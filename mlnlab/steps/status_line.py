"""A line of a terminal that is written over and over while something goes on, and empty at the end."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING, TextIO

from mlnlab.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlnlab.steps.step import State, Step

_EVERY_SECONDS = 0.1
_CELLS = 16


class StatusLine:
    """An observer that writes what ``line`` says of a step, at most ten times a second.

    ``patience``: how many seconds pass before anything is written, so that what is quick stays silent.
    """

    def __init__(
        self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic, patience: float = 0.0
    ) -> None:
        self._stream, self._clock = stream, clock
        self._not_before = clock() + patience if patience else float("-inf")
        self._width = 0

    def line(self, step: Step[State]) -> str:
        """Return the line of a step."""
        return f"step {step.index:,}  {step.seconds:.0f} s"

    def on_step(self, step: Step[State]) -> None:
        """Write the line of a step, if it is time to."""
        now = self._clock()
        if now >= self._not_before:
            self._not_before = now + _EVERY_SECONDS
            self.write(self.line(step))

    def on_end(self, last: Step[State]) -> None:  # noqa: ARG002 - every observer is told
        """Leave an empty line for what is said next."""
        self.clear()

    def write(self, text: str) -> None:
        """Write over what stood there."""
        line = printable(text)[: max(10, shutil.get_terminal_size().columns - 1)]
        self._stream.write(f"\r{line:<{self._width}}")
        self._stream.flush()
        self._width = len(line)

    def clear(self) -> None:
        """Leave an empty line; nothing is written where nothing was."""
        if self._width:
            self._stream.write(f"\r{'':<{self._width}}\r")
            self._stream.flush()
            self._width = 0


def bar_of(part: float) -> str:
    """Return how much is done, as a bar with its percentage."""
    filled = round(part * _CELLS)
    return f"[{'#' * filled}{'.' * (_CELLS - filled)}] {part:4.0%}"


def is_terminal(stream: TextIO | None) -> bool:
    """Say whether somebody looks at a stream as a plain terminal; a notebook's cell is none."""
    return stream is not None and stream.isatty()
