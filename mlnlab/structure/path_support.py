"""All different variabilised paths of lifted hypergraphs, and what supports them, without listing the paths.

A lifted hypergraph may have 10^8 paths that look like a few thousand variabilised ones. So these are grown:
to each variabilised path every atom is added that shares a variable with it, and what results is kept where
it lies somewhere, its variables at different clusters. Nothing is lost by that, because a connected set of
hyperedges has one that can be taken away so that the rest is connected. The support of a variabilised path
is the union of all its places (Kok and Domingos 2009, algorithm 4: NumTrueGroundAtoms).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.structure.paths import check_longest
from mlnlab.structure.variabilized import PathAtom, SupportedPath, VariabilizedPath, canonical_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mlnlab.structure.lifted_hypergraph import LiftedHypergraph


@dataclass(frozen=True, slots=True)
class PathProgress:
    """How far the search for paths of one length is: ``grown`` of ``shorter`` paths were added to."""

    length: int
    grown: int
    shorter: int
    tried: int
    found: int
    kept: int

    @property
    def expected(self) -> int:
        """How many paths of this length there will be, if it goes on like this."""
        return round(self.found * self.shorter / max(1, self.grown))


def supported_paths(
    graphs: Sequence[LiftedHypergraph],
    longest: int,
    *,
    singles: bool = False,
    fewest: float = 0,
    progress: Callable[[PathProgress], None] | None = None,
) -> Iterator[SupportedPath]:
    """Yield each variabilised path of up to ``longest`` atoms once, shorter ones first, with its support.

    A path is yielded where its hyperedges hold ``fewest`` true ground atoms per atom or more, in all
    databases together (heuristic 1 of the paper); longer ones are looked for in any case. Single atoms are
    paths where ``singles`` is true. ``progress`` is told now and then how far the search is.
    """
    check_longest(longest)
    places = [Places(graph) for graph in graphs]
    types = _types(graphs)
    level = list(dict.fromkeys(canonical_path([edge[1:3]]) for graph in graphs for edge in graph.edges))
    for length in range(1, longest + 1):
        found: list[VariabilizedPath] = []
        kept = 0
        tried: set[VariabilizedPath] = set()
        for grown, shorter in enumerate(level):
            for path in [shorter] if length == 1 else _grown(shorter, types):
                if path in tried:
                    continue
                tried.add(path)
                edges = tuple(place.union(path) for place in places)
                if not any(len(numbers) for numbers in edges):
                    continue
                found.append(path)
                true = sum(
                    graph.edges[n].true for graph, ns in zip(graphs, edges, strict=True) for n in ns.tolist()
                )
                if true >= fewest * length and (length > 1 or singles):
                    kept += 1
                    yield SupportedPath(path, edges, true)
            if progress is not None:
                progress(PathProgress(length, grown + 1, len(level), len(tried), len(found), kept))
        level = found


def _types(graphs: Sequence[LiftedHypergraph]) -> dict[str, tuple[str, ...]]:
    return {
        predicate: graph.hypergraph.vocabulary.predicates[predicate].types
        for graph in graphs
        for predicate in dict.fromkeys(edge.predicate for edge in graph.edges)
    }


def _grown(path: VariabilizedPath, types: Mapping[str, tuple[str, ...]]) -> Iterator[VariabilizedPath]:
    """Yield a path with one more atom, in all ways that share a variable with it."""
    known = {
        v: type_
        for atom in path.atoms
        for v, type_ in zip(atom.variables, types[atom.predicate], strict=True)
    }
    for predicate, arguments in types.items():
        for variables in _arguments(arguments, known):
            atom = PathAtom(predicate, variables)
            if atom not in path.atoms and any(v in known for v in variables):
                yield canonical_path([*path.atoms, atom])


def _arguments(types: Sequence[str], known: Mapping[int, str]) -> Iterator[tuple[int, ...]]:
    if not types:
        yield ()
        return
    for variable in (*(v for v, type_ in known.items() if type_ == types[0]), len(known)):
        for rest in _arguments(types[1:], {**known, variable: types[0]}):
            yield (variable, *rest)


class Places:
    """Where atoms can lie in a lifted hypergraph."""

    def __init__(self, graph: LiftedHypergraph) -> None:
        self.graph = graph
        self.at: dict[tuple[str, int, int], list[tuple[int, tuple[int, ...]]]] = defaultdict(list)
        self.of: dict[str, list[tuple[int, tuple[int, ...]]]] = defaultdict(list)
        for number, predicate, clusters, _, _ in graph.edges:
            self.of[predicate].append((number, clusters))
            for place, cluster in enumerate(clusters):
                self.at[predicate, place, cluster].append((number, clusters))

    def union(self, path: VariabilizedPath) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Return the hyperedges at which a path lies somewhere."""
        found: set[int] = set()
        for first in range(len(path.atoms)):
            atoms = _in_order(path.atoms, first)
            for number, clusters in self.of.get(atoms[0].predicate, ()):
                if number not in found:
                    found.update(self._embedded(atoms, [(number, clusters)], {}) or ())
        return np.array(sorted(found), np.int64)

    def true_atoms(self, path: VariabilizedPath) -> int:
        """Return how many true ground atoms there are where a path lies."""
        return sum(self.graph.edges[number].true for number in self.union(path).tolist())

    def _embedded(
        self,
        atoms: Sequence[PathAtom],
        candidates: Sequence[tuple[int, tuple[int, ...]]],
        at: Mapping[int, int],
    ) -> tuple[int, ...] | None:
        """Return hyperedges at which atoms lie, each variable at a cluster of its own; or None."""
        variables = atoms[0].variables
        for number, clusters in candidates:
            now = dict(at)
            if any(now.setdefault(v, c) != c for v, c in zip(variables, clusters, strict=True)):
                continue
            if len(set(now.values())) < len(now):
                continue
            if len(atoms) == 1:
                return (number,)
            following = atoms[1]
            nearest = min(
                (
                    self.at.get((following.predicate, place, now[v]), [])
                    for place, v in enumerate(following.variables)
                    if v in now
                ),
                key=len,
            )
            rest = self._embedded(atoms[1:], nearest, now)
            if rest is not None:
                return (number, *rest)
        return None


def _in_order(atoms: Sequence[PathAtom], first: int) -> list[PathAtom]:
    """Return the atoms from one on, each sharing a variable with one before it."""
    order, rest = [atoms[first]], [atom for place, atom in enumerate(atoms) if place != first]
    while rest:
        known = {v for atom in order for v in atom.variables}
        order.append(max(rest, key=lambda atom: len(known.intersection(atom.variables))))
        rest.remove(order[-1])
    return order
