"""Lists that grow by an item a step, in blocks that the states of a run share.

Blocks double, so that all states together take little more than the last one, and a step costs what it added.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias, TypeVar

T = TypeVar("T")

Blocks: TypeAlias = tuple[tuple[T, ...], ...]


def append_item(blocks: Blocks[T], item: T) -> Blocks[T]:
    """Return the blocks with one more item.

    >>> append_item(append_item(append_item((), "a"), "b"), "c")
    (('a', 'b'), ('c',))
    """
    found = [*blocks, (item,)]
    while len(found) > 1 and len(found[-2]) <= len(found[-1]):
        found[-2:] = [found[-2] + found[-1]]
    return tuple(found)


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
