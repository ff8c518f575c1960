"""Expected counts without error: by tables of all worlds where parts are small, else by junction trees.

E_w[n_i] is the derivative of log Z by w_i (lecture notes, eq. 27-34), and the covariance of the counts the
second derivative. Tables give both at once; a junction tree gives E_w[n_i], and the curvature along any
direction at about the same cost again (:mod:`mlnlab.learning.counts.count_trees`).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import log2, prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.factors.trees.junction_trees import junction_tree
from mlnlab.grounding.networks.ground_factors import TrueGroundings, ground_factors
from mlnlab.kernels.chains.world_arrays import new_chain
from mlnlab.kernels.counting.world_count_tables import tabulate
from mlnlab.learning.counts.count_trees import CountTree
from mlnlab.learning.problems.curvature import Covariance, Curvature
from mlnlab.steps import budget
from mlnlab.steps.free_memory import refuse_beyond_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.learning.problems.ground_example import GroundExample

    Numbers = NDArray[np.float64]
    from numpy.typing import NDArray


# --- tabulate the worlds of a small model by their counts, to sum exact likelihoods over --------

# Open atoms that no ground formula ties together are independent, so that log Z, expected counts and their
# covariance add up over the connected parts. Of each part the worlds are listed once, and worlds with equal
# counts become one row with a multiplicity; other weights then cost a pass over these rows. Parts that are
# alike, such as one for each person, are one table.

MOST_WORLDS = 1 << 20  # of one part: a second or so
_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class CountTable:
    """The worlds of a part by their counts, and how many parts are like it."""

    columns: NDArray[np.int64]  # the formulas
    counts: Numbers
    log_multiplicities: Numbers
    parts: int

    def moments(self, weights: Numbers) -> tuple[float, Numbers, Numbers]:
        """Return log Z of one part, its expected counts and their covariance."""
        scores = self.counts @ weights[self.columns] + self.log_multiplicities
        peak = float(scores.max())
        shares = np.exp(scores - peak)
        total = float(shares.sum())
        shares /= total
        expected = shares @ self.counts
        centred = self.counts - expected
        return peak + float(np.log(total)), expected, (centred * shares[:, None]).T @ centred


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The connected parts of a ground model: the choices, clauses and tables of each."""

    choices: list[NDArray[np.int64]]
    clauses: list[NDArray[np.int64]]
    tables: list[NDArray[np.int64]]
    worlds: list[float]  # log2 of the number of worlds


