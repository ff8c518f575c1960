"""Count true groundings approximately where parts are counted with signs: a join graph for each term.

The estimates of the terms are added up with their signs, so that their errors may be large beside the sum.
A clause, or a conjunction of literals, is a single term.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mlnlab.counting.elimination.cluster_counter import ClusterCounter, CountEstimate
from mlnlab.counting.elimination.counted_world import CountedWorld
from mlnlab.counting.elimination.network_counter import BoundNetwork, DenseRun
from mlnlab.counting.facts.sorted_facts import facts_from_tables
from mlnlab.counting.formulas.formula_networks import formula_network
from mlnlab.counting.formulas.signed_networks import list_negative_signals, signed_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mlnlab.counting.elimination.counted_world import Row
    from mlnlab.counting.facts.sorted_facts import Facts
    from mlnlab.counting.formulas.formula_networks import FormulaNetwork
    from mlnlab.factors.join_graphs.propagation import ClusterParams
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.vocabulary import Vocabulary

    MakeCounter = Callable[[FormulaNetwork | None], ClusterCounter]


class SignedCounter:
    r"""Counts the true groundings of any formula approximately, in one world after the other.

    >>> import mlnlab as ml
    >>> from mlnlab.counting.facts.sorted_facts import facts_of
    >>> from mlnlab.factors.join_graphs.propagation import ClusterParams
    >>> mln = ml.MLN.from_text("t = {A, B, C}\nP(t)\nQ(t)\nR(t)")
    >>> db = ml.Database.from_text("P(A)\nQ(A)\nQ(B)\nR(A)\nR(B)\nR(C)", mln)
    >>> counter = signed_counter(mln.parse("(P(x) v Q(x)) ^ R(x)"), db.vocabulary, ClusterParams(i=1))
    >>> [sign for sign, _ in counter.terms], counter(facts_of(db)).number
    ([1, -1], 2)
    """

    def __init__(self, formula: Formula, vocabulary: Vocabulary, make: MakeCounter) -> None:
        """Make a join graph for each term."""
        self.formula, network = formula, formula_network(formula)
        self.terms: tuple[tuple[int, ClusterCounter], ...] = (
            ((1, make(None)),) if not list_negative_signals(network) else ()
        )
        self._bindings = 0  # of which the sum is taken away
        if not self.terms:
            opposite = -1 if network.complement else 1
            self.terms = tuple((opposite * sign, make(term)) for sign, term in signed_terms(network))
            if network.complement:
                none = DenseRun(facts_from_tables(vocabulary, {}))
                self._bindings = int(BoundNetwork(network.bindings(), vocabulary).counts(none))

    def __call__(self, facts: Facts) -> CountEstimate:
        """Return the number of true groundings in a world."""
        return self.add([counter(facts) for _, counter in self.terms])

    def add(self, parts: Sequence[CountEstimate]) -> CountEstimate:
        """Return the sum of the estimates of the terms, which errors may lead below 0."""
        number = sum(sign * one.number for (sign, _), one in zip(self.terms, parts, strict=True))
        found = max(0, self._bindings + number)
        return CountEstimate(found, all(one.exact for one in parts), all(one.settled for one in parts))


def signed_counter(formula: Formula, vocabulary: Vocabulary, params: ClusterParams) -> SignedCounter:
    """Return the counter of a formula by messages between clusters."""
    return SignedCounter(formula, vocabulary, partial(ClusterCounter, formula, vocabulary, params))


class SignedWorld:
    """A world that changes by one atom at a time, and the estimated number of a formula's true groundings."""

    def __init__(self, counter: SignedCounter, facts: Facts) -> None:
        """Count in the world as it is now."""
        self._counter = counter
        self._worlds = [CountedWorld(one, facts) for _, one in counter.terms]

    @property
    def number(self) -> float:
        """The estimated number of true groundings in the world as it is now."""
        return self._counter.add([world.estimate for world in self._worlds]).number

    def difference(self, predicate: str, row: Row) -> float:
        """Return by how much the number would change if an atom had its other value; nothing changes."""
        terms = zip(self._counter.terms, self._worlds, strict=True)
        return sum(sign * world.difference(predicate, row) for (sign, _), world in terms)

    def flip(self, predicate: str, row: Row) -> None:
        """Set an atom to its other value."""
        for world in self._worlds:
            world.flip(predicate, row)
