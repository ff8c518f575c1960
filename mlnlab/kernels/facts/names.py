"""The different names of a fact file: a hash table from names to numbers, and the store of their bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.facts.words import FOREIGN, HASH, SIZE, is_stored, put

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# An entry of the table is hash * 2^31 + number + 1; 0 is a free slot.
_SHIFT = 31
_LOW = (1 << _SHIFT) - 1


@compiled
def number_of(
    text: NDArray[np.uint8],
    words: NDArray[np.int64],
    index: int,
    table: NDArray[np.int64],
    starts: NDArray[np.int64],
    store: NDArray[np.uint8],
    foreign: NDArray[np.uint8],
    count: np.int64,
) -> np.int64:
    """Return the number of a word, which is the count of names where the word is new; then it is stored.

    Name ``n`` is ``store[starts[n] : starts[n + 1] - 1]``. Open addressing, linear probing.
    """
    size, code = words[index, SIZE], words[index, HASH]
    slot = (code ^ (code >> 15)) & (len(table) - 1)
    number = count
    while table[slot] != 0:
        entry = table[slot]
        if entry >> _SHIFT == code:
            known = (entry & _LOW) - 1
            place = starts[known]
            if starts[known + 1] - place == size + 1 and is_stored(text, words, index, store, place):
                number = known
                break
        slot = (slot + 1) & (len(table) - 1)
    if number == count:
        put(text, words, index, store, starts[count])
        starts[count + 1] = starts[count] + size + 1
        table[slot] = (code << _SHIFT) | (count + 1)
    if words[index, FOREIGN]:
        foreign[number] = 1
    return number


@compiled
def move(old: NDArray[np.int64], new: NDArray[np.int64]) -> None:
    """Enter all names of one table into another, which is empty."""
    for entry in old:
        if entry != 0:
            code = entry >> _SHIFT
            slot = (code ^ (code >> 15)) & (len(new) - 1)
            while new[slot] != 0:
                slot = (slot + 1) & (len(new) - 1)
            new[slot] = entry
