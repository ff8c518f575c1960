"""Which cells are one: those whose rows of r are proportional; and which need no sum of their own.

Van Bremen and Kuželka, "Faster lifting for two-variable logic using cell graphs" (UAI 2021): where the
numbers between some cells are all equal up to factors of each cell (their independent cliques, here of any
scale), the number of elements in each needs not be chosen: (sum of weights)^elements does it. All is
decided at random weights by a prime, so that it holds whatever the weights are; evaluation at sizes n costs
as many terms as there are ways to choose the numbers of elements in the other cells, the *open* ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.lifted.cells.cell_numbers import PRIME, Remainders

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.cells.cell_tables import Weighed
    from mlnlab.lifted.cells.cells import Cells

    Prints = NDArray[np.int64]  # fingerprints, at several random weights: the first axis


@dataclass(frozen=True, slots=True, eq=False)
class MergedKind:
    """The merged cells of one kind."""

    into: NDArray[np.intp]  # of each cell, the number of the merged one; -1 where its weight is always 0
    chosen: NDArray[np.intp]  # of each merged cell, the one whose row it has
    columns: NDArray[np.intp]  # (merged, kinds): by which column rows are compared; -1 where they are 0
    scaled: NDArray[np.bool_]  # (cells, kinds): whether the row is a multiple of the chosen one's
    closed: tuple[int, ...]  # merged cells that need no sum, the first as their reference

    @property
    def open(self) -> tuple[int, ...]:
        """The merged cells whose numbers of elements are summed over."""
        return tuple(n for n in range(len(self.chosen)) if n not in self.closed)


@dataclass(frozen=True, slots=True, eq=False)
class MergedCells:
    """Cells, which of them are one, and where pairs are impossible whatever the weights."""

    cells: Cells
    kinds: tuple[MergedKind, ...]
    zero: dict[tuple[int, int], NDArray[np.bool_]]  # between merged cells

    @property
    def order(self) -> int:
        """The power of n that evaluation costs."""
        return sum(len(kind.open) for kind in self.kinds)

    def terms(self, sizes: Sequence[int]) -> int:
        """Return how many terms there are for numbers of elements of each kind."""
        return prod(
            comb(size + len(kind.open), len(kind.open)) for size, kind in zip(sizes, self.kinds, strict=True)
        )


def merged_cells(
    cells: Cells, weights: Sequence[Mapping[Weighed, tuple[object, object]]], *, exactly: bool
) -> MergedCells:
    """Merge cells by fingerprints; ``exactly`` where numbers cannot be divided, so that scales must be 1."""
    numbers = Remainders()
    own = [np.stack([k.weights.values(numbers, one) for one in weights]) for k in cells.kinds]
    blocks = _blocks(cells, weights, numbers)
    kept = [_at_least_one(~(w == 0).all(axis=0)) for w in own]
    while True:
        kinds = [_merge_cells(k, own, blocks, kept, exactly=exactly) for k in range(len(own))]
        left = [k & ~_mark_cancelled_cells(kind, w) for kind, w, k in zip(kinds, own, kept, strict=True)]
        # Where all cells of a kind cancel they stay, together: one of them alone would weigh something.
        left = [now if now.any() else before for before, now in zip(kept, left, strict=True)]
        if all((before == now).all() for before, now in zip(kept, left, strict=True)):
            break
        kept = left
    small = {
        (a, b): block[:, kinds[a].chosen[:, None], kinds[b].chosen[None]] for (a, b), block in blocks.items()
    }
    closed = _closed_cells([len(kind.chosen) for kind in kinds], small, exactly=exactly)
    made = tuple(
        MergedKind(kind.into, kind.chosen, kind.columns, kind.scaled, group)
        for kind, group in zip(kinds, closed, strict=True)
    )
    return MergedCells(cells, made, {pair: (block == 0).all(axis=0) for pair, block in small.items()})


def _at_least_one(kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Keep one cell of weight 0 where all are, so that every kind has a sum."""
    return kept if kept.any() else np.arange(len(kept)) == 0


def _blocks(
    cells: Cells, weights: Sequence[Mapping[Weighed, tuple[object, object]]], numbers: Remainders
) -> dict[tuple[int, int], Prints]:
    """Return fingerprints of all r, in both orders of two kinds; those that are 1 for want of a table too."""
    found = {}
    for a, first in enumerate(cells.kinds):
        for b, second in enumerate(cells.kinds):
            if (a, b) in cells.pairs:
                block = np.stack([cells.pairs[a, b].values(numbers, one) for one in weights])
                found[a, b], found[b, a] = block, block.transpose(0, 2, 1)
            elif (b, a) not in cells.pairs:
                found[a, b] = np.ones((len(weights), len(first), len(second)), dtype=np.int64)
    return found


