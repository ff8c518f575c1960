"""Learn the weights of unit clauses and chosen clauses on all atoms, after a run and after changes by hand.

Nothing is changed in place: each edit returns another model, so that an earlier one is there to go back to.
The weights of all clauses that are in the model then, and of the unit clauses, are learned on all atoms, by
the learner and with the prior of the run itself; what the run scored and retained stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.learning.problems.priors import Gaussian
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.formulas.weights import Soft, weight_value
from mlnlab.model.mln.mln import MLN
from mlnlab.structure.clauses.assembly import RetainedClause, Weighing
from mlnlab.structure.clauses.clause_making import clause_formula
from mlnlab.structure.paths.variabilized import SupportedPath, canonical_path
from mlnlab.structure.results.by_hand import HandEdit, places_of_model
from mlnlab.structure.results.candidates import Candidates, LearnedClause

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.logic.formulas.formulas import Formula
    from mlnlab.model.database.database import Database

_NEVER = 1e-6  # of a weight that a Laplace prior keeps at 0


def learn_clause_weights(
    databases: Sequence[Database], clauses: Sequence[RetainedClause], weighing: Weighing
) -> tuple[MLN, tuple[RetainedClause, ...]]:
    """Return the model of unit clauses, where wanted, and clauses, with weights learned on all atoms."""
    from mlnlab.learning.ask.learner import weight_learner

    vocabulary = databases[0].vocabulary
    predicates = vocabulary.predicates.values()
    units: list[Formula] = []
    if weighing.units:
        units = [
            canonical_path([(one.name, tuple(range(one.arity)))]).formulas(vocabulary)[0]
            for one in predicates if not one.closed
        ]  # fmt: skip
    formulas = [clause_formula(one.path, one.positive, vocabulary) for one in clauses]
    mln = MLN.from_formulas([(None, one) for one in (*units, *formulas)], predicates=predicates)
    if not mln.formulas:
        return mln, ()
    priors = [Gaussian(0.0, weighing.deviation)] * len(units) + [weighing.prior] * len(formulas)
    *_, last = weight_learner("wpll", mln, list(databases), prior=priors)
    weights = last.answer
    kept = [place for place in range(len(formulas))
            if not weighing.sparse or abs(weights[len(units) + place]) > _NEVER]  # fmt: skip
    places = [*range(len(units)), *(len(units) + place for place in kept)]
    chosen = [replace(mln.formulas[place], weight=Soft(float(weights[place]))) for place in places]
    return replace(mln, formulas=tuple(chosen), places=()), tuple(clauses[place] for place in kept)


# --- changes by hand -----------------------------------------------------------------------------


def apply_edits(
    clauses: Sequence[LearnedClause], candidates: Candidates, paths: Sequence[SupportedPath],
    edits: Iterable[tuple[bool, int]], databases: Sequence[Database], weighing: Weighing,
) -> tuple[MLN, tuple[LearnedClause, ...], tuple[HandEdit, ...]]:  # fmt: skip
    """Return the model after edits in order, its clauses, and the notes of the edits.

    An edit is whether to keep a clause, and its place among the candidates.
    """
    places = places_of_model(clauses, candidates)
    chosen = {place: clause for place, clause in zip(places, clauses, strict=True) if place is not None}
    notes = []
    for keep, place in edits:
        clause = candidates[place].clause
        if keep and place in chosen:
            raise ArgumentError(f"{to_text(clause)} is in the model already.")
        if not keep and place not in chosen:
            raise ArgumentError(f"{to_text(clause)} is not in the model; learned.kept lists its clauses.")
        if keep:
            chosen[place] = _kept_by_hand(candidates, paths, place)
        else:
            del chosen[place]
        notes.append(HandEdit(keep, clause, place))
    units = [clause for place, clause in zip(places, clauses, strict=True) if place is None]
    return *_with_weights(units, chosen, candidates, databases, weighing), tuple(notes)


def _kept_by_hand(candidates: Candidates, paths: Sequence[SupportedPath], place: int) -> LearnedClause:
    candidate = candidates[place]
    support = paths[int(candidates.columns.paths[place])] if paths else None
    return LearnedClause(candidate.clause, candidate.weight, candidate, support, by_hand=True)


def _with_weights(
    units: Sequence[LearnedClause], chosen: Mapping[int, LearnedClause], candidates: Candidates,
    databases: Sequence[Database], weighing: Weighing,
) -> tuple[MLN, tuple[LearnedClause, ...]]:  # fmt: skip
    """Return the model of unit clauses and chosen ones, all weights learned on all atoms."""
    retained = []
    for place, clause in chosen.items():
        one = clause.candidate
        assert one is not None  # noqa: S101 - unit clauses are not among these
        number = int(candidates.columns.paths[place])
        retained.append(RetainedClause(one.path, one.positive, one.score, one.weight, number))
    mln, _ = learn_clause_weights(databases, retained, replace(weighing, sparse=False))
    clauses = tuple(
        replace(clause, formula=one.formula, weight=float(weight_value(one.weight) or 0.0))
        for clause, one in zip((*units, *chosen.values()), mln.formulas, strict=True)
    )
    return mln, clauses
