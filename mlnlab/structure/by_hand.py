"""A learned structure changed by hand: clauses kept that were dropped, clauses thrown out, weights anew.

Nothing is changed in place: each edit returns another structure, so that an earlier one is there to go back
to. The weights of all clauses that are in the model then, and of the unit clauses, are learned on all atoms,
by the learner and with the prior of the run itself; what the run scored and retained stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.learning.likelihoods import pseudo_log_likelihood
from mlnlab.logic.clauses import cnf
from mlnlab.logic.formulas import Atom, Formula, Not, Variable
from mlnlab.logic.printing import to_text
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.structure.assembly import RetainedClause
from mlnlab.structure.candidates import Candidate
from mlnlab.structure.clause_making import clause_key
from mlnlab.structure.learned_structure import LearnedClause, LearnedStructure
from mlnlab.structure.variabilized import PathAtom

if TYPE_CHECKING:
    from mlnlab.logic.clauses import Literal
    from mlnlab.model.mln import MLN

Named = Candidate | int | str | Formula  # what names a candidate


@dataclass(frozen=True, slots=True, eq=False)
class HandEdit:
    """A clause that was kept, or thrown out, by hand; ``place`` is its place among the candidates."""

    kept: bool
    clause: Formula
    place: int

    def __str__(self) -> str:
        return f"{'kept' if self.kept else 'thrown out'}: {to_text(self.clause)}"


def edited(
    learned: LearnedStructure, keep: Sequence[Named] = (), throw_out: Sequence[Named] = ()
) -> LearnedStructure:
    """Return a structure with clauses kept and thrown out by hand, its weights learned again."""
    _refuse_what_has_no_clauses(learned)
    adding = [place_of(learned, one) for one in keep]
    leaving = [place_of(learned, one) for one in throw_out]
    places = places_of_model(learned)
    _refuse_contradictions(learned, places, adding, leaving)
    chosen = [clause for clause in learned.clauses if clause.candidate is not None]
    left = [clause for clause, place in zip(chosen, places, strict=True) if place not in leaving]
    added = [_kept_by_hand(learned, place) for place in dict.fromkeys(adding)]
    edits = [HandEdit(place in adding, learned.candidates[place].clause, place)
             for place in dict.fromkeys((*leaving, *adding))]  # fmt: skip
    return _with_weights(replace(learned, edits=(*learned.edits, *edits)), [*left, *added])


def places_of_model(learned: LearnedStructure) -> list[int]:
    """Return the places of the model's clauses among the candidates, in its order."""
    return [_place_of_candidate(learned, one) for one in learned.kept]


def place_of(learned: LearnedStructure, named: Named) -> int:
    """Return the place of a candidate that is named by itself, its place, its text or its formula."""
    if isinstance(named, Candidate):
        return _place_of_candidate(learned, named)
    number = len(learned.candidates)
    if isinstance(named, int) and not isinstance(named, bool):
        if not -number <= named < number:
            raise ArgumentError(f"Candidates have places from 0 to {number - 1:,}; there is none at {named}.")
        return named % number
    if isinstance(named, str):
        named = learned.mln.parse(named)
    if isinstance(named, bool) or not isinstance(named, Formula):
        raise ArgumentError(
            f"A clause is named by a candidate, by its place in learned.candidates, or by its text, such as "
            f'"!Smokes(x) v Cancer(x)", not by {named!r:.60}.'
        )
    return _place_of_formula(learned, named)


def _place_of_candidate(learned: LearnedStructure, candidate: Candidate) -> int:
    place = learned.candidates.place(candidate.path, candidate.positive)
    if place is None:
        raise ArgumentError(f"{to_text(candidate.clause)} is a candidate of another run.")
    return place


def _place_of_formula(learned: LearnedStructure, formula: Formula) -> int:
    clauses = cnf(formula)
    if len(clauses) != 1:
        raise ArgumentError(f"{to_text(formula)} is no clause: candidates are disjunctions of literals.")
    literals = clauses[0]
    positive = sum((not isinstance(one, Not)) << place for place, one in enumerate(literals))
    key = clause_key([_path_atom(literal, literals) for literal in literals], positive)
    place = learned.candidates.place(key.path, key.positive)
    if place is None:
        texts = (to_text(one.clause) for one in learned.candidates[:2_000])
        hint = did_you_mean(to_text(formula), texts) or "."
        raise ArgumentError(
            f"{to_text(formula)} is not among the {len(learned.candidates):,} candidates of this run{hint}"
        )
    return place


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


# --- refusals -------------------------------------------------------------------------------------


def _refuse_what_has_no_clauses(learned: LearnedStructure) -> None:
    if learned.params is None or not learned.databases:
        raise ArgumentError(
            f"What {learned.method} learned has no clauses to keep or throw out; learn with "
            'ml.learn_structure(dbs, method="lhl").'
        )


def _refuse_contradictions(
    learned: LearnedStructure, places: Sequence[int], adding: Sequence[int], leaving: Sequence[int]
) -> None:
    for place in adding:
        if place in places and place not in leaving:
            raise ArgumentError(f"{to_text(learned.candidates[place].clause)} is in the model already.")
    for place in leaving:
        if place not in places:
            clause = to_text(learned.candidates[place].clause)
            raise ArgumentError(f"{clause} is not in the model; learned.kept lists what is.")


# --- the model ------------------------------------------------------------------------------------


def _kept_by_hand(learned: LearnedStructure, place: int) -> LearnedClause:
    candidate = learned.candidates[place]
    support = learned.paths[int(learned.candidates.columns.paths[place])] if learned.paths else None
    return LearnedClause(candidate.clause, candidate.weight, candidate, support, by_hand=True)


def _with_weights(learned: LearnedStructure, clauses: Sequence[LearnedClause]) -> LearnedStructure:
    """Return the structure with these clauses beside its unit clauses, all weights learned on all atoms."""
    from mlnlab.structure.structure_learner import weighed

    assert learned.params is not None  # noqa: S101 - what has none was refused
    chosen = [_as_retained(learned, clause) for clause in clauses]
    mln, _ = weighed(learned.databases, chosen, learned.params, all_of_them=True)
    units = [clause for clause in learned.clauses if clause.candidate is None]
    made = tuple(
        replace(clause, formula=one.formula, weight=_value(mln, number))
        for number, (clause, one) in enumerate(zip((*units, *clauses), mln.formulas, strict=True))
    )
    return replace(learned, mln=mln, clauses=made)


def _value(mln: MLN, number: int) -> float:
    return float(getattr(mln.formulas[number].weight, "value", 0.0))


def _as_retained(learned: LearnedStructure, clause: LearnedClause) -> RetainedClause:
    one = clause.candidate
    assert one is not None  # noqa: S101 - unit clauses are not among these
    number = int(learned.candidates.columns.paths[_place_of_candidate(learned, one)])
    return RetainedClause(one.path, one.positive, one.score, one.weight, number)


def wpll_of(learned: LearnedStructure) -> float:
    """Return the weighted pseudo-log-likelihood of a structure's model on the atoms it was learned from."""
    _refuse_what_has_no_clauses(learned)
    return pseudo_log_likelihood(learned.mln, list(learned.databases), weighted=True)
