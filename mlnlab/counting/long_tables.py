"""Sorting and looking up many numbers in stretches: no single step takes so long that an interrupt waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

STRETCH = 1 << 20  # rows at a time; some tens of milliseconds
_MOST_BITS = 16  # numpy sorts numbers of this width by counting them


def stable_order(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of keys in ascending order; equal keys keep theirs.

    >>> stable_order(np.array([3, 1, 3, 0])).tolist()
    [3, 1, 0, 2]
    """
    if len(keys) <= STRETCH:
        return np.argsort(keys, kind="stable")
    low = int(keys.min())
    shift = max(0, (int(keys.max()) - low).bit_length() - _MOST_BITS)
    # Roughly by the leading bits, then each stretch of neighbours by all.
    leading = ((keys - low) >> shift).astype(np.uint16)
    order = np.argsort(leading, kind="stable")
    ends = np.cumsum(np.bincount(leading))
    for begin, end in stretches(ends):
        places = order[0 if begin == 0 else ends[begin - 1] : ends[end - 1]]
        places[:] = places[np.argsort(keys[places], kind="stable")]
    return order


def stretches(ends: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of groups, of which each has few members or is one group; ``ends`` adds up their sizes.

    >>> list(stretches(np.array([10, STRETCH, STRETCH + 5, 3 * STRETCH])))
    [(0, 2), (2, 3), (3, 4)]
    """
    begin, before = 0, 0
    while begin < len(ends):
        end = max(begin + 1, int(np.searchsorted(ends, before + STRETCH, "right")))
        yield begin, end
        begin, before = end, int(ends[end - 1])


def found_in(
    keys: NDArray[np.int64], ordered: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each key's equals begin among ordered ones, and how many there are.

    >>> first, number = found_in(np.array([5, 2]), np.array([1, 5, 5, 7]))
    >>> first.tolist(), number.tolist()
    ([1, 1], [2, 0])
    """
    first, number = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
    for begin in range(0, len(keys), STRETCH):
        here = slice(begin, begin + STRETCH)
        first[here] = np.searchsorted(ordered, keys[here], "left")
        number[here] = np.searchsorted(ordered, keys[here], "right")
        number[here] -= first[here]
    return first, number
