r"""Gradient descent with averaged weights: the voted perceptron's and contrastive divergence's optimiser.

    w_{t+1} = w_t - η g_t,    or weight by weight with η_i = η / n_i  (thesis, sections 4.2.1 to 4.2.3)

where n_i counts the true groundings that evidence leaves open (η where n_i = 0). What is returned is the
average of the weights of all iterations, against overfitting. The rate decides everything: too small, and
weights with few groundings never move; too large, and those with many swing out of bounds. A step after which
the gradient is far longer than at the start is taken back and the rate halved, and the move says so.

Needs: only the gradient. Not where conditions are bad: see diagonal Newton and scaled conjugate gradient.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.learning.learning_state import LearningState, Move, frozen, state_at
from mlnlab.learning.optimizer import Optimizer
from mlnlab.steps.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problem import Point, Problem

    Numbers = NDArray[np.float64]

_POWERS = 30
_DIVERGED = 4.0  # times the length of the first gradient: a convex function's gradient does not grow so


@dataclass(frozen=True, slots=True)
class Params:
    """How fast, how long, and whether each weight has a rate of its own."""

    rate: float | None = None  # None: one over the largest curvature at the start
    per_weight: bool = False
    averaged: bool = True
    iterations: int = 100
    tolerance: float = 0.0  # of the largest gap, relative to the counts; 0: take all iterations

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.iterations < 1 or not self.tolerance >= 0:
            raise ArgumentError("iterations is a whole number from 1 on, and tolerance a number from 0 on.")
        if self.rate is not None and not 0 < self.rate < np.inf:
            raise ArgumentError(f"rate is a number above 0, not {self.rate!r}.")


@storable("gradient_descent.Inner")
@dataclass(frozen=True, slots=True, eq=False)
class Inner:
    """The parameters, the sum of all so far, the rate now, and how long the first gradient was."""

    parameters: Numbers
    total: Numbers
    rate: float
    first_length: float


def rates_of(params: Params, problem: Problem) -> Numbers:
    """Return the rate of each parameter for a global rate of 1: 1, or 1 / n_i."""
    if not params.per_weight:
        return np.ones(problem.free.number)
    counts = problem.free.gathered(problem.objective.counts)
    return 1.0 / np.where(counts > 0, counts, 1.0)  # thesis, section 4.2.3


def first_rate(params: Params, point: Point, rates: Numbers) -> float:
    """Return the rate to begin with: where none is given, one over the largest curvature at the start.

    A quadratic function is descended from any start with a rate below twice that. Where one sample says
    nothing about curvature, counts bound it.
    """
    if params.rate is not None:
        return params.rate
    largest = largest_curvature(point, rates) if point.moments.samples != 1 else 0.0
    if largest > 0:
        return 1.0 / largest
    return 1.0 / max(1.0, float((rates * point.problem.free.gathered(point.problem.objective.counts)).max()))


def largest_curvature(point: Point, rates: Numbers) -> float:
    """Return the largest eigenvalue of R^(1/2) H R^(1/2), R the diagonal of the rates, by power iteration."""
    roots = np.sqrt(rates)
    vector = roots * np.sqrt(np.maximum(point.hessian_diagonal(), 1e-300))
    found = 0.0
    for _ in range(_POWERS):
        length = float(np.linalg.norm(vector))
        if length == 0.0:
            return 0.0
        vector = vector / length
        image = roots * point.hessian_times(roots * vector)
        found, vector = float(vector @ image), image
    return found


def steps(params: Params, problem: Problem, start: LearningState | None = None) -> Iterator[LearningState]:
    """Yield the first state and one after each iteration."""
    if start is not None and start.ended:
        return
    rates = rates_of(params, problem)
    if start is None:
        point = problem.at(problem.free.start)
        length = float(np.linalg.norm(rates * point.gradient))
        rate = first_rate(params, point, rates)
        inner = Inner(frozen(point.parameters), frozen(point.parameters), rate, length)
        move = Move(rate=inner.rate, reason="the weights to begin with")
        state = state_at(point, None, move, inner, ended=_ended(params, point, 0))
        yield state
    else:
        state = start
        point = problem.at_state(state)
    while not state.ended:
        began = time.perf_counter()
        point, state = _next(params, problem, rates, point, state)
        spent = time.perf_counter() - began - point.seconds
        yield state if spent <= 0 else state.with_stepping(spent)


def _next(
    params: Params, problem: Problem, rates: Numbers, point: Point, state: LearningState
) -> tuple[Point, LearningState]:
    inner = state.inner
    assert isinstance(inner, Inner)  # noqa: S101 - a state of this optimiser
    rate = inner.rate
    moved = point.parameters + rate * rates * (
        point.of_data + problem.priors.smooth_gradient(point.parameters)
    )
    parameters = problem.free.clipped(problem.priors.shrunk(moved, rate * rates))
    reached = problem.at(parameters, point.memory)
    length = float(np.linalg.norm(rates * reached.gradient))
    if length > _DIVERGED * max(inner.first_length, 1e-9) and rate > 1e-12:
        # Back to where the gradient was sound, and slower from there.
        total = inner.total + point.parameters
        after = Inner(frozen(point.parameters), frozen(total), rate / 2, inner.first_length)
        reason = (
            f"the gradient grew {length / max(inner.first_length, 1e-9):.1f}-fold: taken back, rate halved"
        )
        move = Move(0.0, rate / 2, accepted=False, rejected=state.move.rejected + 1, reason=reason)
        kept = point.remembering(reached.memory)
        return kept, _state(params, problem, kept, state, move, after)
    after = Inner(frozen(parameters), frozen(inner.total + parameters), rate, inner.first_length)
    size = float(np.linalg.norm(problem.free.spread(parameters - point.parameters)))
    largest = int(np.abs(reached.weights - point.weights).argmax())
    most = reached.weights[largest] - point.weights[largest]
    reason = f"down the gradient; formula {largest} moved most, by {most:+.3g}"
    move = Move(size, rate, rejected=state.move.rejected, reason=reason)
    return reached, _state(params, problem, reached, state, move, after)


def _state(
    params: Params, problem: Problem, point: Point, before: LearningState, move: Move, inner: Inner
) -> LearningState:
    iteration = before.iteration + 1
    answer = problem.free.weights(inner.total / (iteration + 1)) if params.averaged else point.weights
    ended = _ended(params, point, iteration)
    return state_at(point, before, move, inner, answer=answer, ended=ended)


def _ended(params: Params, point: Point, iteration: int) -> str:
    if params.tolerance and float(np.abs(point.gap).max(initial=0.0)) <= params.tolerance * point.scale:
        return f"no gap is larger than {params.tolerance:g} of the counts"
    return f"{params.iterations} steps were taken" if iteration >= params.iterations else ""


OPTIMIZER = Optimizer(
    name="gradient-descent",
    needs="the gradient; a rate that suits the data, rate=",
    needs_value=False,
    params=Params,
    citation="Lowd's thesis, sections 4.2.1 to 4.2.3",
    steps=steps,
)
