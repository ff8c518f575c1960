"""How long LiftGraph takes with smoothing, estimated before it begins.

Smoothed, default rules count, and what they add is no sum over pairs: each merge changes the gain of every
pair of clusters a little. So the compiled search, which computes what a merge has touched and nothing else,
does not apply; the readable one looks at all pairs after each merge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError

if TYPE_CHECKING:
    from mlnlab.structure.lift_problem import LiftProblem

LONGEST = 600.0  # seconds
_SECONDS = 8e-6  # for a pair and a merge; measured on a fold of Cora, as pairs become fewer on the way


def shared_contexts(problem: LiftProblem) -> int:
    """Return in how many hyperedge contexts two constants meet, summed over all pairs."""
    clustered = set(problem.clustered_types)
    constants = len(problem.hypergraph.constants)
    total = 0
    for number, rows in enumerate(problem.rows):
        own = (problem.types[constants + number], *problem.signatures[number])
        for place, type_ in enumerate(own):
            if type_ in clustered:
                _, counts = np.unique(np.delete(rows, place, axis=1), axis=0, return_counts=True)
                total += int((counts * (counts - 1) // 2).sum())
    return total


def refuse_long_smoothing(problem: LiftProblem) -> None:
    """Refuse smoothing where it would take more than ten minutes."""
    pairs, merges = shared_contexts(problem), len(problem.type_of)
    seconds = pairs * merges * _SECONDS
    if seconds > LONGEST:
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
