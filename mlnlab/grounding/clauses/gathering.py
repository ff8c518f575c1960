"""Equal groundings of one formula as one clause that stands for all of them.

``P(x) ^ Q(y) => R(x)`` has as many groundings for each x as there are y with Q(y), and over open atoms of P
and R they are one clause. A sampler that looks at it once, with the sum of the weights, makes the same moves;
for how many groundings it stands is kept, so that formulas are counted as before. Across formulas, see
:mod:`mlnlab.grounding.clauses.merging`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.grounding.clauses.clause_store import frozen
from mlnlab.grounding.clauses.merging import first_equal, rows_of

if TYPE_CHECKING:
    from mlnlab.grounding.clauses.ground_clauses import GroundClauses


def gathered_where_it_pays(clauses: GroundClauses) -> GroundClauses:
    """Return gathered clauses if they have at most half of the literals, else the clauses as they are."""
    fewer = gather_clauses(clauses)
    return fewer if 2 * len(fewer.literals) <= len(clauses.literals) else clauses


def gather_clauses(clauses: GroundClauses) -> GroundClauses:
    r"""Return clauses of which no two of one formula are equal; weights are those of all their groundings.

    >>> import mlnlab as ml
    >>> from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
    >>> from mlnlab.grounding.question.question import pose
    >>> mln = ml.MLN.from_text("Friends(person, person)\nSmokes(person)\n0.5 Friends(x, y) => Smokes(x)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Anna, Carl)\nFriends(Bob, Carl)", mln)
    >>> fewer = gather_clauses(ground_clauses(pose(mln, db, ["Smokes"])))
    >>> fewer.groundings.tolist(), fewer.weights.tolist()
    ([1, 2], [0.5, 1.0])
    """
    starts = clauses.starts.astype(np.int64)
    first = first_equal(starts, clauses.literals)
    each = np.ones(len(first), np.int64) if clauses.groundings is None else clauses.groundings
    kinds = 4 * clauses.clause_sources.astype(np.int64) + 2 * clauses.negated + clauses.hard
    _, heads, group = np.unique(kinds * (len(first) + 1) + first, return_index=True, return_inverse=True)
    groundings = np.bincount(group, each).astype(np.uint32)
    weights = np.bincount(group, clauses.weights).astype(np.float64)
    order = np.lexsort((heads, groundings, clauses.negated[heads], clauses.clause_sources[heads]))
    kept = heads[order]
    arrays = {
        **rows_of(starts, clauses.literals, kept),
        "weights": weights[order], "groundings": groundings[order],
        **{name: getattr(clauses, name)[kept] for name in ("hard", "negated", "clause_sources")},
    }  # fmt: skip
    read_only: Any = {name: frozen(array) for name, array in arrays.items()}
    return replace(clauses, **read_only)
