"""Newton's method with the full Hessian, damped where the quadratic model is too bold.

Near the optimum of a convex function each step doubles the digits that are right, so that a handful of steps
do where a gradient takes hundreds; the Hessian costs the square of the number of weights. A step solves
(H + λ D) d = g, with D the diagonal of H, and λ is halved where the function fell by more than 0.75 of what
was predicted and grows fourfold where by less than 0.25 (Levenberg 1944; Fletcher 1987; the rule is that of
Lowd's thesis, section 4.2.4); a step that makes things worse is taken back.

Needs: an objective whose value is known, a smooth prior, no bounds; a few hundred weights at most. Answers:
the weights of greatest penalised (pseudo-)likelihood, to rounding.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.learning.descent.optimizer import Optimizer
from mlnlab.learning.problems.learning_state import LearningState, Move, state_at
from mlnlab.logic.checked_options import check_options, real
from mlnlab.steps.state_layout import Real, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problems.problem import Point, Problem

    Numbers = NDArray[np.float64]

_FIRST_DAMPING = 1e-3
_LEAST_DAMPING, _MOST_DAMPING = 1e-12, 1e12


@dataclass(frozen=True, slots=True)
class Params:
    """When to stop: after ``iterations`` steps, or where a step's predicted gain is below ``tolerance``."""

    iterations: int = 200
    tolerance: float = 1e-10  # of the predicted gain, relative to the objective's size

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        check_options(self, iterations=1, tolerance=real(0, endless=True))


@storable("newton.Inner")
@dataclass(frozen=True, slots=True)
class Inner:
    """The state that Newton's method keeps."""

    damping: float = field(default=_FIRST_DAMPING, metadata=holds(Real(least=0.0, finite=True)))


def direction(gradient: Numbers, hessian: Numbers, damping: float) -> Numbers:
    """Return d with (H + λ D) d = g."""
    from scipy.linalg.lapack import dposv

    steepness = hessian.diagonal()
    scale = np.maximum(steepness, 1e-12 * max(1.0, float(steepness.max(initial=0.0))))
    damped = hessian.copy()
    damped.flat[:: len(damped) + 1] += damping * scale
    _, found, failed = dposv(damped, gradient)
    if failed:  # H is singular to rounding: weights that the data do not tell apart
        found = np.linalg.lstsq(damped, gradient, rcond=None)[0]
    return np.asarray(found)


def steps(params: Params, problem: Problem, start: LearningState | None = None) -> Iterator[LearningState]:
    """Yield the first state and one after each accepted step."""
    if start is not None and start.ended:
        return
    if start is None:
        point = problem.at(problem.free.start)
        hessian = point.hessian()
        ended = _explain_end(params, point, hessian, 0)
        state = state_at(point, None, Move(reason="the weights to begin with"), Inner(), ended=ended)
        yield state
    else:
        state = start
        point = problem.at_state(start)
        hessian = point.hessian()
    while not state.ended:
        began = time.perf_counter()
        point, move, inner = _take_step(problem, point, hessian, state)
        hessian = point.hessian()
        ended = _explain_end(params, point, hessian, state.iteration + 1)
        ended = ended or ("" if move.accepted else "no step makes it better")
        state = state_at(point, state, move, inner, stepping_seconds=time.perf_counter() - began, ended=ended)
        yield state


def _take_step(
    problem: Problem, point: Point, hessian: Numbers, state: LearningState
) -> tuple[Point, Move, Inner]:
    """Return the first point that is better, and how it was found."""
    damping = state.inner.damping if isinstance(state.inner, Inner) else _FIRST_DAMPING
    rejected = 0
    while damping <= _MOST_DAMPING:
        step = direction(point.gradient, hessian, damping)
        predicted = float(point.gradient @ step) - 0.5 * float(step @ hessian @ step)
        reached = problem.at(point.parameters + step, point.memory)
        actual = _value(reached) - _value(point)
        # Where the predicted gain is lost in rounding, the gradient tells whether the step was good.
        good = (
            actual > 0 or float(reached.gradient @ step) >= 0 or abs(predicted) < 1e-14 * abs(_value(point))
        )
        if good and np.isfinite(_value(reached)):
            ratio = actual / predicted if predicted > 0 else 1.0
            after = damping / 4 if ratio > 0.75 else damping * 4 if ratio < 0.25 else damping
            size = float(np.linalg.norm(problem.free.spread(step)))
            reason = f"a Newton step, damped by {damping:.2g}"
            move = Move(size, 1.0, damping, True, state.move.rejected + rejected, -predicted, -actual, reason)
            return reached, move, Inner(max(after, _LEAST_DAMPING))
        rejected += 1
        damping = max(damping, 1e-6) * 4
    move = Move(0.0, 0.0, damping, False, state.move.rejected + rejected, reason="every step was worse")
    return point, move, Inner(damping)


def _value(point: Point) -> float:
    return -np.inf if point.value is None else point.value


def _explain_end(params: Params, point: Point, hessian: Numbers, iteration: int) -> str:
    step = direction(point.gradient, hessian, 0.0)
    gain = 0.5 * float(point.gradient @ step)
    if gain <= params.tolerance * max(1.0, abs(_value(point))):
        return f"a further step would gain less than {params.tolerance:g} of the objective"
    return f"{params.iterations} steps were taken" if iteration >= params.iterations else ""


OPTIMIZER = Optimizer(
    name="newton",
    needs="an objective whose value is known; a few hundred weights; a smooth prior; no bounds",
    needs_value=True,
    params=Params,
    citation="Levenberg 1944; Fletcher 1987; Lowd's thesis, section 4.2.4",
    steps=steps,
    keeps=Inner,
    converges=True,
    takes_kinks=False,
    takes_bounds=False,
)
