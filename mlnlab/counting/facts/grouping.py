"""Equal keys and equal rows of numbers, numbered in the order in which they first appear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def grouped_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of each key's group, and the place of each group's first key.

    >>> groups, firsts = grouped_keys(np.array([7, 3, 7, 9]))
    >>> groups.tolist(), firsts.tolist()
    ([0, 1, 0, 2], [0, 1, 3])
    """
    from mlnlab.kernels.counting.counting_groups import number_groups, number_small_groups

    bits = max(2, (2 * len(keys)).bit_length())
    groups, firsts = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
    low, high = (int(keys.min()), int(keys.max())) if len(keys) else (0, 0)
    if low >= 0 and high < 4 * len(keys):
        number = number_small_groups(keys, np.full(high + 1, -1, np.int32), groups, firsts)
    else:
        number = number_groups(keys, np.full(1 << bits, -1, np.int32), np.uint64(64 - bits), groups, firsts)
    return groups, firsts[:number]


def grouped_rows(columns: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the same for the rows of a table of numbers of any kind."""
    groups, firsts = np.zeros(len(columns), np.int64), np.zeros(min(1, len(columns)), np.int64)
    for column in columns.T:
        own, number = _small_numbers(column)
        groups, firsts = grouped_keys(groups * number + own)
    return groups, firsts


def _small_numbers(column: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Return numbers that are equal where the column's are, and a bound that they stay below."""
    if column.dtype == object:  # larger than any key
        different, groups = np.unique(column, return_inverse=True)
        return groups.astype(np.int64), len(different)
    low, high = (int(column.min()), int(column.max())) if len(column) else (0, 0)
    if high - low < 4 * len(column):
        return column - low, high - low + 1
    groups, firsts = grouped_keys(column.astype(np.int64, copy=False))
    return groups, len(firsts)


def places_of(keys: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each key stands among different known ones, ``len(known)`` or more where it does not."""
    groups, _ = grouped_keys(np.concatenate([known, keys]))
    return groups[len(known) :]
