"""Represent formulas over numbered tables: the form of a formula before DuckDB's SQL is written.

Predicates and constants are numbers here, so that no name of anybody's data reaches SQL. Leaves are literals;
above them stand three kinds of nodes, which negation turns into one another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

from mlnlab.logic.formulas.formulas import Variable

Slot = Variable | int  # a variable, or the number of a constant


@dataclass(frozen=True, slots=True)
class Match:
    """A row of a numbered table has these values."""

    table: int
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class Same:
    """Two values of one type are the same constant."""

    left: Slot
    right: Slot


@dataclass(frozen=True, slots=True)
class Literal:
    """A statement, or its negation."""

    statement: Match | Same
    positive: bool = True


@dataclass(frozen=True, slots=True)
class Both:
    """All parts hold; of no parts it is true."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """Some part holds; of no parts it is false."""

    parts: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Agree:
    """Both sides hold, or neither does: two cases that exclude each other."""

    left: Tree
    right: Tree


Tree = Literal | Both | Either | Agree

ALWAYS, NEVER = Both(()), Either(())


def negate_tree(tree: Tree) -> Tree:
    """Return the negation, pushed down to the literals."""
    match tree:
        case Literal(statement, positive):
            return Literal(statement, not positive)
        case Both(parts):
            return Either(tuple(map(negate_tree, parts)))
        case Either(parts):
            return Both(tuple(map(negate_tree, parts)))
        case Agree(left, right):
            return Agree(left, negate_tree(right))
        case _:
            assert_never(tree)


def truth(value: bool) -> Tree:
    """Return the tree that is always true, or always false."""
    return ALWAYS if value else NEVER


def slots_of(literal: Literal) -> tuple[Slot, ...]:
    """Return the values that a literal speaks of."""
    statement = literal.statement
    return statement.slots if isinstance(statement, Match) else (statement.left, statement.right)


def variables_of(literal: Literal) -> frozenset[Variable]:
    """Return the variables of a literal."""
    return frozenset(slot for slot in slots_of(literal) if isinstance(slot, Variable))


def rename_variables(literal: Literal, values: Mapping[Variable, Slot]) -> Literal:
    """Return the literal with variables replaced."""
    slots = tuple(
        values.get(slot, slot) if isinstance(slot, Variable) else slot for slot in slots_of(literal)
    )
    statement = literal.statement
    changed = Match(statement.table, slots) if isinstance(statement, Match) else Same(*slots)
    return Literal(changed, literal.positive)
