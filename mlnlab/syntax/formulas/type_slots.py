"""Type inference for one formula: terms get slots, atoms and equalities unify them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.logic.formulas.formulas import (
    Arithmetic,
    Constant,
    Formula,
    Quantified,
    Term,
    Variable,
)
from mlnlab.logic.formulas.substitution import with_body
from mlnlab.logic.formulas.traversal import map_children, map_terms

if TYPE_CHECKING:
    from collections.abc import Callable

    from lark import Token


class TypeSlots:
    """A union-find of the types of a formula's terms; a slot is named ``#number`` until it is resolved."""

    def __init__(self) -> None:
        """Begin without any slot."""
        self._parents: list[int] = []
        self._types: list[str] = []
        self._reasons: list[Token | None] = []

    def new(self) -> str:
        """Return a slot whose type is not known yet."""
        self._parents.append(len(self._parents))
        self._types.append("")
        self._reasons.append(None)
        return f"#{len(self._parents) - 1}"

    def _root(self, slot: str) -> int:
        number = int(slot[1:])
        while self._parents[number] != number:
            self._parents[number] = self._parents[self._parents[number]]
            number = self._parents[number]
        return number

    def type_of(self, slot: str) -> str:
        """Return the type of a slot, ``""`` while it is unknown."""
        return self._types[self._root(slot)] if slot.startswith("#") else slot

    def reason(self, slot: str) -> Token | None:
        """Return the place that gave a slot its type."""
        return self._reasons[self._root(slot)]

    def assign(self, slot: str, type_: str, reason: Token | None) -> bool:
        """Give a slot its type; ``False`` where it has another already."""
        root = self._root(slot)
        if not self._types[root]:
            self._types[root], self._reasons[root] = type_, reason
        return self._types[root] == type_

    def unify(self, left: str, right: str) -> bool:
        """Make two slots one; ``False`` where their types differ."""
        first, second = self._root(left), self._root(right)
        if self._types[first] and self._types[second] and self._types[first] != self._types[second]:
            return False
        if not self._types[first]:
            first, second = second, first
        self._parents[second] = first
        return True


def retype_formula(formula: Formula, type_of: Callable[[str], str]) -> Formula:
    """Return the formula with the type of every variable and constant replaced."""
    return retyped_terms(formula, lambda leaf: type(leaf)(leaf.name, type_of(leaf.type)))


def retyped_terms(formula: Formula, change: Callable[[Variable | Constant], Variable | Constant]) -> Formula:
    """Return the formula with every variable (bound ones too) and constant changed."""

    def term(old: Term) -> Term:
        if isinstance(old, Arithmetic):
            return Arithmetic(old.operator, term(old.left), term(old.right))
        return change(old)

    changed = map_terms(formula, term)
    if isinstance(changed, Quantified):
        variables = tuple(v for v in map(change, changed.variables) if isinstance(v, Variable))
        changed = with_body(changed, variables, changed.body)
    return map_children(changed, lambda child: retyped_terms(child, change))
