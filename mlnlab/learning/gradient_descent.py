r"""Gradient descent with averaged weights: the voted perceptron's and contrastive divergence's optimiser.

    w_{t+1} = w_t - η g_t,    or weight by weight with η_i = η / n_i  (thesis, sections 4.2.1 to 4.2.3)

where n_i counts the true groundings that evidence leaves open (η where n_i = 0). What is returned is the
average of the weights of all iterations, against overfitting. The rate decides everything: too small, and
weights with few groundings never move; too large, and those with many swing out of bounds. A step after which
the gradient is far longer than at the start is taken back and the rate halved, and the move says so. So is a
step by which the objective fell, if its value is known, and, where the rate was given, one that goes on
swinging to and fro without growing shorter (swings.py), as between bounds, or moves a weight beyond all use.

The thesis chooses rates on validation data (``rate="tuned"``). Where none is given, the rate begins at one
over the largest curvature, which is largest at weights of zero, so that it may grow: by a tenth after each
step whose gradient still points along the one before; where it points back by more than its noise, it falls
by a fifth (Battiti's "bold driver", 1989, with gradients in the place of values). The average is then that of
the later iterations alone, since the first ones are only on their way. Counts of a most probable world tell
no curvature and jump at every rate; there the rate stays what it is at first, one by which a gap of the size
of chance, √n, moves no weight by more than 1.

True groundings stand for the variance only while about half of an atom's worlds are true. Learning the rare
``advisedBy`` of UW-CSE there are 800 of them for each unit of variance at the optimum, and as few as one:
the condition number is 13,000 with η / n_i against 145 with η and 7 with η / variance, so that -PW takes
thousands of iterations where diagonal Newton, which divides by the variance, takes dozens.

Needs: only the gradient. Not where conditions are bad: see diagonal Newton and scaled conjugate gradient.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.learning.learning_state import LearningState, Move, frozen, state_at
from mlnlab.learning.mini_batches import BatchMemory
from mlnlab.learning.optimizer import Optimizer
from mlnlab.learning.swings import NO_SWINGS, Swings, with_step
from mlnlab.steps.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problem import Point, Problem

    Numbers = NDArray[np.float64]

Averaging = Literal["all", "late", "none"]
_POWERS = 30
_BOLDER, _MEEKER = 1.1, 0.8
_LEAST_RATE = 1e-12
_ROUNDING = 1e-9  # of the objective's value
_DIVERGED = 4.0  # times the length of the first gradient: a convex function's gradient does not grow so


@dataclass(frozen=True, slots=True)
class Params:
    """How fast, how long, and whether each weight has a rate of its own."""

    rate: float | None = None  # None: one over the largest curvature at the start, and adapted from there
    per_weight: bool = False
    averaged: Averaging | None = None  # None: "all" as in the thesis, "late" where the rate is adapted
    iterations: int = 100
    tolerance: float = 0.0  # of the largest gap, relative to the counts; 0: take all iterations

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.iterations < 1 or not self.tolerance >= 0:
            raise ArgumentError("iterations is a whole number from 1 on, and tolerance a number from 0 on.")
        if self.rate is not None and not 0 < self.rate < np.inf:
            raise ArgumentError(f"rate is a number above 0, not {self.rate!r}.")
        if self.averaged not in {None, "all", "late", "none"}:
            raise ArgumentError(f'averaged is "all", "late" or "none", not {self.averaged!r}.')

    @property
    def averaging(self) -> Averaging:
        """Which iterations the answer is the average of."""
        return self.averaged or ("late" if self.rate is None else "all")


@storable("gradient_descent.Inner")
@dataclass(frozen=True, slots=True, eq=False)
class Inner:
    """The rate now, how long the first gradient was, and sums of parameters with how many each is of.

    ``earlier`` is the sum of the last stretch that is complete; stretches are of 1, 2, 4, 8 ... iterations,
    so that the two sums together are of the latest half of all iterations, up to three quarters.
    """

    total: Numbers
    number: int
    earlier: Numbers
    earlier_number: int
    rate: float
    first_length: float
    swings: Swings = NO_SWINGS

    def with_one_more(
        self, parameters: Numbers, rate: float, averaging: Averaging, swings: Swings = NO_SWINGS
    ) -> Inner:
        """Return the sums with one more iteration's parameters."""
        total, number, earlier, earlier_number = self.total, self.number, self.earlier, self.earlier_number
        if averaging == "late" and number >= max(1, 2 * earlier_number):
            total, number, earlier, earlier_number = np.zeros_like(total), 0, total, number
        summed = frozen(total + parameters)
        return Inner(summed, number + 1, earlier, earlier_number, rate, self.first_length, swings)

    @property
    def average(self) -> Numbers:
        """The mean of what was summed."""
        return np.asarray((self.total + self.earlier) / (self.number + self.earlier_number))


def rates_of(params: Params, problem: Problem) -> Numbers:
    """Return the rate of each parameter for a global rate of 1: 1, or 1 / n_i."""
    if not params.per_weight:
        return np.ones(problem.free.number)
    counts = problem.free.gathered(problem.objective.counts)
    return 1.0 / np.where(counts > 0, counts, 1.0)  # thesis, section 4.2.3


