"""What to know about learned weights before one believes them, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.logic.printing import to_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.learning.learning_state import LearningState
    from mlnlab.learning.problem import Problem
    from mlnlab.learning.training_data import TrainingData

_FEW = 3


def diagnosed(data: TrainingData, problem: Problem, state: LearningState) -> Iterator[str]:
    """Yield what is worth knowing about the end of a run."""
    yield from _runaways(data, problem, state)
    if not state.ended:
        yield "Learning was stopped before its end; the weights are those of its last step."


def _runaways(data: TrainingData, problem: Problem, state: LearningState) -> Iterator[str]:
    """Yield formulas whose weight has no finite optimum: without a prior it never stops growing."""
    if not problem.priors.is_flat:
        return
    large = np.flatnonzero((np.abs(state.weights) > 12) & (problem.free.parameter >= 0))
    if len(large):
        names = "; ".join(to_text(data.formulas[number].formula) for number in large[:_FEW].tolist())
        more = f" and {len(large) - _FEW:,} more" if len(large) > _FEW else ""
        yield (
            f"The data leave the weight of {names}{more} without a finite optimum: it is never, or always, "
            "as it "
            "is elsewhere, so the weight runs away. Give a prior, as prior=ml.Gaussian(0, 2), or make it "
            "hard."
        )
