"""Place constants in drawings of clusterings: in blocks of slots, merged ones side by side."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, inf, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.nodelink.layouts.boxes import Placed, Spacing, boxes_layout
from mlnlab.display.scene.text_fitting import text_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.model.database.hypergraph import Hypergraph

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]

    Size = tuple[float, float]
    Counted = Callable[[Numbers], bool]
    Arranged = Callable[[Numbers, Size], Reals]
    Placing = Callable[[Reals], Placed]

MOST_NAMED = 48  # constants that all have their names; of more there are dots
MOST_INSIDE = 16  # names in one box; a larger cluster is a count
MOST_OPEN = 400  # names in a box that was opened
MOST_ROOMY = 12  # boxes that leave room for the names of what joins them
WIDEST_NAME = 84.0
PADDING, CAPTION = 8.0, 15.0
COUNTED = (104.0, 44.0)  # the room of a cluster that is a count
_DOT = 13.0
_WIDER = 1.6  # how much wider than high a block is
_ROOM, _DOTS_ROOM, _LITTLE_ROOM = (96.0, 50.0), (44.0, 26.0), (16.0, 14.0)  # between blocks


class Caption(NamedTuple):
    """The caption above a block."""

    x: float
    y: float
    width: float
    words: str


class Slots(NamedTuple):
    """A place for each constant, the room it takes, whether it is named; captions; the size of the whole."""

    places: Reals
    cells: Reals
    named: bool
    captions: tuple[Caption, ...]
    size: Size


def slots_of(
    hypergraph: Hypergraph,
    blocks: Numbers,
    order: Numbers,
    width: float,
    *,
    counted: Counted | None = None,
    arranged: Arranged | None = None,
    placed: Placing | None = None,
) -> Slots:
    """Return places for all constants, those of one block together, in their order.

    ``counted`` tells which blocks are drawn as counts, so that their names need no room; ``arranged`` where
    the constants of a block stand around its middle, by default in a grid; ``placed`` where the blocks stand.
    """
    named = counted is not None or hypergraph.number_of_nodes <= MOST_NAMED
    names, inverse = np.unique(blocks, return_inverse=True)
    roomy = len(names) <= MOST_ROOMY
    members = [_order_members(np.flatnonzero(inverse == block), order) for block in range(len(names))]
    counts = [counted is not None and counted(inside) for inside in members]
    cells = [
        _cell(hypergraph, inside[: MOST_INSIDE if count else MOST_OPEN], named)
        for inside, count in zip(members, counts, strict=True)
    ]
    arrange = arranged or _in_block
    offsets = [arrange(inside, cell) for inside, cell in zip(members, cells, strict=True)]
    sizes = [
        COUNTED if count else _size_of(found, cell)
        for found, cell, count in zip(offsets, cells, counts, strict=True)
    ]
    above = CAPTION if roomy else 0.0
    across, down = (_ROOM if named else _DOTS_ROOM) if roomy else _LITTLE_ROOM
    spacing = Spacing((170.0 if named else 100.0) if roomy else 46.0, 60.0 if roomy else 24.0, width)
    rooms = np.array(sizes).reshape(-1, 2) + np.array([across, down + above])
    found = placed(rooms) if placed else boxes_layout(rooms, _links(hypergraph, inverse), spacing)
    places, room = np.zeros((len(blocks), 2)), np.zeros((len(blocks), 2))
    middles = found.places + np.array([0, above / 2])
    for inside, cell, middle, offset in zip(members, cells, middles, offsets, strict=True):
        places[inside], room[inside] = middle + offset, cell
    captions = (
        _caption(hypergraph, inside, middle, size)
        for inside, middle, size in zip(members, middles.tolist(), sizes, strict=True)
    )
    return Slots(places, room, named, tuple(captions) if roomy else (), found.size)


def _in_block(inside: Numbers, cell: Size) -> Reals:
    return in_grid(len(inside), cell)


def _size_of(offsets: Reals, cell: Size) -> Size:
    """Return the room around constants; their middle is that of the room."""
    wide, tall = (2 * np.abs(offsets).max(0)).tolist()
    return wide + cell[0] + PADDING, tall + cell[1] + PADDING


def _caption(hypergraph: Hypergraph, inside: Numbers, middle: list[float], size: Size) -> Caption:
    words = f"{hypergraph.node(int(inside[0])).type}{f' · {len(inside):,}' * (len(inside) > 1)}"
    return Caption(middle[0], middle[1] - size[1] / 2 - 5, max(size[0], 60.0) + 20, words)


def _cell(hypergraph: Hypergraph, nodes: Numbers, named: bool) -> Size:
    """Return the room of one of some constants."""
    if not named:
        return _DOT, _DOT
    names = (text_width(hypergraph.node(node).constant[:80], "small") for node in nodes.tolist())
    return min(max(names, default=20.0), WIDEST_NAME) + 12, 19.0


def _grid(number: int, cell: Size) -> tuple[int, int]:
    """Return the numbers of columns and rows of a grid of ``number`` constants."""
    columns = max(1, round(sqrt(number * _WIDER * cell[1] / cell[0])))
    rows = ceil(number / columns)
    return ceil(number / max(rows, 1)), rows


def room_of(number: int, cell: Size) -> Size:
    """Return the size of a box around ``number`` constants."""
    columns, rows = _grid(number, cell)
    return columns * cell[0] + PADDING, rows * cell[1] + PADDING


def in_grid(number: int, cell: Size, widest: float = inf) -> Reals:
    """Place ``number`` constants around a middle, column by column, within the width ``widest``."""
    columns, rows = _grid(number, cell)
    if columns * cell[0] > widest:
        columns = max(1, int(widest // cell[0]))
        rows = ceil(number / columns)
    across, down = np.divmod(np.arange(number), max(rows, 1))
    return np.column_stack([(across - (columns - 1) / 2) * cell[0], (down - (rows - 1) / 2) * cell[1]])


def _links(hypergraph: Hypergraph, blocks: Numbers) -> Numbers:
    """Return the pairs of blocks that share an atom, each once."""
    found = [np.zeros((0, 2), np.int64)]
    for rows in hypergraph.members.values():
        of = blocks[rows.astype(np.int64)]
        found += [
            np.sort(of[:, [first, second]], axis=1)
            for second in range(rows.shape[1])
            for first in range(second)
        ]
    pairs = np.concatenate(found)
    return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)


def _order_members(members: Numbers, order: Numbers) -> Numbers:
    return members[np.argsort(order[members], kind="stable")]