def parts_of(example: GroundExample) -> Parts:
    """Return the connected parts of a ground example."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    clauses = example.ground.clauses
    options = clauses.options.astype(np.int64)
    owners = np.repeat(np.arange(len(options)), _lengths(clauses.first_atoms))
    of_clause = owners[clauses.literals.astype(np.int64) >> 1]
    clause = np.repeat(np.arange(clauses.number_of_clauses), _lengths(clauses.starts))
    of_table = clauses.scope.astype(np.int64)
    table = np.repeat(np.arange(clauses.number_of_tables), _lengths(clauses.scope_starts))
    nodes = len(options) + clauses.number_of_clauses + clauses.number_of_tables
    left = np.concatenate([of_clause, of_table])
    right = np.concatenate([len(options) + clause, len(options) + clauses.number_of_clauses + table])
    graph = coo_matrix((np.ones(len(left), np.int8), (left, right)), (nodes, nodes))
    number, labels = connected_components(graph, directed=False)
    bounds = np.cumsum([0, len(options), clauses.number_of_clauses, clauses.number_of_tables])
    groups = [_group_labels(labels[begin:end], number) for begin, end in pairwise(bounds.tolist())]
    kept = [part for part in range(number) if len(groups[0][part])]
    worlds = [float(np.log2(options[groups[0][part]]).sum()) for part in kept]
    choices, of_clauses, of_tables = ([group[part] for part in kept] for group in groups)
    return Parts(choices, of_clauses, of_tables, worlds)


def _lengths(starts: NDArray[np.uint32]) -> NDArray[np.int64]:
    wide = starts.astype(np.int64)
    return wide[1:] - wide[:-1]


def _group_labels(labels: NDArray[np.int32], number: int) -> list[NDArray[np.int64]]:
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=number))
    return np.split(order, ends[:-1]) if number else []


def count_tables(example: GroundExample, parts: Parts) -> list[CountTable]:
    """Return the tables of all parts, those that are alike once."""
    found: dict[bytes, CountTable] = {}
    alike: dict[bytes, int] = {}
    for choices, clauses, tables in zip(parts.choices, parts.clauses, parts.tables, strict=True):
        table = _tabulate_counts(example, choices, clauses, tables)
        key = b"|".join(a.tobytes() for a in (table.columns, table.counts, table.log_multiplicities))
        found.setdefault(key, table)
        alike[key] = alike.get(key, 0) + 1
    return [
        CountTable(table.columns, table.counts, table.log_multiplicities, alike[key])
        for key, table in found.items()
    ]


def _tabulate_counts(
    example: GroundExample, choices: NDArray[np.int64], clauses: NDArray[np.int64], tables: NDArray[np.int64]
) -> CountTable:
    ground = example.ground
    sources = np.concatenate(
        [ground.clauses.clause_sources[clauses], ground.clauses.table_sources[tables]]
    ).astype(np.int64)
    columns = np.unique(sources[~example.hard[sources]])
    local = np.full(example.formulas, -1, np.int64)
    local[columns] = np.arange(len(columns))
    options = ground.clauses.options.astype(np.int64)
    worlds = prod(options[choices].tolist())
    start = np.where(np.isin(np.arange(len(options)), choices), 0, example.data).astype(np.uint32)
    chain = new_chain(ground.network, start, np.ones(4, np.uint64))
    rows, numbers = np.zeros((0, len(columns)), np.int32), np.zeros(0, np.int64)
    for begin in range(0, worlds, _AT_ONCE):
        counts = np.zeros((min(_AT_ONCE, worlds - begin), len(columns)), np.int32)
        possible = np.zeros(len(counts), np.uint8)
        tabulate(
            ground.network, chain, choices,
            clauses, local[ground.clauses.clause_sources[clauses]],
            ground.clauses.negated[clauses].astype(np.uint8),
            tables, local[ground.clauses.table_sources[tables]], counts, possible,
        )  # fmt: skip
        kept = counts[possible == 1]
        every = np.concatenate([rows, kept])
        weights = np.concatenate([numbers, np.ones(len(kept), np.int64)])
        rows, places = np.unique(every, axis=0, return_inverse=True)
        numbers = np.bincount(places.ravel(), weights, len(rows)).astype(np.int64)
    return CountTable(columns, rows.astype(np.float64), np.log(numbers.astype(np.float64)), 1)


def largest(parts: Parts) -> float:
    """Return log2 of the number of worlds of the largest part."""
    return max(parts.worlds, default=0.0)


def all_fit(parts: Parts, most: int = MOST_WORLDS) -> bool:
    """Return whether every part is small enough to list its worlds."""
    return largest(parts) <= log2(most) and sum(2.0**bits for bits in parts.worlds) <= 64 * most


MOST_CLAUSES = 1_000_000  # of which a junction tree is built
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
        bare = example.reweigh_clauses(np.zeros(example.formulas)).clauses
        if bare.number_of_clauses > MOST_CLAUSES:
            raise TooLargeError(
                f"A junction tree would be built of {bare.number_of_clauses:,} ground clauses (up to"
                f" {MOST_CLAUSES:,}).", float(bare.number_of_clauses), _WAYS,
            )  # fmt: skip
        factors = ground_factors(bare)
        tree = junction_tree(factors.graph, most_cells=budget.MOST_LIKELIHOOD_CELLS)
        if tree.cells > budget.MOST_LIKELIHOOD_CELLS:
            seconds = tree.cells / budget.LIKELIHOOD_CELLS_A_SECOND
            raise TooLargeError(
                f"An exact likelihood would pass messages through {tree.cells:,} cells at every step (up to"
                f" {budget.MOST_LIKELIHOOD_CELLS:,}): {seconds:,.0f} seconds, some hundred times over.",
                float(tree.cells), _WAYS,
            )  # fmt: skip
        refuse_beyond_memory(
            budget.LIKELIHOOD_CELL * tree.cells, "The junction tree of an exact likelihood", _WAYS
        )
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
        """Return log Z and expected counts; the tree's values also give the curvature."""
        found = self.tree.at(weights)
        return Exact(found.log_z, found.compute_expected_counts(), found)


def exact_counts(example: GroundExample, most_worlds: int = MOST_WORLDS) -> ByTables | ByJunctionTree:
    """Return an exact counter for a ground example, or refuse by an estimate."""
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
