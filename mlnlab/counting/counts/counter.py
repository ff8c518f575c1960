"""A formula prepared for counting: normal form and plans are made once, then counted world by world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.counting.counts.counting_choice import Choice
from mlnlab.counting.elimination.network_counter import BoundNetwork, DenseRun
from mlnlab.counting.elimination.network_explaining import explained_by_elimination
from mlnlab.counting.facts.sorted_facts import Facts, facts_of
from mlnlab.counting.formulas.conjunctions import CountTerm, Quantity
from mlnlab.counting.formulas.indicators import normal_form
from mlnlab.counting.plans.explaining import (
    Explanation,
)
from mlnlab.counting.plans.term_sums import TermSum
from mlnlab.counting.plans.thresholds import Exceptions
from mlnlab.errors import TooLargeError
from mlnlab.logic.formulas.formulas import Cardinality, Formula

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.database.database import Database
    from mlnlab.model.database.world import World

__all__ = ["Counter", "TermSum"]

_MOST_PRODUCTS = 4096  # that are tried where nothing else can be done


class Counter:
    r"""Counts the true groundings of one formula, in one world after the other.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nSmokes(Anna)", mln)
    >>> counter = Counter(mln.parse("Smokes(x) ^ Friends(x, y) => Smokes(y)"), db.vocabulary)
    >>> counter(db)
    3
    """

    def __init__(self, formula: Formula, vocabulary: Vocabulary) -> None:
        """Bring the formula into its normal form over a vocabulary that has every constant."""
        self.formula, self.vocabulary = formula, vocabulary
        self._choice = Choice(formula, vocabulary)
        terms: Sequence[CountTerm] = ()
        try:
            terms = normal_form(formula)
        except TooLargeError as refusal:  # the products of its literals are too many
            self._choice.refusal = refusal
        self._terms = TermSum(terms, vocabulary)

    @property
    def terms(self) -> TermSum:
        """The normal form; a formula that has too many terms for it is refused."""
        if self._choice.refusal is not None:
            raise self._choice.refusal
        return self._terms

    def __call__(self, world: Database | World | Facts) -> int:
        """Return n_i, the number of true groundings in a world; atoms not in a database are false."""
        facts = facts_of(world, self.vocabulary)
        network = self.elimination(facts)
        if network is None:
            try:
                return self.terms.count(facts)
            except TooLargeError as refusal:  # of a part that is planned when quantifiers are worked out
                network = self._choice.instead(facts, refusal)
        return int(network.counts(DenseRun(facts)))

    def elimination(self, facts: Facts) -> BoundNetwork | None:
        """Return the network whose variables are summed out; ``None`` where the terms are counted instead."""
        try:
            return self._choice.network(facts, self._terms)
        except TooLargeError as refusal:
            if self._choice.refusal is None:
                raise
            self._terms = self._of_many_terms(refusal)
            self._choice.refusal = None
            return self._choice.network(facts, self._terms)

    def _of_many_terms(self, refusal: TooLargeError) -> TermSum:
        """Return a long normal form, for a formula whose full tables are too large."""
        try:
            return TermSum(normal_form(self.formula, most_products=_MOST_PRODUCTS), self.vocabulary)
        except TooLargeError:
            raise refusal from None

    def explain(self, world: Database | World | Facts) -> Explanation:
        """Return how the formula is counted in a world: every step with its estimated and its real size."""
        facts = facts_of(world, self.vocabulary)
        network = self.elimination(facts)
        if network is not None:
            return explained_by_elimination(str(self.formula), network, facts)
        truths: dict[Quantity | Cardinality, Exceptions] = {}
        terms = tuple(part for term in self.terms.terms for part in term.explain_cases(facts, truths))
        return Explanation(str(self.formula), sum(t.coefficient * t.count for t in terms), terms)
