"""Lifted hypergraphs as the arrays in which paths are looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.structure.paths.variabilized import PathAtom, VariabilizedPath, canonical_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.kernels.lift.path_embeddings import Hyperedges
    from mlnlab.kernels.lift.path_growing import Predicates
    from mlnlab.kernels.lift.path_patterns import Paths
    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

    Numbers = NDArray[np.int64]
    Rows = NDArray[np.int16]
    Domains = NDArray[np.uint64]


class Places:
    """Several lifted hypergraphs side by side, and where variabilised paths lie in them.

    Their hyperedges are numbered anew, predicate by predicate in the order of names; ``owners`` and
    ``numbers`` say which hyperedge of which hypergraph each of them is, and ``clusters`` the number of each
    hypergraph's cluster.
    """

    def __init__(self, graphs: Sequence[LiftedHypergraph]) -> None:
        """Give clusters, predicates and hyperedges numbers."""
        self.graphs = tuple(graphs)
        declared = _list_types(self.graphs)
        self.names = tuple(sorted(declared))
        self.width = 1 + max((len(types) for types in declared.values()), default=0)
        number_of = {name: number for number, name in enumerate(self.names)}
        listed = sorted(
            (number_of[edge.predicate], owner, edge.number)
            for owner, graph in enumerate(self.graphs)
            for edge in graph.edges
        )
        self.words = (len(listed) + 63) // 64
        self.owners = np.array([owner for _, owner, _ in listed], np.int64)
        self.numbers = np.array([number for _, _, number in listed], np.int64)
        self.predicates = _predicates([declared[name] for name in self.names], self.width - 1)
        self.clusters: dict[tuple[int, int], int] = {}  # of the hypergraphs, told apart
        self.graph = self._hyperedges(np.array([predicate for predicate, _, _ in listed], np.int64))

    def _hyperedges(self, predicates: Numbers) -> Hyperedges:
        from mlnlab.kernels.lift.path_embeddings import Hyperedges

        arities = self.predicates.arities
        clusters = np.full((len(predicates), self.width - 1), -1, np.int32)
        true = np.empty(len(predicates), np.int64)
        names = self.clusters
        for place, (owner, number) in enumerate(
            zip(self.owners.tolist(), self.numbers.tolist(), strict=True)
        ):
            edge = self.graphs[owner].edges[number]
            numbered = [names.setdefault((owner, cluster), len(names)) for cluster in edge.clusters]
            clusters[place, : len(numbered)] = numbered
            true[place] = edge.true
        slots = np.cumsum(arities) - arities
        table = slots[:, None] + np.arange(max(1, self.width - 1))
        starts, at = _lists(predicates, clusters, table, arities, len(names))
        first = np.searchsorted(predicates, np.arange(len(self.names) + 1)).astype(np.int64)
        return Hyperedges(clusters, true, first, table, starts, at, len(names))

    def single_atoms(self) -> Rows:
        """Return the variabilised paths of single hyperedges, each once."""
        alike = {
            canonical_path([(edge.predicate, edge.clusters)]) for graph in self.graphs for edge in graph.edges
        }
        rows = [self.rows_of(path) for path in sorted(alike)]
        return np.array(rows, np.int16).reshape(-1, 1, self.width)

    def rows_of(self, path: VariabilizedPath) -> Rows:
        """Return a path as the kernels read it."""
        number_of = {name: number for number, name in enumerate(self.names)}
        rows = np.full((len(path.atoms), self.width), -1, np.int16)
        for place, (predicate, variables) in enumerate(path.atoms):
            rows[place, 0] = number_of[predicate]
            rows[place, 1 : 1 + len(variables)] = variables
        return rows

    def split(self, edges: Numbers) -> tuple[Numbers, ...]:
        """Return the hyperedges of each hypergraph by their own numbers, in order."""
        found = [np.sort(self.numbers[edges[self.owners[edges] == o]]) for o in range(len(self.graphs))]
        for numbers in found:
            numbers.setflags(write=False)
        return tuple(found)

    def union(self, path: VariabilizedPath) -> tuple[Numbers, ...]:
        """Return the hyperedges of each hypergraph at which a path lies somewhere."""
        return self.split(self._mark_hyperedges(path))

    def true_atoms(self, path: VariabilizedPath) -> int:
        """Return how many true ground atoms there are where a path lies."""
        return int(self.graph.true[self._mark_hyperedges(path)].sum())

    def supports(
        self, rows: Rows, enough: int, shorter: Paths | None = None, below: Domains | None = None
    ) -> tuple[Domains, NDArray[np.bool_]]:
        """Return where each atom of paths lies, and which paths do (``kernels/lift/supported_paths.py``)."""
        from mlnlab.kernels.lift.path_patterns import Paths
        from mlnlab.kernels.lift.supported_paths import support

        if shorter is None or below is None:
            shorter = Paths(np.empty((0, 0, self.width), np.int16), np.empty(1, np.int64))
            below = np.empty((0, 0, self.words), np.uint64)
        domains, lies = np.empty((*rows.shape[:2], self.words), np.uint64), np.zeros(len(rows), np.uint8)
        support(rows, self.graph, shorter, below, enough, domains, lies)
        return domains, lies.astype(np.bool_)

    def unpack_domains(self, domains: Domains) -> NDArray[np.bool_]:
        """Return a row of marks for each path: whether one of its atoms lies at each hyperedge."""
        union = np.ascontiguousarray(np.bitwise_or.reduce(domains, axis=1)).astype("<u8", copy=False)
        bits = np.unpackbits(union.view(np.uint8), axis=1, bitorder="little")
        return bits[:, : len(self.numbers)].astype(np.bool_)

    def _mark_hyperedges(self, path: VariabilizedPath) -> Numbers:
        if not {atom.predicate for atom in path.atoms} <= set(self.names):
            return np.zeros(0, np.int64)
        domains, _ = self.supports(self.rows_of(path)[None], 0)
        return np.flatnonzero(self.unpack_domains(domains)[0])


def path_of(rows: Rows, names: Sequence[str]) -> VariabilizedPath:
    """Return a path that the kernels wrote."""
    atoms = ((names[row[0]], tuple(v for v in row[1:] if v >= 0)) for row in rows.tolist())
    return VariabilizedPath(tuple(PathAtom(name, variables) for name, variables in atoms))


def _list_types(graphs: Sequence[LiftedHypergraph]) -> dict[str, tuple[str, ...]]:
    """Return the types of each predicate that has hyperedges."""
    found: dict[str, tuple[str, ...]] = {}
    for graph in graphs:
        for name in dict.fromkeys(edge.predicate for edge in graph.edges):
            types = graph.hypergraph.vocabulary.predicates[name].types
            if found.setdefault(name, types) != types:
                raise ArgumentError(
                    f"{name} is declared in two ways, {name}({', '.join(found[name])}) and "
                    f"{name}({', '.join(types)}); the databases need the same predicates."
                )
    return found


def _predicates(types: Sequence[tuple[str, ...]], most: int) -> Predicates:
    from mlnlab.kernels.lift.path_growing import Predicates

    numbers: dict[str, int] = {}
    table = np.full((len(types), most), -1, np.int64)
    for row, names in enumerate(types):
        table[row, : len(names)] = [numbers.setdefault(name, len(numbers)) for name in names]
    return Predicates(np.array([len(names) for names in types], np.int64), table)


def _lists(
    predicates: Numbers, clusters: NDArray[np.int32], slots: Numbers, arities: Numbers, number: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return for each place and each cluster where its hyperedges begin, and these."""
    edges, places = np.nonzero(clusters >= 0)
    keys = slots[predicates[edges], places] * number + clusters[edges, places]
    order = np.argsort(keys, kind="stable")
    counts = np.bincount(keys, minlength=int(arities.sum()) * number)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return starts, edges[order].astype(np.int32)
