"""Candidate splits of a growing network, and the best valid one among them.

Each leaf keeps the score of every split of it (its gain less the penalty of its parameters) and which is
best. Trees grow by the best of these; tables by a parent for all their columns at once, so that a tree's
leaves count together. Where the best turns out to make a cycle, its leaf looks for the next: descendants only
become more, so that a split that is not valid never will be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.learning.networks.applied_splits import EVERY_LEAF, MERGED, AppliedSplit
from mlnlab.learning.networks.growing_network import GrowingNetwork

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.networks.split_gains import Leaf, SplitGains

NO_GAIN = 1e-9  # what rounding makes of no gain at all
COMPLETE, SUBSETS = "complete", "subsets"


class Candidate(NamedTuple):
    """A merger with its score: the gain less the penalty of its parameters."""

    split: AppliedSplit
    score: float


class GreedySearch:
    """The scores of all splits of all leaves; with ``tables`` of all leaves of a tree at once."""

    def __init__(
        self, network: GrowingNetwork, penalty: float, kind: str = COMPLETE, *, tables: bool = False,
        merge: bool = False,
    ) -> None:  # fmt: skip
        """Score the splits of the leaves that the network has."""
        self._network, self._penalty, self._kind = network, penalty, kind
        self._together, self._merge = tables, merge
        self._mergers: dict[int, Candidate] = {}
        sizes = network.gains.sizes
        self._branches = np.where(sizes > 2, 2, sizes) if kind == SUBSETS else sizes
        self._places: dict[tuple[int, int], int] = {}
        self._owners: list[tuple[int, int]] = []
        self._gains: list[NDArray[np.float64]] = []
        self._best = np.full(64, -np.inf)
        self._asked = np.zeros(64, np.int64)
        for variable, leaves in enumerate(network.leaves):
            self._score_leaves(variable, leaves)

    def _score_leaves(self, variable: int, leaves: dict[int, Leaf]) -> None:
        """Score the splits of new leaves of a tree; of a table, those of all its columns."""
        if self._together:
            self._drop(variable, [EVERY_LEAF])
            every = self._network.leaves[variable].values()
            self._add(variable, EVERY_LEAF, sum(map(self._score, every), np.zeros(len(self._branches))))
            return
        for node, leaf in leaves.items():
            self._add(variable, node, self._score(leaf))

    def _score(self, leaf: Leaf) -> NDArray[np.float64]:
        gains = self._network.gains.gains(leaf)
        if self._kind == SUBSETS:
            for variable in np.flatnonzero(self._network.gains.sizes > 2).tolist():
                if variable != leaf.variable:
                    gains[variable] = best_groups(self._network.gains, leaf, variable)[1]
        return gains

    def _add(self, variable: int, node: int, gains: NDArray[np.float64]) -> None:
        place = len(self._owners)
        if place == len(self._best):
            self._best = np.concatenate([self._best, np.full(place, -np.inf)])
            self._asked = np.concatenate([self._asked, np.zeros(place, np.int64)])
        self._places[variable, node] = place
        self._owners.append((variable, node))
        self._gains.append(gains)
        self._choose(place)

    def _drop(self, variable: int, nodes: Iterable[int]) -> None:
        """Forget the splits of leaves that are no more."""
        for node in nodes:
            place = self._places.pop((variable, node), None)
            if place is not None:
                self._best[place] = -np.inf
                self._gains[place] = np.zeros(0)

    def _choose(self, place: int) -> None:
        """Find the best valid split of a leaf."""
        variable, _ = self._owners[place]
        scores = self._gains[place] - self._price(variable) * (self._branches - 1)
        scores[self._network.mark_forbidden(variable)] = -np.inf
        self._asked[place] = asked = int(scores.argmax())
        self._best[place] = scores[asked]

    def _price(self, variable: int) -> float:
        """Return the penalty of one more branch at each leaf that is split."""
        leaves = len(self._network.leaves[variable]) if self._together else 1
        return self._penalty * (int(self._network.gains.sizes[variable]) - 1) * leaves

    def best(self) -> AppliedSplit | None:
        """Return the best valid split or merger; nothing where none improves the score."""
        place = self._best_place()
        merger = max(self._mergers.values(), key=lambda one: one.score, default=None)
        if merger is not None and merger.score > self._best[place]:
            return merger.split
        return self._split(place) if self._best[place] > NO_GAIN else None

    def _best_place(self) -> int:
        while True:
            place = int(self._best.argmax())
            (variable, _), asked = self._owners[place], int(self._asked[place])
            if not self._best[place] > NO_GAIN or not self._network.mark_forbidden(variable)[asked]:
                return place
            self._choose(place)

    def apply(self, split: AppliedSplit) -> None:
        """Apply a split to the network, and score those of the new leaves."""
        variable = split.variable
        before = set(self._network.leaves[variable])
        made = self._network.apply(split)
        self._drop(variable, (before - self._network.leaves[variable].keys()) | (before & made.keys()))
        self._score_leaves(variable, made)
        if self._merge:
            merger = best_merger(self._network, variable, self._penalty)
            self._mergers.pop(variable, None)
            if merger is not None:
                self._mergers[variable] = merger

    def _split(self, place: int) -> AppliedSplit:
        gains, (variable, node), asked = self._network.gains, self._owners[place], int(self._asked[place])
        groups = tuple(range(int(gains.sizes[asked])))
        if self._kind == SUBSETS and len(groups) > 2:
            groups, _ = best_groups(gains, self._network.leaves[variable][node], asked)
        leaves = len(self._network.leaves[variable]) if self._together else 1
        parameters = (int(gains.sizes[variable]) - 1) * max(groups) * leaves
        return AppliedSplit(variable, node, asked, groups, float(self._gains[place][asked]), parameters)


# --- splits on two subsets of values (Chickering, Heckerman and Meek, 1997) -----------------------


def best_groups(gains: SplitGains, leaf: Leaf, variable: int) -> tuple[tuple[int, ...], float]:
    """Return the best split of a variable's values into two subsets, and its gain.

    For a tree's variable of two values the best subsets are neighbours in the order of P(x | v) (Breiman,
    Friedman, Olshen and Stone, 1984, theorem 4.5); for one of more values, this order is tried for each x.
    """
    counts = gains.counts(leaf, variable)
    known = counts.sum(axis=0)
    whole = gains.value(known)
    best, chosen = 0.0, np.zeros(len(counts), np.int64)
    for order in _orders(counts):
        left = np.cumsum(counts[order], axis=0)
        for cut in range(len(order) - 1):
            gain = gains.value(left[cut]) + gains.value(known - left[cut]) - whole
            if gain > best:
                best, chosen = gain, np.isin(np.arange(len(counts)), order[cut + 1 :]).astype(np.int64)
    if chosen[0]:
        chosen = 1 - chosen
    return tuple(chosen.tolist()) if chosen.any() else (0, *[1] * (len(counts) - 1)), float(best)


def _orders(counts: NDArray[np.int64]) -> Iterator[NDArray[np.intp]]:
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    for value in range(1 if counts.shape[1] == 2 else counts.shape[1]):
        yield np.argsort(shares[:, value], kind="stable")


# --- leaves that are merged -----------------------------------------------------------------------


def best_merger(network: GrowingNetwork, variable: int, penalty: float) -> Candidate | None:
    """Return the best merger of two leaves of a tree; nothing where none improves the score."""
    leaves = sorted(network.leaves[variable].items())
    parameters = int(network.gains.sizes[variable]) - 1
    best: Candidate | None = None
    for place, (other, last) in enumerate(leaves):
        for node, first in leaves[:place]:
            worth = network.gains.value
            gain = worth(first.totals + last.totals) - worth(first.totals) - worth(last.totals)
            score = gain + penalty * parameters
            if score > (NO_GAIN if best is None else best.score):
                best = Candidate(AppliedSplit(variable, node, MERGED, (other,), gain, -parameters), score)
    return best


# --- the best spanning tree (Chow and Liu, 1968) --------------------------------------------------


class SpanningTree:
    """The best edge from a variable outside the tree to one inside it: Prim's order of the spanning tree.

    Edges weigh the mutual information of their ends in nats over all rows, less the penalty of the parameters
    that they add; where none outside the tree has an edge of positive weight, another tree begins.
    """

    def __init__(self, network: GrowingNetwork, penalty: float) -> None:
        """Weigh the edges, and begin with the first variable."""
        self._network = network
        information = np.array([network.gains.information(leaves[0]) for leaves in network.leaves])
        free = network.gains.sizes - 1
        self._weights = (information + information.T) / 2 - penalty * np.outer(free, free)
        np.fill_diagonal(self._weights, -np.inf)
        self._inside = np.arange(len(free)) == 0

    def best(self) -> AppliedSplit | None:
        """Return the split of the heaviest edge that leads out of the tree."""
        while not self._inside.all():
            outside, inside = np.flatnonzero(~self._inside), np.flatnonzero(self._inside)
            weights = self._weights[np.ix_(outside, inside)]
            row, column = np.unravel_index(weights.argmax(), weights.shape)
            variable, asked = int(outside[row]), int(inside[column])
            if weights[row, column] > NO_GAIN:
                return self._split(variable, asked)
            self._inside[outside[0]] = True  # another tree
        return None

    def _split(self, variable: int, asked: int) -> AppliedSplit:
        gains, size = self._network.gains, int(self._network.gains.sizes[asked])
        gain = float(gains.gains(self._network.leaves[variable][0])[asked])
        parameters = (int(gains.sizes[variable]) - 1) * (size - 1)
        return AppliedSplit(variable, 0, asked, tuple(range(size)), gain, parameters)

    def apply(self, split: AppliedSplit) -> None:
        """Apply a split to the network; its variable is inside from now on."""
        self._network.apply(split)
        self._inside[[split.variable, split.asked]] = True