def first_rate(params: Params, point: Point, rates: Numbers) -> float:
    """Return the rate to begin with: where none is given, one over the largest curvature at the start.

    A quadratic function is descended from any start with a rate below twice that. Where nothing is known of
    curvature, a gap of √n, the size of chance, moves no weight by more than 1.
    """
    if params.rate is not None:
        return params.rate
    if tells_curvature(point):
        largest = largest_curvature(point, rates)
        if largest > 0:
            return 1.0 / largest
    counts = point.problem.free.gathered(point.problem.objective.counts)
    return 1.0 / max(1.0, float((rates * np.sqrt(np.maximum(counts, 0.0))).max()))


def tells_curvature(point: Point) -> bool:
    """Return whether there is a variance of counts, which a single sample or best world has not."""
    return point.moments.samples != 1


def usual_length(point: Point, rates: Numbers) -> float:
    """Return how long a gradient may be and all be well: that at the start, or what chance makes of counts.

    A few samples, or one batch of the databases, may agree with the data by chance where learning begins.
    """
    return max(float(np.linalg.norm(rates * point.gradient)), float(np.linalg.norm(rates * _chance(point))))


def _chance(point: Point) -> Numbers:
    """Return the size of the gradient that chance makes: √n of samples; of batches that of one database."""
    found = np.zeros_like(point.parameters)
    if point.moments.samples:
        counts = point.problem.free.gathered(point.problem.objective.counts)
        found = np.sqrt(np.maximum(counts, 1.0))
    if isinstance(point.memory, BatchMemory):  # gradients vary as counts do, and are scaled up to all
        found = np.maximum(found, np.sqrt(len(point.memory.memories) * point.hessian_diagonal()))
    return found


def largest_curvature(point: Point, rates: Numbers) -> float:
    """Return the largest eigenvalue of R^(1/2) H R^(1/2), R the diagonal of the rates, by power iteration."""
    roots = np.sqrt(rates)
    # Uneven factors, lest the first vector be orthogonal to the one that is looked for.
    uneven = np.cos(2.4 * np.arange(len(rates)))
    vector = roots * np.sqrt(np.maximum(point.hessian_diagonal(), 1e-300)) * uneven
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
        length = usual_length(point, rates)
        rate = first_rate(params, point, rates)
        none = frozen(np.zeros_like(point.parameters))
        inner = Inner(frozen(point.parameters), 1, none, 0, rate, length)
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
    given = params.rate is not None
    step = parameters - point.parameters
    swings = with_step(inner.swings, point, step, rate * rates) if given else NO_SWINGS
    if swings.in_words:
        return _taken_back(params, point, state, swings.in_words)
    reached = problem.at(parameters, point.memory)
    reason = fallen(point, reached) or led_away(reached, inner, rates)
    if reason and rate > _LEAST_RATE:
        return _taken_back(params, point.remembering(reached.memory), state, reason)
    size = float(np.linalg.norm(problem.free.spread(step)))
    largest = int(np.abs(reached.weights - point.weights).argmax())
    most = reached.weights[largest] - point.weights[largest]
    reason = f"down the gradient; formula {largest} moved most, by {most:+.3g}"
    move = Move(size, rate, rejected=state.move.rejected, reason=reason)
    before = rates * point.gradient
    following = rate
    if not given and tells_curvature(reached):
        following = next_rate(rate, float(before @ reached.gradient), reached.noise(before))
    after = inner.with_one_more(parameters, following, params.averaging, swings)
    return reached, _state(params, problem, reached, state, move, after)


def fallen(point: Point, reached: Point) -> str:
    """Say by how much a step made the objective less, if it did."""
    if point.value is None or reached.value is None:
        return ""
    fell = point.value - reached.value
    return f"the objective fell by {fell:.3g}" if fell > _ROUNDING * (1.0 + abs(point.value)) else ""


def led_away(reached: Point, inner: Inner, rates: Numbers) -> str:
    """Say how much longer than usual the gradient is, if it is by far."""
    length, usual = float(np.linalg.norm(rates * reached.gradient)), max(inner.first_length, 1e-9)
    return f"the gradient grew {length / usual:.1f}-fold" if length > _DIVERGED * usual else ""


def _taken_back(params: Params, kept: Point, state: LearningState, why: str) -> tuple[Point, LearningState]:
    """Return to where the gradient was sound, to go on slower from there."""
    inner = state.inner
    assert isinstance(inner, Inner)  # noqa: S101 - a state of this optimiser
    rate = inner.rate / 2
    reason = f"{why}: taken back, rate halved"
    move = Move(0.0, rate, accepted=False, rejected=state.move.rejected + 1, reason=reason)
    after = inner.with_one_more(kept.parameters, rate, params.averaging)
    return kept, _state(params, kept.problem, kept, state, move, after)


def next_rate(rate: float, agreement: float, noise: float) -> float:
    """Return the rate of the next step; ``agreement`` is the product of the last two gradients."""
    if -noise <= agreement <= 0:  # samples alone may turn a gradient so much
        return rate
    return rate * (_BOLDER if agreement > 0 else _MEEKER)


def _state(
    params: Params, problem: Problem, point: Point, before: LearningState, move: Move, inner: Inner
) -> LearningState:
    # Rounding may carry an average over a bound that all of its terms respect.
    averaged = problem.free.weights(problem.free.clipped(inner.average))
    answer = point.weights if params.averaging == "none" else averaged
    return state_at(
        point, before, move, inner, answer=answer, ended=_ended(params, point, before.iteration + 1)
    )


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
    keeps=Inner,
)
