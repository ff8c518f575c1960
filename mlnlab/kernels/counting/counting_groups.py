"""Number equal keys by a hash table, several times faster than by sorting."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def number_groups(
    keys: NDArray[np.int64],
    slots: NDArray[np.int32],
    shift: np.uint64,
    groups: NDArray[np.int64],
    firsts: NDArray[np.int64],
) -> int:
    """Give equal keys one number, in the order in which they first appear; return how many there are.

    ``slots`` holds 2^(64 - shift) places, all -1, more than twice as many as keys (Fibonacci hashing with
    linear probing; Knuth, "The Art of Computer Programming", volume 3, section 6.4).
    """
    found = np.int64(0)
    last = np.uint64(len(slots) - 1)
    for place in range(len(keys)):
        key = keys[place]
        slot = (np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> shift
        while slots[slot] >= 0 and keys[firsts[slots[slot]]] != key:
            slot = (slot + np.uint64(1)) & last
        if slots[slot] < 0:
            slots[slot] = found
            firsts[found] = place
            found += 1
        groups[place] = slots[slot]
    return found  # type: ignore[return-value]  # numba returns a whole number of Python's


@compiled
def number_small_groups(
    keys: NDArray[np.int64], slots: NDArray[np.int32], groups: NDArray[np.int64], firsts: NDArray[np.int64]
) -> int:
    """Do the same for keys from 0 on that are so small that each has a slot of its own."""
    found = np.int64(0)
    for place in range(len(keys)):
        key = np.uint64(keys[place])
        if slots[key] < 0:
            slots[key] = found
            firsts[found] = place
            found += 1
        groups[place] = slots[key]
    return found  # type: ignore[return-value]


def warm_up() -> None:
    """Compile every kernel of this file."""
    keys = np.zeros(1, np.int64)
    number_groups(keys, np.full(4, -1, np.int32), np.uint64(62), keys.copy(), keys.copy())
    number_small_groups(keys, np.full(1, -1, np.int32), keys.copy(), keys.copy())
