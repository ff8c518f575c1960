"""Chow-Liu circuits: the tree of arcs with the greatest mutual information, as splits of a circuit.

Each arc of the tree is one split of a variable's only leaf on its parent, so that the circuit has a few edges
for each pair of values along the tree (Chow and Liu, 1968).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.learning.circuits.learn_ac import LearnACParams, LearnACTask, Search, add_split, first_state
from mlnlab.learning.circuits.split_states import CountedCosts, LearnACState, Pair, all_splits, seal_array
from mlnlab.learning.networks.split_gains import SplitGains

if TYPE_CHECKING:
    from numpy.typing import NDArray


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


def chow_liu_steps(
    task: LearnACTask, params: LearnACParams, start: LearnACState | None
) -> Iterator[LearnACState]:
    """Yield the product of marginals, then a state for each arc; the prices of a split are not asked."""
    search = Search(SplitGains(task.train, params.score, params.prior), replace(params, k_p=0.0), task.valid)
    gains = np.stack([search.leaves.gains.gains(leaf) for leaf in search.leaves.leaves])
    arcs = spanning_arcs(gains)[::-1]  # from the leaves upwards, so that no split copies the tree above it
    if start is None:
        state = first_state(search)
        yield state
    else:
        state = start
        for pair in all_splits(state):
            search.apply(*pair)
    nothing = CountedCosts(seal_array(np.zeros((0, 3), np.int32)), seal_array(np.zeros(0)))
    for pair in arcs[state.number :]:
        state = add_split(search, params, state, pair, nothing, nothing)
        yield state
    if not state.ended:
        yield replace(state, ended="all arcs of the tree were drawn")
