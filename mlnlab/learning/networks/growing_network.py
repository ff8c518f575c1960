"""A network that grows by splits: the leaves of its trees with their rows, and who is whose ancestor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.factors.data.table_coding import MISSING
from mlnlab.factors.graphs.tree_network import TreeLeaf, TreeNetwork
from mlnlab.learning.networks.applied_splits import MERGED, AppliedSplit, TreeShape, apply_to_shape
from mlnlab.learning.networks.split_gains import Leaf, SplitGains, merge_leaves

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.factors.data.data_table import DataTable


class GrowingNetwork:
    """Trees with their leaves over a table, and over held-out rows where there are some."""

    def __init__(self, gains: SplitGains, valid: DataTable | None = None) -> None:
        """Begin with a leaf for each variable."""
        count = len(gains.sizes)
        self.gains = gains
        self.shapes = [TreeShape() for _ in range(count)]
        self.leaves: list[dict[int, Leaf]] = [{0: gains.root(variable)} for variable in range(count)]
        self.ancestors = np.eye(count, dtype=bool)  # [v, u]: u is an ancestor of v, or v itself
        self.held = None if valid is None else HeldOutRows(valid, self)

    def value(self) -> float:
        """Return the score of the data without penalties, leaf by leaf."""
        return sum(self.gains.value(leaf.totals) for leaves in self.leaves for leaf in leaves.values())

    def mark_forbidden(self, variable: int) -> NDArray[np.bool_]:
        """Mark the variables that a tree must not ask for: its own and its descendants (Definition 2)."""
        return self.ancestors[:, variable]

    def apply(self, split: AppliedSplit) -> dict[int, Leaf]:
        """Apply a split; return the new leaves by their nodes."""
        variable, leaves = split.variable, self.leaves[split.variable]
        new = apply_to_shape(self.shapes[variable], split)
        if split.asked == MERGED:
            made = {split.node: merge_leaves(leaves[split.node], leaves.pop(split.groups[0]))}
        else:
            made = {}
            for node, children in new.items():
                parts = self.gains.split(leaves.pop(node), split.asked, split.groups)
                made.update(zip(children, parts, strict=True))
            self._add_edge(split.asked, variable)
        leaves.update(made)
        if self.held is not None:
            self.held.apply(split, new, made)
        return made

    def _add_edge(self, parent: int, child: int) -> None:
        if not self.ancestors[child, parent]:
            below = self.ancestors[:, child]
            self.ancestors[below] |= self.ancestors[parent]

    def network(self) -> TreeNetwork:
        """Return the network as it is, with smoothed parameters."""
        trees = [
            shape.decision_tree(
                {
                    n: TreeLeaf(tuple(self.gains.probabilities(one.totals).tolist()))
                    for n, one in leaves.items()
                }
            )
            for shape, leaves in zip(self.shapes, self.leaves, strict=True)
        ]
        return TreeNetwork(self.gains.table.variables, tuple(trees))


class HeldOutRows:
    """The rows that reach each leaf, and their log-likelihood; those with missing cells are left out."""

    def __init__(self, table: DataTable, network: GrowingNetwork) -> None:
        """Let all rows reach the leaves that there are at the beginning."""
        self._cells = np.ascontiguousarray(table.rows[(table.rows != MISSING).all(axis=1)].T)
        self._gains = network.gains
        every = np.arange(self._cells.shape[1])
        self._rows = [{0: every} for _ in self._cells]
        self._worths = {
            (variable, 0): self._worth(variable, leaves[0], every)
            for variable, leaves in enumerate(network.leaves)
        }
        self.total = sum(self._worths.values())

    def __len__(self) -> int:
        return int(self._cells.shape[1])

    def _worth(self, variable: int, leaf: Leaf, rows: NDArray[np.intp]) -> float:
        counts = np.bincount(self._cells[variable][rows], minlength=len(leaf.totals))
        return float(counts @ np.log(self._gains.probabilities(leaf.totals)))

    def apply(self, split: AppliedSplit, new: dict[int, list[int]], made: dict[int, Leaf]) -> None:
        """Move the rows of the leaves that were split, and change the log-likelihood."""
        variable, own = split.variable, self._rows[split.variable]
        if split.asked == MERGED:
            old = [split.node, split.groups[0]]
            own[split.node] = np.concatenate([own.pop(node) for node in old])
        else:
            old = list(new)
            for node, children in new.items():
                rows = own.pop(node)
                groups = np.array(split.groups)[self._cells[split.asked][rows]]
                own.update({child: rows[groups == number] for number, child in enumerate(children)})
        self.total -= sum(self._worths.pop((variable, node)) for node in old)
        for node, leaf in made.items():
            self._worths[variable, node] = worth = self._worth(variable, leaf, own[node])
            self.total += worth
