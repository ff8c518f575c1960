"""Sorting and looking up many numbers in stretches: no single step takes so long that an interrupt waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.grouping import grouped_keys
from mlnlab.logic.relations import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

STRETCH = 1 << 20  # rows at a time; some tens of milliseconds
_MOST_HASHED = 4 * STRETCH  # more are sorted instead
_MANY_TIMES = 4
_MOST_MARKED = 1 << 24  # keys from the lowest to the highest, a byte each
_BITS = 62  # of a number that has a key and its place
_MOST_BITS = 16  # numpy sorts numbers of this width by counting them


def stable_order(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of keys in ascending order; equal keys keep theirs.

    >>> stable_order(np.array([3, 1, 3, 0])).tolist()
    [3, 1, 0, 2]
    """
    if not len(keys):
        return np.zeros(0, np.int64)
    low, bits = int(keys.min()), len(keys).bit_length()
    if (int(keys.max()) - low).bit_length() + bits < _BITS:
        # Each key with its place behind it is a number of its own: those are sorted much faster than places.
        packed = keys - low
        packed <<= bits
        packed |= np.arange(len(keys))
        packed.sort()
        packed &= (1 << bits) - 1
        return packed
    return _order_of_wide(keys, low)


def _order_of_wide(keys: NDArray[np.int64], low: int) -> NDArray[np.int64]:
    """Sort roughly by the leading bits, then each stretch of neighbours by all."""
    shift = max(0, (int(keys.max()) - low).bit_length() - _MOST_BITS)
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


def matches(
    asked: NDArray[np.int64], known: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """Return an order of known keys with equals together; for each key asked for, where its equals begin.

    The third array says how many equals each of them has.

    >>> order, first, number = matches(np.array([5, 2]), np.array([5, 1, 7, 5]))
    >>> number.tolist(), order[first[0] :][:2].tolist()
    ([2, 0], [0, 3])
    """
    if _MANY_TIMES * len(asked) < len(known):
        kept = _among(known, asked)
        if kept is not None:
            order, first, number = matches(asked, known[kept])
            return kept[order], first, number
    if len(asked) + len(known) > _MOST_HASHED:
        return _matches_by_order(asked, known)
    from mlnlab.kernels.counting import transposed

    groups, _ = grouped_keys(np.concatenate([known, asked]))
    own, others = groups[: len(known)], groups[len(known) :]
    counts = np.bincount(own, minlength=int(groups.max(initial=-1)) + 1)
    starts = np.zeros(len(counts) + 1, np.uint32)
    np.cumsum(counts, out=starts[1:], dtype=np.uint32)
    pairs = np.empty((len(known), 2), np.uint32)
    pairs[:, 0], pairs[:, 1] = np.arange(len(known)), own
    return transposed(frozen(pairs), starts), starts[others].astype(np.int64), counts[others]


def _among(known: NDArray[np.int64], asked: NDArray[np.int64]) -> NDArray[np.int64] | None:
    """Return the places of known keys that are asked for; ``None`` where that is no gain."""
    low, high = (int(asked.min()), int(asked.max())) if len(asked) else (0, -1)
    if high - low >= _MOST_MARKED:
        return None
    marked = np.zeros(high - low + 2, bool)  # the last place is for keys that nobody asks for
    marked[asked - low] = True
    places = known - low
    places[(known < low) | (known > high)] = len(marked) - 1
    kept = np.flatnonzero(marked[places])
    return kept if _MANY_TIMES * len(kept) < len(known) * (_MANY_TIMES - 1) else None


def _matches_by_order(
    asked: NDArray[np.int64], known: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    order = stable_order(known)
    ordered = known[order]
    first, number = np.empty(len(asked), np.int64), np.empty(len(asked), np.int64)
    for begin in range(0, len(asked), STRETCH):
        here = slice(begin, begin + STRETCH)
        first[here] = np.searchsorted(ordered, asked[here], "left")
        number[here] = np.searchsorted(ordered, asked[here], "right")
        number[here] -= first[here]
    return order, first, number
