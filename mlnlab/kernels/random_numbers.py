"""Random numbers that are the same everywhere: xoshiro256++ (Blackman and Vigna, 2021, figure 1).

A generator is four unsigned numbers in an array that is passed in, so that a stream does not depend on the
thread that draws from it, and a C program draws the same one. The seed is spread by splitmix64, as its
authors advise; stream k begins 2^128 k numbers further on, so that streams do not overlap. The period is
2^256 - 1. Not for secrets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

_11, _17, _19, _23, _41, _45 = (np.uint64(n) for n in (11, 17, 19, 23, 41, 45))
_27, _30, _31, _33 = (np.uint64(n) for n in (27, 30, 31, 33))
_ONE = np.uint64(1)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # splitmix64: 2^64 over the golden ratio
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)

# The polynomial of 2^128 steps at once, from the authors' program.
_JUMP = np.array([0x180EC6D33CFD0ABA, 0xD5A61266F0C9392C, 0xA9582618E03FC9AA, 0x39ABDC4529B1661C], np.uint64)

_TO_UNIT = 1.0 / (1 << 53)


@compiled
def next_number(state: NDArray[np.uint64]) -> np.uint64:
    """Return the next 64 bits of xoshiro256++."""
    total = state[0] + state[3]
    result: np.uint64 = ((total << _23) | (total >> _41)) + state[0]
    shifted = state[1] << _17
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = (state[3] << _45) | (state[3] >> _19)
    return result


@compiled
def next_uniform(state: NDArray[np.uint64]) -> float:
    """Return the next number of [0, 1): the highest 53 bits, as the authors advise."""
    return np.int64(next_number(state) >> _11) * _TO_UNIT


@compiled
def next_below(state: NDArray[np.uint64], bound: int) -> int:
    """Return the next whole number of 0, ..., bound - 1, for bounds far below 2^53."""
    return np.int64(next_uniform(state) * bound)  # type: ignore[return-value]


@compiled
def spread(seed: np.uint64, state: NDArray[np.uint64]) -> None:
    """Fill a state from a seed by splitmix64 (Steele, Lea and Flood, 2014, figure 16)."""
    for place in range(4):
        seed += _GOLDEN
        mixed = (seed ^ (seed >> _30)) * _MIX_1
        mixed = (mixed ^ (mixed >> _27)) * _MIX_2
        state[place] = mixed ^ (mixed >> _31)


@compiled
def jump(state: NDArray[np.uint64], moved: NDArray[np.uint64]) -> None:
    """Go 2^128 numbers ahead; ``moved`` is room for another state."""
    for place in range(4):
        moved[place] = 0
    for word in range(4):
        for bit in range(64):
            if (_JUMP[word] >> np.uint64(bit)) & _ONE:
                for place in range(4):
                    moved[place] ^= state[place]
            next_number(state)
    for place in range(4):
        state[place] = moved[place]


def streams(seed: int, number: int) -> NDArray[np.uint64]:
    """Return the states of ``number`` independent streams of a seed, a row for each.

    >>> streams(1, 2)[0].tolist() == streams(1, 1)[0].tolist()
    True
    """
    if not 0 <= seed < 1 << 64:
        raise ArgumentError(f"A seed must be a whole number from 0 to 2^64 - 1, not {seed}.")
    states = np.empty((number, 4), np.uint64)
    current, room = np.empty(4, np.uint64), np.empty(4, np.uint64)
    spread(np.uint64(seed), current)
    for row in states:
        row[:] = current
        jump(current, room)
    return states


def warm_up() -> None:
    """Compile every kernel of this file."""
    state = streams(0, 1)[0]
    next_below(state, 2)
