"""Turn ground formulas into sets of clauses over open atoms, as far as that costs nothing.

A third reading of the closures of :mod:`mlnlab.grounding.question.truth_algebras`: a truth value is true,
false, a set of clauses (their conjunction), or, where writing it as clauses would mean distributing Or over
And, only known to depend on open atoms. Nothing is ever distributed, so no formula grows. Where literals are
counted, clauses say it as long as these are few, and more of them only where it must hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb, inf

from mlnlab.logic.formulas.formulas import Relation, holds_between

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
    """A truth value that depends on open atoms in a way that is not a set of clauses."""

    __slots__ = ()


OPAQUE = Opaque()
Shape = Clauses | Opaque | bool


@dataclass(frozen=True, slots=True)
class ClauseAlgebra:
    """Truth values: true, false, clauses over the open atoms, or opaque."""

    look_up: Callable[[str, tuple[str, ...]], bool | int]
    most_literals: int = 0  # of the clauses that say how many literals are true

    def atom(self, predicate: str, arguments: tuple[str, ...]) -> Shape:
        """Return evidence as it is, an open atom as a clause of one literal."""
        found = self.look_up(predicate, arguments)
        return found if isinstance(found, bool) else Clauses(frozenset((frozenset((2 * found,)),)))

    def negation(self, value: Shape) -> Shape:
        """Return the opposite."""
        if isinstance(value, bool):
            return not value
        opposite = None if isinstance(value, Opaque) else value.opposite()
        return OPAQUE if opposite is None else _simplify_clauses(opposite)

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
        return _simplify_clauses(Clauses(frozenset(chain.from_iterable(part.clauses for part in parts))))

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
        """Return the comparison where all values are known, and clauses where literals are counted."""
        found = list(values)
        certain = sum(value is True for value in found)
        opened = [value for value in found if not isinstance(value, bool)]
        if not opened:
            return holds_between(relation, certain, bound)
        literals = [_single(value) for value in opened]
        limits = _LIMITS.get(relation)
        if limits is None or None in literals:
            return OPAQUE
        low, high = limits(bound - certain)
        return _require_count([one for one in literals if one is not None], low, high, self.most_literals)


# At least so many, and at most so many, to stand in a relation to a number; inequality is no such interval.
_LIMITS: dict[Relation, Callable[[int], tuple[int, float]]] = {
    "=": lambda number: (number, number),
    "<=": lambda number: (0, number),
    "<": lambda number: (0, number - 1),
    ">=": lambda number: (number, inf),
    ">": lambda number: (number + 1, inf),
}


def _single(value: Shape) -> Literal | None:
    """Return the literal that a value is."""
    if isinstance(value, Clauses) and len(value.clauses) == 1:
        (clause,) = value.clauses
        if len(clause) == 1:
            (literal,) = clause
            return literal
    return None


def _require_count(literals: list[Literal], low: int, high: float, most: int) -> Shape:
    """Return that at least ``low`` and at most ``high`` literals are true.

    At least k of n: among any n - k + 1 of them one is true. At most k: among any k + 1 one is false.
    """
    number = len(literals)
    if low > number or high < 0 or low > high:
        return False
    some_true = number - low + 1 if low > 0 else number + 1
    some_false = int(high) + 1 if high < number else number + 1
    size = comb(number, some_true) * some_true + comb(number, some_false) * some_false
    if size > max(most, number):  # with so few, the clauses are one, or the literals themselves
        return OPAQUE
    opposites = [literal ^ 1 for literal in literals]
    parts = chain(combinations(literals, some_true), combinations(opposites, some_false))
    clauses = frozenset(map(frozenset, parts))
    return _simplify_clauses(Clauses(clauses)) if clauses else True


def _simplify_clauses(value: Clauses) -> Shape:
    """Return false where two clauses contradict each other, and drop clauses that are always true."""
    kept = frozenset(
        clause for clause in value.clauses if not any(literal ^ 1 in clause for literal in clause)
    )
    units = {literal for clause in kept if len(clause) == 1 for literal in clause}
    if any(literal ^ 1 in units for literal in units):
        return False
    return Clauses(kept) if kept else True
