"""Ground formulas as sets of clauses over what is open, as far as that costs nothing.

A third reading of the closures of :mod:`mlnlab.grounding.truth_algebras`: a truth value is true, false, a set
of clauses (their conjunction), or, where writing it as clauses would mean distributing Or over And, only
known to depend on open atoms. Nothing is ever distributed, so no formula grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from mlnlab.logic.formulas import holds_between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mlnlab.logic.formulas import Relation

Literal = int  # 2 * atom, plus 1 where negated
GroundClause = frozenset[Literal]


@dataclass(frozen=True, slots=True)
class Clauses:
    """The conjunction of some clauses, none of which is always true."""

    clauses: frozenset[GroundClause]

    def opposite(self) -> Clauses | None:
        """Return the negation where it is clauses again: of one clause, or of literals only."""
        if len(self.clauses) == 1:
            (clause,) = self.clauses
            return Clauses(frozenset(frozenset((literal ^ 1,)) for literal in clause))
        if all(len(clause) == 1 for clause in self.clauses):
            return Clauses(
                frozenset((frozenset(literal ^ 1 for clause in self.clauses for literal in clause),))
            )
        return None


class Opaque:
    """A truth value that depends on open atoms in a way that is no set of clauses."""

    __slots__ = ()


OPAQUE = Opaque()
Shape = Clauses | Opaque | bool


@dataclass(frozen=True, slots=True)
class ClauseAlgebra:
    """Truth values: true, false, clauses over the open atoms, or opaque."""

    look_up: Callable[[str, tuple[str, ...]], bool | int]

    def atom(self, predicate: str, arguments: tuple[str, ...]) -> Shape:
        """Return evidence as it is, an open atom as a clause of one literal."""
        found = self.look_up(predicate, arguments)
        return found if isinstance(found, bool) else Clauses(frozenset((frozenset((2 * found,)),)))

    def negation(self, value: Shape) -> Shape:
        """Return the opposite."""
        if isinstance(value, bool):
            return not value
        opposite = None if isinstance(value, Opaque) else value.opposite()
        return OPAQUE if opposite is None else _settled(opposite)

    def every(self, values: Iterable[Shape]) -> Shape:
        """Return the conjunction: all clauses together."""
        parts: list[Clauses] = []
        opaque = False
        for value in values:
            if value is False:
                return False
            if isinstance(value, Clauses):
                parts.append(value)
            elif isinstance(value, Opaque):
                opaque = True
        if opaque:
            return OPAQUE
        if not parts:
            return True
        if len(parts) == 1:
            return parts[0]
        return _settled(Clauses(frozenset(chain.from_iterable(part.clauses for part in parts))))

    def same(self, left: Shape, right: Shape) -> Shape:
        """Return left <=> right: two implications, where each side is a literal."""
        if isinstance(left, bool):
            return right if left else self.negation(right)
        if isinstance(right, bool):
            return left if right else self.negation(left)
        return self.every(
            (self._either(self.negation(left), right), self._either(left, self.negation(right)))
        )

    def _either(self, left: Shape, right: Shape) -> Shape:
        return self.negation(self.every((self.negation(left), self.negation(right))))

    def number(self, values: Iterable[Shape], relation: Relation, bound: int) -> Shape:
        """Return the comparison where all values are known."""
        found = list(values)
        if all(isinstance(value, bool) for value in found):
            return holds_between(relation, sum(value is True for value in found), bound)
        return OPAQUE


def _settled(value: Clauses) -> Shape:
    """Return false where two clauses contradict each other, and drop clauses that are always true."""
    kept = frozenset(
        clause for clause in value.clauses if not any(literal ^ 1 in clause for literal in clause)
    )
    units = {literal for clause in kept if len(clause) == 1 for literal in clause}
    if any(literal ^ 1 in units for literal in units):
        return False
    return Clauses(kept) if kept else True
