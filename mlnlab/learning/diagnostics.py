"""What to know before weights are learned, and about learned ones before one believes them, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.learning.runaways import runaways_in_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.learning.learning_state import LearningState
    from mlnlab.learning.problem import Problem
    from mlnlab.learning.training_data import TrainingData

_LARGE = 12.0  # a weight whose odds are 160,000 to 1
_SHOWN = 3
_SOME_STEPS = 5


def foreseen(data: TrainingData, problem: Problem) -> Iterator[str]:
    """Yield what is wrong with what one asks for, before a step is taken."""
    yield from _never_seen(data)
    yield from runaways_in_words(data, problem)


def diagnosed(problem: Problem, first: LearningState, state: LearningState, optimizer: str) -> Iterator[str]:
    """Yield what is worth knowing about the end of a run that began in another state."""
    if not state.ended:
        yield "Learning was stopped before its end; the weights are those of its last step."
    if optimizer in {"gradient-descent", "stochastic-meta-descent"} and state.move.rejected:
        times = "once" if state.move.rejected == 1 else f"{state.move.rejected:,} times"
        yield (
            f"The rate was too large: {times} a step led away, was taken back and the rate halved, to "
            f"{state.move.rate:.3g} in the end. Begin with rate={state.move.rate:.2g} or less."
        )
    lengths = [float(np.linalg.norm(one.gap)) for one in (first, state)]
    if state.iteration >= _SOME_STEPS and lengths[1] > max(lengths[0], 1e-6 * _scale(state)):
        yield (
            f"The gaps are larger than at the start ({lengths[1]:.3g} against {lengths[0]:.3g}): the weights "
            "swing or run away. Take a smaller rate=, a prior, or a method that knows the curvature, such as "
            'method="pscg".'
        )
    flat = (problem.priors.precision == 0) & (problem.priors.pull == 0)
    largest = float(np.abs(state.answer[problem.free.free]).max(initial=0.0)) if flat.any() else 0.0
    if largest > _LARGE:
        yield (
            f"The largest weight is {largest:.3g}, which is as good as hard; without a prior such a weight "
            "tells when learning stopped rather than what the data say."
        )


def _scale(state: LearningState) -> float:
    return max(1.0, float(np.abs(state.observed).max(initial=0.0)))


def _never_seen(data: TrainingData) -> Iterator[str]:
    """Yield the predicted predicates of which no database says anything true."""
    unseen = [
        name
        for name in data.mentioned
        if not any(len(example.database.relation(name).true) for example in data.examples)
    ]
    if unseen:
        names = ", ".join(unseen[:_SHOWN])
        more = f" and {len(unseen) - _SHOWN:,} more" if len(unseen) > _SHOWN else ""
        yield (
            f"No database has a true atom of {names}{more}, so that learning takes all of them to be false. "
            "If these were not observed, predict other predicates: query=[...]."
        )
