r"""Whether gradient descent swings to and fro: a rate too large that neither bounds nor priors let run away.

With H of one eigenvalue h, exact gradients follow g_{t+1} = (1 - η h) g_t: beyond η h = 2 each step is
opposite to the one before, and longer. Between bounds, or where a function is flatter farther out, steps stop
growing and swing for ever. With noise of the samples, steps around the optimum turn at every rate; once what
is left to learn is learned, the correlation of two in a row is

    -η h / 2        (the stationary process of w_{t+1} = w_t - η (h w_t + ε_t))

so that opposite ones, with a cosine near -1, still tell a rate near its limit from a sound one. A run of such
turns whose steps do not grow shorter is a swing. Where the noise is not known, a turn counts only if weights
moved by much: the counts of a most probable world jump wherever two worlds are equally good, however small
the rate, and batches of databases may want opposite things. Steps are measured by weight, over its rate.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.learning.learning_state import frozen
from mlnlab.learning.mini_batches import MiniBatches
from mlnlab.steps.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problem import Point

    Numbers = NDArray[np.float64]

MOST = 6  # turns in a row
_OPPOSITE = -0.8  # the cosine of a turn: on average that of a rate at four fifths of its limit
_ERRORS = 2.0  # standard errors within which a turn says nothing
_SHORTER = 0.9  # of the length when the turns began: what gets so much shorter converges
_MUCH = 1.0  # of a weight in one step
_FAR = 20.0  # of a weight in one step: odds of 500 million to 1
WANDERED = 12  # steps in a row that each moved a weight by much
_LED = 0.5  # of the lengths of steps: what leads somewhere adds up to more


_NONE = frozen(np.zeros(0))


@storable("gradient_descent.Swings")
@dataclass(frozen=True, slots=True, eq=False)
class Swings:
    """The last step, how many turns there were in a row, and how long steps were before and after them."""

    step: Numbers
    turns: int = 0
    begun: float = 0.0
    length: float = 0.0
    far: float = 0.0  # the most that the last step moved a weight by
    wandered: int = 0  # steps in a row that moved weights by much
    moved: Numbers = field(default_factory=lambda: _NONE)  # their sum
    earlier: float = 0.0  # the lengths of the first half of them together
    later: float = 0.0  # of the second half
    reached: float = 0.0  # the length of their sum

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
            return f"the weights moved by much {self.wandered} times in a row, and got nowhere"
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
    """Return what a step adds to those in a row that moved weights by much."""
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
