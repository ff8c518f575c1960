r"""Diagonal Newton: the gradient divided by each count's variance (thesis, section 4.2.4).

    w_i <- w_i - α (E_w[n_i] - n_i) / (E_w[n_i^2] - E_w[n_i]^2)

as Becker and Le Cun (1988) divide, with α from the full d'Hd and a λ that keeps the step where the quadratic
model is good (trust_region.py).
Each weight moves at its own scale; what it does not see is that counts vary together.

Needs: the gradient and the covariance of the counts, exact or from samples.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.learning.descent.optimizer import Optimizer
from mlnlab.learning.descent.trust_region import Region, explain_end, try_direction, variances
from mlnlab.learning.problems.learning_state import LearningState, Move, state_at
from mlnlab.logic.checked_options import above, check_options, real
from mlnlab.steps.state_layout import Real, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problems.problem import Point, Problem

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Params:
    """How long; the first λ; and the least variance that a count is taken to have."""

    iterations: int = 100
    damping: float = 1.0
    least_variance: float | None = None  # None: what so many samples make likely (trust_region.py)
    largest_step: float = 2.0  # of any weight in an iteration
    tolerance: float = 1e-6  # of the largest gap, relative to the counts

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        check_options(self, iterations=1, damping=real(0), tolerance=real(0))
        step = above(0, endless=True)
        check_options(self, largest_step=step, least_variance=step.or_none())


@storable("diagonal_newton.Inner")
@dataclass(frozen=True, slots=True)
class Inner:
    """λ."""

    damping: float = field(metadata=holds(Real(least=0.0, finite=True)))


def direction(point: Point, params: Params) -> Numbers:
    """Return the gradient divided by the diagonal of the Hessian, without components held back by bounds."""
    return np.asarray(point.slope / variances(point, params.least_variance))


def steps(params: Params, problem: Problem, start: LearningState | None = None) -> Iterator[LearningState]:
    """Yield the first state and one after each iteration."""
    if start is not None and start.ended:
        return
    if start is None:
        point = problem.at(problem.free.start)
        move = Move(damping=params.damping, reason="the weights to begin with")
        end = explain_end(point, 0, move, params.iterations, params.tolerance)
        state = state_at(point, None, move, Inner(params.damping), ended=end)
        yield state
    else:
        state = start
        point = problem.at_state(state)
    while not state.ended:
        began = time.perf_counter()
        damping = state.inner.damping if isinstance(state.inner, Inner) else params.damping
        found = try_direction(
            problem,
            point,
            direction(point, params),
            Region(damping, params.least_variance, params.largest_step, params.damping, state.iteration + 1),
            state.move.rejected,
        )
        point = found.point
        end = explain_end(point, state.iteration + 1, found.move, params.iterations, params.tolerance)
        spent = max(0.0, time.perf_counter() - began - point.seconds)
        state = state_at(point, state, found.move, Inner(found.damping), stepping_seconds=spent, ended=end)
        yield state


OPTIMIZER = Optimizer(
    name="diagonal-newton",
    needs="the gradient and the variances of the counts",
    needs_value=False,
    params=Params,
    citation="Becker and Le Cun 1988; Lowd's thesis, section 4.2.4",
    steps=steps,
    keeps=Inner,
)
