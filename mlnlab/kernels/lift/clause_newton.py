r"""The best weights of one clause beside a unit clause for each predicate, many clauses in one call.

    L(w, u) = sum over predicates r and rows i of share_i log P(truth_i),  P(true) = 1 / (1 + exp(-s))
    with s = u_r + w x_i,
    minus precision / 2 times the squares of w and of all u_r, a Gaussian prior that keeps them finite

Only the rows of r see u_r, and w couples them, so that the Hessian is an arrow: Newton's direction costs one
pass over the rows. Rows are a clause's Δn, those of a predicate side by side:

    values[clause, row]   truths[row]   shares[row]   starts[predicate] .. starts[predicate + 1]
"""

from __future__ import annotations

from math import exp, log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Places = NDArray[np.int64]
    Number = int | np.integer[Any]

_MOST_STEPS = 200
_BUCKETS = 4096  # whole numbers that are merged by counting


@compiled
def merge_row(
    values: Numbers, truths: Flags, shares: Numbers, starts: Places, buckets: Places,
    merged: Numbers, own_truths: Flags, own_shares: Numbers, own_starts: Places,
) -> None:  # fmt: skip
    """Make rows of one clause with equal Δn and truth one, predicate by predicate.

    The work arrays are filled. Δn of small whole numbers are merged through ``buckets``, which is -1
    throughout before and after.
    """
    filled = 0
    half = len(buckets) // 4
    for predicate in range(len(starts) - 1):
        own_starts[predicate] = filled
        first = filled
        for row in range(starts[predicate], starts[predicate + 1]):
            value = values[row]
            if -half < value < half:
                place = 2 * (np.int64(value) + half) + (1 if truths[row] else 0)
                known = buckets[place]
                if known >= 0:
                    own_shares[known] += shares[row]
                    continue
                buckets[place] = filled
            merged[filled], own_truths[filled], own_shares[filled] = value, truths[row], shares[row]
            filled += 1
        for row in range(first, filled):
            if -half < merged[row] < half:
                buckets[2 * (np.int64(merged[row]) + half) + (1 if own_truths[row] else 0)] = -1
    own_starts[len(starts) - 1] = filled


