"""A bar on stderr while a method goes step by step; nothing where nobody looks at a terminal."""

from __future__ import annotations

import shutil
import sys
import time
from typing import TYPE_CHECKING, TextIO

from mlnlab.errors import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlnlab.steps.step import Observer, State, Step

_EVERY_SECONDS = 0.1
_CELLS = 16
_SHOWN = {"largest_r_hat": "R-hat"}  # metrics that say whether to go on waiting


def progress_bars(name: str, total: int | None, stream: TextIO | None = None) -> tuple[Observer, ...]:
    """Return a bar for a run of so many samples, or nothing where the stream is no terminal."""
    chosen = sys.stderr if stream is None else stream
    return (ProgressBar(name, total, chosen),) if chosen.isatty() else ()


class ProgressBar:
    """Draws how far a run is, over and over on one line, which is empty again at the end."""

    def __init__(
        self,
        name: str,
        total: int | None,
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name, self._total, self._stream, self._clock = name, total, stream, clock
        self._drawn_at = float("-inf")
        self._width = 0

    def on_step(self, step: Step[State]) -> None:
        """Draw, at most ten times a second."""
        if self._clock() - self._drawn_at < _EVERY_SECONDS:
            return
        self._drawn_at = self._clock()
        line = printable(self.line(step))
        line = line[: max(10, shutil.get_terminal_size().columns - 1)]
        self._draw(line)

    def line(self, step: Step[State]) -> str:
        """Return the line of a step."""
        return progress_line(self._name, self._total, step)

    def on_end(self, last: Step[State]) -> None:  # noqa: ARG002 - every observer is told
        """Leave an empty line for what is said next."""
        self._draw("")

    def _draw(self, line: str) -> None:
        self._stream.write(f"\r{line:<{self._width}}\r" if not line else f"\r{line:<{self._width}}")
        self._stream.flush()
        self._width = len(line)


def progress_line(name: str, total: int | None, step: Step[State]) -> str:
    """Return a line: a bar and the time left where the number of samples is known, and what is measured."""
    metrics = step.state.metrics()
    samples = int(metrics.get("samples", 0))
    measured = [f"{word} {metrics[metric]:.3g}" for metric, word in _SHOWN.items() if metric in metrics]
    if total and samples:
        part = min(1.0, samples / total)
        filled = round(part * _CELLS)
        left = step.seconds * (1 - part) / part
        bar = f"[{'#' * filled}{'.' * (_CELLS - filled)}] {part:4.0%}"
        return "  ".join([name, bar, f"{samples:,} of {total:,} samples", f"{left:.0f} s left", *measured])
    doing = "burn-in" if "samples" in metrics else f"step {step.index:,}"
    return "  ".join([name, doing, f"{step.seconds:.0f} s", *measured])
