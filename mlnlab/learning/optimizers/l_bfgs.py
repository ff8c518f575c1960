r"""L-BFGS-B: scipy's limited-memory quasi-Newton method (Liu and Nocedal 1989; Byrd et al. 1995).

It approximates the curvature from the last steps and searches along each direction, so that it needs values
and gradients only, and serves thousands of weights with bounds. A Laplace prior has a kink at its mean; its
parameters are written as mean + p - q with p, q >= 0, at a cost of (p + q) / scale, which is smooth within
these bounds, so that weights of no use come out as exactly the mean.

Needs: an objective whose value is known. Answers: the weights of greatest penalised (pseudo-)likelihood. A
run that is resumed goes quietly through its first steps again, since scipy's memory cannot be stored.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from mlnlab.learning.descent.optimizer import Optimizer
from mlnlab.learning.problems.curvature import has_quick_diagonal
from mlnlab.learning.problems.learning_state import LearningState, Move, frozen, state_at
from mlnlab.logic.checked_options import check_options, real
from mlnlab.steps.state_layout import ArrayOf, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problems.problem import Point, Problem

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Params:
    """When to stop, and how many steps the curvature is remembered from."""

    iterations: int = 1000
    tolerance: float = 1e-12  # of the objective's relative gain in a step
    gradient_tolerance: float = 1e-8  # of the largest gap, relative to the counts
    remembered: int = 20

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        least = real(0, endless=True)
        check_options(self, iterations=1, remembered=1, tolerance=least, gradient_tolerance=least)


_ROUNDING = 1e-15


@storable("l_bfgs.Inner")
@dataclass(frozen=True, slots=True, eq=False)
class Inner:
    """Where the run began, from where it is gone through again."""

    start: Numbers = field(metadata=holds(ArrayOf(np.float64, ("parameters",))))


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Parameters as scipy sees them: in units of ``scale``, and those with a kink are two, p and q."""

    problem: Problem
    scale: Numbers  # of each parameter: θ is this times what scipy moves

    @property
    def kinked(self) -> NDArray[np.bool_]:
        """Which parameters have a Laplace prior."""
        return self.problem.priors.pull > 0

    def join_halves(self, x: Numbers) -> Numbers:
        """Return θ: x itself, or mean + p - q."""
        number, kinked = self.problem.free.number, self.kinked
        found = x[:number] * self.scale
        found[kinked] += self.problem.priors.mean[kinked] - x[number:] * self.scale[kinked]
        return self._at_bounds(found)

    def _at_bounds(self, parameters: Numbers) -> Numbers:
        """Return the parameters, those exactly at their bounds that units have moved off by rounding."""
        free = self.problem.free
        found = free.clip_parameters(parameters)
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
        value = -_read_value(point)
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
        steepness = np.sqrt(point.problem.free.gather_derivatives(rough()) + point.problem.priors.precision)
    elif has_quick_diagonal(point.moments.curvature):
        steepness = np.sqrt(point.hessian_diagonal())
    else:
        return np.ones(point.problem.free.number)
    most = float(steepness.max(initial=0.0))
    return np.asarray(1.0 / np.maximum(steepness, 1e-6 * most if most > 0 else 1.0))


def _read_value(point: Point) -> float:
    return -np.inf if point.value is None else point.value


def points(params: Params, problem: Problem, start: Numbers) -> Iterator[Point]:
    """Yield the points of scipy's run after the first."""
    from scipy.optimize import minimize

    split = Split(problem, scale_at(problem.at(start)))
    latest: list[Point] = []

    def minus(x: Numbers) -> tuple[float, Numbers]:
        point = problem.at(split.join_halves(x))
        latest[:] = [*latest[-4:], point]
        return split.minus(point, x)

    def run(hand: Callable[[Point], None]) -> Any:  # noqa: ANN401 - scipy's result, which nobody reads
        with blas_threads(1) as usual:

            def callback(intermediate_result: Any) -> None:  # noqa: ANN401 - scipy looks for this name
                x = split.join_halves(intermediate_result.x)
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
            point, None, Move(reason="the weights to begin with"), inner, ended=_explain_end(params, point, 0)
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
        gained = _read_value(reached) - _read_value(before)
        move = Move(size, actual=-gained, reason=f"a quasi-Newton step, which gained {gained:.3g}")
        spent = max(0.0, time.perf_counter() - began - reached.seconds)
        ended = _explain_end(params, reached, number)
        state = state_at(reached, state, move, state.inner, stepping_seconds=spent, ended=ended)
        before = reached
        yield state
        if ended:
            return
        began = time.perf_counter()
    reason = f"no step gains more than {params.tolerance:g} of the objective"
    yield state_at(before, state, Move(reason=reason), state.inner, ended=reason)


