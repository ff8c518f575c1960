r"""Gradient descent with averaged weights: the voted perceptron's and contrastive divergence's optimiser.

    w_{t+1} = w_t - η g_t,    or weight by weight with η_i = η / n_i  (thesis, sections 4.2.1 to 4.2.3)

where g is that of the function to be minimised, minus the gradient of a point, which points uphill, and n_i
counts the true groundings that evidence leaves open (η where n_i = 0). The average of the weights of all
iterations is returned, against overfitting. The rate decides everything: too small, and
weights with few groundings never move; too large, and those with many swing out of bounds. A step after which
the gradient is far longer than at the start is taken back and the rate halved, and the move says so. So is a
step by which the objective fell, if its value is known, and, where the rate was given, one that goes on
swinging to and fro without growing shorter, as between bounds, or moves a weight beyond all use.

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
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from mlnlab.learning.descent.optimizer import Optimizer
from mlnlab.learning.problems.learning_state import LearningState, Move, frozen, state_at
from mlnlab.learning.problems.mini_batches import BatchMemory, MiniBatches
from mlnlab.logic.checked_options import above, check_options, one_of, real
from mlnlab.steps.state_layout import ArrayOf, OneOf, Part, Real, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problems.problem import Point, Problem

    Numbers = NDArray[np.float64]
    from numpy.typing import NDArray


# --- notice swings ------------------------------------------------------------------------------

# A rate may be too large although bounds or priors keep weights from running away.

# With H of one eigenvalue h, exact gradients follow g_{t+1} = (1 - η h) g_t: beyond η h = 2 each step is
# opposite to the one before, and longer. Between bounds, or where a function is flatter farther out, steps
# stop growing and swing for ever. With noise of the samples, steps around the optimum turn at every rate;
# once what is left to learn is learned, the correlation of two in a row is
#
#     -η h / 2        (the stationary process of w_{t+1} = w_t - η (h w_t + ε_t))
#
# so that opposite ones, with a cosine near -1, still tell a rate near its limit from a sound one. A run of
# such turns whose steps do not grow shorter is a swing. Where the noise is not known, a turn counts only if
# weights moved by much: the counts of a most probable world jump wherever two worlds are equally good,
# however small the rate, and batches of databases may want opposite things. Steps are measured by weight,
# over its rate.

MOST = 6  # turns in a row
_OPPOSITE = -0.8  # the cosine of a turn: on average that of a rate at four fifths of its limit
_ERRORS = 2.0  # standard errors within which a turn says nothing
_SHORTER = 0.9  # of the length when the turns began: what gets so much shorter converges
_MUCH = 1.0  # of a weight in one step
_FAR = 20.0  # of a weight in one step: odds of 500 million to 1
WANDERED = 12  # steps in a row that each moved a weight by much
_LED = 0.5  # of the lengths of steps: what leads somewhere adds up to more

_KEPT = OneOf((ArrayOf(np.float64, (0,)), ArrayOf(np.float64, ("parameters",))))  # none before a step
_NONE = frozen(np.zeros(0))


@storable("gradient_descent.Swings")
@dataclass(frozen=True, slots=True, eq=False)
class Swings:
    """The last step, how many turns there were in a row, and how long steps were before and after them."""

    step: Numbers = field(metadata=holds(_KEPT))
    turns: int = field(default=0, metadata=holds(Whole()))
    begun: float = field(default=0.0, metadata=holds(Real()))
    length: float = field(default=0.0, metadata=holds(Real()))
    far: float = field(default=0.0, metadata=holds(Real()))  # the most that the last step moved a weight by
    wandered: int = field(default=0, metadata=holds(Whole()))  # steps in a row that moved weights by much
    moved: Numbers = field(default_factory=lambda: _NONE, metadata=holds(_KEPT))  # their sum
    # The lengths of the first half of them together.
    earlier: float = field(default=0.0, metadata=holds(Real()))
    later: float = field(default=0.0, metadata=holds(Real()))  # of the second half
    reached: float = field(default=0.0, metadata=holds(Real()))  # the length of their sum

    def flaw(self) -> str:
        """Say which values contradict each other in a state from outside."""
        return "sum of steps is missing" if self.wandered and not len(self.moved) else ""

    @property
    def in_words(self) -> str:
        """Say that it swings, if it does."""
        if self.far > _FAR:
            return f"a weight was to move by {self.far:.3g} in one step"
        lengths = self.earlier + self.later
        if (
            self.wandered >= WANDERED
            and self.reached < _LED * lengths
            and self.later > _SHORTER * self.earlier
        ):
            return f"the weights moved far {self.wandered} times in a row and got nowhere"
        if self.turns < MOST or self.length < _SHORTER * self.begun:
            return ""
        return f"the weights swung to and fro {self.turns} times in steps that grew no shorter"


NO_SWINGS = Swings(_NONE)


def with_step(before: Swings, point: Point, step: Numbers, rates: Numbers) -> Swings:
    """Return the turns in a row, with a step from a point that ``rates`` times its slope led to."""
    return _wandering(before, _turning(before, point, step, rates), point, step, rates)


def _turning(before: Swings, point: Point, step: Numbers, rates: Numbers) -> Swings:
    last = before.step
    if not len(last):
        return Swings(frozen(step))
    product = float(last @ (step / rates))
    lengths = [_length(one, rates) for one in (last, step)]
    opposite = product < _OPPOSITE * lengths[0] * lengths[1]
    if not opposite or not _is_no_noise(point, last, step):
        return Swings(frozen(step))
    if before.turns >= MOST or not before.turns:  # a stretch that grew shorter is over
        return Swings(frozen(step), 1, lengths[0], lengths[1])
    return Swings(frozen(step), before.turns + 1, before.begun, lengths[1])


def _wandering(before: Swings, turned: Swings, point: Point, step: Numbers, rates: Numbers) -> Swings:
    """Return the swings after a step, extended if it moves the weights far."""
    far = float(np.abs(point.problem.free.spread(step)).max(initial=0.0))
    if far <= _MUCH or float(step @ point.slope) <= _ERRORS * point.noise(step):
        return replace(turned, far=far)
    goes_on = 0 < before.wandered < WANDERED  # a stretch that led somewhere is over
    number = before.wandered + 1 if goes_on else 1
    moved = before.moved + step if goes_on else step
    own = _length(step, rates)
    halves = (before.earlier, before.later) if goes_on else (0.0, 0.0)
    earlier, later = (halves[0] + own, 0.0) if number <= WANDERED // 2 else (halves[0], halves[1] + own)
    return replace(
        turned, far=far, wandered=number, moved=frozen(moved), earlier=earlier, later=later,
        reached=_length(moved, rates),
    )  # fmt: skip


def _length(step: Numbers, rates: Numbers) -> float:
    return float(np.sqrt(step @ (step / rates)))


def _is_no_noise(point: Point, last: Numbers, step: Numbers) -> bool:
    """Return whether a turn is more than the noise of the counts, as far as that is known."""
    if point.moments.samples == 1 or isinstance(point.problem.objective, MiniBatches):
        return float(np.abs(point.problem.free.spread(step)).max(initial=0.0)) > _MUCH
    return float(last @ point.slope) < -_ERRORS * point.noise(last)


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
        """Refuse invalid parameters."""
        check_options(self, iterations=1, tolerance=real(0, endless=True), rate=above(0).or_none())
        check_options(self, averaged=one_of(("all", "late", "none")).or_none())

    @property
    def averaging(self) -> Averaging:
        """Which iterations the answer is the average of."""
        return self.averaged or ("late" if self.rate is None else "all")

    @property
    def averages(self) -> str:
        """The average that the answer is, in words; empty where it is the last step's own weights."""
        return {"all": "average of the steps", "late": "average of the steps (the later ones)"}.get(
            self.averaging, ""
        )


