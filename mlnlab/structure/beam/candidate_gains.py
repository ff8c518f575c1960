"""By how much each of many clauses improves one model, with all weights learned again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.structure.clauses.clauses_together import TIGHT, Optimum, Together
from mlnlab.structure.clauses.whole_model import GrowingModel, try_clause

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.structure.clauses.clause_making import ClauseKey
    from mlnlab.structure.clauses.clause_scores import SampledData
    from mlnlab.structure.clauses.whole_model import AnyClause

    Numbers = NDArray[np.float64]


class CandidateGains:
    """A model at its best weights, and clauses beside it."""

    def __init__(self, data: SampledData, clauses: Sequence[AnyClause], best: Together | None = None) -> None:
        """Count the clauses of the model; without its weights they are learned."""
        self.model = GrowingModel(data)
        for clause in clauses:
            self.model = self.model.with_clause(clause)
        self.best = self.model.learn_together(None, TIGHT) if best is None else best

    def without(self, place: int) -> tuple[GrowingModel, Together]:
        """Return the model without one of its clauses, and the weights of the others as they are."""
        weights = np.delete(self.best.weights, place)
        return self.model.without_clause(place), Together(weights, self.best.units, self.best.value)

    def gains_of(
        self, clauses: Sequence[ClauseKey], replaced: int, optimum: Optimum
    ) -> tuple[Numbers, Numbers]:
        """Return by how much each clause improves the model, and its weight.

        Where it takes the place of a clause of the model, it is compared with the model that has that one.
        """
        model, best = (self.model, self.best) if replaced < 0 else self.without(replaced)
        found = [try_clause(model, best, clause, optimum) for clause in clauses]
        return np.array([one.gain for one in found]), np.array([one.weight for one in found])

    def gain_without(self, place: int, optimum: Optimum) -> float:
        """Return by how much the model improves without one of its clauses."""
        model, best = self.without(place)
        return model.learn_together((best.weights, best.units), optimum).value - best.value
