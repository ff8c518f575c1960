"""How long LiftGraph takes with smoothing, estimated before it begins.

Smoothed, default rules count, and what they add is no sum over pairs: each merge changes the gain of every
pair of clusters a little. So the compiled search, which computes what a merge has touched and nothing else,
does not apply; the readable one looks at all pairs after each merge.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.steps import budget

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mlnlab.structure.lift.lift_problem import LiftProblem

    Numbers = NDArray[np.int64]

MOST_LISTED = 3_000_000


def pairs_at_first(problem: LiftProblem) -> int:
    """Return how many pairs of constants share a hyperedge context; of very many, in how many contexts."""
    contexts = [np.bincount(inverse) for _, inverse in contexts_of(problem)]
    shared = sum(int((sizes * (sizes - 1) // 2).sum()) for sizes in contexts)
    if shared > MOST_LISTED:
        return shared
    found: set[tuple[int, int]] = set()
    for nodes, inverse in contexts_of(problem):
        order = np.argsort(inverse, kind="stable")
        for members in np.split(nodes[order], np.flatnonzero(np.diff(inverse[order])) + 1):
            if len(members) > 1:
                found.update(combinations(sorted(members.tolist()), 2))
    return len(found)


def contexts_of(problem: LiftProblem) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield for each place of a hyperedge that is clustered the nodes there, and the numbers of contexts."""
    clustered = set(problem.clustered_types)
    constants = len(problem.hypergraph.constants)
    for number, rows in enumerate(problem.rows):
        own = (problem.types[constants + number], *problem.signatures[number])
        for place, type_ in enumerate(own):
            if type_ in clustered:
                yield rows[:, place], _number_rows(np.delete(rows, place, axis=1))


def _number_rows(rows: Numbers) -> Numbers:
    """Return numbers that are equal where rows are."""
    found = np.zeros(len(rows), np.int64)
    for column in rows.T:  # below the square of how many rows there are, so that no number is too large
        _, found = np.unique(found * (int(column.max(initial=0)) + 1) + column, return_inverse=True)
    return found.ravel()


def refuse_long_smoothing(problem: LiftProblem) -> None:
    """Refuse smoothing where it would take more than ten minutes."""
    pairs, merges = pairs_at_first(problem), len(problem.type_of)
    seconds = pairs * merges * budget.STRUCTURE.smoothed_pair
    if seconds > budget.MOST_SMOOTHING:
        raise TooLargeError(
            f"With smoothing every merge changes the gain of every pair. There are up to {pairs:,} pairs of "
            f"clusters that share a context and up to {merges:,} merges, which would take about "
            f"{seconds / 60:,.0f} minutes.",
            seconds,
            [
                "Lift without smoothing, and smooth the rules afterwards (cluster_rules, prediction_rules).",
                "Lift parts of the database one by one.",
            ],
        )
