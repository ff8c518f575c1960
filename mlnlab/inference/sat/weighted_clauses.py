"""Ground formulas as a weighted MaxSAT problem: hard clauses, and literals whose falsity costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.grounding.networks.propositional import NumberedClause, Propositions
from mlnlab.inference.sat.satisfying import hard_clauses

if TYPE_CHECKING:
    from mlnlab.grounding.clauses.ground_clauses import GroundClauses


@dataclass(frozen=True, slots=True, eq=False)
class WeightedClauses:
    """Hard clauses, and for some literals the number of units of ``1 / scale`` that their falsity costs.

    ``settled`` is the cost of what is broken in every world: one of two literals that contradict each other.
    """

    propositions: Propositions
    hard: list[NumberedClause]
    costs: dict[int, int]
    scale: int
    settled: int

    def cost_of(self, paid: int) -> float:
        """Return a number of units, plus the settled ones, as a cost."""
        return float(Fraction(paid + self.settled, self.scale))


def weighted_clauses(clauses: GroundClauses) -> WeightedClauses:
    """Return the problem whose cheapest solutions are the most probable worlds."""
    return _Maker(clauses).run()


class _Maker:
    """The state of one pass; equal clauses become one, with the sum of their weights."""

    def __init__(self, clauses: GroundClauses) -> None:
        self.clauses = clauses
        self.made = Propositions(clauses)
        self.hard = list(hard_clauses(self.made))
        self.costs: dict[int, int] = {}
        self.weights: dict[tuple[int, ...], int] = {}
        self.settled = 0
        soft = (clauses.weights[~clauses.hard], clauses.table_weights[~clauses.table_hard])
        # A float is a whole number over a power of two; the largest of these powers makes all weights whole.
        self.scale = max(
            (w.as_integer_ratio()[1] for w in np.unique(np.concatenate(soft)).tolist()), default=1
        )

    def run(self) -> WeightedClauses:
        for number in np.flatnonzero(~self.clauses.hard & (self.clauses.weights != 0)).tolist():
            self._add_weight(
                tuple(self.made.clause(number)), self._units(float(self.clauses.weights[number]))
            )
        for key, weight in self.weights.items():
            self._add_clause(list(key), weight)
        tables = ~self.clauses.table_hard & (self.clauses.table_weights != 0)
        for number in np.flatnonzero(tables).tolist():
            self._add_table(number, float(self.clauses.table_weights[number]))
        self._settle()
        return WeightedClauses(self.made, self.hard, self.costs, self.scale, self.settled)

    def _add_weight(self, clause: tuple[int, ...], weight: int) -> None:
        """Add to the weight of a clause; of weights of both signs the smaller part is paid in any case."""
        before = self.weights.get(clause, 0)
        if before * weight < 0:
            self.settled += min(abs(before), abs(weight))
        self.weights[clause] = before + weight

    def _units(self, weight: float) -> int:
        number, power = weight.as_integer_ratio()
        return number * (self.scale // power)

    def _add_clause(self, clause: NumberedClause, weight: int) -> None:
        if weight > 0 and len(clause) == 1:
            self._cost(clause[0], weight)
        elif weight > 0:
            holds = self.made.new_variable()
            self.hard.append([*clause, -holds])
            self._cost(holds, weight)
        elif weight < 0 and len(clause) == 1:
            self._cost(-clause[0], -weight)
        elif weight < 0:
            fails = self.made.new_variable()
            self.hard += [[-literal, -fails] for literal in clause]
            self._cost(fails, -weight)

    def _add_table(self, number: int, weight: float) -> None:
        as_wished = self.made.new_variable()
        self.hard += [[*clause, -as_wished] for clause in self.made.table(number, holds=weight > 0)]
        self._cost(as_wished, abs(self._units(weight)))

    def _cost(self, literal: int, cost: int) -> None:
        self.costs[literal] = self.costs.get(literal, 0) + cost

    def _settle(self) -> None:
        """Settle the cost that two opposite literals share, which one of them has in any case."""
        for literal in [one for one in self.costs if one > 0 and -one in self.costs]:
            least = min(self.costs[literal], self.costs[-literal])
            self.settled += least
            for one in (literal, -literal):
                self.costs[one] -= least
                if not self.costs[one]:
                    del self.costs[one]
