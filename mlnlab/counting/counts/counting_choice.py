"""Which way a formula is counted: by inclusion-exclusion over true tuples, or by width-bounded elimination.

Tuples are few where atoms are mostly false, so inclusion-exclusion is the first choice; but each positive
literal may double its terms. Elimination looks at every binding of a few variables at a time, whatever the
signs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from mlnlab.counting.elimination.network_counter import BoundNetwork
from mlnlab.counting.elimination.network_explaining import step_lines
from mlnlab.counting.formulas.formula_networks import formula_network
from mlnlab.counting.plans.explaining import refuse_slow
from mlnlab.errors import TooLargeError
from mlnlab.logic.formulas.traversal import predicates
from mlnlab.steps import budget
from mlnlab.steps.free_memory import fits

if TYPE_CHECKING:
    from collections.abc import Sized

    from mlnlab.counting.facts.sorted_facts import Facts
    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.logic.vocabulary import Vocabulary

_CLEARLY = 0.5  # of the time of the other way: estimates are rough
_SHOWN_STEPS = 12


class Estimated(Protocol):
    """The terms of a normal form."""

    @property
    def terms(self) -> Sized:
        """One for each conjunction."""
        ...

    def seconds(self, facts: Facts) -> tuple[float, float]:
        """Return the estimated seconds of the plans, and at most those of the lists for quantifiers."""
        ...


class Choice:
    """Chooses for one formula, once for all worlds that are alike in size."""

    def __init__(self, formula: Formula, vocabulary: Vocabulary) -> None:
        """Nothing is chosen yet."""
        self.formula, self.vocabulary = formula, vocabulary
        self.refusal: TooLargeError | None = None  # where the formula has no normal form of bounded length
        self._predicates = predicates(formula)
        self._networks: dict[int, BoundNetwork | None] = {}

    def network(self, facts: Facts, terms: Estimated) -> BoundNetwork | None:
        """Return the network by which the formula is counted; ``None``: the other way is as good."""
        size = self._size(facts)
        if size not in self._networks:
            try:
                if self.refusal is not None:
                    raise self.refusal
                self._networks[size] = self._if_faster(facts, terms)
            except TooLargeError as refusal:
                return self.instead(facts, refusal)
        return self._networks[size]

    def instead(self, facts: Facts, refusal: TooLargeError) -> BoundNetwork:
        """Return the network of a formula that was refused the other way, if it is small enough."""
        network = BoundNetwork(formula_network(self.formula), self.vocabulary)
        if not fits_the_budget(network):
            raise refused_twice(network, refusal) from refusal
        self._networks[self._size(facts)] = network
        return network

    def _if_faster(self, facts: Facts, terms: Estimated) -> BoundNetwork | None:
        planned, listed = terms.seconds(facts)
        if planned + listed < budget.WORTH_COMPARING:
            return None
        network = BoundNetwork(formula_network(self.formula), self.vocabulary)
        if fits_the_budget(network) and network.seconds < _CLEARLY * (planned + listed):
            return network
        refuse_slow(planned, len(terms.terms))
        return None

    def _size(self, facts: Facts) -> int:
        return sum([len(facts.rows(name)) for name in self._predicates]).bit_length() // 2


def fits_the_budget(network: BoundNetwork) -> bool:
    """Tell whether elimination is estimated to need no more memory and time than is allowed."""
    affordable = (
        network.widest <= budget.MOST_ELIMINATION_CELLS and network.seconds <= budget.MOST_ELIMINATION
    )
    return affordable and fits(budget.ELIMINATION_CELL * network.widest)


def refused_twice(network: BoundNetwork, refusal: TooLargeError) -> TooLargeError:
    """Return the refusal that gives both ways' estimates."""
    lines = step_lines(network)
    more = [f"    ... and {len(lines) - _SHOWN_STEPS:,} more steps"] if len(lines) > _SHOWN_STEPS else []
    plan_text = "\n".join([*(f"    {line}" for line in lines[:_SHOWN_STEPS]), *more])
    return TooLargeError(
        f"{refusal.summary} Summing its variables out one by one over full tables would need a table of about"
        f" {network.widest:,.0f} cells (the limit is {budget.MOST_ELIMINATION_CELLS:,}) and about"
        f" {network.seconds:,.0f} seconds (the limit is {budget.MOST_ELIMINATION:,.0f})."
        f" The plan:\n{plan_text}",
        max(refusal.estimate, network.widest),
        tuple(dict.fromkeys([*refusal.remedies, "use fewer constants"])),
    )
