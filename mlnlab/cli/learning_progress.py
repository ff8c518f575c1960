"""The progress of a weight learner on stderr: steps, objective or largest gap, and the time left."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TextIO

from mlnlab.cli.progress import ProgressBar

if TYPE_CHECKING:
    from mlnlab.steps.step import Observer, State, Step

_CELLS = 16


def learning_bars(name: str, total: int | None, stream: TextIO | None = None) -> tuple[Observer, ...]:
    """Return a bar for a learner of at most so many steps, or nothing where the stream is no terminal."""
    chosen = sys.stderr if stream is None else stream
    return (LearningBar(name, total, chosen),) if chosen.isatty() else ()


class LearningBar(ProgressBar):
    """Draws how far a learner is."""

    def line(self, step: Step[State]) -> str:
        """Return the line of a step."""
        return learning_line(self._name, self._total, step)


def learning_line(name: str, total: int | None, step: Step[State]) -> str:
    """Return a line: a bar and the time left where the number of steps is known, and what is measured."""
    metrics = step.state.metrics()
    measured = [
        f"{words} {metrics[metric]:.6g}"
        for metric, words in (("objective", "objective"), ("largest_gap", "largest gap"))
        if metric in metrics
    ]
    if not total or not step.index:
        return "  ".join([name, f"step {step.index:,}", f"{step.seconds:.0f} s", *measured])
    part = min(1.0, step.index / total)
    filled = round(part * _CELLS)
    bar = f"[{'#' * filled}{'.' * (_CELLS - filled)}] {part:4.0%}"
    left = step.seconds * (1 - part) / part
    return "  ".join(
        [name, bar, f"{step.index:,} of {total:,} steps", f"{left:.0f} s left at most", *measured]
    )
