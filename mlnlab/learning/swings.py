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

from dataclasses import dataclass
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


@storable("gradient_descent.Swings")
@dataclass(frozen=True, slots=True, eq=False)
class Swings:
    """The last step, how many turns there were in a row, and how long steps were before and after them."""

    step: Numbers
    turns: int = 0
    begun: float = 0.0
    length: float = 0.0

    @property
    def in_words(self) -> str:
        """Say that it swings, if it does."""
        if self.turns < MOST or self.length < _SHORTER * self.begun:
            return ""
        return f"the weights swung to and fro {self.turns} times in steps that grew no shorter"


NO_SWINGS = Swings(frozen(np.zeros(0)))


def with_step(before: Swings, point: Point, step: Numbers, rates: Numbers) -> Swings:
    """Return the turns in a row, with a step from a point that ``rates`` times its slope led to."""
    last = before.step
    if not len(last):
        return Swings(frozen(step))
    product = float(last @ (step / rates))
    lengths = [float(np.sqrt(one @ (one / rates))) for one in (last, step)]
    opposite = product < _OPPOSITE * lengths[0] * lengths[1]
    if not opposite or not _is_no_noise(point, last, step):
        return Swings(frozen(step))
    if before.turns >= MOST or not before.turns:  # a stretch that grew shorter is over
        return Swings(frozen(step), 1, lengths[0], lengths[1])
    return Swings(frozen(step), before.turns + 1, before.begun, lengths[1])


def _is_no_noise(point: Point, last: Numbers, step: Numbers) -> bool:
    """Return whether a turn is more than the noise of the counts, as far as that is known."""
    if point.moments.samples == 1 or isinstance(point.problem.objective, MiniBatches):
        return float(np.abs(point.problem.free.spread(step)).max(initial=0.0)) > _MUCH
    return float(last @ point.slope) < -_ERRORS * point.noise(last)
