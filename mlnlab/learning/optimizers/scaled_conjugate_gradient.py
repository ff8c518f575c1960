r"""Scaled conjugate gradient, with or without a preconditioner (thesis, section 4.2.5).

    z = P g,   β = max(0, z_t'(g_t - g_{t-1}) / z_{t-1}'g_{t-1}),   d_t = -z_t + β d_{t-1}     (Polak-Ribière)

with P the inverse of the Hessian's diagonal (PSCG) or the identity (SCG). Each direction is conjugate to
those before, so that steps do not undo each other in long narrow valleys; instead of a line search, which
would need the likelihood's value, the step size comes from the Hessian along d (Møller 1993;
trust_region.py).

Needs: the gradient and the covariance of the counts along one direction, exact or from samples.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.learning.descent.optimizer import Optimizer
from mlnlab.learning.descent.trust_region import Region, explain_end, try_direction, variances
from mlnlab.learning.problems.learning_state import LearningState, Move, frozen, state_at
from mlnlab.logic.checked_options import above, check_options, real
from mlnlab.steps.state_layout import ArrayOf, OneOf, Real, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problems.problem import Point, Problem

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Params:
    """How long; whether the diagonal of the Hessian preconditions; the first λ."""

    iterations: int = 100
    preconditioned: bool = True
    damping: float = 1.0
    least_variance: float | None = None  # None: what so many samples make likely (trust_region.py)
    largest_step: float = 2.0  # of any weight in an iteration
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        check_options(self, iterations=1, damping=real(0), tolerance=real(0))
        step = above(0, endless=True)
        check_options(self, largest_step=step, least_variance=step.or_none())


_KEPT = OneOf((ArrayOf(np.float64, (0,)), ArrayOf(np.float64, ("parameters",))))


@storable("scaled_conjugate_gradient.Inner")
@dataclass(frozen=True, slots=True, eq=False)
class Inner:
    """λ, and the last direction, gradient and preconditioned gradient; none before the first step."""

    damping: float = field(metadata=holds(Real(least=0.0, finite=True)))
    direction: Numbers = field(metadata=holds(_KEPT))
    gradient: Numbers = field(metadata=holds(_KEPT))
    preconditioned: Numbers = field(metadata=holds(_KEPT))

    def flaw(self) -> str:
        """Say which values contradict each other in a state from outside."""
        lengths = {len(self.direction), len(self.gradient), len(self.preconditioned)}
        return "vectors differ in length" if len(lengths) > 1 else ""


def precondition_gradient(point: Point, params: Params) -> Numbers:
    """Return P g, of the gradient that is climbed, without components held back by bounds."""
    if not params.preconditioned:
        return point.slope
    return np.asarray(point.slope / variances(point, params.least_variance))


def direction(point: Point, params: Params, before: Inner) -> tuple[Numbers, Numbers]:
    """Return the next direction and P g. Signs: the gradients here point uphill, so that -z becomes z."""
    z = precondition_gradient(point, params)
    if not len(before.direction):
        return z, z
    last = float(before.preconditioned @ before.gradient)
    beta = max(0.0, float(z @ (point.slope - before.gradient)) / last) if last > 0 else 0.0
    d = np.where(point.held, 0.0, z + beta * before.direction)
    return (d if float(d @ point.slope) > 0 else z), z


def steps(params: Params, problem: Problem, start: LearningState | None = None) -> Iterator[LearningState]:
    """Yield the first state and one after each iteration."""
    if start is not None and start.ended:
        return
    if start is None:
        point = problem.at(problem.free.start)
        none = frozen(np.zeros(0))
        move = Move(damping=params.damping, reason="the weights to begin with")
        inner = Inner(params.damping, none, none, none)
        end = explain_end(point, 0, move, params.iterations, params.tolerance)
        state = state_at(point, None, move, inner, ended=end)
        yield state
    else:
        state = start
        point = problem.at_state(state)
    while not state.ended:
        began = time.perf_counter()
        before = state.inner
        assert isinstance(before, Inner)  # noqa: S101 - a state of this optimiser
        d, z = direction(point, params, before)
        region = Region(
            before.damping, params.least_variance, params.largest_step, params.damping, state.iteration + 1
        )
        found = try_direction(problem, point, d, region, state.move.rejected)
        inner = Inner(found.damping, frozen(d), frozen(point.slope), frozen(z))
        point = found.point
        end = explain_end(point, state.iteration + 1, found.move, params.iterations, params.tolerance)
        spent = max(0.0, time.perf_counter() - began - point.seconds)
        state = state_at(point, state, found.move, inner, stepping_seconds=spent, ended=end)
        yield state


OPTIMIZER = Optimizer(
    name="scaled-conjugate-gradient",
    needs="the gradient and the covariance of the counts",
    needs_value=False,
    params=Params,
    citation="Møller 1993; Lowd's thesis, section 4.2.5",
    steps=steps,
    keeps=Inner,
)
