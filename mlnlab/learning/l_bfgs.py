r"""L-BFGS-B: scipy's limited-memory quasi-Newton method (Liu and Nocedal 1989; Byrd et al. 1995).

It approximates the curvature from the last steps and searches along each direction, so that it needs values
and gradients only, and serves thousands of weights with bounds. A Laplace prior has a kink at its mean; its
parameters are written as mean + p - q with p, q >= 0, at a cost of (p + q) / scale, which is smooth within
these bounds, so that weights of no use come out as exactly the mean.

Needs: an objective whose value is known. Answers: the weights of greatest penalised (pseudo-)likelihood. A
run that is resumed goes quietly through its first steps again, since scipy's memory cannot be stored.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.learning.blas_threads import blas_threads
from mlnlab.learning.curvature import has_quick_diagonal
from mlnlab.learning.handed_over import handed_over
from mlnlab.learning.learning_state import LearningState, Move, frozen, state_at
from mlnlab.learning.optimizer import Optimizer
from mlnlab.steps.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from mlnlab.learning.problem import Point, Problem

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Params:
    """When to stop, and how many steps the curvature is remembered from."""

    iterations: int = 1000
    tolerance: float = 1e-12  # of the objective's relative gain in a step
    gradient_tolerance: float = 1e-8  # of the largest gap, relative to the counts
    remembered: int = 20

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if (
            self.iterations < 1
            or self.remembered < 1
            or not min(self.tolerance, self.gradient_tolerance) >= 0
        ):
            raise ArgumentError("iterations and remembered are 1 or more, tolerances 0 or more.")


_ROUNDING = 1e-15


@storable("l_bfgs.Inner")
@dataclass(frozen=True, slots=True, eq=False)
class Inner:
    """Where the run began, from where it is gone through again."""

    start: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Parameters as scipy sees them: in units of ``scale``, and those with a kink are two, p and q."""

    problem: Problem
    scale: Numbers  # of each parameter: θ is this times what scipy moves

    @property
    def kinked(self) -> NDArray[np.bool_]:
        """Which parameters have a Laplace prior."""
        return self.problem.priors.pull > 0

    def joined(self, x: Numbers) -> Numbers:
        """Return θ: x itself, or mean + p - q."""
        number, kinked = self.problem.free.number, self.kinked
        found = x[:number] * self.scale
        found[kinked] += self.problem.priors.mean[kinked] - x[number:] * self.scale[kinked]
        return self._at_bounds(found)

    def _at_bounds(self, parameters: Numbers) -> Numbers:
        """Return the parameters, those exactly at their bounds that units have moved off by rounding."""
        free = self.problem.free
        found = free.clipped(parameters)
        for bound in (free.lower, free.upper):
            near = np.abs(found - np.where(np.isfinite(bound), bound, np.nan)) <= _ROUNDING * np.abs(bound)
            found = np.where(near, bound, found)
        return found

    def split(self, parameters: Numbers) -> Numbers:
        """Return x from θ."""
        kinked, away = self.kinked, parameters - self.problem.priors.mean
        first = np.where(kinked, np.maximum(away, 0.0), parameters) / self.scale
        return np.concatenate([first, np.maximum(-away[kinked], 0.0) / self.scale[kinked]])

    def bounds(self) -> list[tuple[float, float]]:
        """Return the bounds of x."""
        free, mean, kinked = self.problem.free, self.problem.priors.mean, self.kinked
        low = np.where(kinked, np.maximum(free.lower - mean, 0.0), free.lower)
        high = np.where(kinked, np.maximum(free.upper - mean, 0.0), free.upper)
        low_q = np.maximum(mean - free.upper, 0.0)[kinked]
        high_q = np.maximum(mean - free.lower, 0.0)[kinked]
        scale = np.concatenate([self.scale, self.scale[kinked]])
        lows, highs = np.concatenate([low, low_q]) / scale, np.concatenate([high, high_q]) / scale
        return list(zip(lows.tolist(), highs.tolist(), strict=True))

    def minus(self, point: Point, x: Numbers) -> tuple[float, Numbers]:
        """Return minus the objective and its gradient by x."""
        number, kinked, pull = self.problem.free.number, self.kinked, self.problem.priors.pull
        smooth = point.of_data + self.problem.priors.smooth_gradient(point.parameters)
        value = -_known(point)
        if kinked.any():
            paid = float(pull @ np.abs(point.parameters - self.problem.priors.mean))
            both = (x[:number][kinked] + x[number:]) * self.scale[kinked]
            value += float(pull[kinked] @ both) - paid
        gradient = np.where(kinked, -smooth + pull, -smooth) * self.scale
        return value, np.concatenate([gradient, (smooth[kinked] + pull[kinked]) * self.scale[kinked]])


