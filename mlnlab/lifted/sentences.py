"""Sentences: hard formulas without existential quantifiers, as clauses that keep all their variables.

Van den Broeck, Meert and Darwiche, "Skolemization for weighted first-order model counting" (KR 2014):
``EXIST x phi(x, y)`` becomes a predicate Z(y) with the clauses Z(y) v !phi(x, y), S(y) v Z(y) and
S(y) v !phi(x, y), where S(y) weighs 1 if true and -1 if false: worlds in which Z(y) holds without reason
cancel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.logic.formulas import (
    And,
    Atom,
    Cardinality,
    Comparison,
    CountingExists,
    Equality,
    Exists,
    ForAll,
    Formula,
    Not,
    Or,
    Truth,
    Variable,
)
from mlnlab.logic.normal_forms import nnf, standardise_apart
from mlnlab.logic.substitution import free_variables

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_CLAUSES = 20_000  # of one formula


@dataclass(frozen=True, slots=True)
class Sentence:
    """A disjunction that holds for all values of its variables, also of those that it does not mention."""

    variables: tuple[Variable, ...]
    literals: tuple[Formula, ...]


@dataclass(slots=True)
class Skolem:
    """Collects the sentences of formulas; a mutable local of one translation."""

    sentences: list[Sentence] = field(default_factory=list)
    signed: list[str] = field(default_factory=list)  # predicates whose false atoms weigh -1
    made: dict[str, tuple[str, ...]] = field(default_factory=dict)  # new predicates with their types

    def add(self, formula: Formula, variables: tuple[Variable, ...] | None = None) -> None:
        """Add a formula that holds for all values of its free variables, and of ``variables``."""
        free = free_variables(formula) if variables is None else variables
        inner = self._without_exists(standardise_apart(nnf(formula), free))
        for own, literals in _distributed(inner):
            self.sentences.append(Sentence((*free, *own), literals))

    def _without_exists(self, formula: Formula) -> Formula:
        """Replace existential parts, the innermost first, by atoms that stand for them."""
        match formula:
            case And(operands):
                return And(tuple(map(self._without_exists, operands)))
            case Or(operands):
                return Or(tuple(map(self._without_exists, operands)))
            case ForAll(variables, body):
                return ForAll(variables, self._without_exists(body))
            case Exists(variables, body):
                return self._standing_for(variables, self._without_exists(body))
            case _:
                return formula

    def _standing_for(self, variables: tuple[Variable, ...], body: Formula) -> Atom:
        """Return Z(y) for ``EXIST x body(x, y)``, with the clauses that say so."""
        outside = tuple(v for v in free_variables(body) if v not in variables)
        stands = self._new("exists", outside)
        skolem = self._new("skolem", outside)
        self.signed.append(skolem.predicate)
        every = (*outside, *variables)
        self.add(Or((stands, Not(body))), every)
        self.add(Or((skolem, stands)), outside)
        self.add(Or((skolem, Not(body))), every)
        return stands

    def _new(self, kind: str, variables: tuple[Variable, ...]) -> Atom:
        name = f"{kind}#{len(self.made)}"
        self.made[name] = tuple(v.type for v in variables)
        return Atom(name, variables)


def _distributed(formula: Formula) -> list[tuple[tuple[Variable, ...], tuple[Formula, ...]]]:
    """Return clauses, each with the variables that are quantified above it inside the formula."""
    match formula:
        case And(operands):
            return [clause for operand in operands for clause in _distributed(operand)]
        case Or(operands):
            found: list[tuple[tuple[Variable, ...], tuple[Formula, ...]]] = [((), ())]
            for operand in operands:
                parts = _distributed(operand)
                if len(found) * len(parts) > MOST_CLAUSES:
                    size = float(len(found) * len(parts))
                    raise TooLargeError(
                        f"A formula has more than {MOST_CLAUSES:,} clauses.", size, ["split the formula"]
                    )
                found = [((*u, *v), (*a, *b)) for u, a in found for v, b in parts]
            return found
        case ForAll(variables, body):
            return [((*variables, *inner), literals) for inner, literals in _distributed(body)]
        case Truth(value):
            return [] if value else [((), ())]
        case _:
            return [((), (_checked(formula),))]


def _checked(literal: Formula) -> Formula:
    inner = literal.operand if isinstance(literal, Not) else literal
    if isinstance(inner, Atom | Equality):
        return literal
    if isinstance(inner, Comparison):
        raise ArgumentError(
            f"{inner} compares numbers, which makes constants differ from each other: it cannot be lifted."
        )
    raise ArgumentError(f"{inner} counts inside another formula, which lifted inference does not do yet.")


def parts_that_count(formula: Formula) -> Iterator[CountingExists | Cardinality]:
    """Yield the counting quantifiers and cardinalities of a formula."""
    from mlnlab.logic.traversal import subformulas

    for part in subformulas(formula):
        if isinstance(part, CountingExists | Cardinality):
            yield part
