"""Chow-Liu circuits: the tree of arcs with the greatest mutual information, as splits of a circuit.

Each arc of the tree is one split of a variable's only leaf on its parent, so that the circuit has a few edges
for each pair of values along the tree (Chow and Liu, 1968).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.learning.circuits.learn_ac import LearnACParams, LearnACTask, Search, flaw, steps
from mlnlab.learning.circuits.split_states import CountedCosts, LearnACState, Pair, all_splits
from mlnlab.learning.networks.split_gains import SplitGains

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.factors.data.data_table import DataTable


def spanning_arcs(gains: NDArray[np.float64]) -> list[Pair]:
    """Return the arcs (child, parent) of the best tree over gains of child by parent; only those that gain.

    Prim's algorithm: the first variable is the root; where nothing more gains, another tree begins.
    """
    weights = (gains + gains.T) / 2
    number = len(weights)
    best, parent = np.full(number, -np.inf), np.full(number, -1)
    left: set[int] = set(range(number))
    arcs: list[Pair] = []
    node = 0
    while True:
        left.discard(node)
        if not left:
            return arcs
        better = weights[:, node] > best
        best[better], parent[better] = weights[better, node], node
        node = max(left, key=lambda one: (best[one], -one))
        if best[node] > 0:
            arcs.append((node, int(parent[node])))


class SpanningSearch(Search):
    """The work of a run that draws the arcs of the tree; the prices of a split are not asked."""

    nothing_left = "all arcs of the tree were drawn"

    def __init__(self, gains: SplitGains, params: LearnACParams, valid: DataTable | None) -> None:
        """Find the tree, of which no arc is drawn yet."""
        super().__init__(gains, replace(params, k_p=0.0), valid)
        found = np.stack([gains.gains(leaf) for leaf in self.leaves.leaves])
        self.arcs = spanning_arcs(found)[::-1]  # from the leaves upwards: no split copies the tree above it
        self._drawn = 0

    def choose(self) -> Pair | None:
        """Return the next arc, or nothing where all are drawn."""
        return self.arcs[self._drawn] if self._drawn < len(self.arcs) else None

    def candidates(self) -> CountedCosts:
        """Return nothing: no other split was looked at."""
        return self.counted_costs()

    def apply(self, leaf: int, variable: int) -> tuple[float, int]:
        """Draw an arc; return its gain and the edges it added."""
        self._drawn += 1
        return super().apply(leaf, variable)


def _begin(task: LearnACTask, params: LearnACParams) -> SpanningSearch:
    return SpanningSearch(SplitGains(task.train, params.score, params.prior), params, task.valid)


def chow_liu_steps(
    task: LearnACTask, params: LearnACParams, start: LearnACState | None
) -> Iterator[LearnACState]:
    """Yield the product of marginals, then a state for each arc."""
    return steps(task, params, start, _begin)


def chow_liu_flaw(task: LearnACTask, params: LearnACParams, state: LearnACState) -> str:
    """Return how the splits of a state from outside cannot be; empty if they can."""
    if found := flaw(task, params, state):
        return found
    known = _begin(task, params).arcs[: state.number]
    return "" if all_splits(state) == known else "its splits are not the arcs of the tree"
