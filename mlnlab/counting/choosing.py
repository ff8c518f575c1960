"""Which way a formula is counted: by inclusion-exclusion over true tuples, or by width-bounded elimination.

Tuples are few where atoms are mostly false, so inclusion-exclusion is the first choice; but each positive
literal may double its terms. Elimination looks at every binding of a few variables at a time, whatever the
signs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from mlnlab.counting.dense_plans import MOST_CELLS, MOST_SECONDS
from mlnlab.counting.explaining import refuse_slow
from mlnlab.counting.formula_networks import formula_network
from mlnlab.counting.network_counter import BoundNetwork
from mlnlab.counting.network_explaining import step_lines
from mlnlab.errors import TooLargeError
from mlnlab.logic.traversal import predicates

if TYPE_CHECKING:
    from collections.abc import Sized

    from mlnlab.counting.facts import Facts
    from mlnlab.logic.formulas import Formula
    from mlnlab.logic.vocabulary import Vocabulary

_WORTH_COMPARING = 2e-3  # seconds from which it is asked whether elimination would be faster
_CLEARLY = 0.5  # of the time of the other way: estimates are rough
_SHOWN_STEPS = 12


class Estimated(Protocol):
    """The terms of a normal form."""

    @property
    def terms(self) -> Sized:
        """One for each conjunction."""
        ...

    def seconds(self, facts: Facts) -> tuple[float, float]:
        """Return about how long the plans take, and what quantifiers list at most."""
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
        if planned + listed < _WORTH_COMPARING:
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
    return network.widest <= MOST_CELLS and network.seconds <= MOST_SECONDS


def refused_twice(network: BoundNetwork, refusal: TooLargeError) -> TooLargeError:
    """Return the refusal that gives both ways' estimates."""
    lines = step_lines(network)
    more = [f"    ... and {len(lines) - _SHOWN_STEPS:,} more steps"] if len(lines) > _SHOWN_STEPS else []
    plan_text = "\n".join([*(f"    {line}" for line in lines[:_SHOWN_STEPS]), *more])
    return TooLargeError(
        f"{refusal.summary} Summing its variables out one by one over full tables would need a table of about"
        f" {network.widest:,.0f} cells (at most {MOST_CELLS:,} are made) and about {network.seconds:,.0f}"
        f" seconds (at most {MOST_SECONDS:,.0f}). The plan:\n{plan_text}",
        max(refusal.estimate, network.widest),
        tuple(dict.fromkeys([*refusal.remedies, "use fewer constants"])),
    )
