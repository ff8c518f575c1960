"""The distribution of the numbers of elements in cells, and drawing from it.

Wang, van Bremen, Wang and Kuželka, "Domain-lifted sampling for universal two-variable logic and extensions"
(AAAI 2022), first step: the numbers of elements of each 1-type have the probability of their term in the sum
for Z. The terms are the sum's own (:mod:`mlnlab.lifted.cell_sums`), box by box: first a box is drawn by its
mass, then a term in it; elements of closed cells and of merged ones are shared out independently.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.lifted.cell_bounds import Boxes
from mlnlab.lifted.cell_sums import CellSum, Total, points_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.cell_merging import MergedCells
    from mlnlab.lifted.cell_problems import Problem
    from mlnlab.lifted.cell_values import ComponentAt
    from mlnlab.lifted.random_choices import RandomChoices

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]


class _Weighed(NamedTuple):
    boxes: Boxes
    masses: Values  # logarithms


@dataclass(frozen=True, slots=True, eq=False)
class CountDistribution:
    """Boxes of terms and what each adds; ``dropped`` bounds the share of Z that terms left out have."""

    merged: MergedCells
    problem: Problem
    shares: Sequence[Values]  # of each kind's cells in the merged ones
    corners: Values
    width: NDArray[np.int64]
    masses: Values  # as shares of the largest
    log_z: float
    dropped: float

    def drawn(self, choices: RandomChoices) -> list[Counts]:
        """Return for each kind how many elements are in each of its cells."""
        box = choices.one_of(self.masses)
        (points,) = points_of(Boxes(self.corners[box : box + 1], self.width))
        e = self.problem.completed(points)
        logs, q = self.problem.terms(e)
        term = choices.one_of(np.exp(logs - logs.max()))
        numbers = np.rint(e[term]).astype(np.int64)
        return [
            self._in_cells(kind, self._in_merged(kind, numbers, q[term], choices), choices)
            for kind in range(len(self.merged.kinds))
        ]

    def _in_merged(self, kind: int, numbers: Counts, q: Values, choices: RandomChoices) -> Counts:
        """Return how many elements are in each merged cell; the rest are in closed ones."""
        at = self.problem.at
        found = np.zeros(len(self.merged.kinds[kind].chosen), dtype=np.int64)
        own = np.setdiff1d(np.flatnonzero(at.kind == kind), at.rest)
        found[at.cell[own]] = numbers[own]
        members = np.flatnonzero(at.member_kind == kind)
        rest = int(numbers[at.rest[kind]])
        if rest:
            found[at.member_cell[members]] = choices.spread(rest, q[members])
        return found

    def _in_cells(self, kind: int, merged: Counts, choices: RandomChoices) -> Counts:
        """Return how many elements are in each cell: rows of those merged differ by factors alone."""
        into = self.merged.kinds[kind].into
        found = np.zeros(len(into), dtype=np.int64)
        for place in np.flatnonzero(merged).tolist():
            own = np.flatnonzero(into == place)
            number = int(merged[place])
            found[own] = number if len(own) == 1 else choices.spread(number, self.shares[kind][own])
        return found


def count_distribution(component: ComponentAt) -> CountDistribution:
    """Return the distribution for a component at weights and sizes."""
    problem, shares = component.to_draw()
    cell_sum = CellSum(problem, moments=False, budget=component.budget)
    total = Total(-inf, 0.0, [])
    width = np.ones(len(problem.at.open), dtype=np.int64)
    found = [_Weighed(Boxes(np.zeros((0, len(width))), width), np.zeros(0))]
    for boxes, _ in cell_sum.small_boxes(total):
        for number, points in enumerate(points_of(boxes)):
            e = problem.completed(points)
            logs, q = problem.terms(e)
            total.add(logs, e, q, moments=False)
            each = len(points) // int(np.prod(boxes.width))
            start = number * each
            corners = boxes.corners[start : start + each]
            masses = np.logaddexp.reduce(logs.reshape(len(corners), -1), axis=1)
            found.append(_Weighed(Boxes(corners, boxes.width), masses))
    masses = np.concatenate([one.masses for one in found])
    alive = masses > -inf
    log_z = float(np.logaddexp.reduce(masses))
    corners = np.concatenate([one.boxes.corners for one in found])[alive]
    return CountDistribution(
        component.merged, problem, shares, corners, found[-1].boxes.width,
        np.exp(masses[alive] - masses.max(initial=-inf)), log_z,
        exp(min(0.0, total.dropped - log_z)) if log_z > -inf else 0.0,
    )  # fmt: skip
