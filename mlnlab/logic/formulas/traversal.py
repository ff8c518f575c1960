"""The few folds over formulas that everything else is written with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import assert_never

from mlnlab.logic.formulas.formulas import (
    And,
    Arithmetic,
    Atom,
    Cardinality,
    Comparison,
    Constant,
    CountingExists,
    Equality,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Term,
    Truth,
    Variable,
)


def children(formula: Formula) -> tuple[Formula, ...]:
    """Return the direct subformulas, in reading order."""
    match formula:
        case And(operands) | Or(operands):
            return operands
        case Not(operand):
            return (operand,)
        case Implies(left, right) | Iff(left, right):
            return (left, right)
        case ForAll(_, body) | Exists(_, body) | CountingExists(_, _, _, body):
            return (body,)
        case Truth() | Atom() | Equality() | Comparison() | Cardinality():
            return ()
        case _:
            assert_never(formula)


def map_children(formula: Formula, change: Callable[[Formula], Formula]) -> Formula:
    """Return the formula with every direct subformula changed."""
    match formula:
        case And(operands):
            return And(tuple(map(change, operands)))
        case Or(operands):
            return Or(tuple(map(change, operands)))
        case Not(operand):
            return Not(change(operand))
        case Implies(premise, conclusion):
            return Implies(change(premise), change(conclusion))
        case Iff(left, right):
            return Iff(change(left), change(right))
        case ForAll(variables, body):
            return ForAll(variables, change(body))
        case Exists(variables, body):
            return Exists(variables, change(body))
        case CountingExists(relation, bound, variables, body):
            return CountingExists(relation, bound, variables, change(body))
        case Truth() | Atom() | Equality() | Comparison() | Cardinality():
            return formula
        case _:
            assert_never(formula)


def map_terms(formula: Formula, change: Callable[[Term], Term]) -> Formula:
    """Return an atomic formula with every term changed; other formulas stay as they are."""
    match formula:
        case Atom(predicate, arguments):
            return Atom(predicate, tuple(map(change, arguments)))
        case Equality(left, right):
            return Equality(change(left), change(right))
        case Comparison(operator, left, right):
            return Comparison(operator, change(left), change(right))
        case _:
            return formula


def terms(formula: Formula) -> tuple[Term, ...]:
    """Return the terms of an atomic formula; none for any other formula."""
    match formula:
        case Atom(_, arguments):
            return arguments
        case Equality(left, right) | Comparison(_, left, right):
            return (left, right)
        case _:
            return ()


def leaves(term: Term) -> Iterator[Variable | Constant]:
    """Yield the variables and constants of a term, left to right."""
    match term:
        case Arithmetic(_, left, right):
            yield from leaves(left)
            yield from leaves(right)
        case Variable() | Constant():
            yield term
        case _:
            assert_never(term)


def subformulas(formula: Formula) -> Iterator[Formula]:
    """Yield the formula and everything inside it, outermost first, left to right."""
    yield formula
    for child in children(formula):
        yield from subformulas(child)


def atoms(formula: Formula) -> tuple[Atom, ...]:
    """Return the different atoms of a formula, in reading order."""
    return tuple(dict.fromkeys(part for part in subformulas(formula) if isinstance(part, Atom)))


def constants(formula: Formula) -> tuple[Constant, ...]:
    """Return the different constants of a formula, in reading order."""
    found = (
        leaf
        for part in subformulas(formula)
        for term in terms(part)
        for leaf in leaves(term)
        if isinstance(leaf, Constant)
    )
    return tuple(dict.fromkeys(found))


def predicates(formula: Formula) -> tuple[str, ...]:
    """Return the names of the predicates of a formula, in reading order."""
    names = (part.predicate for part in subformulas(formula) if isinstance(part, Atom | Cardinality))
    return tuple(dict.fromkeys(names))
