"""Paths in a lifted hypergraph: connected sets of hyperedges, each of them once.

Kok and Domingos, "Learning Markov logic network structure via hypergraph lifting" (ICML 2009), section 3.2:
a path is a set of hyperedges in which any two are linked by a chain of hyperedges that share clusters. The
printed algorithm grows paths in every order, so that it finds a set of k hyperedges up to k! times, and keeps
all sets to recognise these. Here each set comes once, and nothing is kept but the way to it: a hyperedge that
was tried at some place is not added below the later ones of that place (the enumeration of Wernicke,
"Efficient detection of network motifs", IEEE/ACM TCBB 3, 2006, over hyperedges in place of vertices).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError, count_of
from mlnlab.structure.paths.variabilized import VariabilizedPath, variabilize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import networkx as nx

    from mlnlab.structure.lift.lifted_hypergraph import LiftedEdge, LiftedHypergraph


@dataclass(frozen=True, slots=True, eq=False)
class Path:
    """A connected set of hyperedges of a lifted hypergraph: their numbers in order."""

    graph: LiftedHypergraph
    edges: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse hyperedges that are not a path of this hypergraph."""
        known, given = len(self.graph.edges), sorted(set(self.edges))
        if not given or given[0] < 0 or given[-1] >= known:
            raise ArgumentError(
                f"A path is made of hyperedges by their numbers, 0 to {known - 1}, not of {self.edges}."
            )
        if not is_connected(self.graph, given):
            raise ArgumentError(f"The hyperedges {given} are not a path: some of them share no cluster.")
        object.__setattr__(self, "edges", tuple(given))

    @property
    def hyperedges(self) -> tuple[LiftedEdge, ...]:
        """The hyperedges themselves."""
        return tuple(self.graph.edges[number] for number in self.edges)

    @property
    def clusters(self) -> tuple[int, ...]:
        """The clusters that it touches, in order."""
        return tuple(sorted({cluster for edge in self.hyperedges for cluster in edge.clusters}))

    @property
    def true_atoms(self) -> int:
        """The number of true ground atoms in its hyperedges."""
        return sum(edge.true for edge in self.hyperedges)

    def variabilize(self) -> VariabilizedPath:
        """Return the path with variables for its clusters."""
        return variabilize(self.graph, self.edges)

    def to_networkx(self) -> nx.Graph[Any]:
        """Return the bipartite graph of its clusters (``bipartite=0``) and hyperedges (``bipartite=1``).

        Clusters are named by their numbers, hyperedges by ``("edge", number)``; an edge's ``positions`` tell
        at which arguments (from 1) the cluster stands.
        """
        import networkx as nx

        graph: nx.Graph[Any] = nx.Graph()
        for cluster in self.clusters:
            size = int(self.graph.sizes[cluster])
            graph.add_node(cluster, bipartite=0, type=self.graph.type_of(cluster), size=size)
        for edge in self.hyperedges:
            name = ("edge", edge.number)
            graph.add_node(name, bipartite=1, predicate=edge.predicate, true=edge.true, atoms=edge.atoms)
            for cluster in dict.fromkeys(edge.clusters):
                positions = tuple(place for place, other in enumerate(edge.clusters, 1) if other == cluster)
                graph.add_edge(cluster, name, positions=positions)
        return graph

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Path) and other.graph is self.graph and other.edges == self.edges

    def __hash__(self) -> int:
        return hash((id(self.graph), self.edges))

    def __repr__(self) -> str:
        return f"<Path of {count_of(len(self.edges), 'hyperedge')}: {self.variabilize()}>"


def is_connected(graph: LiftedHypergraph, edges: Iterable[int]) -> bool:
    """Tell whether hyperedges are linked with each other by shared clusters."""
    rest = list(edges)
    reached = set(graph.edges[rest.pop()].clusters) if rest else set()
    while linked := [edge for edge in rest if not reached.isdisjoint(graph.edges[edge].clusters)]:
        reached.update(cluster for edge in linked for cluster in graph.edges[edge].clusters)
        rest = [edge for edge in rest if edge not in linked]
    return not rest


def connected_paths(
    graph: LiftedHypergraph, longest: int, singles: bool = False
) -> Iterator[tuple[int, ...]]:
    """Yield every connected set of up to ``longest`` hyperedges once: their numbers in order.

    The order is that of the search, depth first, and always the same. Single hyperedges are paths where
    ``singles`` is true; the printed algorithm stores a path only once a hyperedge was added to another. The
    memory is that of the one path and of what can be added along it.
    """
    check_longest(longest)
    for root in range(len(graph.edges)):  # Algorithm 1: for each r(γ1, ..., γn) ∈ E
        if singles:
            yield (root,)
        yield from _longer(graph, (root,), following(graph, (root,)), longest)


def _longer(
    graph: LiftedHypergraph, path: tuple[int, ...], additions: Sequence[int], longest: int
) -> Iterator[tuple[int, ...]]:
    """Yield all extensions of a path by its possible additions: FindPaths(CurPath, V, ω, H)."""
    if len(path) == longest:  # Algorithm 3: if |CurPath| = ω return ∅
        return
    for place, edge in enumerate(additions):  # for each γ ∈ V, for each r(γ1, ..., γn) ∈ H[γ]
        longer = (*path, edge)  # CurPath ← CurPath ∪ {r(γ1, ..., γn)}
        yield tuple(sorted(longer))  # Paths ← Paths ∪ {CurPath}
        if len(longer) < longest:
            # Paths ← Paths ∪ FindPaths(CurPath, V, ω, H): but what was tried here is not added below again,
            # because the sets with it have all been found.
            rest = additions[place + 1 :]
            yield from _longer(graph, longer, following(graph, longer, rest), longest)


def following(graph: LiftedHypergraph, path: Sequence[int], rest: Sequence[int] = ()) -> tuple[int, ...]:
    """Return the hyperedges that are added to a path, in order.

    ``path`` is in the order of adding, ``rest`` what is still to be tried in the place of its last hyperedge.
    Nothing before the first hyperedge is added: all sets with it were found when it came first itself.
    """
    before = {cluster for edge in path[:-1] for cluster in graph.edges[edge].clusters}  # V
    found = dict.fromkeys(rest)
    for cluster in graph.edges[path[-1]].clusters:
        if cluster in before:
            continue  # only V' = clusters that the last hyperedge brings lead to hyperedges not known here
        for edge in graph.edges_of[cluster]:  # H[γ]
            if edge > path[0] and before.isdisjoint(graph.edges[edge].clusters):
                found[edge] = None
    return tuple(found)


def check_longest(longest: int) -> None:
    """Refuse a length that no path can have."""
    if type(longest) is not int or longest < 1:
        raise ArgumentError(f"The longest path has 1 hyperedge or more, not {longest!r:.40}.")
