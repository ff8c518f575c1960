"""Message passing in a junction tree: from the leaves to the roots, and back (Shafer and Shenoy, 1990).

The message from a clique to a neighbour is the product of the clique's factors and of all messages that it
got from its other neighbours, summed over what the two do not share. Two messages along each edge are enough
for the distribution of every clique. Nothing is divided, so that weights of zero need no special care, and no
clique's table is kept: at any time there is one of them, the one at work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, inf, prod
from typing import Literal, TypeAlias

import numpy as np

from mlnlab.factors.graphs.factor_graph import FactorGraph
from mlnlab.factors.graphs.log_tables import (
    LogTable,
    Places,
    maximised_out,
    scale_table,
    scale_tables,
    summed_out,
)
from mlnlab.factors.graphs.random_variables import Assignment
from mlnlab.factors.trees.clique_tree import CliqueTree
from mlnlab.factors.trees.elimination_order import fix_known_variables
from mlnlab.factors.trees.running_intersection import Edge
from mlnlab.factors.trees.table_limits import CELL_BYTES, MOST_CELLS, WAYS, refuse_large
from mlnlab.steps.free_memory import refuse_beyond_memory
from mlnlab.steps.values.encoding import storable

Phase: TypeAlias = Literal["ready", "inward", "outward"]


@storable("factors.MessageState")
@dataclass(frozen=True, slots=True, eq=False)
class MessageState:
    """The state after one message: from which clique, to which, and its table over their separator.

    Its largest logarithm is 0. ``log_z`` is known as soon as all roots have got their messages.
    """

    step: int
    phase: Phase
    source: int | None
    target: int | None
    message: LogTable | None
    log_z: float | None

    def metrics(self) -> Mapping[str, float]:
        """Return the number of messages, and log Z where it is known and finite."""
        known = {} if self.log_z is None or self.log_z == -inf else {"log Z": self.log_z}
        cells = float(self.message.logs.size) if self.message else 0.0
        return {"messages": float(self.step), "cells of the message": cells, **known}


@dataclass(frozen=True, slots=True, eq=False)
class MessagePassing:
    """A junction tree with evidence, and the order of its messages; iteration gives the steps.

    ``graph`` has the open variables, ``scopes`` those of each clique, as numbers in ``graph``.
    """

    tree: CliqueTree
    graph: FactorGraph
    scopes: tuple[tuple[int, ...], ...]
    roots: tuple[int, ...]
    schedule: tuple[Edge, ...]  # child and parent, in the order in which messages go inward

    def __iter__(self) -> Iterator[MessageState]:
        """Yield the tree before any message, then a state for each message."""
        return message_steps(self)

    def __len__(self) -> int:
        return 1 + 2 * len(self.schedule)

    def costs(self) -> list[float]:
        """Return the cells that the message behind each state goes through; none at the end."""
        sizes = self.graph.sizes()
        cells = [float(prod(sizes[variable] for variable in scope)) for scope in self.scopes]
        inward = [cells[child] for child, _ in self.schedule]
        return [*inward, *(cells[parent] for _, parent in reversed(self.schedule)), 0.0]

    def separator(self, one: int, other: int) -> tuple[int, ...]:
        """Return the open variables of a separator."""
        return tuple(sorted(set(self.scopes[one]) & set(self.scopes[other])))

    def tables_at(self) -> tuple[list[list[LogTable]], float]:
        """Return for each clique the factors that are at home there, scaled, and their scale."""
        found: list[list[LogTable]] = [[] for _ in self.scopes]
        tables, scale = scale_tables(self.graph.log_tables())
        for home, table in zip(self.tree.homes, tables, strict=True):
            found[home].append(table)
        return found, scale

    def __repr__(self) -> str:
        return f"<MessagePassing in {self.tree!r}: {len(self) - 1} messages>"


def message_passing(
    tree: CliqueTree, evidence: Assignment | None = None, *, most_cells: int = MOST_CELLS
) -> MessagePassing:
    """Return the passing of messages in a tree; refused where a clique's table would be too large."""
    graph = fix_known_variables(tree.graph, evidence)
    scopes = tuple(
        tuple(graph.number(name) for name in tree.names(clique) if name in graph)
        for clique in range(len(tree.cliques))
    )
    refuse_large(graph, scopes, most_cells)
    roots, schedule = inward_schedule(tree.neighbours())
    passing = MessagePassing(tree, graph, scopes, roots, schedule)
    sizes = graph.sizes()
    cells = sum(prod(sizes[v] for v in passing.separator(*edge)) for edge in schedule)
    refuse_beyond_memory(2 * CELL_BYTES * cells, f"The {2 * len(schedule):,} messages of the tree", WAYS)
    return passing


