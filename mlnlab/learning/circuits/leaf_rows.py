"""The leaves of all trees over a table, and the rows of a held-out table at each of them."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.factors.data.data_table import DataTable
    from mlnlab.learning.networks.split_gains import Leaf, SplitGains


class Leaves:
    """The leaves of all trees over a table: their rows and counts."""

    def __init__(self, gains: SplitGains) -> None:
        """Begin with one leaf for each variable."""
        self.gains = gains
        self.leaves: list[Leaf] = [gains.root(variable) for variable in range(len(gains.sizes))]

    def split(self, leaf: int, variable: int) -> list[int]:
        """Split a leaf; return the numbers of its children."""
        children = self.gains.split(self.leaves[leaf], variable)
        first = len(self.leaves)
        self.leaves[leaf] = children[0]
        self.leaves.extend(children[1:])
        return [leaf, *range(first, len(self.leaves))]

    def distributions(self) -> list[NDArray[np.float64]]:
        """Return the smoothed parameters of each leaf: (n + 1) / (N + k)."""
        return [self.gains.probabilities(leaf.totals) for leaf in self.leaves]


class HeldOutRows:
    """The rows of a validation table at each leaf, and their log-likelihood as leaves are split."""

    def __init__(self, table: DataTable, leaves: Leaves) -> None:
        """Begin with all rows at the first leaves."""
        self.table, self._leaves = table, leaves
        every = np.arange(len(table))
        self._rows = [every for _ in table.variables]
        self._values = [self._value(number) for number in range(len(self._rows))]
        self.total = float(sum(self._values))

    def _value(self, number: int) -> float:
        leaf = self._leaves.leaves[number]
        logs = np.log(self._leaves.gains.probabilities(leaf.totals))
        return float(logs[self.table.rows[self._rows[number], leaf.variable]].sum())

    def split(self, children: Sequence[int], variable: int) -> None:
        """Follow a split of the leaves."""
        rows = self._rows[children[0]]
        values = self.table.rows[rows, variable]
        before = self._values[children[0]]
        self._rows.extend(rows[:0] for _ in children[1:])
        self._values.extend(0.0 for _ in children[1:])
        for value, child in enumerate(children):
            self._rows[child] = rows[values == value]
        for child in children:
            self._values[child] = self._value(child)
        self.total += sum(self._values[child] for child in children) - before

    @property
    def mean(self) -> float:
        """The mean log-likelihood of a row."""
        return self.total / len(self.table) if len(self.table) else nan
