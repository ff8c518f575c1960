"""A bar on stderr while a method goes step by step; nothing where nobody looks at a terminal."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TextIO

from mlnlab.steps.runs.status_line import StatusLine, bar_of, lasting

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlnlab.steps.step import Observer, State, Step

_SHOWN = {"largest_r_hat": "R-hat"}  # metrics that say whether to go on waiting


def progress_bars(name: str, total: int | None, stream: TextIO | None = None) -> tuple[Observer, ...]:
    """Return a bar for a run of ``total`` samples, or nothing where the stream is not a terminal."""
    chosen = sys.stderr if stream is None else stream
    return (ProgressBar(name, total, chosen),) if chosen.isatty() else ()


class ProgressBar(StatusLine):
    """Draws how far a run is."""

    def __init__(
        self,
        name: str,
        total: int | None,
        stream: TextIO,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(stream, clock=clock)
        self._name, self._total = name, total

    def name_run(self) -> str:
        """Return the name of the run."""
        return self._name

    def line(self, step: Step[State]) -> str:
        """Return the line of a step."""
        return progress_line(self._name, self._total, step)


def progress_line(name: str, total: int | None, step: Step[State]) -> str:
    """Return a line: a bar and the time left if the number of samples is known, and the metrics."""
    metrics = step.state.metrics()
    samples = int(metrics.get("samples", 0))
    measured = [f"{word} {metrics[metric]:.3g}" for metric, word in _SHOWN.items() if metric in metrics]
    if total and samples:
        part = min(1.0, samples / total)
        left = step.seconds * (1 - part) / part
        drawn = f"{samples:,} of {total:,} samples"
        return "  ".join([name, bar_of(part), drawn, f"{lasting(left)} left", *measured])
    doing = "burn-in" if "samples" in metrics else f"step {step.index:,}"
    return "  ".join([name, doing, f"{step.seconds:.0f} s", *measured])