def message_steps(passing: MessagePassing) -> Iterator[MessageState]:
    """Yield the tree before any message, then a state for each message."""
    near, sizes = passing.tree.neighbours(), passing.graph.sizes()
    tables, scale = passing.tables_at()
    sent: dict[Edge, LogTable] = {}

    def message(source: int, target: int) -> tuple[LogTable, float]:
        kept = passing.separator(source, target)
        out = [variable for variable in passing.scopes[source] if variable not in kept]
        others = [sent[other, source] for other in near[source] if other != target]
        sent[source, target], taken = scale_table(summed_out([*tables[source], *others], kept, out, sizes))
        return sent[source, target], taken

    step = 0
    scales = [scale]
    log_z = _log_z(passing, tables, sent, scales) if not passing.schedule else None
    yield MessageState(step, "ready", None, None, None, log_z)
    for child, parent in passing.schedule:
        step += 1
        found, taken = message(child, parent)
        scales.append(taken)
        if step == len(passing.schedule):
            log_z = _log_z(passing, tables, sent, scales)
        yield MessageState(step, "inward", child, parent, found, log_z)
    for child, parent in reversed(passing.schedule):
        step += 1
        found, _ = message(parent, child)
        yield MessageState(step, "outward", parent, child, found, log_z)


def _log_z(
    passing: MessagePassing,
    tables: Sequence[Sequence[LogTable]],
    sent: Mapping[Edge, LogTable],
    scales: Sequence[float],
) -> float:
    """Return log Z: the sum of the roots' totals and the logarithms by which messages were scaled."""
    near, sizes = passing.tree.neighbours(), passing.graph.sizes()
    parts = list(scales)
    for root in passing.roots:
        got = [sent[other, root] for other in near[root]]
        total = summed_out([*tables[root], *got], (), passing.scopes[root], sizes)
        parts.append(float(total.logs))
    return -inf if -inf in parts else fsum(parts)


def inward_schedule(near: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], tuple[Edge, ...]]:
    """Return a root for each part of a forest, and the edges from child to parent, the farthest first."""
    roots: list[int] = []
    edges: list[Edge] = []
    seen: set[int] = set()
    for start in range(len(near)):
        if start not in seen:
            roots.append(_centre(near, start))
            part = _outward(near, roots[-1])
            seen |= {roots[-1], *(child for child, _ in part)}
            edges += reversed(part)
    return tuple(roots), tuple(edges)


def _outward(near: Sequence[Sequence[int]], root: int) -> list[Edge]:
    """Return the edges of a tree, child and parent, those near the root first."""
    found: list[Edge] = []
    row, seen = [root], {root}
    while row:
        steps = [(child, parent) for parent in row for child in near[parent] if child not in seen]
        seen |= {child for child, _ in steps}
        row = [child for child, _ in steps]
        found += steps
    return found


def _centre(near: Sequence[Sequence[int]], start: int) -> int:
    """Return the middle of a longest path of a tree: from there no clique is far."""
    end = (_outward(near, start) or [(start, start)])[-1][0]
    edges = _outward(near, end)
    if not edges:
        return start
    above = dict(edges)
    path = [edges[-1][0]]
    while path[-1] in above:
        path.append(above[path[-1]])
    return path[len(path) // 2]


# --- the most probable assignment -----------------------------------------------------------------


def maximising_values(passing: MessagePassing) -> dict[int, int] | None:
    """Return values of all open variables with the largest weight; ``None`` where every weight is zero.

    Messages go inward with maxima in place of sums; outward goes what the maxima were taken at.
    """
    near, sizes = passing.tree.neighbours(), passing.graph.sizes()
    tables, _ = passing.tables_at()
    sent: dict[Edge, LogTable] = {}
    taken_at: dict[int, tuple[tuple[int, ...], list[int], Places]] = {}
    for clique, parent in [*passing.schedule, *((root, None) for root in passing.roots)]:
        kept = () if parent is None else passing.separator(clique, parent)
        out = [variable for variable in passing.scopes[clique] if variable not in kept]
        got = [sent[other, clique] for other in near[clique] if other != parent]
        found, best = maximised_out([*tables[clique], *got], kept, out, sizes)
        if float(found.logs.max()) == -inf:
            return None
        taken_at[clique] = kept, out, best
        if parent is not None:
            sent[clique, parent], _ = scale_table(found)
    values: dict[int, int] = {}
    for clique in reversed(taken_at):
        kept, out, best = taken_at[clique]
        number = int(best[tuple(values[variable] for variable in kept)])
        shape = [sizes[variable] for variable in out]
        places = np.unravel_index(number, shape) if shape else ()
        values |= {variable: int(place) for variable, place in zip(out, places, strict=True)}
    return values
