"""Every world of a small model by its counts: what exact likelihoods of small models are sums over.

Open atoms that no ground formula ties together are independent, so that log Z, expected counts and their
covariance add up over the connected parts. Of each part the worlds are listed once, and worlds with equal
counts become one row with a multiplicity; other weights then cost a pass over these rows. Parts that are
alike, such as one for each person, are one table.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import log2, prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.kernels.count_tables import tabulate
from mlnlab.kernels.ground_network import new_chain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.ground_example import GroundExample

    Numbers = NDArray[np.float64]

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
    """Return what ground formulas tie together."""
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
    groups = [_grouped(labels[begin:end], number) for begin, end in pairwise(bounds.tolist())]
    kept = [part for part in range(number) if len(groups[0][part])]
    worlds = [float(np.log2(options[groups[0][part]]).sum()) for part in kept]
    choices, of_clauses, of_tables = ([group[part] for part in kept] for group in groups)
    return Parts(choices, of_clauses, of_tables, worlds)


def _lengths(starts: NDArray[np.uint32]) -> NDArray[np.int64]:
    wide = starts.astype(np.int64)
    return wide[1:] - wide[:-1]


def _grouped(labels: NDArray[np.int32], number: int) -> list[NDArray[np.int64]]:
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=number))
    return np.split(order, ends[:-1]) if number else []


def count_tables(example: GroundExample, parts: Parts) -> list[CountTable]:
    """Return the tables of all parts, those that are alike once."""
    found: dict[bytes, CountTable] = {}
    alike: dict[bytes, int] = {}
    for choices, clauses, tables in zip(parts.choices, parts.clauses, parts.tables, strict=True):
        table = _tabulated(example, choices, clauses, tables)
        key = b"|".join(a.tobytes() for a in (table.columns, table.counts, table.log_multiplicities))
        found.setdefault(key, table)
        alike[key] = alike.get(key, 0) + 1
    return [
        CountTable(table.columns, table.counts, table.log_multiplicities, alike[key])
        for key, table in found.items()
    ]


def _tabulated(
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
