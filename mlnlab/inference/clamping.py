"""One query of a question, and the question with that known to be true or false."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.grounding.question import Question, opening
from mlnlab.inference.marginals import name_of
from mlnlab.logic.formulas import Atom, Formula, Not
from mlnlab.logic.ground_atoms import GroundAtom, ground_atom
from mlnlab.logic.substitution import free_variables

if TYPE_CHECKING:
    from mlnlab.grounding.question import Opening


@dataclass(frozen=True, slots=True)
class Query:
    """What the probability is of: a formula without variables, which may be a ground atom."""

    text: str
    formula: Formula

    @property
    def atom(self) -> GroundAtom | None:
        """The ground atom, if it is one."""
        return ground_atom(self.formula) if isinstance(self.formula, Atom) else None

    def alone(self, question: Question) -> Question:
        """Return the question with this as the only query."""
        atoms = () if self.atom is None else (self.atom,)
        formulas = () if atoms else ((self.text, self.formula),)
        return replace(question, query_atoms=atoms, query_formulas=formulas)


def query_of(asked: Opening, of: str | Formula | GroundAtom | None) -> Query:
    """Return the query of this name; without one, the only one that was asked."""
    if of is None:
        if len(asked.queries) != 1 or asked.queries[0][1] is None:
            raise ArgumentError('Say which probability is meant: of="Smokes(Bob)".')
        formula = asked.queries[0][1]
    else:
        text = str(of) if isinstance(of, GroundAtom) else of
        read = opening(asked.mln, asked.data or {}, [text]).queries[0][1]
        if read is None:
            raise ArgumentError(f"{text} is a predicate; name one of its atoms, or a formula.")
        formula = read
    if free_variables(formula):
        raise ArgumentError(f"{formula} has variables; put constants in their places, or quantify them.")
    return Query(name_of(formula), formula)


def clamped(question: Question, query: Query, *, true: bool) -> Question:
    """Return the question with the query known to be true, or known to be false."""
    if query.atom is None:
        condition = query.formula if true else Not(query.formula)
        return replace(question, given=(*question.given, condition))
    choices = []
    for choice in question.choices:
        if query.atom not in choice.atoms:
            choices.append(choice)
        elif not true:
            left = tuple(atom for atom in choice.atoms if atom != query.atom)
            choices += [replace(choice, atoms=left)] if left else []
    known = question.true | {query.atom} if true else question.true
    return replace(question, true=known, choices=tuple(choices))
