"""The trees of a factor graph that lie between some of its choices."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.messages.factor_messages import neighbours_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.kernels.messages.sum_product_graph import Factors

Nodes = list[
    tuple[int, int]
]  # a tree from its leaves to its top: each node with that above it, -1 at the top


@dataclass(frozen=True, eq=False)
class Surroundings:
    """The factors around each choice, and in a forest the node above each node.

    Nodes are choices, then clauses, then tables.
    """

    factors: Factors
    near: tuple[tuple[int, ...], ...]  # the factors of each choice, as nodes
    above: tuple[int, ...]  # empty where there are loops
    depths: tuple[int, ...]
    parts: NDArray[np.int64]  # the part of the graph in which a choice is

    @property
    def choices(self) -> int:
        """The number of choices."""
        return len(self.near)

    def edges(self, node: int) -> range:
        """Return the edges of a factor, among those of clauses or among those of tables."""
        factor = node - self.choices
        clauses = len(self.factors.if_falsified)
        is_table = factor >= clauses
        starts = self.factors.table_starts if is_table else self.factors.clause_starts
        factor -= clauses if is_table else 0
        return range(int(starts[factor]), int(starts[factor + 1]))

    def is_table(self, node: int) -> bool:
        """Return whether a factor is a table."""
        return node >= self.choices + len(self.factors.if_falsified)

    def members(self, node: int) -> list[int]:
        """Return the choices of a factor, in the order of its edges."""
        edges = self.edges(node)
        choices = self.factors.table_choices if self.is_table(node) else self.factors.clause_choices
        return [int(choice) for choice in choices[edges.start : edges.stop]]


def surroundings_of(factors: Factors, *, loops: bool) -> Surroundings:
    """Return the surroundings; a forest is walked through once, from one choice of each part."""
    found = neighbours_of(factors)
    starts, number = found.starts.tolist(), len(found.starts) - 1
    of_choice = (found.factors.astype(np.int64) + number).tolist()
    near = tuple(tuple(of_choice[a:b]) for a, b in pairwise(starts))
    nodes = number + len(factors.if_falsified) + len(factors.if_true)
    blank = Surroundings(factors, near, (), (), np.zeros(number, np.int64))
    if loops:
        return blank
    above, depths, parts = [-1] * nodes, [0] * nodes, [-1] * nodes
    for root in range(number):
        waiting = [root] if parts[root] < 0 else []
        while waiting:
            node = waiting.pop()
            parts[node] = root
            for other in near[node] if node < number else blank.members(node):
                if other != above[node]:
                    above[other], depths[other] = node, depths[node] + 1
                    waiting.append(other)
    return Surroundings(factors, near, tuple(above), tuple(depths), np.array(parts[:number], np.int64))


# --- the tree between some choices ----------------------------------------------------------------


def trees_between(around: Surroundings, choices: Sequence[int]) -> Iterator[Nodes]:
    """Yield the smallest trees of factors and choices that hold the choices together."""
    if not around.above:
        yield from _local_trees(around, choices)
        return
    for part in dict.fromkeys(around.parts[list(choices)].tolist()):
        waiting: list[tuple[int, int]] = []
        for choice in choices:
            if around.parts[choice] == part:
                heappush(waiting, (-around.depths[choice], choice))
        seen, found = {node for _, node in waiting}, Nodes()
        while len(waiting) > 1:
            _, node = heappop(waiting)
            found.append((node, around.above[node]))
            if around.above[node] not in seen:
                seen.add(around.above[node])
                heappush(waiting, (-around.depths[around.above[node]], around.above[node]))
        yield [*found, (waiting[0][1], -1)]


def _local_trees(around: Surroundings, choices: Sequence[int]) -> Iterator[Nodes]:
    """Yield trees of factors that hold two or more of the choices, those with most of them first."""
    group = {choice: choice for choice in choices}
    overlaps: dict[int, list[int]] = {}
    for choice in choices:
        for node in around.near[choice]:
            overlaps.setdefault(node, []).append(choice)
    links: dict[int, list[int]] = {choice: [] for choice in choices}
    for node, members in sorted(overlaps.items(), key=lambda pair: -len(pair[1])):
        groups = {group[member] for member in members}
        if len(groups) == len(members) > 1:
            links[node] = members
            for member in members:
                links[member].append(node)
            group = {one: min(groups) if old in groups else old for one, old in group.items()}
    for top in dict.fromkeys(group.values()):
        found, waiting = Nodes(), [(top, -1)]
        while waiting:
            node, above = waiting.pop()
            found.append((node, above))
            waiting += [(other, node) for other in links[node] if other != above]
        yield found[::-1]


def falsifying(factors: Factors, edge: int, choice: int) -> NDArray[np.bool_]:
    """Return which options of a choice falsify its literals in the clause of an edge."""
    options = int(factors.value_starts[choice + 1]) - int(factors.value_starts[choice])
    first = int(factors.bit_starts[edge])
    return np.asarray(factors.bits[first : first + options] != 0)
