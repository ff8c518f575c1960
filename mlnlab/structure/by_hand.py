"""A learned structure changed by hand: clauses kept that were dropped, clauses thrown out, weights anew.

Nothing is changed in place: each edit returns another structure, so that an earlier one is there to go back
to. The weights of all clauses that are in the model then, and of the unit clauses, are learned on all atoms,
by the learner and with the prior of the run itself; what the run scored and retained stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.logic.clauses import cnf
from mlnlab.logic.formulas import Atom, Formula, Not, Variable
from mlnlab.logic.printing import to_text
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.logic.weights import weight_value
from mlnlab.structure.assembly import RetainedClause
from mlnlab.structure.candidates import Candidate, LearnedClause
from mlnlab.structure.clause_making import clause_key
from mlnlab.structure.model_weights import weighed
from mlnlab.structure.variabilized import PathAtom

if TYPE_CHECKING:
    from mlnlab.logic.clauses import Literal
    from mlnlab.model.database import Database
    from mlnlab.model.mln import MLN
    from mlnlab.structure.candidates import Candidates
    from mlnlab.structure.clause_making import ClauseKey
    from mlnlab.structure.lhl import LhlParams
    from mlnlab.structure.variabilized import SupportedPath

Named = Candidate | int | str | Formula  # what names a candidate


@dataclass(frozen=True, slots=True, eq=False)
class HandEdit:
    """A clause that was kept, or thrown out, by hand; ``place`` is its place among the candidates."""

    kept: bool
    clause: Formula
    place: int

    def __str__(self) -> str:
        return f"{'kept' if self.kept else 'thrown out'}: {to_text(self.clause)}"


def changed(
    clauses: Sequence[LearnedClause], candidates: Candidates, paths: Sequence[SupportedPath],
    edits: Iterable[tuple[bool, int]], databases: Sequence[Database], params: LhlParams,
) -> tuple[MLN, tuple[LearnedClause, ...], tuple[HandEdit, ...]]:  # fmt: skip
    """Return the model after edits in order, its clauses, and the notes of what was done.

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
            raise ArgumentError(f"{to_text(clause)} is not in the model; learned.kept lists what is.")
        if keep:
            chosen[place] = _kept_by_hand(candidates, paths, place)
        else:
            del chosen[place]
        notes.append(HandEdit(keep, clause, place))
    units = [clause for place, clause in zip(places, clauses, strict=True) if place is None]
    return *_with_weights(units, chosen, candidates, databases, params), tuple(notes)


# --- which clause is meant ------------------------------------------------------------------------


def places_of_model(clauses: Sequence[LearnedClause], candidates: Candidates) -> list[int | None]:
    """Return the places of a model's clauses among the candidates; unit clauses have none."""
    return [None if one.candidate is None else candidates.place(one.candidate.path, one.candidate.positive)
            for one in clauses]  # fmt: skip


def place_of(candidates: Candidates, mln: MLN, named: Named) -> int:
    """Return the place of a candidate that is named by itself, its place, its text or its formula."""
    if isinstance(named, Candidate):
        place = candidates.place(named.path, named.positive)
        if place is None:
            raise ArgumentError(f"{to_text(named.clause)} is a candidate of another run.")
        return place
    number = len(candidates)
    if isinstance(named, int) and not isinstance(named, bool):
        if not -number <= named < number:
            raise ArgumentError(f"Candidates have places from 0 to {number - 1:,}; there is none at {named}.")
        return named % number
    if isinstance(named, str):
        named = mln.parse(named)
    if isinstance(named, bool) or not isinstance(named, Formula):
        raise ArgumentError(
            f"A clause is named by a candidate, by its place in learned.candidates, or by its text, such as "
            f'"!Smokes(x) v Cancer(x)", not by {named!r:.60}.'
        )
    return _place_of_formula(candidates, named)


def _place_of_formula(candidates: Candidates, formula: Formula) -> int:
    key = key_of_clause(formula)
    place = candidates.place(key.path, key.positive)
    if place is None:
        texts = (to_text(one.clause) for one in candidates[:2_000])
        hint = did_you_mean(to_text(formula), texts) or "."
        raise ArgumentError(
            f"{to_text(formula)} is not among the {len(candidates):,} candidates of this run{hint}"
        )
    return place


def key_of_clause(formula: Formula) -> ClauseKey:
    """Return the path and the positive literals of a clause, whatever its variables are called."""
    clauses = cnf(formula)
    if len(clauses) != 1:
        raise ArgumentError(f"{to_text(formula)} is no clause: candidates are disjunctions of literals.")
    literals = clauses[0]
    positive = sum((not isinstance(one, Not)) << place for place, one in enumerate(literals))
    return clause_key([_path_atom(literal, literals) for literal in literals], positive)


def _path_atom(literal: Literal, clause: Sequence[Literal]) -> PathAtom:
    """Return a literal's atom, its variables numbered as they first occur in the clause."""
    atom = literal.operand if isinstance(literal, Not) else literal
    if not isinstance(atom, Atom) or not all(isinstance(one, Variable) for one in atom.arguments):
        raise ArgumentError("A candidate's literals are atoms over variables, such as !Smokes(x).")
    known: dict[str, int] = {}
    for other in clause:
        inner = other.operand if isinstance(other, Not) else other
        for argument in getattr(inner, "arguments", ()):
            known.setdefault(str(argument), len(known))
    return PathAtom(atom.predicate, tuple(known[str(argument)] for argument in atom.arguments))


def refuse_what_has_no_clauses(method: str, params: LhlParams | None) -> None:
    """Refuse a structure that was not made of candidates."""
    if params is None:
        raise ArgumentError(
            f"What {method} learned has no clauses to keep or throw out; learn with "
            'ml.learn_structure(dbs, method="lhl").'
        )


# --- the model ------------------------------------------------------------------------------------


def _kept_by_hand(candidates: Candidates, paths: Sequence[SupportedPath], place: int) -> LearnedClause:
    candidate = candidates[place]
    support = paths[int(candidates.columns.paths[place])] if paths else None
    return LearnedClause(candidate.clause, candidate.weight, candidate, support, by_hand=True)


def _with_weights(
    units: Sequence[LearnedClause], chosen: Mapping[int, LearnedClause], candidates: Candidates,
    databases: Sequence[Database], params: LhlParams,
) -> tuple[MLN, tuple[LearnedClause, ...]]:  # fmt: skip
    """Return the model of unit clauses and chosen ones, all weights learned on all atoms."""
    retained = []
    for place, clause in chosen.items():
        one = clause.candidate
        assert one is not None  # noqa: S101 - unit clauses are not among these
        number = int(candidates.columns.paths[place])
        retained.append(RetainedClause(one.path, one.positive, one.score, one.weight, number))
    mln, _ = weighed(databases, retained, params, all_of_them=True)
    clauses = tuple(
        replace(clause, formula=one.formula, weight=float(weight_value(one.weight) or 0.0))
        for clause, one in zip((*units, *chosen.values()), mln.formulas, strict=True)
    )
    return mln, clauses
