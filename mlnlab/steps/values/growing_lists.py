"""Lists that grow by an item a step, in blocks that the states of a run share.

A full block never changes, so that all states together take little more than the last one, and recording a
step looks at its newest block alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias, TypeVar

T = TypeVar("T")

BLOCK = 64  # items: a step copies the last block, and a reference to each of the others

Blocks: TypeAlias = tuple[tuple[T, ...], ...]


def append_item(blocks: Blocks[T], item: T) -> Blocks[T]:
    """Return the blocks with one more item.

    >>> append_item(append_item((), "a"), "b")
    (('a', 'b'),)
    """
    if blocks and len(blocks[-1]) < BLOCK:
        return (*blocks[:-1], (*blocks[-1], item))
    return (*blocks, (item,))


def items_of(blocks: Blocks[T]) -> Iterator[T]:
    """Yield the items in order."""
    for block in blocks:
        yield from block


def count_items(blocks: Blocks[T]) -> int:
    """Return how many items there are."""
    return sum(map(len, blocks))


def items_after(blocks: Blocks[T], number: int) -> Sequence[T]:
    """Return the items after the first ``number``; quick where these are the newest ones."""
    left = count_items(blocks) - number
    found: list[T] = []
    for block in reversed(blocks):
        if left <= 0:
            break
        found[:0] = block[-left:]
        left -= len(block)
    return found
