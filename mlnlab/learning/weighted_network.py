"""Ground clauses for sampling at any weights: equal ones as one, whose strength is a sum of weights.

Which ground clauses are equal does not depend on the weights, so it is found once: M holds, for each
different clause, how often each formula made it, and strengths are M w. A unit clause and its opposite are
one, with M negative for the opposite: MC-SAT would otherwise hold an atom where a strong formula wants it,
against a stronger one that wants the opposite, for a very long time. The counts of a world follow from the
satisfied clauses: n = constant + M' s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.grounding.clause_store import frozen
from mlnlab.grounding.merging import first_equal
from mlnlab.inference.chains import Ground, prepared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.clauses import GroundClauses
    from mlnlab.kernels.ground_network import Chain

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class WeightedNetwork:
    """Different clauses and tables, how formulas made them, and what every world has of each formula."""

    ground: Ground
    made: Any  # M: scipy.sparse, a row for each clause and behind them the tables, a column for each formula
    constant: Numbers
    hard: NDArray[np.bool_]  # of the rows

    def at(self, weights: Numbers) -> Ground:
        """Return the clauses with the strengths that the formulas' weights give them."""
        strengths = np.where(self.hard, 0.0, self.made @ weights)
        number = self.ground.clauses.number_of_clauses
        clauses: Any = {
            "weights": frozen(strengths[:number]),
            "table_weights": frozen(strengths[number:]),
        }
        finite = np.where(self.hard, inf, strengths)
        network = self.ground.network._replace(
            strengths=frozen(finite[:number]), table_strengths=frozen(finite[number:])
        )
        return Ground(replace(self.ground.clauses, **clauses), network, self.ground.groups)

    def counts(self, chain: Chain) -> Numbers:
        """Return how many open groundings of each formula hold in a chain's world."""
        network = self.ground.network
        of_tables = (
            network.bits[network.table_starts.astype(np.int64) + chain.cells] if len(chain.cells) else ()
        )
        holds = np.concatenate([chain.satisfied != 0, np.asarray(of_tables, np.float64)])
        return np.asarray(self.constant + self.made.T @ holds)


def weighted_network(clauses: GroundClauses, hard_formulas: NDArray[np.bool_]) -> WeightedNetwork:
    """Find the different ones among ground clauses."""
    from scipy.sparse import coo_matrix

    starts, literals = clauses.starts.astype(np.int64), clauses.literals.copy()
    sources = clauses.clause_sources.astype(np.int64)
    signs = np.where(clauses.negated, -1.0, 1.0)
    units = np.flatnonzero((np.diff(starts) == 1) & ~clauses.hard)
    opposite = units[literals[starts[units]] & 1 == 1]
    literals[starts[opposite]] ^= np.uint32(1)
    signs[opposite] *= -1
    # What must hold is kept apart from what is merely wanted, also where the literals are the same.
    first = first_equal(starts, literals)
    _, heads, group = np.unique(2 * first + clauses.hard, return_index=True, return_inverse=True)
    soft = ~clauses.hard
    formulas, tables = len(hard_formulas), clauses.number_of_tables
    constant = np.bincount(sources[soft & (signs < 0)], minlength=formulas).astype(np.float64)
    soft_tables = np.flatnonzero(~clauses.table_hard)
    rows = np.concatenate([group[soft], len(heads) + soft_tables])
    columns = np.concatenate([sources[soft], clauses.table_sources[soft_tables].astype(np.int64)])
    values = np.concatenate([signs[soft], np.ones(len(soft_tables))])
    made = coo_matrix((values, (rows, columns)), (len(heads) + tables, formulas)).tocsr()
    ground = prepared(_different(clauses, starts, literals, heads))
    hard = np.concatenate([clauses.hard[heads], clauses.table_hard])
    return WeightedNetwork(ground, made, constant, hard)


def _different(
    clauses: GroundClauses, starts: NDArray[np.int64], literals: NDArray[np.uint32], heads: NDArray[np.int64]
) -> GroundClauses:
    """Return some of the clauses, none of them negated."""
    sizes = (starts[1:] - starts[:-1])[heads]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    places = np.arange(ends[-1]) + np.repeat(starts[:-1][heads] - ends[:-1], sizes)
    arrays: Any = {
        "starts": frozen(ends.astype(np.uint32)), "literals": frozen(literals[places]),
        "weights": frozen(clauses.weights[heads]), "hard": frozen(clauses.hard[heads]),
        "negated": frozen(np.zeros(len(heads), bool)), "clause_sources": frozen(clauses.clause_sources[heads]),
    }  # fmt: skip
    return replace(clauses, **arrays)
