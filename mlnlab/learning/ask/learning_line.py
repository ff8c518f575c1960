"""Show the progress of a weight learner in a plain terminal: steps, measurements, and the time left."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TextIO

from mlnlab.steps.runs.status_line import StatusLine, bar_of, lasting, watched_stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from mlnlab.learning.ask.learner import WeightLearner
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
        """Read the number of iterations of the learner that begins."""
        total = getattr(learner.params, "iterations", None)
        self._total = total if isinstance(total, int) else None

    def name_run(self) -> str:
        """Return the name of the learner."""
        return self._name

    def line(self, step: Step[State]) -> str:
        """Return the line of a step."""
        return learning_line(self._name, self._total, step)


def learning_line(name: str, total: int | None, step: Step[State]) -> str:
    """Return a line: a bar and the time left where the number of steps is known, and the measurements."""
    metrics = step.state.metrics()
    measured = [f"{words} {metrics[metric]:.6g}" for metric, words in _MEASURED if metric in metrics]
    if not total or not step.index:
        return "  ".join([name, f"step {step.index:,}", f"{step.seconds:.0f} s", *measured])
    part = min(1.0, step.index / total)
    left = step.seconds * (1 - part) / part
    steps = f"{step.index:,} of {total:,} steps"
    return "  ".join([name, bar_of(part), steps, f"{lasting(left)} left at most", *measured])


def learning_lines(
    name: str, progress: bool | None = None, stream: TextIO | None = None
) -> tuple[LearningLine, ...]:
    """Return a line: always, never, or, where nothing is said, if somebody looks."""
    chosen = watched_stream(progress, stream)
    return () if chosen is None else (LearningLine(name, chosen),)
