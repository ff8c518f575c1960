"""How far to go in a direction by the Hessian alone, without the function's value (thesis, section 4.2.4).

    α = -d'g / (d'Hd + λ d'd),   Δ_pred = s'g + s'Hs / 2,   Δ_actual ≈ s'g(after),   with the step s = α d

λ is halved where Δ_actual / Δ_pred > 0.75 and grows fourfold where it is < 0.25. Since -CLL is convex,
s'g(after) is no less than the true change; where it is positive the step may have made things worse, so it is
taken back and done again with the larger λ. Both changes are chance once steps are within the noise of the
samples: most ratios are then below 0.25, few above 0.75, and λ would grow until nothing moves (to 1e10 in 90
iterations on UW-CSE's ``advisedBy``). In iteration t λ therefore begins as no more than

    λ d'd  <=  10 t d'Hd,

which is not in the thesis: steps of no less than about 1 / (10 t) of the way to the least value along d sum
up without end, so that they lead anywhere, and their squares do not, so that errors of samples average out
(Robbins and Monro 1951). Where expected counts are exact λ has no limit. Diagonal Newton and scaled conjugate
gradient share this file: they differ in the direction only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.learning.problems.learning_state import Move
from mlnlab.learning.problems.mini_batches import BatchMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problems.problem import Point, Problem

    Numbers = NDArray[np.float64]

LEAST_DAMPING, MOST_DAMPING = 1e-6, 1e16
MOST_REJECTED = 20  # in a row: the direction leads nowhere
_ROUNDING = 1e-9  # where a step leads to the least value exactly, the change after it is 0 but for rounding
_EXACT = 1e-6  # counts that never vary may seem to, by rounding
_NOTHING = 1e-300
_ERRORS = 2.0  # standard errors within which a change says nothing
_SHORTEST = 10.0  # t times this is how much shorter a step of samples may be than without λ


def least_variance(chosen: float | None, samples: int) -> float:
    """Return the least variance that a count is taken to have, unless one was chosen.

    A count that was the same in all s samples is not certain. If one grounding held in all of them, and any
    probability p of it was as likely as any other beforehand, then p is Beta(s + 1, 1) distributed, and its
    variance p (1 - p) is (s + 1) / ((s + 2) (s + 3)) on average: 0.107 for five samples, 1 / s for many.
    Exact variances need no such care; the least one of theirs only keeps rounding from being divided by 0.
    """
    if chosen is not None:
        return chosen
    return (samples + 1) / ((samples + 2) * (samples + 3)) if samples else _EXACT


@dataclass(frozen=True, slots=True)
class Region:
    """Where the quadratic model is trusted."""

    damping: float  # λ
    least_variance: float | None  # None: what so many samples make likely
    largest_step: float  # of any weight at once: beyond, a chain of few samples cannot follow
    chosen: float = np.inf  # the λ to begin with: however large, it may stay
    iteration: int = 0  # t


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """A tried step: the point that it led to, its move, and the damping λ after it."""

    point: Point
    move: Move
    damping: float
    step: Numbers


def step_size(point: Point, direction: Numbers, damping: float, least: float | None) -> float:
    """Return α; H is the Hessian of the minimised function, and g = -point.gradient."""
    along = float(direction @ point.gradient)  # -d'g
    below = compute_curvature(point, direction, least) + damping * float(direction @ direction)
    return along / max(below, _NOTHING)  # 0 where samples agree with the data by chance, so that d is 0


def variances(point: Point, least: float | None) -> Numbers:
    """Return the diagonal of H, none of it below the least variance."""
    return np.maximum(point.hessian_diagonal(), least_variance(least, point.moments.samples))


def compute_curvature(point: Point, direction: Numbers, least: float | None) -> float:
    """Return d'Hd, with a least variance for each count: a few samples may show none where there is some."""
    missing = variances(point, least) - point.hessian_diagonal() if point.moments.samples else 0.0
    return point.quadratic(direction) + float(np.sum(missing * direction**2))


