"""Expected counts without error: by tables of all worlds where parts are small, else by junction trees.

E_w[n_i] is the derivative of log Z by w_i (lecture notes, eq. 27-34), and the covariance of the counts the
second derivative. Tables give both at once; a junction tree gives E_w[n_i], and its curvature along a
direction by differences of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.factors.elimination_order import MOST_CELLS, elimination_order, refuse_large
from mlnlab.factors.factor import Factor
from mlnlab.factors.factor_graph import FactorGraph
from mlnlab.factors.junction_tree import junction_tree
from mlnlab.grounding.ground_factors import GroundFactors, ground_factors
from mlnlab.inference.junction_tree import MOST_WORK, Grounded, expected_true
from mlnlab.learning.count_tables import MOST_WORLDS, all_fit, count_tables, largest, parts_of
from mlnlab.learning.curvature import Covariance, Curvature

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mlnlab.factors.junction_tree import JunctionTree
    from mlnlab.learning.count_tables import CountTable
    from mlnlab.learning.ground_example import GroundExample

    Numbers = NDArray[np.float64]

_DIFFERENCE = 1e-4  # of weights, for curvature by differences


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """log Z over the open atoms, the expected counts of open groundings, and the curvature."""

    log_z: float
    expected: Numbers
    curvature: Curvature


class ByTables:
    """Sums over all worlds, part by part."""

    name = "sums over all worlds"

    def __init__(self, example: GroundExample, tables: Sequence[CountTable]) -> None:
        """Keep the tables."""
        self._formulas, self._tables = example.formulas, tuple(tables)

    @property
    def tables(self) -> tuple[CountTable, ...]:
        """The worlds of each kind of part by their counts."""
        return self._tables

    def at(self, weights: Numbers) -> Exact:
        """Return log Z, expected counts and covariance at some weights."""
        log_z, expected = 0.0, np.zeros(self._formulas)
        covariance = np.zeros((self._formulas, self._formulas))
        for table in self._tables:
            own, mean, spread = table.moments(weights)
            log_z += table.parts * own
            expected[table.columns] += table.parts * mean
            covariance[np.ix_(table.columns, table.columns)] += table.parts * spread
        return Exact(log_z, expected, Covariance(covariance))


class ByJunctionTree:
    """Messages in a junction tree whose factors are weighed anew each time."""

    name = "junction tree"

    def __init__(self, example: GroundExample) -> None:
        """Build the tree, or refuse it by its size."""
        bare = example.reweighted(np.zeros(example.formulas)).clauses
        self._example = example
        self._factors = ground_factors(bare)
        self._tree: JunctionTree = junction_tree(self._factors.graph)
        refuse_large(self._factors.graph, self._tree.cliques, MOST_CELLS)
        if self._tree.cells > MOST_WORK:
            raise TooLargeError(
                f"An exact likelihood would pass messages through {self._tree.cells:,} cells at every step.",
                float(self._tree.cells),
                ["predict fewer predicates", "use the pseudo-likelihood", "sample the expected counts"],
            )
        self._counts = {
            frozenset(known.variables): {
                source: true for source, true in known.of_sources.items() if not example.hard[source]
            }
            for known in self._factors.counts
        }

    def at(self, weights: Numbers) -> Exact:
        """Return log Z and expected counts; curvature is found by differences, where it is asked for."""
        log_z, expected = self._log_z_and_expected(weights)
        return Exact(log_z, expected, Differenced(lambda w: self._log_z_and_expected(w)[1], weights))

    def _log_z_and_expected(self, weights: Numbers) -> tuple[float, Numbers]:
        factors = []
        for factor in self._factors.graph.factors:
            logs = factor.logs
            for source, true in self._counts.get(frozenset(v.name for v in factor.scope), {}).items():
                logs = logs + weights[source] * true
            factors.append(Factor(factor.scope, logs))
        graph = FactorGraph(tuple(factors), self._factors.graph.variables)
        # The same scopes in the same order, so the same tree; only its tables are new.
        tree = junction_tree(graph, method=self._order)
        found = tree.calibrated()
        ground = Grounded(GroundFactors(self._factors.clauses, graph, self._factors.counts), tree)
        expected = expected_true(ground, found)
        return float(found.log_z), np.where(self._example.hard, 0.0, expected)

    @cached_property
    def _order(self) -> list[str]:
        return list(elimination_order(self._factors.graph).variables)


@dataclass(frozen=True, eq=False)
class Differenced:
    """The curvature of a log Z by differences of its derivatives; one evaluation pair for each direction."""

    expected: Callable[[Numbers], Numbers]
    weights: Numbers

    def times(self, direction: Numbers) -> Numbers:
        """Return H d by a central difference."""
        size = float(np.linalg.norm(direction))
        if size == 0.0:
            return np.zeros(len(direction))
        step = _DIFFERENCE / size * direction
        return (self.expected(self.weights + step) - self.expected(self.weights - step)) * (
            size / (2 * _DIFFERENCE)
        )

    def quadratic(self, direction: Numbers) -> float:
        """Return d'Hd."""
        return float(direction @ self.times(direction))

    @cached_property
    def _matrix(self) -> Numbers:
        columns = [self.times(row) for row in np.eye(len(self.weights))]
        found = np.array(columns)
        return (found + found.T) / 2

    def diagonal(self) -> Numbers:
        """Return the diagonal of H."""
        return np.diag(self._matrix).copy()

    def matrix(self) -> Numbers:
        """Return H."""
        return self._matrix


def exact_counts(example: GroundExample, most_worlds: int = MOST_WORLDS) -> ByTables | ByJunctionTree:
    """Return what computes expected counts of a ground example exactly, or refuse by an estimate."""
    parts = parts_of(example)
    if all_fit(parts, most_worlds):
        return ByTables(example, count_tables(example, parts))
    try:
        return ByJunctionTree(example)
    except TooLargeError as refusal:
        raise TooLargeError(
            f"The exact likelihood sums over 2^{largest(parts):.0f} worlds of atoms that depend on each "
            "other, and a "
            f"junction tree is too large as well: {refusal}", float(largest(parts)),
            ["predict fewer predicates, given the others: query=[...]",
             'use the pseudo-likelihood: method="pll"',
             'sample the expected counts: method="pscg" or "cd"'],
        ) from None  # fmt: skip
