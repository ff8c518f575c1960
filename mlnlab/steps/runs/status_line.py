"""A line of a terminal that is written over and over while something goes on, and empty at the end."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from mlnlab.errors import printable
from mlnlab.steps.runs.working import Working

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mlnlab.steps.step import State, Step

_EVERY_SECONDS = 0.1
_CELLS = 16
_STILL_SECONDS = 1.0  # between two looks at whether a long step leaves the line as it was

# Makes a stream that writes into the page of a notebook; mlnlab.jupyter sets it, and nothing here knows how.
_notebooks: list[Callable[[], TextIO]] = []


class StatusLine:
    """An observer that writes a status line for a step, at most ten times a second.

    ``patience``: how many seconds pass before anything is written, so that what is quick stays silent.
    """

    def __init__(
        self, stream: TextIO, *, clock: Callable[[], float] = time.monotonic, patience: float = 0.0
    ) -> None:
        # A stream that marks names would mark the way back to the beginning of the line, too.
        self._stream, self._clock = getattr(stream, "unmarked", stream), clock
        self._every = getattr(stream, "seconds_between", _EVERY_SECONDS)
        patience = max(patience, getattr(stream, "patience", 0.0))
        self._not_before = clock() + patience if patience else float("-inf")
        self._width = 0
        self._writing = threading.Lock()
        self._last = ""

    def line(self, step: Step[State]) -> str:
        """Return the line of a step."""
        return f"step {step.index:,}  {step.seconds:.0f} s"

    def on_step(self, step: Step[State]) -> None:
        """Write the line of a step, if it is time to."""
        state = step.state
        now = self._clock()
        if isinstance(state, Working):
            self._last = self.line_of_work(state, step.seconds)
        elif now >= self._not_before:
            self._last = self.line(step)
        if now >= self._not_before:
            self._not_before = now + self._every
            self.write(self._last)

    def line_of_work(self, state: Working, seconds: float) -> str:
        """Return the line of work that is not a step of a run."""
        if not state.part:
            return "  ".join(filter(None, [self.name_run(), state.doing]))
        left = lasting(seconds * (1 - state.part) / state.part)
        return "  ".join(filter(None, [self.name_run(), state.doing, bar_of(state.part), f"{left} left"]))

    def name_run(self) -> str:
        """Return the beginning of the line."""
        return ""

    @contextmanager
    def kept_moving(self) -> Iterator[None]:
        """Write the line also while no step comes, before the first and in long ones; clear it behind."""
        began, ended = self._clock(), threading.Event()

        def moving() -> None:
            while not ended.wait(_STILL_SECONDS):
                self.move(self._clock() - began)

        thread = threading.Thread(target=moving, name="mlnlab-line", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            self.clear()

    def move(self, seconds: float) -> None:
        """Write the last line again with the seconds since the beginning, if it is time to."""
        now = self._clock()
        if now >= self._not_before:
            self._not_before = now + self._every
            self.write("  ".join(filter(None, [self._last or self.name_run(), f"{lasting(seconds)} so far"])))

    def on_end(self, last: Step[State]) -> None:  # noqa: ARG002 - every observer is told
        """Clear the line for further output."""
        self.clear()

    def write(self, text: str) -> None:
        """Overwrite the line with a text."""
        line = printable(text)[: max(10, shutil.get_terminal_size().columns - 1)]
        with self._writing:
            self._stream.write(f"\r{line:<{self._width}}")
            self._stream.flush()
            self._width = len(line)

    def clear(self) -> None:
        """Leave an empty line; nothing is written where nothing was."""
        with self._writing:
            if self._width:
                self._stream.write(f"\r{'':<{self._width}}\r")
                self._stream.flush()
                self._width = 0


def lasting(seconds: float) -> str:
    """Return a duration in words.

    >>> lasting(35), lasting(1_500), lasting(20_000)
    ('35 s', '25 min', '5.6 h')
    """
    if seconds < 600:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7_200 else f"{seconds / 3_600:,.1f} h"


def bar_of(part: float) -> str:
    """Return how much is done, as a bar with its percentage."""
    filled = round(part * _CELLS)
    return f"[{'#' * filled}{'.' * (_CELLS - filled)}] {part:4.0%}"


def is_terminal(stream: TextIO | None) -> bool:
    """Say whether somebody looks at a stream as a plain terminal; a notebook's cell is none."""
    return stream is not None and stream.isatty()


def write_in_notebooks(make: Callable[[], TextIO]) -> None:
    """Let lines be written into the pages of notebooks, by streams that ``make`` returns."""
    _notebooks[:] = [make]


def watched_stream(progress: bool | None, stream: TextIO | None = None) -> TextIO | None:
    """Return where a line is written: always, never, or, where nothing is said, if somebody looks there."""
    chosen = sys.stderr if stream is None else stream
    if progress is False:
        return None
    if is_terminal(chosen):
        return chosen
    if _notebooks and stream is None:
        return _notebooks[-1]()
    return chosen if progress else None
