"""Words of 64 bits, each bit a row or an element."""

from __future__ import annotations

import numpy as np

from mlnlab.kernels.compiled import compiled


@compiled
def count_ones(word: np.uint64) -> np.int64:
    """Count the bits that are set (Warren, "Hacker's Delight", 2nd ed., section 5-1)."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


def warm_up() -> None:
    """Compile every kernel of this file."""
    count_ones(np.uint64(5))