@storable("gradient_descent.Inner")
@dataclass(frozen=True, slots=True, eq=False)
class Inner:
    """The rate now, how long the first gradient was, and sums of parameters with how many each is of.

    ``earlier`` is the sum of the last stretch that is complete; stretches are of 1, 2, 4, 8 ... iterations,
    so that the two sums together are of the latest half of all iterations, up to three quarters.
    """

    total: Numbers = field(metadata=holds(ArrayOf(np.float64, ("parameters",))))
    number: int = field(metadata=holds(Whole(1)))
    earlier: Numbers = field(metadata=holds(ArrayOf(np.float64, ("parameters",))))
    earlier_number: int = field(metadata=holds(Whole()))
    rate: float = field(metadata=holds(Real(finite=True)))
    first_length: float = field(metadata=holds(Real()))
    swings: Swings = field(default=NO_SWINGS, metadata=holds(Part(Swings)))

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
        """The mean of the summed parameters."""
        return np.asarray((self.total + self.earlier) / (self.number + self.earlier_number))


def rates_of(params: Params, problem: Problem) -> Numbers:
    """Return the rate of each parameter for a global rate of 1: 1, or 1 / n_i."""
    if not params.per_weight:
        return np.ones(problem.free.number)
    counts = problem.free.gather_derivatives(problem.objective.counts)
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
    counts = point.problem.free.gather_derivatives(point.problem.objective.counts)
    return 1.0 / max(1.0, float((rates * np.sqrt(np.maximum(counts, 0.0))).max()))


