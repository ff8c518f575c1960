r"""Stochastic meta-descent: each weight's rate learns from how its gradients agree (Schraudolph 1999).

    w <- w - η·g,   η <- η·max(1/2, 1 - μ g·v),   v <- γ v - η·(g + γ H v)   (all but H v by weight)

g and H are those of the function to be minimised: g is minus the gradient of a point, which points uphill.
v says how the weights depend on the logarithms of past rates; Vishwanathan et al. (2006) trained conditional
random fields so. The thesis found it too unstable for Markov
logic (section 4.3.4); it is here to be seen, and because it does well where gradients are noisy but well
conditioned. Where the objective's value is known, a step by which it falls is taken back, all rates are
halved and the past is forgotten. Where it is not, so is a step after which the gradient is far longer than at
the start, or that moves a weight beyond all use; learning then goes on from the weights with the shortest
gradient so far, since those just before such a step have mostly gone astray too.

Needs: the gradient, and the Hessian times a vector.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.learning.descent.optimizer import Optimizer
from mlnlab.learning.optimizers.gradient_descent import Params as DescentParams
from mlnlab.learning.optimizers.gradient_descent import describe_fall, first_rate, usual_length
from mlnlab.learning.problems.learning_state import LearningState, Move, frozen, state_at
from mlnlab.logic.checked_options import above, check_options, real
from mlnlab.steps.state_layout import ArrayOf, Real, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problems.problem import Point, Problem

    Numbers = NDArray[np.float64]

_TOO_LARGE = 1e4  # a weight beyond this will not come back
_TOO_FAR = 20.0  # of a weight in one step (gradient_descent.py)
_DIVERGED = 4.0  # times the usual gradient, as in gradient_descent.py
_LEAST_RATE = 1e-12


@dataclass(frozen=True, slots=True)
class Params:
    """The first rate, how fast rates change (μ), and how long the past counts (γ)."""

    rate: float | None = None
    meta_rate: float = 0.01
    memory: float = 0.9
    iterations: int = 100

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        check_options(self, iterations=1, rate=above(0).or_none(), meta_rate=real(0), memory=real(0, 1))


@storable("stochastic_meta_descent.Inner")
@dataclass(frozen=True, slots=True, eq=False)
class Inner:
    """The rate of each parameter, v, and where the gradient was shortest."""

    rates: Numbers = field(metadata=holds(ArrayOf(np.float64, ("parameters",))))
    influence: Numbers = field(metadata=holds(ArrayOf(np.float64, ("parameters",))))
    # Where the gradient was shortest.
    best: Numbers = field(metadata=holds(ArrayOf(np.float64, ("parameters",))))
    shortest: float = field(metadata=holds(Real()))
    first_length: float = field(metadata=holds(Real()))  # of the gradient, or what chance makes of it


def steps(params: Params, problem: Problem, start: LearningState | None = None) -> Iterator[LearningState]:
    """Yield the first state and one after each iteration."""
    if start is not None and start.ended:
        return
    if start is None:
        point = problem.at(problem.free.start)
        rate = first_rate(DescentParams(params.rate), point, np.ones(problem.free.number))
        length = usual_length(point, np.ones(problem.free.number))
        inner = Inner(
            frozen(np.full(problem.free.number, rate)), frozen(np.zeros(problem.free.number)),
            frozen(point.parameters), float(np.linalg.norm(point.slope)), length,
        )  # fmt: skip
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
    parameters = problem.free.clip_parameters(
        problem.priors.stop_at_kinks(point.parameters, point.parameters - rates * g, point.gradient)
    )
    step = parameters - point.parameters
    unstable = not np.isfinite(parameters).all() or float(np.abs(parameters).max(initial=0.0)) > _TOO_LARGE
    too_far = point.value is None and float(np.abs(problem.free.spread(step)).max(initial=0.0)) > _TOO_FAR
    if unstable or too_far or not np.isfinite(influence).all():
        return _taken_back(params, _sound(point, inner), state, "the step left all bounds")
    reached = problem.at(parameters, point.memory)
    fell = describe_fall(point, reached)
    if fell and float(inner.rates.max()) > _LEAST_RATE:
        return _taken_back(params, point.remembering(reached.memory), state, fell)
    length = float(np.linalg.norm(reached.gradient))
    if point.value is None and length > _DIVERGED * inner.first_length:
        grew = f"the gradient grew {length / max(inner.first_length, 1e-9):.1f}-fold"
        return _taken_back(params, _sound(point.remembering(reached.memory), inner), state, grew)
    reason = f"rates from {rates.min():.2g} to {rates.max():.2g}"
    size = float(np.linalg.norm(problem.free.spread(step)))
    move = Move(size, float(rates.mean()), rejected=state.move.rejected, reason=reason)
    slope = float(np.linalg.norm(reached.slope))
    better = slope < inner.shortest
    after = replace(
        inner, rates=frozen(rates), influence=frozen(influence),
        best=frozen(reached.parameters) if better else inner.best, shortest=min(slope, inner.shortest),
    )  # fmt: skip
    return reached, state_at(reached, state, move, after, ended=_explain_end(params, state.iteration + 1))


def _sound(point: Point, inner: Inner) -> Point:
    """Return where to go on from: the shortest gradient so far, unless the value says that here is better."""
    return point if point.value is not None else point.problem.at(np.array(inner.best), point.memory)


def _taken_back(params: Params, kept: Point, state: LearningState, why: str) -> tuple[Point, LearningState]:
    """Return to where all was well, to go on slower from there."""
    inner = state.inner
    assert isinstance(inner, Inner)  # noqa: S101 - a state of this optimiser
    after = replace(inner, rates=frozen(inner.rates / 2), influence=frozen(np.zeros_like(inner.influence)))
    reason = f"{why}: taken back, all rates halved, the past forgotten"
    rate, rejected = float(after.rates.mean()), state.move.rejected + 1
    move = Move(0.0, rate, accepted=False, rejected=rejected, reason=reason)
    return kept, state_at(kept, state, move, after, ended=_explain_end(params, state.iteration + 1))


def _explain_end(params: Params, iteration: int) -> str:
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