def _merge_cells(
    kind: int, own: Sequence[Prints], blocks: Mapping[tuple[int, int], Prints],
    kept: Sequence[NDArray[np.bool_]], *, exactly: bool,
) -> MergedKind:  # fmt: skip
    """Compare each cell with the first of each class so far."""
    cells, kinds = own[kind].shape[1], len(own)
    into = np.full(cells, -1)
    scaled = np.zeros((cells, kinds), dtype=bool)
    rows = [blocks[kind, other][:, :, kept[other]] for other in range(kinds)]
    chosen: list[int] = []
    for cell in np.flatnonzero(kept[kind]).tolist():
        for place, before in enumerate(chosen):
            pairs = [(row[:, cell], row[:, before]) for row in rows]
            if all(_proportional(*pair) for pair in pairs):
                different = [bool((mine != other).any()) for mine, other in pairs]
                if exactly and any(different):
                    continue
                into[cell], scaled[cell] = place, different
                break
        else:
            into[cell] = len(chosen)
            chosen.append(cell)
    columns = np.full((len(chosen), kinds), -1)
    for place, cell in enumerate(chosen):
        for other in range(kinds):
            found = np.flatnonzero((blocks[kind, other][:, cell] != 0).all(axis=0) & kept[other])
            columns[place, other] = found[0] if len(found) else -1
    return MergedKind(into, np.array(chosen, dtype=np.intp), columns, scaled, ())


def _proportional(left: Prints, right: Prints) -> bool:
    """Tell whether two rows are multiples of each other, at all random weights; (points, columns)."""
    if ((left != 0) != (right != 0)).any():
        return False
    places = np.flatnonzero((right != 0).all(axis=0))
    if not len(places):
        return not left.any() and not right.any()
    first = places[0]
    return bool((left * right[:, [first]] % PRIME == right * left[:, [first]] % PRIME).all())


def _mark_cancelled_cells(kind: MergedKind, own: Prints) -> NDArray[np.bool_]:
    """Return the cells that are merged without scales to a weight of 0: Skolem signs cancel there."""
    gone = np.zeros(len(kind.into), dtype=bool)
    for place in range(len(kind.chosen)):
        members = kind.into == place
        if not kind.scaled[members].any() and not (own[:, members].sum(axis=1) % PRIME).any():
            gone |= members
    return gone


def _closed_cells(
    lengths: Sequence[int], blocks: Mapping[tuple[int, int], Prints], *, exactly: bool
) -> list[tuple[int, ...]]:
    """Choose for each kind, the one with the most cells first, cells that need no sum."""
    found: dict[int, tuple[int, ...]] = {}
    for kind in sorted(range(len(lengths)), key=lambda k: -lengths[k]):
        best: tuple[int, ...] = ()
        for first in range(lengths[kind]):
            group: tuple[int, ...] = (first,)
            if not _fits(kind, group, found, blocks, exactly=exactly):
                continue
            for cell in range(lengths[kind]):
                if cell != first and _fits(kind, (*group, cell), found, blocks, exactly=exactly):
                    group = (*group, cell)
            best = max(best, group, key=len)
        if not best and lengths[kind]:  # impossible pairs with all of them: single cells elsewhere
            best, found = (0,), {other: cells[:1] for other, cells in found.items()}
        found[kind] = best
    return [found[kind] for kind in range(len(lengths))]


def _fits(
    kind: int, group: tuple[int, ...], found: Mapping[int, tuple[int, ...]],
    blocks: Mapping[tuple[int, int], Prints], *, exactly: bool,
) -> bool:  # fmt: skip
    """Tell whether the numbers among some cells, and to those chosen elsewhere, have rank one."""
    sides = [(group, blocks[kind, kind])] + [(cells, blocks[kind, other]) for other, cells in found.items()]
    last = group[-1]
    for cells, block in sides:
        if not cells:
            continue
        corner, row, column = (
            block[:, group[0], cells[0]],
            block[:, last, list(cells)],
            block[:, last, cells[0]],
        )
        top = block[:, group[0], list(cells)]
        if exactly and (row != corner[:, None]).any():
            return False
        if len(group) + len(cells) > 2 and not ((row != 0).all() and (corner != 0).all()):
            return False
        if (row * corner[:, None] % PRIME != column[:, None] * top % PRIME).any():
            return False
    return True
