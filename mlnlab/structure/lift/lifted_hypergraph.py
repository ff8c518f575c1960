"""A lifted hypergraph: clusters of constants are nodes, and each hyperedge stands for true atoms among them.

Kok and Domingos, "Learning Markov logic network structure via hypergraph lifting" (ICML 2009), section 3.1.
A cluster is named by the smallest number of its constants, so that a clustering has one way to be written
down, however it came about: an array with the cluster of each constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.errors import count_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import networkx as nx
    from numpy.typing import NDArray

    from mlnlab.model.database.hypergraph import Hypergraph

    Numbers = NDArray[np.int64]


class LiftedEdge(NamedTuple):
    """A hyperedge r(γ1, ..., γn): its clusters in the order of arguments, its true and all its atoms."""

    number: int
    predicate: str
    clusters: tuple[int, ...]
    true: int
    atoms: int


@dataclass(frozen=True, eq=False)
class LiftedHypergraph:
    """The clusters of a hypergraph's constants, and the hyperedges among them that hold a true atom.

    ``labels[node]`` is the cluster of a node of ``hypergraph``: the smallest node in it.
    """

    hypergraph: Hypergraph
    labels: Numbers

    @cached_property
    def clusters(self) -> Numbers:
        """The clusters, in order."""
        return _read_only(np.flatnonzero(self.labels == np.arange(len(self.labels))))

    @cached_property
    def sizes(self) -> Numbers:
        """For each node the size of the cluster that it names, 0 where it names none."""
        return _read_only(np.bincount(self.labels, minlength=len(self.labels)))

    def members(self, cluster: int) -> Numbers:
        """Return the nodes of a cluster."""
        return np.flatnonzero(self.labels == cluster)

    def type_of(self, cluster: int) -> str:
        """Return the type of a cluster's constants."""
        return self.hypergraph.node(cluster).type

    def names(self, cluster: int) -> tuple[str, ...]:
        """Return the constants in a cluster, in the order of their numbers."""
        return tuple(self.hypergraph.node(node).constant for node in self.members(cluster).tolist())

    def name_of(self, cluster: int, most: int = 2) -> str:
        """Return the name of a cluster: ``Paula``, ``Paula, Pedro`` or ``Paula, Pedro +2``."""
        members = self.members(cluster)
        shown = ", ".join(self.hypergraph.node(node).constant for node in members[:most].tolist())
        return f"{shown} +{len(members) - most}" if len(members) > most else shown

    @cached_property
    def edges(self) -> tuple[LiftedEdge, ...]:
        """The hyperedges, predicate by predicate, in the order of their clusters."""
        return tuple(self._edges())

    def _edges(self) -> Iterator[LiftedEdge]:
        number = 0
        for predicate, rows in self.hypergraph.members.items():
            if not rows.shape[1]:
                continue  # a proposition touches no node
            combinations, counts = np.unique(self.labels[rows], axis=0, return_counts=True)
            atoms = self.sizes[combinations].astype(object).prod(axis=1)
            for clusters, true, of in zip(combinations.tolist(), counts.tolist(), atoms, strict=True):
                yield LiftedEdge(number, predicate, tuple(clusters), true, int(of))
                number += 1

    @cached_property
    def edges_of(self) -> dict[int, tuple[int, ...]]:
        """H: the numbers of the hyperedges at each cluster, in order."""
        found: dict[int, list[int]] = {cluster: [] for cluster in self.clusters.tolist()}
        for edge in self.edges:
            for cluster in dict.fromkeys(edge.clusters):
                found[cluster].append(edge.number)
        return {cluster: tuple(edges) for cluster, edges in found.items()}

    def to_networkx(self) -> nx.Graph[Any]:
        """Return the bipartite graph: clusters with ``bipartite=0``, hyperedges with ``bipartite=1``.

        Clusters are their numbers and hyperedges are :class:`LiftedEdge`. A line's ``positions`` tell at
        which arguments (from 1) the cluster stands in the hyperedge.
        """
        import networkx as nx

        graph: nx.Graph[Any] = nx.Graph()
        for cluster in self.clusters.tolist():
            named = {"name": self.name_of(cluster), "members": self.names(cluster)}
            graph.add_node(cluster, bipartite=0, type=self.type_of(cluster), **named)
        for edge in self.edges:
            graph.add_node(edge, bipartite=1, predicate=edge.predicate, true=edge.true, atoms=edge.atoms)
            for cluster in dict.fromkeys(edge.clusters):
                places = (place for place, other in enumerate(edge.clusters, 1) if other == cluster)
                graph.add_edge(cluster, edge, positions=tuple(places))
        return graph

    def __repr__(self) -> str:
        clusters = count_of(len(self.clusters), "cluster")
        constants = count_of(len(self.labels), "constant")
        return f"<LiftedHypergraph: {clusters} of {constants}, {count_of(len(self.edges), 'hyperedge')}>"


def separate_constants(hypergraph: Hypergraph) -> LiftedHypergraph:
    """Return a hypergraph with each constant in a cluster of its own."""
    return LiftedHypergraph(hypergraph, _read_only(np.arange(hypergraph.number_of_nodes)))


def _read_only(values: Numbers) -> Numbers:
    values.setflags(write=False)
    return values
