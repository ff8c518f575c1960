"""One state of a learner, the same for all optimisers, so that every display reads every learner."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.steps.run_identity import OfRun
from mlnlab.steps.state_layout import (
    FLAG,
    NOTHING,
    REPORTED,
    TEXT,
    ArrayOf,
    Elsewhere,
    OneOf,
    Part,
    Whole,
    holds,
)
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mlnlab.learning.problems.problem import Point

    Numbers = NDArray[np.float64]


_OF_FORMULAS = ArrayOf(np.float64, ("formulas",), finite=False)


@storable("learning.Move")
@dataclass(frozen=True, slots=True)
class Move:
    """How a learner came to where it is, in numbers and in a sentence."""

    size: float = field(default=0.0, metadata=holds(REPORTED))  # the length of the step in weights
    rate: float = field(default=nan, metadata=holds(REPORTED))  # the learning rate or step size
    damping: float = field(default=nan, metadata=holds(REPORTED))  # λ, where steps are damped
    accepted: bool = field(default=True, metadata=holds(FLAG))
    rejected: int = field(default=0, metadata=holds(Whole()))  # steps that were taken back so far
    # By how much what is minimised was to change.
    predicted: float = field(default=nan, metadata=holds(REPORTED))
    actual: float = field(default=nan, metadata=holds(REPORTED))
    reason: str = field(default="", metadata=holds(TEXT))


@storable("learning.State")
@dataclass(frozen=True, slots=True, eq=False)
class LearningState(OfRun):
    """Where a learner is: weights, moments, the gap of each formula; arrays are read-only."""

    iteration: int = field(metadata=holds(Whole()))
    parameters: Numbers = field(metadata=holds(ArrayOf(np.float64, ("parameters",))))
    weights: Numbers = field(metadata=holds(_OF_FORMULAS))  # where the moments were computed
    # The weights to return if learning ended here: averaged, or the best so far.
    answer: Numbers = field(metadata=holds(_OF_FORMULAS))
    observed: Numbers = field(metadata=holds(_OF_FORMULAS))
    expected: Numbers = field(metadata=holds(_OF_FORMULAS))
    # Standard errors of the expected counts; None where these are exact.
    errors: Numbers | None = field(metadata=holds(OneOf((NOTHING, _OF_FORMULAS))))
    gap: Numbers = field(metadata=holds(_OF_FORMULAS))  # by formula: zero at the optimum
    value: float = field(metadata=holds(REPORTED))  # the objective with the prior; nan where it is not known
    move: Move = field(metadata=holds(Part(Move)))
    sampling_seconds: float = field(metadata=holds(REPORTED))  # so far
    stepping_seconds: float = field(metadata=holds(REPORTED))
    memory: object = field(metadata=holds(Elsewhere()))  # what the objective keeps, such as chains
    inner: object = field(metadata=holds(Elsewhere()))  # what the optimiser keeps
    ended: str = field(default="", metadata=holds(TEXT))  # why this is the last state; empty before

    def with_stepping(self, seconds: float) -> LearningState:
        """Return the state with the time that its step took apart from evaluating the objective."""
        return replace(self, stepping_seconds=self.stepping_seconds + max(0.0, seconds))

    @property
    def answer_is_average(self) -> bool:
        """Whether the weights to return are an average of several steps, rather than this step's weights."""
        return not np.array_equal(self.answer, self.weights)

    def metrics(self) -> Mapping[str, float]:
        """Return the numbers worth plotting."""
        found = {
            "objective": self.value,
            "largest_gap": float(np.abs(self.gap).max(initial=0.0)),
            "gap_norm": float(np.linalg.norm(self.gap)),
            "largest_weight": float(np.abs(self.weights).max(initial=0.0)),
            "step_size": self.move.size,
            "rate": self.move.rate,
            "damping": self.move.damping,
            "accepted": float(self.move.accepted),
            "rejected": float(self.move.rejected),
            "sampling_seconds": self.sampling_seconds,
            "stepping_seconds": self.stepping_seconds,
        }
        return {name: number for name, number in found.items() if not np.isnan(number)}


def state_at(
    point: Point,
    before: LearningState | None,
    move: Move,
    inner: object,
    *,
    answer: Numbers | None = None,
    stepping_seconds: float = 0.0,
    ended: str = "",
) -> LearningState:
    """Return the state of a learner that has come to a point."""
    moments = point.moments
    return LearningState(
        0 if before is None else before.iteration + 1,
        frozen(point.parameters), frozen(point.weights), frozen(point.weights if answer is None else answer),
        frozen(moments.observed), frozen(moments.expected),
        None if moments.errors is None else frozen(moments.errors),
        frozen(point.gap), nan if point.value is None else point.value, move,
        moments.sampling_seconds + (before.sampling_seconds if before is not None else 0.0),
        stepping_seconds + (before.stepping_seconds if before is not None else 0.0),
        point.memory, inner, ended,
    )  # fmt: skip


def frozen(values: Numbers) -> Numbers:
    """Return a read-only copy."""
    copy = np.array(values, np.float64)
    copy.setflags(write=False)
    return copy
