"""Find the candidate that a clause names, and note which clauses were kept or thrown out by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.logic.forms.clauses import cnf
from mlnlab.logic.formulas.formulas import Atom, Equality, Formula, Not, Term, Variable
from mlnlab.logic.formulas.printing import to_text
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.structure.clauses.assembly import Weighing
from mlnlab.structure.clauses.clause_making import ClauseKey, clause_key
from mlnlab.structure.paths.variabilized import EQUALS, PathAtom
from mlnlab.structure.results.candidates import Candidate, Candidates, LearnedClause

if TYPE_CHECKING:
    from mlnlab.model.mln.mln import MLN

Named = Candidate | int | str | Formula  # what names a candidate


@dataclass(frozen=True, slots=True, eq=False)
class HandEdit:
    """A clause that was kept, or thrown out, by hand; ``place`` is its place among the candidates."""

    kept: bool
    clause: Formula
    place: int

    def __str__(self) -> str:
        return f"{'kept' if self.kept else 'thrown out'}: {to_text(self.clause)}"


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
            raise ArgumentError(f"Candidates are numbered 0 to {number - 1:,}; there is no number {named}.")
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
    if len(clauses) != 1 or not clauses[0]:
        raise ArgumentError(f"{to_text(formula)} is not a clause: candidates are disjunctions of literals.")
    literals = [(one.operand, False) if isinstance(one, Not) else (one, True) for one in clauses[0]]
    names = _numbered_variables([inner for inner, _ in literals])
    same: dict[int, int] = {}
    for inner, positive in literals:
        if isinstance(inner, Equality) and not positive:  # x != y v C is C with x for y
            one, other = sorted(_root(same, names[term]) for term in (inner.left, inner.right))
            if one != other:
                same[other] = one
    signs: dict[PathAtom, bool] = {}
    for inner, positive in literals:
        atom = _path_atom(inner, names, same)
        if isinstance(inner, Equality) and not positive:
            continue
        if signs.setdefault(atom, positive) != positive or _is_identity(atom):
            raise ArgumentError(f"{to_text(formula)} is always true.")
    return clause_key(tuple(signs), sum(held << place for place, held in enumerate(signs.values())))


def _numbered_variables(literals: Sequence[Formula]) -> dict[Term, int]:
    """Return the number of each variable, as they first occur."""
    found: dict[Term, int] = {}
    for inner in literals:
        if isinstance(inner, Atom | Equality):
            terms = inner.arguments if isinstance(inner, Atom) else (inner.left, inner.right)
            for term in terms:
                found.setdefault(term, len(found))
            if all(isinstance(term, Variable) for term in terms):
                continue
        raise ArgumentError("A candidate's literals are atoms over variables, such as !Smokes(x), and x = y.")
    return found


def _root(same: Mapping[int, int], variable: int) -> int:
    while variable in same:
        variable = same[variable]
    return variable


def _path_atom(inner: Formula, names: Mapping[Term, int], same: Mapping[int, int]) -> PathAtom:
    if isinstance(inner, Equality):
        return PathAtom(EQUALS, tuple(sorted(_root(same, names[term]) for term in (inner.left, inner.right))))
    assert isinstance(inner, Atom)  # noqa: S101 - _numbered_variables has looked
    return PathAtom(inner.predicate, tuple(_root(same, names[term]) for term in inner.arguments))


def _is_identity(atom: PathAtom) -> bool:
    return atom.predicate == EQUALS and len(set(atom.variables)) == 1


def refuse_what_has_no_clauses(method: str, weighing: Weighing | None) -> None:
    """Refuse a structure that was not made of candidates."""
    if weighing is None:
        raise ArgumentError(
            f"The result of {method} has no clauses to keep or throw out; learn with "
            'ml.learn_structure(dbs, method="lhl").'
        )
