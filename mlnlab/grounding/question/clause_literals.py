"""Formulas that are a clause before grounding: literals whose arguments are variables and constants."""

from __future__ import annotations

from typing import NamedTuple

from mlnlab.logic.formulas.formulas import And, Atom, Constant, Equality, Formula, Implies, Not, Or, Variable


class SignedAtom(NamedTuple):
    """A literal of a clause before grounding: an atom or an equality, and its sign."""

    atom: Atom | Equality
    positive: bool

    @property
    def terms(self) -> tuple[Variable | Constant, ...]:
        """The arguments, or the two sides."""
        terms = self.atom.arguments if isinstance(self.atom, Atom) else (self.atom.left, self.atom.right)
        return tuple(term for term in terms if isinstance(term, Variable | Constant))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables, each once, in the order in which they occur."""
        return tuple(dict.fromkeys(term for term in self.terms if isinstance(term, Variable)))


def as_literals(formula: Formula, positive: bool = True) -> list[SignedAtom] | None:
    """Return the literals whose disjunction the formula is (or its negation); ``None`` where it is none."""
    match formula:
        case Atom(_, arguments) if all(isinstance(term, Variable | Constant) for term in arguments):
            return [SignedAtom(formula, positive)]
        case Equality(Variable(_, one), Variable(_, other)) if one == other:
            return [SignedAtom(formula, positive)]
        case Equality(Variable(), Constant()) | Equality(Constant(), Variable()):
            return [SignedAtom(formula, positive)]
        case Not(operand):
            return as_literals(operand, not positive)
        case Or((operand,)) | And((operand,)):
            return as_literals(operand, positive)
        case Or(operands) if positive:
            return _join_literals([as_literals(operand, positive) for operand in operands])
        case And(operands) if not positive:
            return _join_literals([as_literals(operand, positive) for operand in operands])
        case Implies(premise, conclusion) if positive:
            return _join_literals([as_literals(premise, positive=False), as_literals(conclusion)])
        case _:
            return None


def _join_literals(parts: list[list[SignedAtom] | None]) -> list[SignedAtom] | None:
    found: list[SignedAtom] = []
    for part in parts:
        if part is None:
            return None
        found += part
    return found or None
