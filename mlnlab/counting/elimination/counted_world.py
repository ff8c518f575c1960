"""One formula's number of true groundings while a world changes atom by atom.

Sarkhel, Venugopal, Pham, Singla and Gogate (AAAI 2016), "Scalable Learning Algorithms": all worlds have the
same join graph, and worlds that differ by one atom have nearly the same messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.facts.sorted_facts import Facts, facts_from_tables
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from mlnlab.counting.elimination.cluster_counter import ClusterCounter, CountEstimate

Row = tuple[int, ...]  # the numbers of an atom's constants, in their domains


class CountedWorld:
    r"""A world that changes by one atom at a time, and the estimated number M of a formula's true groundings.

    >>> import mlnlab as ml
    >>> from mlnlab.counting.elimination.cluster_counter import ClusterCounter
    >>> from mlnlab.counting.facts.sorted_facts import facts_of
    >>> from mlnlab.factors.join_graphs.propagation import ClusterParams
    >>> mln = ml.MLN.from_text("t = {A, B}\nR(t, t)\nS(t, t)\nT(t, t)")
    >>> db = ml.Database.from_text("R(A, B)\nR(B, A)\nS(A, B)\nT(A, B)", mln)
    >>> formula = mln.parse("!R(x, y) v S(y, z) v T(x, z)")
    >>> world = CountedWorld(ClusterCounter(formula, db.vocabulary, ClusterParams(i=3)), facts_of(db))
    >>> world.number, world.difference("R", (0, 1)), world.flip("T", (0, 0)), world.holds("T", (0, 0))
    (6, 1, 7, True)
    """

    def __init__(self, counter: ClusterCounter, facts: Facts) -> None:
        """Count in the world as it is now."""
        self.counter, self.facts = counter, facts
        self.estimate: CountEstimate = counter(facts)

    @property
    def number(self) -> float:
        """The estimated number of true groundings in the world as it is now."""
        return self.estimate.number

    def holds(self, predicate: str, row: Row) -> bool:
        """Tell whether an atom is true now."""
        return bool((self.facts.rows(predicate) == np.array(row, np.uint32)).all(axis=1).any())

    def flip(self, predicate: str, row: Row) -> float:
        """Set an atom to its other value; return the new number of true groundings."""
        self._check(predicate, row)
        rows, own = self.facts.rows(predicate), np.array(row, np.uint32)
        same = (rows == own).all(axis=1)
        changed = rows[~same] if same.any() else np.vstack([rows, own])
        vocabulary = self.facts.vocabulary
        self.facts = facts_from_tables(vocabulary, {**self.facts.tables, predicate: changed})
        self.estimate = self.counter(self.facts)
        return self.number

    def difference(self, predicate: str, row: Row) -> float:
        """Return by how much the number would change if an atom had its other value; nothing changes."""
        facts, before = self.facts, self.estimate
        number = self.flip(predicate, row)
        self.facts, self.estimate = facts, before
        return number - self.number

    def _check(self, predicate: str, row: Row) -> None:
        vocabulary = self.facts.vocabulary
        sizes = tuple(map(self.facts.size, vocabulary[predicate].types))
        if len(row) != len(sizes) or not all(0 <= one < size for one, size in zip(row, sizes, strict=False)):
            raise ArgumentError(
                f"{row} are not the numbers of constants of {vocabulary[predicate]}: there are {sizes}."
            )
