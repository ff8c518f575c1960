"""Loops over tables of true atoms: grouping, sending messages along rows, composing relations, bits.

Weights are whole numbers that may wrap around: addition and multiplication stay right modulo 2^64, and
whoever calls checks that the result itself fits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.bit_words import count_ones
from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.uint32]
    Weights = NDArray[Any]  # int64, or float64 for estimates
    Number = Any  # of the weights' kind


@compiled
def transpose_rows(rows: Rows, starts: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the first column ordered by the second one, whose groups begin at the starts (counting sort)."""
    places = starts.copy()
    result = np.empty(len(rows), np.uint32)
    for row in range(len(rows)):
        group = rows[row, 1]
        result[places[group]] = rows[row, 0]
        places[group] += np.uint32(1)
    return result


@compiled
def tally(rows: Rows, column: int, result: Weights) -> None:
    """Count how often each constant stands in a column."""
    if len(rows) == 0:
        return
    # Rows are sorted by their first column: a run of equal constants is counted before it is written.
    current, run = rows[0, column], np.int64(0)
    for row in range(len(rows)):
        if rows[row, column] != current:
            result[current] += run
            current, run = rows[row, column], np.int64(0)
        run += 1
    result[current] += run


@compiled
def set_bits(rows: Rows, column: int, bits: NDArray[np.uint64]) -> None:
    """Set, in the line of each row's constant in a column, the bit of the other constant."""
    for row in range(len(rows)):
        other = rows[row, 1 - column]
        bits[rows[row, column], other >> 6] |= np.uint64(1) << np.uint64(other & 63)


@compiled
def send(rows: Rows, source: int, weights: Weights, target: int, result: Weights) -> None:
    """Add each row's weight, found by its constant in one column, to that of its constant in another one."""
    if len(rows) == 0:
        return
    current = rows[0, target]
    run = weights[rows[0, source]] * 0
    for row in range(len(rows)):
        if rows[row, target] != current:
            result[current] += run
            current, run = rows[row, target], run * 0
        run += weights[rows[row, source]]
    result[current] += run


@compiled
def weigh(rows: Rows, column: int, weights: Weights, result: Weights) -> None:
    """Multiply each row's number by the weight of its constant in a column."""
    for row in range(len(rows)):
        result[row] *= weights[rows[row, column]]


@compiled
def gather(rows: Rows, column: int, values: Weights, result: Weights) -> None:
    """Add each row's number to the sum of its constant in a column."""
    for row in range(len(rows)):
        result[rows[row, column]] += values[row]


@compiled
def sum_over_rows(rows: Rows, left: Weights, right: Weights) -> Number:
    """Add up, over the rows of a binary table, the product of the weights of both constants."""
    total = left[0] * right[0] - left[0] * right[0]  # a zero of the weights' own kind
    for row in range(len(rows)):
        total += left[rows[row, 0]] * right[rows[row, 1]]
    return total


@compiled
def dot(left: Weights, right: Weights) -> Number:
    """Add up the products of two vectors."""
    total = left[0] * right[0]
    for place in range(1, len(left)):
        total += left[place] * right[place]
    return total


@compiled
def compose_rows(
    starts: NDArray[np.uint32],
    middles: NDArray[np.uint32],
    next_starts: NDArray[np.uint32],
    ends: NDArray[np.uint32],
    weights: Weights,
    width: int,
    rows: Rows,
    values: Weights,
) -> Number:
    """Write which ends each start reaches through the middles, and by how much weight; return how many."""
    found = np.int64(0)
    stamps = np.zeros(width, np.uint32)
    place_of = np.empty(width, np.int64)
    for first in range(len(starts) - 1):
        stamp = np.uint32(first + 1)
        for place in range(starts[first], starts[first + 1]):
            middle = middles[place]
            weight = weights[middle]
            if weight == 0:
                continue
            for step in range(next_starts[middle], next_starts[middle + np.uint32(1)]):
                end = ends[step]
                if stamps[end] != stamp:
                    stamps[end] = stamp
                    place_of[end] = found
                    rows[found, 0] = first
                    rows[found, 1] = end
                    values[found] = 0
                    found += 1
                values[place_of[end]] += weight
    return found


@compiled
def common_neighbours(
    rows: Rows,
    begin: int,
    end: int,
    left: NDArray[np.uint64],
    right: NDArray[np.uint64],
    left_weights: Weights,
    right_weights: Weights,
) -> Number:
    """Add up, over the rows (x, z), how many y have both (x, y) and (y, z), given as lines of bits."""
    total = left_weights[0] - left_weights[0]
    for row in range(begin, end):
        one, other = rows[row, 0], rows[row, 1]
        number = np.int64(0)
        for word in range(left.shape[1]):
            number += count_ones(left[one, word] & right[other, word])
        total += number * left_weights[one] * right_weights[other]
    return total


def warm_up() -> None:
    """Compile every kernel of this file."""
    rows = np.zeros((1, 2), np.uint32)
    rows.flags.writeable = False
    starts = np.array([0, 1], np.uint32)
    targets = transpose_rows(rows, starts)
    starts.flags.writeable = targets.flags.writeable = False
    bits = np.zeros((1, 1), np.uint64)
    set_bits(rows, 0, bits)
    tally(rows, 0, np.zeros(1, np.int64))
    bits.flags.writeable = False
    for kind in (np.int64, np.float64):
        weights, result = np.ones(1, kind), np.ones(1, kind)
        send(rows, 0, weights, 1, result)
        weigh(rows, 0, weights, result)
        gather(rows, 0, weights, result)
        sum_over_rows(rows, weights, weights)
        dot(weights, weights)
        common_neighbours(rows, 0, 1, bits, bits, weights, weights)
    ones = np.ones(1, np.int64)
    compose_rows(starts, targets, starts, targets, ones, 1, np.zeros((1, 2), np.uint32), ones.copy())
