"""The search structure of LiftGraph: combinations with their true atoms, index H, gains; changed in place.

This one can be read; :mod:`mlnlab.structure.lift.fast_lift_search` is its compiled twin for more than a few
atoms.
"""

from __future__ import annotations

from collections import defaultdict
from copy import copy
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.structure.lift.clustering_posterior import in_units, log_likelihood, make_comparison_key

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    from mlnlab.structure.lift.clustering_posterior import Smoothing
    from mlnlab.structure.lift.lift_problem import LiftProblem

    Numbers = NDArray[np.int64]

Edge = tuple[int, ...]  # its signature, and its nodes


@dataclass(frozen=True, slots=True)
class Pair:
    """Two clusters that may be merged: the gain in units, and how many combinations there are less then."""

    gain: int
    saved: int
    first: int
    second: int

    @property
    def gains(self) -> bool:
        """Whether merging the two gains at all, beyond rounding errors."""
        return make_comparison_key(self.gain) > 0


class LiftSearch:
    """The clusters and combinations as they are in one state."""

    def __init__(self, problem: LiftProblem, labels: Numbers, penalty: float, smoothing: Smoothing) -> None:
        self.problem, self.labels = problem, labels.copy()
        self.sizes = np.bincount(labels, minlength=len(labels)).tolist()
        self.penalty, self.smoothing = in_units(penalty), smoothing
        self.true: dict[Edge, int] = defaultdict(int)
        self._at: dict[int, set[Edge]] = defaultdict(set)  # H
        self._known: dict[tuple[int, int], tuple[Pair, dict[int, int]]] = {}  # what no merge has changed yet
        self._unruled: dict[int, int] | None = None  # the atoms of the default rules
        self._begin()

    def _begin(self) -> None:
        for signature, rows in enumerate(self.problem.rows):
            for row in self.labels[rows].tolist():
                self._add((signature, *row), 1)

    def _add(self, edge: Edge, true: int) -> None:
        self.true[edge] += true
        for node in set(edge[1:]):
            self._at[node].add(edge)

    def copy(self) -> LiftSearch:
        """Return a search in the same place, to be changed without changing this one."""
        other = copy(self)
        other.labels, other.sizes, other._known = self.labels.copy(), list(self.sizes), dict(self._known)  # noqa: SLF001
        other.true = self.true.copy()
        other._at = defaultdict(set, {node: set(edges) for node, edges in self._at.items()})  # noqa: SLF001
        return other

    def edges_at(self, node: int) -> Collection[Edge]:
        """Return the combinations at a node: index H of algorithm 2."""
        return self._at[node]

    @property
    def hyperedges(self) -> int:
        """The number of combinations with a true atom."""
        return len(self.true)

    def atoms(self, edge: Edge, first: int = -1, second: int = -1) -> int:
        """Return how many atoms a combination has, or would have if the second cluster were in the first."""
        found = 1
        for node in edge[1:]:
            found *= self.sizes[node] + (self.sizes[second] if node == first else 0)
        return found

    def likelihood(self) -> int:
        """Return the log-likelihood in units."""
        total = sum(self._units(true, self.atoms(edge)) for edge, true in self.true.items())
        return total + sum(self._units(0, atoms) for atoms in self.default_atoms().values())

    def default_atoms(self) -> dict[int, int]:
        """Return how many atoms are in no combination with a true one, by cluster of predicates."""
        found: dict[int, int] = defaultdict(int)
        start = self.problem.number_of_constants
        numbers_of_types = len(self.problem.hypergraph.constants)
        for number in range(start, len(self.labels)):
            signature = int(self.problem.type_of[number]) - numbers_of_types
            found[int(self.labels[number])] += self.problem.atoms_of_signature[signature]
        for edge in self.true:
            found[edge[1]] -= self.atoms(edge)
        return dict(found)

    def _units(self, true: int, atoms: int) -> int:
        return in_units(log_likelihood(true, atoms, self.smoothing))

    def groups(self, first: int, second: int) -> dict[Edge, list[Edge]]:
        """Return for each combination that merging two clusters makes those that become it."""
        found: dict[Edge, list[Edge]] = defaultdict(list)
        for edge in sorted({*self.edges_at(first), *self.edges_at(second)}):
            found[edge[0], *(first if node == second else node for node in edge[1:])].append(edge)
        return found

    def pair(self, first: int, second: int) -> Pair:
        """Return two clusters with the gain of merging them."""
        key = first, second
        if key not in self._known:
            self._known[key] = self._measure_pair(first, second)
        pair, covered = self._known[key]
        if not any(self.smoothing):
            return pair
        # The default rules tie all gains to each other.
        units = 0
        for before, after, _ in self._default_changes(covered, first, second):
            units += self._units(0, after) - sum(self._units(0, atoms) for atoms in before)
        return replace(pair, gain=pair.gain + units)

    def _measure_pair(self, first: int, second: int) -> tuple[Pair, dict[int, int]]:
        """Return a gain without default rules, and by cluster of predicates how many atoms get a rule."""
        gain = saved = 0
        covered: dict[int, int] = defaultdict(int)
        for new, old in self.groups(first, second).items():
            atoms = self.atoms(new, first, second)
            gain += self._units(sum(self.true[edge] for edge in old), atoms)
            covered[new[1]] += atoms
            for edge in old:
                gain -= self._units(self.true[edge], self.atoms(edge))
                covered[edge[1]] -= self.atoms(edge)
            saved += len(old) - 1
        return Pair(gain + saved * self.penalty, saved, first, second), covered

    def default_changes(self, first: int, second: int) -> list[tuple[tuple[int, ...], int, str]]:
        """Return for each default rule that a merge changes its atoms before and after, and whose it is."""
        if not any(self.smoothing):
            return []  # they add nothing
        covered = self._measure_pair(first, second)[1]
        changes = self._default_changes(covered, first, second)
        return [
            (before, after, ", ".join(map(self.predicates_of, clusters)))
            for before, after, clusters in changes
        ]

    def _default_changes(
        self, covered: dict[int, int], first: int, second: int
    ) -> list[tuple[tuple[int, ...], int, tuple[int, ...]]]:
        if self._unruled is None:
            self._unruled = self.default_atoms()
        atoms = dict(self._unruled)
        found: list[tuple[tuple[int, ...], int, tuple[int, ...]]] = []
        if first in atoms:
            both = (atoms.pop(first), atoms.pop(second))
            found.append((both, sum(both) - covered[first] - covered[second], (first, second)))
        for cluster, before in sorted(atoms.items()):
            if covered[cluster]:
                found.append(((before,), before - covered[cluster], (cluster,)))
        return found

    def predicates_of(self, cluster: int) -> str:
        """Return the names of the predicates in a cluster of predicates."""
        return ", ".join(map(self.problem.name_of, np.flatnonzero(self.labels == cluster).tolist()))

    def candidates(self, type_: int) -> list[tuple[int, int]]:
        """Return the pairs of a type that share a context."""
        contexts: dict[tuple[object, ...], set[int]] = defaultdict(set)
        for edge in self.true:
            for place in range(1, len(edge)):
                if self.problem.type_of[edge[place]] == type_:
                    contexts[place, edge[:place], edge[place + 1 :]].add(edge[place])
        return sorted({pair for nodes in contexts.values() for pair in combinations(sorted(nodes), 2)})

    def best(self, type_: int) -> Pair | None:
        """Return the best pair of a type, if there is any."""
        found = self.best_pairs(type_, 1)
        return found[0] if found else None

    def best_pairs(self, type_: int, most: int) -> list[Pair]:
        """Return the best pairs of a type; of equal ones that of the smallest numbers first."""
        found = [self.pair(*pair) for pair in self.candidates(type_)]
        found.sort(key=lambda pair: (-make_comparison_key(pair.gain), pair.first, pair.second))
        return found if most < 0 else found[:most]

    def merge(self, first: int, second: int) -> None:
        """Put the second cluster into the first.

        Algorithm 2 as printed takes a replaced hyperedge out of E, but leaves it in H[γ] of its other nodes
        γ; here index H changes for all of them. Gains change where a cluster is in such a hyperedge.
        """
        touched = {node for edge in (*self.edges_at(first), *self.edges_at(second)) for node in edge[1:]}
        self._known = {pair: kept for pair, kept in self._known.items() if touched.isdisjoint(pair)}
        self._unruled = None
        for new, old in self.groups(first, second).items():
            true = sum(self.true[edge] for edge in old)
            for edge in old:
                del self.true[edge]
                for node in set(edge[1:]):
                    self._at[node].discard(edge)
            self._add(new, true)
        del self._at[second]
        self.sizes[first] += self.sizes[second]
        self.sizes[second] = 0
        self.labels[self.labels == second] = first
