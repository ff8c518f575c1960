"""Check Definition 3 of Lowd's thesis on arithmetic circuits: smooth, decomposable, deterministic.

A node's mask has a bit for each thing below it, 64 of them at a time; the caller goes through all things.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.kernels.circuits.upward_passes import SUM
from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint32]
    Masks = NDArray[np.uint64]

NONE = -1
_ZERO = np.uint64(0)


@compiled
def find_uneven(kinds: NDArray[np.uint8], first_child: Words, children: Words, masks: Masks) -> int:
    """Fill the masks of sums and products; return the first sum whose children differ, or ``NONE``.

    The first product in which two children share a bit is returned as -2 less its number.
    """
    for node in range(len(kinds)):
        first, end = np.int64(first_child[node]), np.int64(first_child[node + 1])
        for edge in range(first, end):
            below = masks[children[edge]]
            if kinds[node] == SUM and edge > first and below != masks[node]:
                return node
            if kinds[node] != SUM and masks[node] & below:
                return NONE - 1 - node
            masks[node] |= below
    return NONE


@compiled
def find_told_apart(
    kinds: NDArray[np.uint8],
    first_child: Words,
    children: Words,
    masks: Masks,
    blocks: Masks,
    told_apart: NDArray[np.uint8],
) -> None:
    """Mark the sums of a smooth circuit for which some variable keeps the children apart.

    A row of ``masks`` has bits for the indicators below a node, a row of ``blocks`` those of a variable.
    """
    words = masks.shape[1]
    twice = np.zeros(words, np.uint64)
    for node in range(len(kinds)):
        first, end = np.int64(first_child[node]), np.int64(first_child[node + 1])
        for word in range(words):
            twice[word] = _ZERO
            for edge in range(first, end):
                below = masks[children[edge], word]
                twice[word] |= masks[node, word] & below
                masks[node, word] |= below
        if kinds[node] != SUM or told_apart[node]:
            continue
        for block in range(len(blocks)):
            there, shared = False, False
            for word in range(words):
                there = there or (masks[node, word] & blocks[block, word]) != _ZERO
                shared = shared or (twice[word] & blocks[block, word]) != _ZERO
            if there and not shared:
                told_apart[node] = 1
                break


def warm_up() -> None:
    """Compile every kernel of this file."""
    kinds, words = np.zeros(1, np.uint8), np.zeros(2, np.uint32)
    masks = np.ones((1, 1), np.uint64)
    for array in (kinds, words):
        array.flags.writeable = False
    find_uneven(kinds, words, words[:0], masks[:, 0].copy())
    find_told_apart(kinds, words, words[:0], masks, masks.copy(), np.zeros(1, np.uint8))
