"""Go through the splits of a learned circuit once more, to the changes and copies of the last one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.learning.circuits.copied_region import CopiedRegion, copied_region
from mlnlab.learning.circuits.leaf_rows import Leaves
from mlnlab.learning.circuits.learn_ac import COUNTS, LearnACParams
from mlnlab.learning.circuits.split_ac import SplitCircuit, grow_network
from mlnlab.learning.circuits.split_states import Pair
from mlnlab.learning.networks.split_gains import SplitGains

if TYPE_CHECKING:
    from mlnlab.factors.data.data_table import DataTable
    from mlnlab.factors.graphs.tree_network import DecisionTree

MOST_EDGES = 200_000  # of a circuit whose copied region is told
MOST_CANDIDATES = 400  # whose edges are counted


class Candidate(NamedTuple):
    """A valid split: its gain less the price of parameters, the edges that it would add, and its score."""

    leaf: int
    asked: int
    gain: float
    edges: int
    score: float


class LastSplit(NamedTuple):
    """The last split of a state: its tree before and after, the copied region, and that step's candidates."""

    leaf: int
    variable: int
    asked: int
    before: DecisionTree
    after: DecisionTree
    condition: str  # the values on the way to the leaf
    region: CopiedRegion | None
    candidates: tuple[Candidate, ...]  # those with the highest gains, best scores first
    owners: tuple[int, ...]  # the variable of each leaf at that step
    left_out: int  # candidates


class Replay:
    """The splits of a run, gone through once more as far as a picture asks."""

    def __init__(self, table: DataTable, params: LearnACParams) -> None:
        """Begin with the product of marginals."""
        self.variables, self.params = table.variables, params
        self._gains = SplitGains(table, params.score, params.prior)
        self._known: tuple[tuple[Pair, ...], LastSplit] | None = None
        self._begin()

    def _begin(self) -> None:
        self._done: list[Pair] = []
        self._circuit = SplitCircuit(self.variables)
        collapses = self.params.edges != COUNTS[0]
        self._priced = SplitCircuit(self.variables, collapses=True) if collapses else self._circuit
        self._leaves = Leaves(self._gains)
        self._reaches = np.eye(len(self.variables), dtype=bool)  # [v, u]: v is above u, or is it
        self._worths = [self._gains.gains(leaf) for leaf in self._leaves.leaves]

    def last_split(self, splits: Sequence[Pair]) -> LastSplit:
        """Return the last of some splits."""
        wanted = tuple(splits)
        if self._known is None or self._known[0] != wanted:
            self._known = wanted, self._find(list(wanted))
        return self._known[1]

    def _find(self, splits: list[Pair]) -> LastSplit:
        if self._done != splits[: len(self._done)] or len(self._done) >= len(splits):
            self._begin()
        for pair in splits[len(self._done) : -1]:
            self._split(*pair)
            self._follow(*pair)
        (leaf, asked), self._done = splits[-1], splits
        owners = tuple(one.variable for one in self._leaves.leaves)
        candidates, left_out = self._list_candidates()
        first = [row.tolist() for row in self._leaves.distributions()]
        self._follow(leaf, asked)
        second = [row.tolist() for row in self._leaves.distributions()]
        region = None
        if self._circuit.edges <= MOST_EDGES:
            region = copied_region(self._circuit, leaf, asked, first, second)
        else:
            self._circuit.split(leaf, asked)
        if self._priced is not self._circuit:
            self._priced.split(leaf, asked)
        before = grow_network(self.variables, splits[:-1], first).trees[owners[leaf]]
        after = grow_network(self.variables, splits, second).trees[owners[leaf]]
        condition = self._condition(splits[:-1], leaf)
        return LastSplit(
            leaf, owners[leaf], asked, before, after, condition, region, candidates, owners, left_out
        )

    def _split(self, leaf: int, asked: int) -> None:
        """Split a leaf of the circuit, and of the one whose edges are paid for."""
        self._circuit.split(leaf, asked)
        if self._priced is not self._circuit:
            self._priced.split(leaf, asked)

    def _follow(self, leaf: int, asked: int) -> None:
        """Split a leaf of the trees."""
        own = self._leaves.leaves[leaf].variable
        self._reaches |= np.outer(self._reaches[:, asked], self._reaches[own])
        children = self._leaves.split(leaf, asked)
        self._worths += [np.zeros(0)] * (len(self._leaves.leaves) - len(self._worths))
        for child in children:
            self._worths[child] = self._gains.gains(self._leaves.leaves[child])

    def _list_candidates(self) -> tuple[tuple[Candidate, ...], int]:
        """Return the valid splits that gain something, with their edges, and how many are left out."""
        free = self._gains.sizes.astype(np.int64) - 1
        found: list[tuple[float, int, int]] = []
        for number, (leaf, worth) in enumerate(zip(self._leaves.leaves, self._worths, strict=True)):
            net = worth - self.params.k_p * free * free[leaf.variable]
            valid = (net > 0) & ~self._reaches[leaf.variable]
            found += [(float(net[asked]), number, asked) for asked in np.flatnonzero(valid).tolist()]
        found.sort(reverse=True)
        listed = []
        for gain, number, asked in found[:MOST_CANDIDATES]:
            edges = self._priced.edge_cost(number, asked)
            listed.append(Candidate(number, asked, gain, edges, gain - self.params.k_e * edges))
        return tuple(sorted(listed, key=lambda one: -one.score)), max(0, len(found) - MOST_CANDIDATES)

    def _condition(self, splits: Sequence[Pair], leaf: int) -> str:
        """Return the values on the way to a leaf, as text."""
        ways: list[tuple[tuple[int, int], ...]] = [() for _ in self.variables]
        for split, asked in splits:
            own = ways[split]
            ways += [(*own, (asked, value)) for value in range(1, self.variables[asked].size)]
            ways[split] = (*own, (asked, 0))
        known = ((self.variables[number], value) for number, value in ways[leaf])
        return ", ".join(f"{one.name} = {one.values[value]}" for one, value in known)
