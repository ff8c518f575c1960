"""Tables as bit columns: a bit for each row and each value of each variable, 64 rows in a word.

Equal rows are kept once. A row that stands w times in the table gets a bit in a section for each power of two
in w, and each word knows the power of its section, so that the ones of a word count for 2^power each:

    words of 2^0 | words of 2^1 | ...        bits[word, column], powers[word]

All columns of a word lie side by side: counting adds up rows of this matrix, and skips the words in which a
leaf has no row. The first value of a variable is what its other columns leave over, and has a column only
where cells of the variable are missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.kernels.bit_words import count_ones
from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def hash_rows(rows: NDArray[np.int32], factors: NDArray[np.uint64], hashes: NDArray[np.uint64]) -> None:
    """Write a number for each row that is equal for equal rows."""
    for row in range(rows.shape[0]):
        total = np.uint64(0)
        for column in range(rows.shape[1]):
            total += np.uint64(rows[row, column] + 1) * factors[column]
        hashes[row] = total ^ (total >> np.uint64(29))


@compiled
def mark_new_rows(rows: NDArray[np.int32], order: NDArray[np.int64], new: NDArray[np.uint8]) -> None:
    """Mark each row, in an order, that differs from the one before it."""
    for place in range(len(order)):
        new[place] = 1
        if place > 0:
            row, before = order[place], order[place - 1]
            column = 0
            while column < rows.shape[1] and rows[row, column] == rows[before, column]:
                column += 1
            if column == rows.shape[1]:
                new[place] = 0


@compiled
def fill_bits(
    rows: NDArray[np.int32], sources: NDArray[np.int64], starts: NDArray[np.int64],
    lowest: NDArray[np.int64], bits: NDArray[np.uint64],
) -> None:  # fmt: skip
    """Set the bits of the rows that fill the words; a source of -1 is a place that stays empty."""
    for place in range(len(sources)):
        row = sources[place]
        if row < 0:
            continue
        word, bit = place >> 6, np.uint64(1) << np.uint64(place & 63)
        for variable in range(rows.shape[1]):
            value = rows[row, variable]
            if value >= lowest[variable]:
                bits[word, starts[variable] + value - lowest[variable]] |= bit


@compiled
def add_ones(
    counts: NDArray[np.int64], value: int, bits: NDArray[np.uint64], word: np.int64, mask: np.uint64,
    power: np.int64,
) -> None:  # fmt: skip
    """Add the rows of a mask to the counts of each column that has them."""
    for column in range(bits.shape[1]):
        counts[value, column] += count_ones(mask & bits[word, column]) << power


@compiled
def count_leaf(
    words: NDArray[np.uint32], masks: NDArray[np.uint64], bits: NDArray[np.uint64],
    powers: NDArray[np.int64], start: int, lowest: int, totals: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:  # fmt: skip
    """Count the rows of a leaf by the value of the tree's variable, and by that and each column."""
    for place in range(len(words)):
        word = np.int64(words[place])
        power = powers[word]
        rest = masks[place]
        for value in range(lowest, len(totals)):
            mask = masks[place] & bits[word, start + value - lowest]
            if mask != np.uint64(0):
                rest &= ~mask
                totals[value] += count_ones(mask) << power
                add_ones(counts, value, bits, word, mask, power)
        if lowest == 1 and rest != np.uint64(0):
            totals[0] += count_ones(rest) << power
            add_ones(counts, 0, bits, word, rest, power)


def warm_up() -> None:
    """Compile every kernel of this file."""
    rows, order, bits = np.zeros((2, 1), np.int32), np.arange(2), np.zeros((1, 1), np.uint64)
    rows.flags.writeable = False
    ones = np.ones(1, np.int64)
    hash_rows(rows, np.ones(1, np.uint64), np.zeros(2, np.uint64))
    mark_new_rows(rows, order, np.zeros(2, np.uint8))
    fill_bits(rows, order, ones - 1, ones, bits)
    bits.flags.writeable = False
    counts = np.zeros((2, 1), np.int64)
    count_leaf(
        np.zeros(1, np.uint32), np.ones(1, np.uint64), bits, ones - 1, 0, 1, counts[:, 0].copy(), counts
    )