@compiled
def add_mixed(hashes: NDArray[np.uint64], values: Numbers, number: np.uint64) -> None:
    """Add to each hash that of a whole number, salted by the ``number`` of the hashed quantity."""
    salt = (number + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for place in range(len(values)):
        value = values[place]
        if value != 0.0:  # most numbers of most tables are 0, which adds nothing
            mixed = np.uint64(np.int64(value)) ^ salt
            mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            hashes[place] += mixed ^ (mixed >> np.uint64(31))


@compiled
def add_products(left: Numbers, right: Numbers, found: Numbers) -> None:
    """Add the product of two matrices, which is quick where the first one is mostly zero."""
    for row in range(left.shape[0]):
        for inner in range(left.shape[1]):
            factor = left[row, inner]
            if factor != 0.0:
                for column in range(right.shape[1]):
                    found[row, column] += factor * right[inner, column]


@compiled
def measure(
    values: Numbers, truths: Flags, shares: Numbers, starts: Places, weight: float, units: Numbers,
    precision: float, slopes: Numbers, curvatures: Numbers, crossings: Numbers, totals: Numbers,
) -> float:  # fmt: skip
    """Return L with the prior; write the derivatives.

    ``slopes``, ``curvatures`` and ``crossings`` are by u_r, by u_r twice, and by u_r and w; ``totals`` has
    the slope by w, the curvature by w twice, and L without the prior.
    """
    value, slope, curvature = 0.0, 0.0, 0.0
    for predicate in range(len(starts) - 1):
        own, own_slope, own_curvature, crossing = units[predicate], 0.0, 0.0, 0.0
        for row in range(starts[predicate], starts[predicate + 1]):
            x, share = values[row], shares[row]
            score = own + weight * x
            small = exp(-abs(score))
            agrees = (score >= 0.0) == truths[row]
            value -= share * (log1p(small) + (0.0 if agrees else abs(score)))
            chance = (1.0 if score >= 0.0 else small) / (1.0 + small)
            rest = (1.0 if truths[row] else 0.0) - chance
            spread = share * small / ((1.0 + small) * (1.0 + small))
            own_slope += share * rest
            slope += share * rest * x
            own_curvature += spread
            crossing += spread * x
            curvature += spread * x * x
        slopes[predicate] = own_slope - precision * own
        curvatures[predicate] = own_curvature + precision
        crossings[predicate] = crossing
    totals[0], totals[1], totals[2] = slope - precision * weight, curvature + precision, value
    penalty = weight * weight
    for predicate in range(len(starts) - 1):
        penalty += units[predicate] * units[predicate]
    return value - 0.5 * precision * penalty


@compiled
def climb(
    values: Numbers, truths: Flags, shares: Numbers, starts: Places, units: Numbers, precision: float,
    tolerance: float, work: Numbers,
) -> tuple[float, float]:  # fmt: skip
    """Find the best weight of one clause; ``units`` holds the unit weights to begin with, then the best.

    Return the weight, and L without the prior. ``work`` has six rows of a length of at least three, and of
    the number of predicates.
    """
    predicates = len(starts) - 1
    slopes, curvatures, crossings, totals, moves, tried = (
        work[0], work[1], work[2], work[3], work[4], work[5]
    )  # fmt: skip
    weight = 0.0
    value = measure(values, truths, shares, starts, weight, units, precision,
                    slopes, curvatures, crossings, totals)  # fmt: skip
    for _ in range(_MOST_STEPS):
        # (H_uu  b; b'  d) (du; dw) = (g_u; g_w) with H_uu diagonal: dw first, by the Schur complement.
        above, below = totals[0], totals[1]
        for predicate in range(predicates):
            above -= crossings[predicate] * slopes[predicate] / curvatures[predicate]
            below -= crossings[predicate] * crossings[predicate] / curvatures[predicate]
        move = above / max(below, precision)
        gain = totals[0] * move
        for predicate in range(predicates):
            moves[predicate] = (slopes[predicate] - crossings[predicate] * move) / curvatures[predicate]
            gain += slopes[predicate] * moves[predicate]
        if gain <= tolerance:
            break
        reach, better, found = 1.0, False, value
        for _ in range(40):
            for predicate in range(predicates):
                tried[predicate] = units[predicate] + reach * moves[predicate]
            found = measure(values, truths, shares, starts, weight + reach * move, tried, precision,
                            slopes, curvatures, crossings, totals)  # fmt: skip
            if found >= value + 1e-4 * reach * gain:
                better = True
                break
            reach *= 0.5
        if not better:  # nothing but rounding is left
            measure(values, truths, shares, starts, weight, units, precision,
                    slopes, curvatures, crossings, totals)  # fmt: skip
            break
        weight += reach * move
        for predicate in range(predicates):
            units[predicate] = tried[predicate]
        value = found
    return weight, totals[2]


@compiled
def climb_all(
    values: Numbers, truths: Flags, shares: Numbers, starts: Places, units: Numbers, precision: float,
    tolerance: float, weights: Numbers, best_units: Numbers, found: Numbers,
) -> None:  # fmt: skip
    """Write the best weight, unit weights and L of every clause; ``units`` are the best without a clause."""
    rows, predicates = values.shape[1], len(starts) - 1
    merged, own_truths, own_shares = np.empty(rows), np.empty(rows, np.bool_), np.empty(rows)
    own_starts = np.zeros(len(starts), np.int64)
    buckets = np.full(_BUCKETS, -1, np.int64)
    work = np.zeros((6, max(3, predicates)))
    for clause in range(len(values)):
        merge_row(values[clause], truths, shares, starts, buckets, merged, own_truths, own_shares, own_starts)
        for predicate in range(predicates):
            best_units[clause, predicate] = units[predicate]
        weights[clause], found[clause] = climb(
            merged, own_truths, own_shares, own_starts, best_units[clause], precision, tolerance, work
        )


def warm_up() -> None:
    """Call each kernel once."""
    values = np.array([[1.0, 0.0, 2.0]])
    truths, shares = np.array([True, False, True]), np.full(3, 1 / 3)
    starts, units = np.array([0, 3], np.int64), np.zeros(1)
    weights, found, best = np.zeros(1), np.zeros(1), np.zeros((1, 1))
    add_mixed(np.zeros(3, np.uint64), values[0], np.uint64(1))
    add_products(values, values.T.copy(), np.zeros((1, 1)))
    climb_all(values, truths, shares, starts, units, 1e-4, 1e-10, weights, best, found)
