"""Sizes that are not known yet: linear forms over sizes of blocks, and numbers of atoms as their products.

A block is a set of constants that the circuit cannot tell apart. The sizes of a definition's blocks are its
parameters; what it calls gets linear forms of them, such as n - 1 or k and n - k below a counting node.
"""

from __future__ import annotations

from functools import reduce
from math import factorial, perm, prod
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

CHOSEN = -1  # the number of elements that a counting node puts into the first part: k


class Size(NamedTuple):
    """``constant + sum of coefficient · size``, by the numbers of blocks, or CHOSEN for k."""

    terms: tuple[tuple[int, int], ...]  # (block, coefficient), sorted; no coefficient is 0
    constant: int = 0

    def __str__(self) -> str:
        parts = ["k" if block == CHOSEN else f"n{block}" for block, _ in self.terms]
        signed = [
            f"{'-' if times < 0 else '+'}{'' if abs(times) == 1 else abs(times)}{part}"
            for part, (_, times) in zip(parts, self.terms, strict=True)
        ]
        text = "".join(signed) + (f"{self.constant:+d}" if self.constant or not signed else "")
        return text.removeprefix("+")

    def minus(self, other: Size) -> Size:
        """Return the difference of two sizes."""
        return _linear([*self.terms, *((b, -c) for b, c in other.terms)], self.constant - other.constant)

    def at(self, sizes: Sequence[int], chosen: int = 0) -> int:
        """Return the size where those of all blocks are known."""
        return self.constant + sum(c * (chosen if b == CHOSEN else sizes[b]) for b, c in self.terms)

    def within(self, sizes: Sequence[Size], chosen: Size | None = None) -> Size:
        """Return the size in terms of the sizes that the blocks have elsewhere."""
        terms: list[tuple[int, int]] = []
        constant = self.constant
        for block, times in self.terms:
            inner = sizes[block] if block != CHOSEN or chosen is None else chosen
            terms += [(b, times * c) for b, c in inner.terms]
            constant += times * inner.constant
        return _linear(terms, constant)


def _linear(terms: Sequence[tuple[int, int]], constant: int) -> Size:
    found: dict[int, int] = {}
    for block, times in terms:
        found[block] = found.get(block, 0) + times
    return Size(tuple(sorted((b, c) for b, c in found.items() if c)), constant)


def of_block(block: int) -> Size:
    """Return the size of a block itself."""
    return Size(((block, 1),))


def fixed(constant: int) -> Size:
    """Return a size that is known."""
    return Size((), constant)


class Count(NamedTuple):
    """How many atoms or elements: a product of n (n-1) ... (n-m+1), divided by a number.

    Tuples of m different elements of a block of n are such a product; sets of them are that by m!.
    """

    falling: tuple[tuple[Size, int], ...]  # (n, m)
    divided: int = 1

    def __str__(self) -> str:
        if self.divided != 1:
            return " · ".join(f"C({size}, {times})" for size, times in self.falling)
        return " · ".join(_falling_text(size, times) for size, times in self.falling) or "1"

    def at(self, sizes: Sequence[int]) -> int:
        """Return the number where the sizes of all blocks are known."""
        return prod(perm(max(n.at(sizes), 0), m) for n, m in self.falling) // self.divided


def _falling_text(size: Size, times: int) -> str:
    factors = [Size(size.terms, size.constant - down) for down in range(times)]
    return " · ".join(str(f) if len(f.terms) + bool(f.constant) == 1 else f"({f})" for f in factors)


ONE = Count(())


def tuples_of(blocks: Sequence[int]) -> Count:
    """Return the number of tuples over blocks, where arguments of one block are different elements."""
    numbers = {block: blocks.count(block) for block in sorted(set(blocks))}
    return Count(tuple((of_block(block), times) for block, times in numbers.items()))


def sets_of(block: int, elements: int) -> Count:
    """Return the number of sets of so many elements of a block."""
    return Count(((of_block(block), elements),), factorial(elements))


Number = TypeVar("Number", int, "NDArray[np.float64]")


def size_array(
    size: Size, sizes: Sequence[NDArray[np.float64]], chosen: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return a size for many cases at once; never less than 0, which only cases that do not count have."""
    parts = [
        coefficient * (chosen if block == CHOSEN and chosen is not None else sizes[block])
        for block, coefficient in size.terms
    ]
    total: NDArray[np.float64] = reduce(np.add, parts, np.asarray(float(size.constant)))
    return np.maximum(total, 0.0)


def count_array(count: Count, sizes: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return a number for many cases at once, exact as far as floating point numbers are (2^53)."""
    total = np.asarray(1.0)
    for size, times in count.falling:
        elements = size_array(size, sizes)
        for down in range(times):
            total = total * np.maximum(elements - down, 0.0)
    return total / count.divided
