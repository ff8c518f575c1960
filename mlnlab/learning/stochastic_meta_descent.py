r"""Stochastic meta-descent: each weight's rate learns from how its gradients agree (Schraudolph 1999).

    w <- w - η·g,   η <- η·max(1/2, 1 - μ g·v),   v <- γ v - η·(g + γ H v)   (all but H v by weight)

v says how the weights depend on the logarithms of past rates; Vishwanathan et al. (2006) trained conditional
random fields so. The thesis found it too unstable for Markov
logic (section 4.3.4); it is here to be seen, and because it does well where gradients are noisy but well
conditioned. Where the objective's value is known, a step by which it falls is taken back, all rates are
halved and the past is forgotten, as by a step that leaves all bounds.

Needs: the gradient, and the Hessian times a vector.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.learning.gradient_descent import Params as DescentParams
from mlnlab.learning.gradient_descent import fallen, first_rate
from mlnlab.learning.learning_state import LearningState, Move, frozen, state_at
from mlnlab.learning.optimizer import Optimizer
from mlnlab.steps.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problem import Point, Problem

    Numbers = NDArray[np.float64]

_TOO_LARGE = 1e4  # a weight beyond this will not come back
_LEAST_RATE = 1e-12


@dataclass(frozen=True, slots=True)
class Params:
    """The first rate, how fast rates change (μ), and how long the past counts (γ)."""

    rate: float | None = None
    meta_rate: float = 0.01
    memory: float = 0.9
    iterations: int = 100

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.iterations < 1 or not self.meta_rate >= 0 or not 0 <= self.memory <= 1:
            raise ArgumentError("iterations is 1 or more, meta_rate 0 or more, memory between 0 and 1.")
        if self.rate is not None and not 0 < self.rate < np.inf:
            raise ArgumentError(f"rate is a number above 0, not {self.rate!r}.")


@storable("stochastic_meta_descent.Inner")
@dataclass(frozen=True, slots=True, eq=False)
class Inner:
    """The rate of each parameter, and v."""

    rates: Numbers
    influence: Numbers


def steps(params: Params, problem: Problem, start: LearningState | None = None) -> Iterator[LearningState]:
    """Yield the first state and one after each iteration."""
    if start is not None and start.ended:
        return
    if start is None:
        point = problem.at(problem.free.start)
        rate = first_rate(DescentParams(params.rate), point, np.ones(problem.free.number))
        inner = Inner(frozen(np.full(problem.free.number, rate)), frozen(np.zeros(problem.free.number)))
        state = state_at(point, None, Move(rate=rate, reason="the weights to begin with"), inner)
        yield state
    else:
        state = start
        point = problem.at_state(state)
    while not state.ended:
        began = time.perf_counter()
        point, state = _next(params, problem, point, state)
        spent = max(0.0, time.perf_counter() - began - point.seconds)
        yield state.with_stepping(spent)


def _next(
    params: Params, problem: Problem, point: Point, state: LearningState
) -> tuple[Point, LearningState]:
    inner = state.inner
    assert isinstance(inner, Inner)  # noqa: S101 - a state of this optimiser
    g = -point.gradient  # of what is minimised
    rates = inner.rates * np.maximum(0.5, 1.0 - params.meta_rate * g * inner.influence)
    influence = params.memory * inner.influence - rates * (
        g + params.memory * point.hessian_times(inner.influence)
    )
    parameters = problem.free.clipped(
        problem.priors.stopped(point.parameters, point.parameters - rates * g, point.gradient)
    )
    step = parameters - point.parameters
    unstable = not np.isfinite(parameters).all() or float(np.abs(parameters).max(initial=0.0)) > _TOO_LARGE
    if unstable or not np.isfinite(influence).all():
        return _taken_back(params, point, state, "the step left all bounds")
    reached = problem.at(parameters, point.memory)
    fell = fallen(point, reached)
    if fell and float(inner.rates.max()) > _LEAST_RATE:
        return _taken_back(params, point.remembering(reached.memory), state, fell)
    reason = f"rates from {rates.min():.2g} to {rates.max():.2g}"
    size = float(np.linalg.norm(problem.free.spread(step)))
    move = Move(size, float(rates.mean()), rejected=state.move.rejected, reason=reason)
    after = Inner(frozen(rates), frozen(influence))
    return reached, state_at(reached, state, move, after, ended=_ended(params, state.iteration + 1))


def _taken_back(params: Params, kept: Point, state: LearningState, why: str) -> tuple[Point, LearningState]:
    """Return to where all was well, to go on slower from there."""
    inner = state.inner
    assert isinstance(inner, Inner)  # noqa: S101 - a state of this optimiser
    after = Inner(frozen(inner.rates / 2), frozen(np.zeros_like(inner.influence)))
    reason = f"{why}: taken back, all rates halved, the past forgotten"
    rate, rejected = float(after.rates.mean()), state.move.rejected + 1
    move = Move(0.0, rate, accepted=False, rejected=rejected, reason=reason)
    return kept, state_at(kept, state, move, after, ended=_ended(params, state.iteration + 1))


def _ended(params: Params, iteration: int) -> str:
    return f"{params.iterations} steps were taken" if iteration >= params.iterations else ""


OPTIMIZER = Optimizer(
    name="stochastic-meta-descent",
    needs="the gradient and the Hessian times a vector; a rate that suits the data",
    needs_value=False,
    params=Params,
    citation="Schraudolph 1999; Vishwanathan et al. 2006; Lowd's thesis, section 4.3.4",
    steps=steps,
    keeps=Inner,
)
