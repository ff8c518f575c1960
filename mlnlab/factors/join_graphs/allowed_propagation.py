"""Pass messages between clusters of 0/1 tables, and again when a few of their cells have changed.

Sarkhel, Venugopal, Pham, Singla and Gogate (AAAI 2016), "Scalable Learning Algorithms": the join graph
depends on scopes alone, so one serves all worlds; and where few cells differ, the messages of one world are
nearly those of the next.

The messages that have settled in one world are where those of the next begin; where they do not settle from
there, or had not settled, they begin afresh. In a graph with cycles messages may settle at several places,
and the place then depends on the worlds before: :meth:`AllowedPropagation.look_afresh` says where they settle
from messages that say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.factors.join_graphs.cluster_tables import count_starts, refuse_large_clusters, whole_numbers
from mlnlab.kernels.messages.allowed_cells import Tables, room_for_sums
from mlnlab.kernels.messages.allowed_messages import (
    begin,
    change_cells,
    estimate_log_z,
    settle,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.factors.join_graphs.join_graph import JoinGraph, Scope
    from mlnlab.factors.join_graphs.propagation import ClusterParams

    Truths = NDArray[np.bool_]
    # For the number of each constraint that changes its cells that do, a row for each.
    Changes = Mapping[int, NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class AllowedTable:
    """A constraint: its variables, and which of their values it allows together."""

    scope: Scope
    cells: Truths


class AllowedPropagation:
    """The messages of a join graph over constraints, which follow when constraints change."""

    def __init__(self, graph: JoinGraph, tables: Sequence[AllowedTable], params: ClusterParams) -> None:
        """Settle messages that begin with saying nothing; refuse clusters that would be too large."""
        refuse_large_clusters(graph)
        self.graph, self.params, self.constraints = graph, params, tuple(tables)
        self._homes: list[list[AllowedTable]] = [[] for _ in graph.clusters]
        for home, table in zip(graph.homes, self.constraints, strict=True):
            self._homes[home].append(table)
        self.tables = self._lay_out()
        self.sums = room_for_sums(self.tables)
        self.settled = False
        self.settle()

    def _lay_out(self) -> Tables:
        graph = self.graph
        cells = [
            multiply_tables(own, scope, graph.sizes).reshape(-1)
            for own, scope in zip(self._homes, graph.clusters, strict=True)
        ]
        labels = [link.label for link in graph.links for _ in range(2)]
        sources = [cluster for link in graph.links for cluster in (link.one, link.other)]
        targets = [cluster for link in graph.links for cluster in (link.other, link.one)]
        scopes = [graph.clusters[target] for target in targets]
        rows = [number_rows(*pair, graph.sizes) for pair in zip(scopes, labels, strict=True)]
        lengths = [graph.sizes[scope[-1]] if scope else 1 for scope in graph.clusters]
        return Tables(
            count_starts(map(len, cells)), np.concatenate(cells).astype(np.uint8), whole_numbers(lengths),
            count_starts(prod(graph.sizes[one] for one in label) for label in labels),
            whole_numbers(sources), whole_numbers(targets),
            count_starts(np.bincount(whole_numbers(targets), minlength=len(cells))),
            np.argsort(whole_numbers(targets), kind="stable"),
            count_starts(map(len, rows)), np.concatenate([np.zeros(0, np.uint32), *rows]),
            np.array([scope[-1] in label for scope, label in zip(scopes, labels, strict=True)], np.uint8),
            self._turns(sources),
        )  # fmt: skip

    def _turns(self, sources: Sequence[int]) -> NDArray[np.int64]:
        """Return the messages forward in the order of the clusters that send them, and those back."""
        if self.params.turns == "residual":
            return np.zeros(0, np.int64)
        forward = sorted(range(0, len(sources), 2), key=lambda message: sources[message])
        back = sorted(range(1, len(sources), 2), key=lambda message: -sources[message])
        return whole_numbers([*forward, *back])

    # --- messages

    def settle(self, *, afresh: bool = True) -> bool:
        """Send messages until nothing is new or the sweeps are over; return whether nothing is."""
        self.sums.summed[:] = self.sums.touched[:] = self.sums.sent[:] = 0
        return self._settle(afresh=afresh)

    def _settle(self, *, afresh: bool) -> bool:
        params = self.params
        if afresh:
            begin(self.sums)
        most = params.sweeps * len(self.tables.sources)
        self.settled = settle(self.tables, self.sums, params.tolerance, most, params.damping)
        return self.settled

    @property
    def recomputed(self) -> tuple[int, ...]:
        """The numbers of the messages whose sums changed, in whole or in part, since the last change."""
        return tuple(np.flatnonzero(self.sums.summed + self.sums.touched).tolist())

    @property
    def sweeps(self) -> float:
        """How many messages were sent since the last change, for each that there is."""
        return float(self.sums.sent.sum()) / max(1, len(self.sums.sent))

    def estimate_log_z(self) -> float:
        """Return log Z as clusters and separators have it; exact in a tree that has settled."""
        return float(estimate_log_z(self.tables, self.sums))

    def logs(self) -> NDArray[np.float64]:
        """Return the logarithms of the messages, the largest of each being 0."""
        found, starts = self.sums.messages.copy(), self.tables.message_starts
        for start, end in pairwise(starts):
            found[start:end] /= found[start:end].max() or 1.0
        with np.errstate(divide="ignore"):
            return np.log(found)

    # --- changes

    def change(self, changes: Changes) -> bool:
        """Let cells of constraints have their other values; return whether messages settle again."""
        return self._follow(*self._change_constraints(changes))

    def _follow(self, clusters: NDArray[np.int64], cells: NDArray[np.int64]) -> bool:
        """Change cells of clusters, and let messages settle again; return whether they do."""
        self.sums.summed[:] = self.sums.touched[:] = self.sums.sent[:] = 0
        if not len(cells):
            return self.settled
        if not self.settled:
            self.tables.allowed[self.tables.cell_starts[clusters] + cells] ^= 1
            return self._settle(afresh=True)
        change_cells(self.tables, self.sums, clusters, cells)
        return self._settle(afresh=False) or self._settle(afresh=True)

    def _change_constraints(self, changes: Changes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Change constraints; return the clusters, in order, and their cells that change with them."""
        self._turn_constraints(changes)
        affected: dict[int, list[NDArray[np.int64]]] = {}
        for number, cells in changes.items():
            table, home = self.constraints[number], self.graph.homes[number]
            own = affected.setdefault(home, [])
            own += [self._number_cells(home, dict(zip(table.scope, cell, strict=True))) for cell in cells]
        clusters, places = [], []
        for home, parts in sorted(affected.items()):
            numbers = parts[0] if len(parts) == 1 else np.unique(np.concatenate(parts))
            before = self.tables.allowed[self.tables.cell_starts[home] + numbers]
            changed = numbers[self._allows(home, numbers) != before]
            clusters.append(np.full(len(changed), home, np.int64))
            places.append(changed)
        none = np.zeros(0, np.int64)
        return np.concatenate([none, *clusters]), np.concatenate([none, *places])

    def _turn_constraints(self, changes: Changes) -> None:
        for number, cells in changes.items():
            self.constraints[number].cells[tuple(cells.T)] ^= True

    def _allows(self, cluster: int, cells: NDArray[np.int64]) -> Truths:
        """Return which cells of a cluster all its constraints allow."""
        scope, found = self.graph.clusters[cluster], np.ones(len(cells), bool)
        shape = [self.graph.sizes[one] for one in scope]
        values = dict(zip(scope, np.unravel_index(cells, shape), strict=True)) if scope else {}
        for table in self._homes[cluster]:
            found &= table.cells[tuple(values[one] for one in table.scope)]
        return found

    def _number_cells(self, cluster: int, fixed: Mapping[int, int]) -> NDArray[np.int64]:
        """Return the numbers of the cells of a cluster in which some variables have given values."""
        found, stride = np.zeros(1, np.int64), 1
        for variable in reversed(self.graph.clusters[cluster]):
            size = self.graph.sizes[variable]
            if variable in fixed:
                found = found + fixed[variable] * stride
            else:
                found = (np.arange(size)[:, None] * stride + found).reshape(-1)
            stride *= size
        return found

    def look_ahead(self, changes: Changes) -> tuple[float, bool]:
        """Return log Z after changes, and whether messages settle there; all stays as it is."""
        clusters, cells = self._change_constraints(changes)
        try:
            with self._restoring():
                self._follow(clusters, cells)
                return self.estimate_log_z(), self.settled
        finally:
            self._turn_constraints(changes)
            self.tables.allowed[self.tables.cell_starts[clusters] + cells] ^= 1

    def look_afresh(self) -> tuple[float, bool]:
        """Return log Z from messages that begin afresh, and whether these settle; all stays as it is."""
        with self._restoring():
            self.settle()
            return self.estimate_log_z(), self.settled

    @contextmanager
    def _restoring(self) -> Iterator[None]:
        """Let messages be afterwards as they were before; how much was computed stays known."""
        sums, settled = self.sums, self.settled
        own: tuple[NDArray[Any], ...] = (
            sums.messages, sums.sums, sums.errors, sums.news, sums.stale, sums.references,
        )  # fmt: skip
        kept = [array.copy() for array in own]
        try:
            yield
        finally:
            for array, before in zip(own, kept, strict=True):
                array[...] = before
            self.settled = settled


def multiply_tables(tables: Sequence[AllowedTable], scope: Scope, sizes: Mapping[int, int]) -> Truths:
    """Return which values of a scope all tables allow."""
    found = np.ones([sizes[one] for one in scope], bool)
    for table in tables:
        order = sorted(range(len(table.scope)), key=lambda axis: scope.index(table.scope[axis]))
        shape = [sizes[one] if one in table.scope else 1 for one in scope]
        found &= table.cells.transpose(order).reshape(shape)
    return found


def number_rows(scope: Scope, label: Scope, sizes: Mapping[int, int]) -> NDArray[np.uint32]:
    """Return which value of a label the first cell of each row of a cluster has."""
    stride = prod(sizes[one] for one in label)
    found = np.zeros(1, np.uint32)
    for variable in scope[:-1]:
        numbers = np.zeros(sizes[variable], np.uint32)
        if variable in label:
            stride //= sizes[variable]
            numbers = np.arange(sizes[variable], dtype=np.uint32) * np.uint32(stride)
        found = (found[:, None] + numbers).reshape(-1)
    return found