def damping_kept_alive(point: Point, direction: Numbers, region: Region) -> float:
    """Return λ; where counts are sampled, no larger than lets steps lead anywhere."""
    along = float(direction @ direction)
    if not point.moments.samples or not along:
        return region.damping
    most = _SHORTEST * region.iteration * compute_curvature(point, direction, region.least_variance) / along
    return min(region.damping, max(most, region.chosen))


def try_direction(problem: Problem, point: Point, direction: Numbers, region: Region, rejected: int) -> Tried:
    """Go along a direction; redo rejected steps with a larger λ."""
    damping = damping_kept_alive(point, direction, region)
    longest = float(np.abs(problem.free.spread(direction)).max(initial=0.0))
    for attempt in range(MOST_REJECTED + 1):
        alpha = step_size(point, direction, damping, region.least_variance)
        most = region.largest_step / longest if longest else np.inf
        alpha = float(np.clip(alpha, -most, most))  # another sample may turn it round
        parameters = problem.free.clip_parameters(_stop_at_kinks(point, point.parameters + alpha * direction))
        step = parameters - point.parameters
        reached = problem.at(parameters, _same_batch(point.memory))
        predicted = -float(step @ point.gradient) + 0.5 * compute_curvature(
            point, step, region.least_variance
        )  # Δ_pred
        actual = -float(step @ reached.gradient)  # Δ_actual, an upper bound
        noise = _ERRORS * reached.noise(step)
        ratio = actual / predicted if predicted < 0 else 0.0
        used = damping
        if ratio > 0.75:
            damping /= 2
        # With samples, what is within their noise is no reason to trust less, nor to turn back.
        if ratio < 0.25 and actual > 0.25 * predicted + noise:
            damping = min(4 * max(damping, LEAST_DAMPING), MOST_DAMPING)
        if actual <= noise + _ROUNDING * abs(predicted):
            size = float(np.linalg.norm(problem.free.spread(step)))
            reason = _reason(alpha, used, damping, ratio, attempt)
            move = Move(size, alpha, used, True, rejected + attempt, predicted, actual, reason)
            return Tried(_onward(reached), move, damping, step)
        if point.moments.samples:
            point = problem.at(point.parameters, _same_batch(reached.memory))
    stuck = f"{MOST_REJECTED + 1} steps in a row would have made it worse; nothing was changed"
    move = Move(0.0, 0.0, damping, False, rejected + MOST_REJECTED + 1, reason=stuck)
    return Tried(_onward(point), move, damping, np.zeros_like(direction))


def _same_batch(memory: object) -> object:
    """Return the memory for the next evaluation: a step is judged by the batch that it was made for."""
    return memory.again if isinstance(memory, BatchMemory) else memory


def _onward(point: Point) -> Point:
    """Return the point as the next batch sees it, where there are batches."""
    in_batches = isinstance(point.memory, BatchMemory)
    return point.problem.at(point.parameters, point.memory) if in_batches else point


def _stop_at_kinks(point: Point, moved: Numbers) -> Numbers:
    priors = point.problem.priors
    return priors.stop_at_kinks(point.parameters, moved, point.gradient) if priors.has_kinks else moved


def _reason(alpha: float, damping: float, after: float, ratio: float, attempt: int) -> str:
    how = "halved" if after < damping else "made larger" if after > damping else "kept"
    before = f" after {attempt} that made it worse" if attempt else ""
    return f"α = {alpha:.3g} with λ = {damping:.3g}{before}; actual / predicted = {ratio:.2f}, so λ is {how}"


def explain_end(point: Point, iteration: int, move: Move, iterations: int, tolerance: float) -> str:
    """Say why an iteration is the last, if it is."""
    # A few samples, or a batch of databases, may agree with the data by chance: they end nothing.
    exact = not point.moments.samples and not isinstance(point.memory, BatchMemory)
    if exact and tolerance and float(np.abs(point.gap).max(initial=0.0)) <= tolerance * point.scale:
        return f"no gap is larger than {tolerance:g} of the counts"
    if exact and not move.accepted:
        return move.reason
    return f"{iterations} steps were taken" if iteration >= iterations else ""
