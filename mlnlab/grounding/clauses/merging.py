"""Equal ground clauses as one: fewer and stronger clauses, with the same distribution.

Groundings of one formula, or of several, are often the same clause over open atoms; as one clause they have
the sum of the weights. A literal and its opposite are one clause too: w1 for A and w2 for !A are w1 - w2 for
A, and w2 for every world. What comes out with weight 0 is dropped. What every world has is kept as a
constant, so log-weights stay what they were; which formulas a clause came from is no longer known.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.grounding.clauses.clause_store import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses

    Numbers = NDArray[np.int64]
    Arrays = dict[str, NDArray[Any]]


def merge_clauses(clauses: GroundClauses) -> GroundClauses:
    r"""Return clauses of which no two are equal, and tables likewise, with the same log-weights.

    The source of a merged clause is the first one's; no clause is ``negated``, and weights of clauses with
    several literals may be negative. Queries are dropped.

    >>> import mlnlab as ml
    >>> from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
    >>> from mlnlab.grounding.question.question import pose
    >>> mln = ml.MLN.from_text("Smokes(person)\nCancer(person)\n1.5 Smokes(x) => Cancer(x)\n-1 Cancer(x)")
    >>> db = ml.Database.from_text("Smokes(Anna)", mln)
    >>> fewer = merge_clauses(ground_clauses(pose(mln, db, ["Cancer"])))
    >>> fewer.weights.tolist(), fewer.literals.tolist()
    ([0.5], [0])
    """
    starts, literals, weights = (
        clauses.starts.astype(np.int64),
        clauses.literals.copy(),
        clauses.weights.copy(),
    )
    firsts, soft_units = starts[:-1], (np.diff(starts) == 1) & ~clauses.hard
    # Where a conjunction is kept as its negation's clause, each world has the formula's weight in addition.
    constant = -float(weights[clauses.negated & ~clauses.hard].sum())
    turned = np.flatnonzero(soft_units)
    turned = turned[literals[firsts[turned]] & 1 == 1]
    constant += _turn(literals, weights, firsts[turned], turned)
    first = first_equal(starts, literals)
    weights = np.bincount(first, np.where(clauses.hard, 0.0, weights), len(first)).astype(np.float64)
    hard = np.zeros(len(first), np.bool_)
    hard[first[clauses.hard]] = True
    constant += float(weights[hard].sum())  # in every world that there is, what must hold holds
    weights[hard] = 0.0
    kept = np.flatnonzero((first == np.arange(len(first))) & (hard | (weights != 0)))
    turned = np.flatnonzero(soft_units & (weights < 0))
    constant += _turn(literals, weights, firsts[turned], turned)
    arrays = {
        **rows_of(starts, literals, kept), **_merged_tables(clauses),
        "weights": weights[kept], "hard": hard[kept], "negated": np.zeros(len(kept), np.bool_),
        "clause_sources": clauses.clause_sources[kept],
    }  # fmt: skip
    read_only: Any = {name: frozen(array) for name, array in arrays.items()}
    return replace(clauses, constant=clauses.constant + constant, groundings=None, **read_only)


def _turn(
    literals: NDArray[np.uint32], weights: NDArray[np.float64], places: Numbers, units: Numbers
) -> float:
    """Turn units into their opposites in place: w for A is -w for !A, and w for every world; return that."""
    literals[places] ^= np.uint32(1)
    for_all = float(weights[units].sum())
    weights[units] *= -1
    return for_all


def first_equal(starts: Numbers, literals: NDArray[np.uint32]) -> Numbers:
    """Return for each clause the number of the first one with the same literals (they are sorted)."""
    sizes = np.diff(starts)
    first = np.arange(len(sizes))
    for size in np.unique(sizes).tolist():
        own = np.flatnonzero(sizes == size)
        rows = literals[starts[own][:, None] + np.arange(size)]
        order = np.lexsort(rows.T[::-1])
        new = np.ones(len(own), np.bool_)
        new[1:] = (rows[order][1:] != rows[order][:-1]).any(axis=1)
        heads = own[order][new]  # the sort is stable, so the head of a group has its lowest number
        first[own[order]] = heads[np.cumsum(new) - 1]
    return first


def rows_of(starts: Numbers, literals: NDArray[np.uint32], kept: Numbers) -> Arrays:
    """Return some of the clauses: where they begin, and their literals."""
    sizes = np.diff(starts)[kept]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    places = np.arange(ends[-1]) + np.repeat(starts[:-1][kept] - ends[:-1], sizes)
    return {"starts": ends.astype(np.uint32), "literals": literals[places]}


def _merged_tables(clauses: GroundClauses) -> Arrays:
    """Return the tables with those over the same choices, true of the same options, as one.

    Where some of them count, all stay as they are: gates know their tables by number.
    """
    if len(clauses.gates.roots):
        return {}
    starts = clauses.scope_starts.tolist()
    groups: dict[tuple[bytes, int, bool], list[int]] = {}
    for table, (begin, end) in enumerate(pairwise(starts)):
        if clauses.table_hard[table] or clauses.table_weights[table]:
            key = clauses.scope[begin:end].tobytes(), int(clauses.bit_starts[table])
            groups.setdefault((*key, bool(clauses.table_hard[table])), []).append(table)
    first = np.array([tables[0] for tables in groups.values()], np.int64)
    scopes = rows_of(clauses.scope_starts.astype(np.int64), clauses.scope, first)
    strides = rows_of(clauses.scope_starts.astype(np.int64), clauses.strides, first)
    summed = [float(clauses.table_weights[tables].sum()) for tables in groups.values()]
    return {
        "scope_starts": scopes["starts"], "scope": scopes["literals"], "strides": strides["literals"],
        "bit_starts": clauses.bit_starts[first], "table_weights": np.array(summed, np.float64),
        "table_hard": clauses.table_hard[first], "table_sources": clauses.table_sources[first],
    }  # fmt: skip
