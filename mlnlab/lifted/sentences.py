"""Sentences: hard formulas without existential quantifiers, as clauses that keep all their variables.

Van den Broeck, Meert and Darwiche, "Skolemization for weighted first-order model counting" (KR 2014):
``EXIST x phi(x, y)`` becomes a predicate Z(y) with the clauses Z(y) v !phi(x, y), S(y) v Z(y) and
S(y) v !phi(x, y), where S(y) weighs 1 if true and -1 if false: worlds in which Z(y) holds without reason
cancel.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.lifted.counting_quantifiers import OPPOSITE, count_quantified
from mlnlab.lifted.tallies import Tally
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

MOST_CLAUSES = 20_000  # of one formula


@dataclass(frozen=True, slots=True)
class Sentence:
    """A disjunction that holds for all values of its variables, also of those that it does not mention."""

    variables: tuple[Variable, ...]
    literals: tuple[Formula, ...]


@dataclass(slots=True)
class Sentences:
    """Collects sentences, and what stands for their parts; a mutable local of one translation."""

    made: list[Sentence] = field(default_factory=list)
    predicates: dict[str, tuple[str, ...]] = field(default_factory=dict)  # new ones, with their types
    factors: dict[str, tuple[Fraction, Fraction]] = field(default_factory=dict)  # of true and false atoms
    tallies: list[Tally] = field(default_factory=list)
    counted: dict[Formula, str] = field(default_factory=dict)  # predicates of quantifiers that count

    def add(self, formula: Formula, variables: tuple[Variable, ...] | None = None) -> None:
        """Add a formula that holds for all values of its free variables, and of ``variables``."""
        free = free_variables(formula) if variables is None else variables
        inner = self._replaced(standardise_apart(nnf(formula), free), top=True)
        for own, literals in _distributed(inner):
            self.made.append(Sentence((*free, *own), literals))

    def _replaced(self, formula: Formula, *, top: bool = False) -> Formula:
        """Replace existential and counting parts, the innermost first, by atoms that stand for them."""
        match formula:
            case And(operands):
                return And(tuple(self._replaced(operand, top=top) for operand in operands))
            case Or(operands):
                return Or(tuple(map(self._replaced, operands)))
            case ForAll(variables, body):
                return ForAll(variables, self._replaced(body, top=top))
            case Exists(variables, body):
                return self._exists(variables, self._replaced(body))
            case CountingExists() | Not(CountingExists()):
                return count_quantified(self, formula, asserted=top)
            case (Cardinality() as inner) | Not(Cardinality() as inner):
                if not top:
                    raise ArgumentError(
                        f"{formula} has a weight, or stands inside a larger formula; lifted inference counts"
                        " a whole predicate only where that is a hard formula by itself."
                    )
                self.tallies.append(_tally_of(inner, negated=isinstance(formula, Not)))
                return Truth(True)
            case _:
                return formula

    def _exists(self, variables: tuple[Variable, ...], body: Formula) -> Atom:
        """Return Z(y) for ``EXIST x body(x, y)``, with the clauses that say so."""
        outside = tuple(v for v in free_variables(body) if v not in variables)
        stands, skolem = self.new("exists", outside), self.new("skolem", outside)
        self.factors[skolem.predicate] = (Fraction(1), Fraction(-1))
        every = (*outside, *variables)
        self.add(Or((stands, Not(body))), every)
        self.add(Or((skolem, stands)), outside)
        self.add(Or((skolem, Not(body))), every)
        return stands

    def new(self, kind: str, variables: tuple[Variable, ...]) -> Atom:
        """Return an atom of a new predicate over some variables."""
        name = f"{kind}#{len(self.predicates)}"
        self.predicates[name] = tuple(v.type for v in variables)
        return Atom(name, variables)


def _tally_of(inner: Cardinality, *, negated: bool) -> Tally:
    """Return what a cardinality, or its negation, asks of a predicate's true atoms."""
    relation = OPPOSITE[inner.relation] if negated else inner.relation
    return Tally(((inner.predicate, 1),), (), relation, inner.bound)


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
    raise ArgumentError(f"{inner} cannot be lifted.")
