r"""The best weights of a whole model with one clause more, by Newton's method from the weights before.

    L(w, v) = sum over rows i of share_i log P(truth_i),  P(true) = 1 / (1 + exp(-s)),  s = w . X_g(i) + v x_i
    minus precision / 2 times the squares of all weights, a Gaussian prior that keeps them finite

Rows are different atoms beside the present model: ``groups[row]`` is the atoms' group by the columns of the
model, ``values[row]`` their Δn of the added clause. Most that is summed is summed by groups:

    X[group, column]   truths[group]   groups[row]   values[row]   shares[row]
    weights[column], that of the added clause last
"""

from __future__ import annotations

from math import exp, log1p, sqrt
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Places = NDArray[np.int64]


@compiled
def add_by_group(
    groups: Places, values: Numbers, shares: Numbers, sums: Numbers, squares: Numbers
) -> None:  # fmt: skip
    """Add the values of atoms, and their squares, to those of their groups."""
    for row in range(len(groups)):
        value = values[row]
        if value != 0.0:
            part = shares[row] * value
            sums[groups[row]] += part
            squares[groups[row]] += part * value


@compiled
def model_value(
    columns: Numbers, truths: Flags, groups: Places, values: Numbers, shares: Numbers, weights: Numbers,
    precision: float, slopes: Numbers, spreads: Numbers, crossings: Numbers, totals: Numbers,
) -> float:  # fmt: skip
    """Return L with the prior; write the sums for its derivatives.

    By group: ``slopes`` by the score, ``spreads`` by it twice, ``crossings`` by it and the last weight;
    ``totals`` has the slope by the last weight, the curvature, and L without the prior.
    """
    number, last = columns.shape
    scores = np.zeros(number)
    for group in range(number):
        for column in range(last):
            scores[group] += columns[group, column] * weights[column]
        slopes[group] = 0.0
        spreads[group] = 0.0
        crossings[group] = 0.0
    value, slope, curvature, own = 0.0, 0.0, 0.0, weights[last]
    for row in range(len(groups)):
        group, x, share = groups[row], values[row], shares[row]
        score = scores[group] + own * x
        small = exp(-abs(score))
        agrees = (score >= 0.0) == truths[group]
        value -= share * (log1p(small) + (0.0 if agrees else abs(score)))
        chance = (1.0 if score >= 0.0 else small) / (1.0 + small)
        rest = share * ((1.0 if truths[group] else 0.0) - chance)
        spread = share * small / ((1.0 + small) * (1.0 + small))
        slopes[group] += rest
        spreads[group] += spread
        crossings[group] += spread * x
        slope += rest * x
        curvature += spread * x * x
    totals[0], totals[1], totals[2] = slope, curvature, value
    penalty = 0.0
    for weight in weights:
        penalty += weight * weight
    return value - 0.5 * precision * penalty


@compiled
def fill_system(
    columns: Numbers, weights: Numbers, precision: float, slopes: Numbers, spreads: Numbers,
    crossings: Numbers, totals: Numbers, slope: Numbers, hessian: Numbers,
) -> None:  # fmt: skip
    """Write the slope of L and the negative of its Hessian, from their sums by group."""
    number, last = columns.shape
    hessian[:] = 0.0
    for column in range(last + 1):
        slope[column] = -precision * weights[column]
        hessian[column, column] = precision
    for group in range(number):
        for column in range(last):
            x = columns[group, column]
            if x != 0.0:  # most columns are of other predicates
                slope[column] += slopes[group] * x
                hessian[last, column] += crossings[group] * x
                part = spreads[group] * x
                for other in range(column + 1):
                    hessian[column, other] += part * columns[group, other]
    slope[last] += totals[0]
    hessian[last, last] += totals[1]


@compiled
def solve_system(hessian: Numbers, slope: Numbers, move: Numbers) -> float:
    """Solve ``hessian move = slope`` by Cholesky, in place; return slope . move.

    Only the lower triangle is looked at. The prior keeps the matrix positive; rounding is held off the roots.
    """
    size = len(slope)
    for row in range(size):
        for column in range(row + 1):
            rest = hessian[row, column]
            for inner in range(column):
                rest -= hessian[row, inner] * hessian[column, inner]
            if row == column:
                hessian[row, row] = sqrt(max(rest, 1e-14))
            else:
                hessian[row, column] = rest / hessian[column, column]
    for row in range(size):
        rest = slope[row]
        for inner in range(row):
            rest -= hessian[row, inner] * move[inner]
        move[row] = rest / hessian[row, row]
    gain = 0.0
    for row in range(size):
        gain += move[row] * move[row]
    for row in range(size - 1, -1, -1):
        rest = move[row]
        for inner in range(row + 1, size):
            rest -= hessian[inner, row] * move[inner]
        move[row] = rest / hessian[row, row]
    return gain


@compiled
def climb_model(
    columns: Numbers, truths: Flags, groups: Places, values: Numbers, shares: Numbers, weights: Numbers,
    precision: float, steps: int, tolerance: float,
) -> float:  # fmt: skip
    """Find the best weights from some on, which are overwritten; return L without the prior."""
    number, size = columns.shape[0], len(weights)
    slopes, spreads, crossings = np.empty(number), np.empty(number), np.empty(number)
    totals, slope, move = np.empty(3), np.empty(size), np.empty(size)
    hessian = np.empty((size, size))
    value = model_value(columns, truths, groups, values, shares, weights, precision,
                        slopes, spreads, crossings, totals)  # fmt: skip
    plain: float = totals[2]
    for _ in range(steps):
        fill_system(columns, weights, precision, slopes, spreads, crossings, totals, slope, hessian)
        gain = solve_system(hessian, slope, move)
        if gain <= tolerance:
            break
        reach, found = 1.0, value
        while reach > 1e-9:
            found = model_value(columns, truths, groups, values, shares, weights + reach * move, precision,
                                slopes, spreads, crossings, totals)  # fmt: skip
            if found >= value + 1e-4 * reach * gain:
                break
            reach /= 2
        if reach <= 1e-9:  # nothing but rounding is left
            break
        for column in range(size):
            weights[column] += reach * move[column]
        value, plain = found, totals[2]
    return plain


def warm_up() -> None:
    """Call each kernel once."""
    columns, truths = np.array([[1.0], [1.0]]), np.array([True, False])
    groups, values, shares = np.array([0, 1, 1], np.int64), np.array([1.0, 0.0, 2.0]), np.full(3, 1 / 3)
    add_by_group(groups, values, shares, np.zeros(2), np.zeros(2))
    climb_model(columns, truths, groups, values, shares, np.zeros(2), 1e-4, 5, 1e-6)
