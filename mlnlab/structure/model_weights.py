"""The weights of a model of unit clauses and chosen clauses, learned on all atoms of the databases."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mlnlab.learning.learner import weight_learner
from mlnlab.learning.priors import Gaussian
from mlnlab.logic.weights import Soft
from mlnlab.model.mln import MLN
from mlnlab.structure.clause_making import clause_formula
from mlnlab.structure.variabilized import canonical_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.logic.formulas import Formula
    from mlnlab.model.database import Database
    from mlnlab.structure.assembly import RetainedClause
    from mlnlab.structure.lhl import LhlParams

_NEVER = 1e-6  # of a weight that a Laplace prior keeps at 0


def weighed(
    databases: Sequence[Database], clauses: Sequence[RetainedClause], params: LhlParams, *,
    all_of_them: bool = False,
) -> tuple[MLN, tuple[RetainedClause, ...]]:  # fmt: skip
    """Return the model of unit clauses, where wanted, and clauses, with weights learned on all atoms.

    Clauses of weight 0 are left out by ``assembly="l1"``, unless all of them are wanted.
    """
    vocabulary = databases[0].vocabulary
    predicates = vocabulary.predicates.values()
    units: list[Formula] = []
    if params.units:
        units = [
            canonical_path([(one.name, tuple(range(one.arity)))]).formulas(vocabulary)[0]
            for one in predicates if not one.closed
        ]  # fmt: skip
    formulas = [clause_formula(one.path, one.positive, vocabulary) for one in clauses]
    mln = MLN.from_formulas([(None, one) for one in (*units, *formulas)], predicates=predicates)
    if not mln.formulas:
        return mln, ()
    wide, own = Gaussian(0.0, params.deviation), params.assembly_prior
    learner = weight_learner("wpll", mln, list(databases), prior=[wide] * len(units) + [own] * len(formulas))
    *_, last = learner
    weights = last.answer
    sparse = params.assembly == "l1" and not all_of_them
    kept = [place for place in range(len(formulas))
            if not sparse or abs(weights[len(units) + place]) > _NEVER]  # fmt: skip
    places = [*range(len(units)), *(len(units) + place for place in kept)]
    chosen = [replace(mln.formulas[place], weight=Soft(float(weights[place]))) for place in places]
    return replace(mln, formulas=tuple(chosen), places=()), tuple(clauses[place] for place in kept)
