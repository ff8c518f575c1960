"""The sum over numbers of elements in exact numbers: fractions, balls, polynomials; signs may cancel.

Every choice of numbers is gone through, one open cell after the other; the weights of all cells after it
take in what pairs with its elements weigh, so that each term costs few products. Closed cells are one
power.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.lifted.cell_numbers import Exact
from mlnlab.lifted.cell_problems import coordinates

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlnlab.lifted.cell_merging import MergedCells
    from mlnlab.lifted.cell_numbers import Array, ExactNumbers
    from mlnlab.lifted.cell_problems import Coordinates
    from mlnlab.lifted.cell_tables import Weighed

    Pairs = Mapping[tuple[int, int], Array]


def exact_value(
    merged: MergedCells, numbers: ExactNumbers, weights: Mapping[Weighed, tuple[object, object]],
    sizes: Sequence[int],
) -> Exact:  # fmt: skip
    """Return Z of a component for numbers of elements of its kinds."""
    cells = merged.cells
    own = [kind.weights.values(numbers, weights) for kind in cells.kinds]
    pairs: dict[tuple[int, int], Array] = {}
    for a, first in enumerate(cells.kinds):
        for b, second in enumerate(cells.kinds):
            if (a, b) in cells.pairs:
                made = np.broadcast_to(cells.pairs[a, b].values(numbers, weights), (len(first), len(second)))
                pairs[a, b], pairs[b, a] = made, made.T
            elif (b, a) not in cells.pairs:
                pairs[a, b] = numbers.ones((len(first), len(second)))
    totals = [_merged_weights(merged, k, own[k], pairs, sizes, numbers) for k in range(len(own))]
    small = {
        (a, b): block[np.ix_(merged.kinds[a].chosen, merged.kinds[b].chosen)]
        for (a, b), block in pairs.items()
    }
    return _ExactSum(coordinates(merged), totals, small, tuple(sizes), numbers).value()


def _merged_weights(
    merged: MergedCells, kind: int, own: Array, pairs: Pairs, sizes: Sequence[int], numbers: ExactNumbers
) -> list[Exact]:
    """Return the weights of merged cells: members count by how their rows are scaled."""
    one = merged.kinds[kind]
    totals = [numbers.zero] * len(one.chosen)
    for cell, place in enumerate(one.into.tolist()):
        if place < 0:
            continue
        weight = own[cell]
        for other in np.flatnonzero(one.scaled[cell]).tolist():
            column, block = one.columns[place, other], pairs[kind, other]
            times = sizes[other] - (other == kind)
            if sizes[kind]:
                weight = weight * (block[cell, column] / block[one.chosen[place], column]) ** times
        totals[place] = totals[place] + weight
    return totals


@dataclass(frozen=True, slots=True, eq=False)
class _ExactSum:
    at: Coordinates
    weights: Sequence[Sequence[Exact]]
    pairs: Pairs
    sizes: tuple[int, ...]
    numbers: ExactNumbers

    def value(self) -> Exact:
        names = [(int(self.at.kind[k]), int(self.at.cell[k])) for k in self.at.open]
        members = list(zip(self.at.member_kind.tolist(), self.at.member_cell.tolist(), strict=True))
        weights = [self.weights[a][i] for a, i in (*names, *members)]
        return self._chosen(0, names, members, weights, list(self.sizes))

    def _chosen(
        self, position: int, names: Sequence[tuple[int, int]], members: Sequence[tuple[int, int]],
        weights: list[Exact], left: list[int],
    ) -> Exact:  # fmt: skip
        """Sum over the numbers in open cells from a position on; ``weights`` are those of later cells."""
        if position == len(names):
            return self._closed(members, weights, left)
        kind, cell = names[position]
        own, inside = weights[0], self.pairs[kind, kind][cell, cell]
        rows = [self.pairs[kind, b][cell, j] for b, j in (*names[position + 1 :], *members)]
        later, total, term = weights[1:], self.numbers.zero, self.numbers.one
        for number in range(left[kind] + 1):
            rest = [n - number * (k == kind) for k, n in enumerate(left)]
            below = self._chosen(position + 1, names, members, later, rest)
            total = total + (term * below).times(comb(left[kind], number))
            if number < left[kind]:
                term = term * own * inside**number
                later = [w * r for w, r in zip(later, rows, strict=True)]
        return total

    def _closed(
        self, members: Sequence[tuple[int, int]], weights: Sequence[Exact], left: Sequence[int]
    ) -> Exact:
        """Return what the elements that are left weigh in closed cells."""
        total = self.numbers.one
        for kind, number in enumerate(left):
            if not number:
                continue
            inside = [(j, w) for (b, j), w in zip(members, weights, strict=True) if b == kind]
            reference = inside[0][0]
            corner = self.pairs[kind, kind][reference, reference]
            mass = self.numbers.zero
            for cell, weight in inside:
                mass = mass + weight * self._scale(kind, cell, reference, left)
            total = total * mass**number * corner ** comb(number, 2)
            for other in range(kind):
                own = int(self.at.cell[self.at.rest[other]])
                if left[other]:
                    total = total * self.pairs[other, kind][own, reference] ** (left[other] * number)
        return total

    def _scale(self, kind: int, cell: int, reference: int, left: Sequence[int]) -> Exact:
        """Return s_j^(rest - 1) and u_j^(rest elsewhere) of a closed cell (see :mod:`.cell_merging`)."""
        scale = self.numbers.one
        if cell == reference or self.numbers.undivided:
            return scale
        for other, number in enumerate(left):
            row = int(self.at.cell[self.at.rest[other]])
            times = number - (other == kind)
            if times and self.sizes[other]:
                pair = self.pairs[other, kind]
                scale = scale * (pair[row, cell] / pair[row, reference]) ** times
        return scale