def scale_at(point: Point) -> Numbers:
    """Return the unit of each parameter: how far it may go until the objective falls by 1/2, to second order.

    In these units all directions of single weights are equally steep, however often formulas have groundings.
    """
    rough = getattr(point.moments.curvature, "rough_diagonal", None)
    if rough is not None:
        steepness = np.sqrt(point.problem.free.gathered(rough()) + point.problem.priors.precision)
    elif has_quick_diagonal(point.moments.curvature):
        steepness = np.sqrt(point.hessian_diagonal())
    else:
        return np.ones(point.problem.free.number)
    most = float(steepness.max(initial=0.0))
    return np.asarray(1.0 / np.maximum(steepness, 1e-6 * most if most > 0 else 1.0))


def _known(point: Point) -> float:
    return -np.inf if point.value is None else point.value


def points(params: Params, problem: Problem, start: Numbers) -> Iterator[Point]:
    """Yield the points of scipy's run after the first."""
    from scipy.optimize import minimize

    split = Split(problem, scale_at(problem.at(start)))
    latest: list[Point] = []

    def minus(x: Numbers) -> tuple[float, Numbers]:
        point = problem.at(split.joined(x))
        latest[:] = [*latest[-4:], point]
        return split.minus(point, x)

    def run(hand: Callable[[Point], None]) -> Any:  # noqa: ANN401 - scipy's result, which nobody reads
        with blas_threads(1) as usual:

            def callback(intermediate_result: Any) -> None:  # noqa: ANN401 - scipy looks for this name
                x = split.joined(intermediate_result.x)
                known = [point for point in latest if np.array_equal(point.parameters, x)]
                with blas_threads(usual):  # of others, while this run rests
                    hand(known[-1] if known else problem.at(x))

            return minimize(
                minus, split.split(start), jac=True, method="L-BFGS-B", bounds=split.bounds(),
                callback=callback,
                options={"maxiter": params.iterations, "maxfun": 50 * params.iterations,
                         "maxcor": params.remembered, "ftol": params.tolerance, "gtol": 0.0, "maxls": 40},
            )  # fmt: skip

    yield from handed_over(run)


def steps(params: Params, problem: Problem, start: LearningState | None = None) -> Iterator[LearningState]:
    """Yield the first state and one after each step of scipy's."""
    if start is not None and start.ended:
        return
    if start is None:
        point = problem.at(problem.free.start)
        inner = Inner(frozen(point.parameters))
        state = state_at(
            point, None, Move(reason="the weights to begin with"), inner, ended=_ended(params, point, 0)
        )
        yield state
        if state.ended:
            return
    else:
        state = start
        point = problem.at_state(start)
    assert isinstance(state.inner, Inner)  # noqa: S101 - a state of this optimiser
    began, waiting = time.perf_counter(), state.iteration
    following = points(params, problem, state.inner.start)
    before = point
    for number, reached in enumerate(following, 1):
        if number <= waiting:
            continue
        size = float(np.linalg.norm(reached.weights - before.weights))
        gained = _known(reached) - _known(before)
        move = Move(size, actual=-gained, reason=f"a quasi-Newton step, which gained {gained:.3g}")
        spent = max(0.0, time.perf_counter() - began - reached.seconds)
        ended = _ended(params, reached, number)
        state = state_at(reached, state, move, state.inner, stepping_seconds=spent, ended=ended)
        before = reached
        yield state
        if ended:
            return
        began = time.perf_counter()
    reason = f"no step gains more than {params.tolerance:g} of the objective"
    yield state_at(before, state, Move(reason=reason), state.inner, ended=reason)


def _ended(params: Params, point: Point, iteration: int) -> str:
    if float(np.abs(point.gap).max(initial=0.0)) <= params.gradient_tolerance * point.scale:
        return f"no gap is larger than {params.gradient_tolerance:g} of the counts"
    return f"{params.iterations} steps were taken" if iteration >= params.iterations else ""


OPTIMIZER = Optimizer(
    name="l-bfgs",
    needs="an objective whose value is known",
    needs_value=True,
    params=Params,
    citation="Liu and Nocedal 1989; Byrd, Lu, Nocedal and Zhu 1995",
    steps=steps,
    keeps=Inner,
)
