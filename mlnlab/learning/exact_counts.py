"""Expected counts without error: by tables of all worlds where parts are small, else by junction trees.

E_w[n_i] is the derivative of log Z by w_i (lecture notes, eq. 27-34), and the covariance of the counts the
second derivative. Tables give both at once; a junction tree gives E_w[n_i], and the curvature along any
direction at about the same cost again (:mod:`mlnlab.learning.count_trees`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.factors.junction_tree import junction_tree
from mlnlab.grounding.ground_factors import TrueGroundings, ground_factors
from mlnlab.learning.count_tables import MOST_WORLDS, all_fit, count_tables, largest, parts_of
from mlnlab.learning.count_trees import CountTree
from mlnlab.learning.curvature import Covariance, Curvature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.learning.count_tables import CountTable
    from mlnlab.learning.ground_example import GroundExample

    Numbers = NDArray[np.float64]

MOST_CELLS = 1 << 25  # of a junction tree's tables: a gigabyte, and a second or so at every step
MOST_CLAUSES = 1_000_000  # of which a junction tree is built
_CELLS_A_SECOND = 4e7
_QUICK = 1 << 24  # cells times formulas, for Newton's method
_WAYS = (
    "predict fewer predicates, given the others: query=[...]",
    'use the pseudo-likelihood: method="pll"',
    'sample the expected counts: method="pscg" or "cd"',
)


@dataclass(frozen=True, slots=True, eq=False)
class Exact:
    """log Z over the open atoms, the expected counts of open groundings, and the curvature."""

    log_z: float
    expected: Numbers
    curvature: Curvature


class ByTables:
    """Sums over all worlds, part by part."""

    name = "sums over all worlds"
    has_quick_curvature = True

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
    """Messages in a junction tree whose tables are weighed anew each time."""

    name = "junction tree"

    def __init__(self, example: GroundExample) -> None:
        """Build the tree, or refuse it by its size."""
        bare = example.reweighted(np.zeros(example.formulas)).clauses
        if bare.number_of_clauses > MOST_CLAUSES:
            raise TooLargeError(
                f"A junction tree would be built of {bare.number_of_clauses:,} ground clauses (up to"
                f" {MOST_CLAUSES:,}).", float(bare.number_of_clauses), _WAYS,
            )  # fmt: skip
        factors = ground_factors(bare)
        tree = junction_tree(factors.graph, most_cells=MOST_CELLS)
        if tree.cells > MOST_CELLS:
            raise TooLargeError(
                f"An exact likelihood would pass messages through {tree.cells:,} cells at every step (up to"
                f" {MOST_CELLS:,}): {tree.cells / _CELLS_A_SECOND:,.0f} seconds, some hundred times over.",
                float(tree.cells), _WAYS,
            )  # fmt: skip
        counts = [
            TrueGroundings(
                known.variables,
                {source: true for source, true in known.of_sources.items() if not example.hard[source]},
            )
            for known in factors.counts
        ]
        self.tree = CountTree(tree.passing(), [part for part in counts if part.of_sources], example.formulas)

    @property
    def has_quick_curvature(self) -> bool:
        """Whether the whole matrix of covariances costs little more than an evaluation."""
        return self.tree.cells * self.tree.formulas <= _QUICK

    def at(self, weights: Numbers) -> Exact:
        """Return log Z and expected counts; what the tree knows also gives the curvature."""
        found = self.tree.at(weights)
        return Exact(found.log_z, found.expected(), found)


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
            f"other, and a junction tree is too large as well: {refusal.summary}",
            float(largest(parts)), _WAYS,
        ) from None  # fmt: skip