def tells_curvature(point: Point) -> bool:
    """Return whether there is a variance of counts, which a single sample or best world has not."""
    return point.moments.samples != 1


def usual_length(point: Point, rates: Numbers) -> float:
    """Return how long a usual gradient is: as at the start, or as chance in the counts makes it.

    A few samples, or one batch of the databases, may agree with the data by chance where learning begins.
    """
    return max(float(np.linalg.norm(rates * point.gradient)), float(np.linalg.norm(rates * _chance(point))))


def _chance(point: Point) -> Numbers:
    """Return the size of the gradient that chance makes: √n of samples; of batches that of one database."""
    found = np.zeros_like(point.parameters)
    if point.moments.samples:
        counts = point.problem.free.gather_derivatives(point.problem.objective.counts)
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
        state = state_at(point, None, move, inner, ended=_explain_end(params, point, 0))
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
    parameters = problem.free.clip_parameters(problem.priors.shrink_parameters(moved, rate * rates))
    given = params.rate is not None
    step = parameters - point.parameters
    swings = with_step(inner.swings, point, step, rate * rates) if given else NO_SWINGS
    if swings.in_words:
        return _taken_back(params, point, state, swings.in_words)
    reached = problem.at(parameters, point.memory)
    reason = describe_fall(point, reached) or led_away(reached, inner, rates)
    if reason and rate > _LEAST_RATE:
        return _taken_back(params, point.remembering(reached.memory), state, reason)
    size = float(np.linalg.norm(problem.free.spread(step)))
    largest = int(np.abs(reached.weights - point.weights).argmax())
    most = reached.weights[largest] - point.weights[largest]
    reason = f"along the gradient; formula {largest} moved most, by {most:+.3g}"
    move = Move(size, rate, rejected=state.move.rejected, reason=reason)
    before = rates * point.gradient
    following = rate
    if not given and tells_curvature(reached):
        following = next_rate(rate, float(before @ reached.gradient), reached.noise(before))
    after = inner.with_one_more(parameters, following, params.averaging, swings)
    return reached, _state(params, problem, reached, state, move, after)


def describe_fall(point: Point, reached: Point) -> str:
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
    averaged = problem.free.weights(problem.free.clip_parameters(inner.average))
    answer = point.weights if params.averaging == "none" else averaged
    return state_at(
        point, before, move, inner, answer=answer, ended=_explain_end(params, point, before.iteration + 1)
    )


def _explain_end(params: Params, point: Point, iteration: int) -> str:
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
