"""SampleDB and Sample: the ground atoms over which scores sum (Kok and Domingos 2009, algorithm 4).

SampleDB draws a fraction σ of each predicate's ground atoms, true and false ones alike, without replacement
and once for a run. Sample draws at most ν of the ground atoms in the cluster combinations of a path.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.tables import row_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.facts import Facts
    from mlnlab.structure.lifted_hypergraph import LiftedHypergraph

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
        keys = np.arange(atoms) if number == atoms else _drawn(atoms, number, rng)
        found[name] = atoms_with_keys(facts, name, keys)
    return found


def _drawn(atoms: int, number: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return so many different numbers below ``atoms``, in order."""
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


def sampled_path(
    graphs: Sequence[LiftedHypergraph], edges: Sequence[NDArray[np.int64]], facts: Sequence[Facts],
    most: int, rng: np.random.Generator,
) -> list[dict[str, SampledAtoms]]:  # fmt: skip
    """Sample(p, ν): return at most ν ground atoms of a path's cluster combinations, of each database."""
    combinations = [
        (number, graph.edges[edge])
        for number, (graph, chosen) in enumerate(zip(graphs, edges, strict=True)) for edge in chosen.tolist()
    ]  # fmt: skip
    ends = np.cumsum([combination.atoms for _, combination in combinations], dtype=np.int64)
    total = int(ends[-1]) if len(ends) else 0
    drawn = np.arange(total) if total <= most else np.sort(rng.choice(total, most, replace=False))
    places = np.searchsorted(ends, drawn, side="right")
    keys: list[dict[str, list[NDArray[np.int64]]]] = [{} for _ in graphs]
    for place in np.unique(places).tolist():
        number, combination = combinations[place]
        inside = drawn[places == place] - (ends[place] - combination.atoms)
        of_atoms = _keys_inside(graphs[number], combination.predicate, combination.clusters, inside)
        keys[number].setdefault(combination.predicate, []).append(of_atoms)
    return [
        {name: atoms_with_keys(one, name, np.sort(np.concatenate(parts))) for name, parts in own.items()}
        for one, own in zip(facts, keys, strict=True)
    ]


def _keys_inside(
    graph: LiftedHypergraph, predicate: str, clusters: Sequence[int], inside: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the keys of atoms by their numbers within a cluster combination."""
    hypergraph = graph.hypergraph
    types = hypergraph.vocabulary[predicate].types
    keys, scale, rest = np.zeros(len(inside), np.int64), 1, inside
    for type_, cluster in zip(reversed(types), reversed(clusters), strict=True):
        members = graph.members(cluster) - hypergraph.offsets[type_]
        rest, own = np.divmod(rest, len(members))
        keys += hypergraph.constants[type_][members[own]].astype(np.int64) * scale
        scale *= len(hypergraph.vocabulary.domain(type_))
    return keys
