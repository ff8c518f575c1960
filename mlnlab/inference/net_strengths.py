"""Equal ground clauses as one in MC-SAT's slices, a unit clause and its opposite included.

What a slice does depends on how a distribution is written as clauses. Where strong formulas want an atom true
and stronger ones want it false, either would join the slice as soon as it holds and keep the atom where it
is, for exp(weight) steps; as one clause with the difference of the weights the atom is drawn almost freely.
So the strengths of equal clauses are added up at the first of them, and the others join no slice. The
distribution is the same; what hard clauses say is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.grounding.merging import first_equal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.clauses import GroundClauses

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class EqualClauses:
    """For each clause the first one that is equal to it or, of unit clauses, its opposite (then sign -1)."""

    first: NDArray[np.int64]
    signs: Numbers

    def net(self, strengths: Numbers) -> Numbers:
        """Return the strengths with those of equal clauses added up at the first; infinite ones are kept."""
        soft = np.isfinite(strengths)
        sums = np.bincount(self.first[soft], self.signs[soft] * strengths[soft], len(self.first))
        found = np.where(soft, self.signs * sums, strengths)
        found.setflags(write=False)
        return found


def equal_clauses(clauses: GroundClauses) -> EqualClauses:
    """Find the clauses that are equal; those that must hold are equal to none."""
    starts, literals = clauses.starts.astype(np.int64), clauses.literals.copy()
    signs = np.ones(clauses.number_of_clauses)
    units = np.flatnonzero((starts[1:] - starts[:-1] == 1) & ~clauses.hard)
    opposite = units[literals[starts[units]] & 1 == 1]
    literals[starts[opposite]] ^= np.uint32(1)
    signs[opposite] = -1.0
    _, heads, group = np.unique(
        2 * first_equal(starts, literals) + clauses.hard, return_index=True, return_inverse=True
    )
    return EqualClauses(heads[group].astype(np.int64), signs)
