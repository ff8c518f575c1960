"""SampleDB and Sample: the ground atoms over which scores sum (Kok and Domingos 2009, algorithm 4).

SampleDB draws a fraction σ of each predicate's ground atoms, true and false ones alike, without replacement
and once for a run. Sample draws at most ν of the ground atoms in the cluster combinations of a path.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.facts.tables import row_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.facts.sorted_facts import Facts
    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

    Rows = NDArray[np.uint32]

MOST_SAMPLED = 2_000_000  # ground atoms of one predicate of one database; more add nothing to a mean


@dataclass(frozen=True, slots=True, eq=False)
class SampledAtoms:
    """Some ground atoms of one predicate of one database, as rows of constant numbers in order."""

    predicate: str
    sizes: tuple[int, ...]
    rows: Rows
    keys: NDArray[np.int64]  # one number for each row, in increasing order
    truths: NDArray[np.bool_]

    @property
    def true(self) -> int:
        """How many of them are true."""
        return int(np.count_nonzero(self.truths))

    def holds(self, keys: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of some atoms, given by their keys, are among them."""
        places = np.searchsorted(self.keys, keys)
        return np.asarray(self.keys[np.minimum(places, max(0, len(self.keys) - 1))] == keys if len(self.keys)
                          else np.zeros(len(keys), bool))  # fmt: skip


def sampled_database(facts: Facts, fraction: float, rng: np.random.Generator) -> dict[str, SampledAtoms]:
    """SampleDB(D, σ): return a fraction of the ground atoms of every predicate."""
    found = {}
    for name, predicate in facts.vocabulary.predicates.items():
        sizes = tuple(facts.size(type_) for type_ in predicate.types)
        atoms = prod(sizes)
        number = min(atoms, MOST_SAMPLED, max(1, round(fraction * atoms)))
        keys = np.arange(atoms) if number == atoms else _draw_numbers(atoms, number, rng)
        found[name] = atoms_with_keys(facts, name, keys)
    return found


def _draw_numbers(atoms: int, number: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw ``number`` different numbers below ``atoms``, in order."""
    if atoms <= 8 * MOST_SAMPLED:
        return np.sort(rng.permutation(atoms)[:number])
    found = np.zeros(0, np.int64)
    while len(found) < number:  # too many to be written down; few are drawn twice
        found = np.unique(np.concatenate([found, rng.integers(atoms, size=number - len(found))]))
    return found


def atoms_with_keys(facts: Facts, predicate: str, keys: NDArray[np.int64]) -> SampledAtoms:
    """Return the ground atoms of some keys, which are in increasing order."""
    sizes = tuple(facts.size(type_) for type_ in facts.vocabulary[predicate].types)
    rows = np.zeros((len(keys), len(sizes)), np.uint32)
    rest = keys
    for place in range(len(sizes) - 1, -1, -1):
        rest, rows[:, place] = np.divmod(rest, max(1, sizes[place]))
    (true,) = row_keys([facts.rows(predicate)], sizes)
    return SampledAtoms(predicate, sizes, rows, keys, np.isin(keys, true))


@dataclass(frozen=True, slots=True, eq=False)
class Combinations:
    """The cluster combinations of a lifted hypergraph as arrays, for drawing atoms from them."""

    graph: LiftedHypergraph
    atoms: NDArray[np.int64]  # of each hyperedge
    predicates: NDArray[np.int64]  # of each hyperedge, by its number among the names
    names: tuple[str, ...]
    clusters: NDArray[np.int64]  # a row for each hyperedge, filled up with -1
    members: NDArray[np.int64]  # all nodes, cluster by cluster
    firsts: NDArray[np.int64]  # for each cluster, its first place among the members

    @classmethod
    def of(cls, graph: LiftedHypergraph) -> Combinations:
        """Take the clusters of a lifted hypergraph apart."""
        atoms = np.array([edge.atoms for edge in graph.edges], np.int64)
        members = np.argsort(graph.labels, kind="stable")
        firsts = np.concatenate([[0], np.cumsum(graph.sizes)[:-1]]) if len(members) else members
        names = tuple(dict.fromkeys(edge.predicate for edge in graph.edges))
        number_of = {name: number for number, name in enumerate(names)}
        predicates = np.array([number_of[edge.predicate] for edge in graph.edges], np.int64)
        clusters = np.full((len(atoms), max((len(e.clusters) for e in graph.edges), default=0)), -1, np.int64)
        for edge in graph.edges:
            clusters[edge.number, : len(edge.clusters)] = edge.clusters
        return cls(graph, atoms, predicates, names, clusters, members, firsts)

    def keys(self, edges: NDArray[np.int64], inside: NDArray[np.int64]) -> dict[str, NDArray[np.int64]]:
        """Return the keys of atoms by predicate; each is given by its hyperedge and its number there."""
        found, predicates = {}, self.predicates[edges]
        for number in np.unique(predicates).tolist():
            own, name = predicates == number, self.names[number]
            found[name] = np.sort(self._keys(name, self.clusters[edges[own]], inside[own]))
        return found

    def _keys(
        self, predicate: str, clusters: NDArray[np.int64], inside: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        hypergraph = self.graph.hypergraph
        types = hypergraph.vocabulary[predicate].types
        keys, scale, rest = np.zeros(len(inside), np.int64), 1, inside
        for place in range(len(types) - 1, -1, -1):
            own = clusters[:, place]
            rest, number = np.divmod(rest, self.graph.sizes[own])
            nodes = self.members[self.firsts[own] + number] - hypergraph.offsets[types[place]]
            keys += hypergraph.constants[types[place]][nodes].astype(np.int64) * scale
            scale *= len(hypergraph.vocabulary.domain(types[place]))
        return keys


def drawn_keys(
    combinations: Sequence[Combinations], edges: Sequence[NDArray[np.int64]], most: int,
    rng: np.random.Generator,
) -> list[dict[str, NDArray[np.int64]]]:  # fmt: skip
    """Draw at most ``most`` ground atoms of a path's cluster combinations: keys by predicate and database."""
    chosen = np.concatenate([np.zeros(0, np.int64), *edges])
    owners = np.repeat(np.arange(len(edges)), [len(own) for own in edges])
    sizes = [found.atoms[own] for found, own in zip(combinations, edges, strict=True)]
    ends = np.cumsum(np.concatenate([np.zeros(0, np.int64), *sizes]))
    total = int(ends[-1]) if len(ends) else 0
    drawn = np.arange(total) if total <= most else np.sort(rng.choice(total, most, replace=False))
    places = np.searchsorted(ends, drawn, side="right")
    inside = drawn - np.concatenate([[0], ends])[places]
    found = []
    for number, one in enumerate(combinations):
        own = owners[places] == number
        found.append(one.keys(chosen[places[own]], inside[own]))
    return found


def sampled_path(
    combinations: Sequence[Combinations], edges: Sequence[NDArray[np.int64]], facts: Sequence[Facts],
    most: int, rng: np.random.Generator,
) -> list[dict[str, SampledAtoms]]:  # fmt: skip
    """Sample(p, ν): return at most ν ground atoms of a path's cluster combinations, of each database."""
    return [
        {name: atoms_with_keys(one, name, these) for name, these in keys.items()}
        for one, keys in zip(facts, drawn_keys(combinations, edges, most, rng), strict=True)
    ]
