"""The progress of a weight learner in a plain terminal: steps, what is measured, and the time left."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, TextIO

from mlnlab.steps.status_line import StatusLine, bar_of, is_terminal

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlnlab.learning.learner import WeightLearner
    from mlnlab.steps.step import State, Step

_PATIENCE = 0.5  # seconds: what is quicker needs no bar
_MEASURED = (("objective", "objective"), ("largest_gap", "largest gap"))


class LearningLine(StatusLine):
    """Writes how far a learner is; it hears from the learner how many steps there are at most."""

    def __init__(
        self,
        name: str,
        stream: TextIO,
        *,
        clock: Callable[[], float] = time.monotonic,
        patience: float = _PATIENCE,
    ) -> None:
        super().__init__(stream, clock=clock, patience=patience)
        self._name = name
        self._total: int | None = None

    def on_begin(self, learner: WeightLearner) -> None:
        """Hear what is learned."""
        total = getattr(learner.params, "iterations", None)
        self._total = total if isinstance(total, int) else None

    def line(self, step: Step[State]) -> str:
        """Return the line of a step."""
        return learning_line(self._name, self._total, step)


def learning_line(name: str, total: int | None, step: Step[State]) -> str:
    """Return a line: a bar and the time left where the number of steps is known, and what is measured."""
    metrics = step.state.metrics()
    measured = [f"{words} {metrics[metric]:.6g}" for metric, words in _MEASURED if metric in metrics]
    if not total or not step.index:
        return "  ".join([name, f"step {step.index:,}", f"{step.seconds:.0f} s", *measured])
    part = min(1.0, step.index / total)
    left = step.seconds * (1 - part) / part
    steps = f"{step.index:,} of {total:,} steps"
    return "  ".join([name, bar_of(part), steps, f"{left:.0f} s left at most", *measured])


def learning_lines(
    name: str, progress: bool | None = None, stream: TextIO | None = None
) -> tuple[LearningLine, ...]:
    """Return a line on stderr: always, never, or, where nothing is said, if that is a terminal."""
    chosen = sys.stderr if stream is None else stream
    wanted = progress if progress is not None else is_terminal(chosen)
    return (LearningLine(name, chosen),) if wanted else ()