def _explain_end(params: Params, point: Point, iteration: int) -> str:
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
    converges=True,
)


# --- one thread for linear algebra on short vectors ---------------------------------------------

# OpenBLAS, which numpy's and scipy's wheels bring along, shares out work on vectors from some 10,000 numbers
# on, and its threads wait for each other actively. Where other processes want the processor too, a scalar
# product of microseconds then takes tens of milliseconds. What is made of thousands of such products asks for
# one thread. Where another library does the linear algebra, nothing is changed.

_NAMES = tuple(
    f"{prefix}openblas_{{}}_num_threads{suffix}" for prefix in ("scipy_", "") for suffix in ("64_", "")
)


@cache
def _libraries() -> tuple[tuple[Any, Any], ...]:
    """Return how to ask for and how to set the number of threads, of each OpenBLAS in this process."""
    import scipy

    found = []
    for package in (np, scipy):
        folder = Path(str(package.__file__)).parent.parent / f"{package.__name__}.libs"
        for file in sorted(folder.glob("*openblas*")):
            try:
                library = ctypes.CDLL(str(file))
            except OSError:
                continue
            for name in _NAMES:
                pair = tuple(getattr(library, name.format(verb), None) for verb in ("get", "set"))
                if all(pair):
                    found.append((pair[0], pair[1]))
                    break
    return tuple(found)


@contextmanager
def blas_threads(number: int = 1) -> Iterator[int]:
    """Let linear algebra use ``number`` threads for a while; yield the number it had."""
    before = [get() for get, _ in _libraries()]
    _set([number] * len(before))
    try:
        yield max(before, default=number)
    finally:
        _set(before)


def _set(numbers: list[int]) -> None:
    for (_, change), number in zip(_libraries(), numbers, strict=True):
        change(number)


# --- run a library's optimiser step by step -----------------------------------------------------

# scipy's minimisers run to their end and report each iterate by a callback. Here such a run lives in a thread
# that rests inside the callback until the next iterate is wanted; one of the two threads works at a time.

T = TypeVar("T")


class _Given(Exception):  # noqa: N818 - no error: nobody wants to know more
    """Raised in the thread when its results are no longer wanted."""


class _End(Generic[T]):
    """The end of a run, or the exception that it failed with."""

    def __init__(self, problem: BaseException | None) -> None:
        self.problem = problem


def handed_over(run: Callable[[Callable[[T], None]], object]) -> Iterator[T]:
    """Yield the values that ``run`` passes to its callback, each when it is asked for."""
    results: SimpleQueue[T | _End[T]] = SimpleQueue()
    wanted: SimpleQueue[bool] = SimpleQueue()

    def hand(value: T) -> None:
        results.put(value)
        if not wanted.get():
            raise _Given

    def work() -> None:
        problem: BaseException | None = None
        try:
            if wanted.get():
                run(hand)
        except _Given:
            pass
        except BaseException as error:  # noqa: BLE001 - it is raised again where somebody waits
            problem = error
        results.put(_End(problem))

    thread = Thread(target=work, daemon=True, name="mlnlab optimiser")
    thread.start()
    try:
        while True:
            wanted.put(True)
            found = results.get()
            if isinstance(found, _End):
                if found.problem is not None:
                    raise found.problem
                return
            yield found
    finally:
        wanted.put(False)
