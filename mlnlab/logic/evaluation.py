"""The truth of a formula in a world (lecture notes, eq. 9): plain recursion over the definitions.

A binding that takes an arithmetic term out of its type's constants is no binding at all: with
``time = {1,...,5}``, the formula ``On(t) => Off(t+1)`` has four groundings, not five.
"""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Protocol, assert_never

from mlnlab.errors import ArgumentError
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
    Quantified,
    Term,
    Truth,
    Variable,
    holds_between,
)
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import children, leaves, terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mlnlab.logic.vocabulary import Domain


_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,100}")  # more digits are no number of anything


class Structure(Protocol):
    """A world to evaluate formulas in: constants for each type, and a truth value for each ground atom."""

    def domain(self, type_: str, /) -> Domain:
        """Return the constants of a type."""
        ...

    def holds(self, predicate: str, arguments: tuple[str, ...], /) -> bool:
        """Return whether the ground atom is true."""
        ...


def constant_of(term: Term, binding: Mapping[Variable, str]) -> str:
    """Return the name of the constant that a term denotes under a binding."""
    match term:
        case Constant(name):
            return name
        case Variable():
            return binding[term]
        case Arithmetic(operator, left, right):
            first, second = constant_of(left, binding), constant_of(right, binding)
            # What is calculated from something undefined is undefined as well.
            return str(_calculate(operator, _whole(first), _whole(second))) if first and second else ""
        case _:
            assert_never(term)


def number_of(term: Term, binding: Mapping[Variable, str]) -> int:
    """Return the whole number that a term denotes under a binding."""
    name = constant_of(term, binding)
    if not name and isinstance(term, Arithmetic):
        raise ArgumentError(
            "A division by zero, or with a remainder, has no value, so it cannot be compared by size."
        )
    return _whole(name)


def _whole(name: str) -> int:
    if _WHOLE_NUMBER.fullmatch(name):
        return int(name)
    raise ArgumentError(f"{name} is not a whole number, so it cannot be compared by size or calculated with.")


def _calculate(operator: str, left: int, right: int) -> int | str:
    """Calculate; an undefined result (division by zero, or with a remainder) is the empty name."""
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case "%":
            return left % right if right else ""
        case _:
            return left // right if right and left % right == 0 else ""


def compares(operator: str, left: int, right: int) -> bool:
    """Return whether two numbers stand in the relation of a :class:`Comparison`."""
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[operator]


def typed_arithmetic(formula: Formula) -> tuple[tuple[Arithmetic, str], ...]:
    """Return the arithmetic terms that stand as arguments of atoms in this scope, with their types.

    Terms below a quantifier that binds one of their variables belong to that quantifier's scope.
    """
    found = [
        (t, _type_of(t)) for t in terms(formula) if isinstance(formula, Atom) and isinstance(t, Arithmetic)
    ]
    bound = formula.variables if isinstance(formula, Quantified) else ()
    for child in children(formula):
        inner = typed_arithmetic(child)
        found += [(t, type_) for t, type_ in inner if not any(leaf in bound for leaf in leaves(t))]
    return tuple(dict.fromkeys(found))


def _type_of(term: Term) -> str:
    return next((leaf.type for leaf in leaves(term) if leaf.type), "")


def bindings(
    variables: Sequence[Variable], scope: Formula, structure: Structure, outer: Mapping[Variable, str]
) -> Iterator[dict[Variable, str]]:
    """Yield the bindings of the variables to constants that keep the scope's arithmetic within its types."""
    checked = [
        (t, type_) for t, type_ in typed_arithmetic(scope) if any(leaf in variables for leaf in leaves(t))
    ]
    for names in product(*(structure.domain(variable.type) for variable in variables)):
        binding = {**outer, **dict(zip(variables, names, strict=True))}
        if all(constant_of(t, binding) in structure.domain(type_) for t, type_ in checked):
            yield binding


def groundings(formula: Formula, structure: Structure) -> Iterator[dict[Variable, str]]:
    """Yield the groundings of a formula: the bindings of its free variables (lecture notes, eq. 7)."""
    return bindings(free_variables(formula), formula, structure, {})


def evaluate(formula: Formula, structure: Structure, binding: Mapping[Variable, str] | None = None) -> bool:
    """Return whether the formula is true in the structure under a binding of its free variables."""
    bound = binding or {}
    match formula:
        case Truth(value):
            return value
        case Atom(predicate, arguments):
            return structure.holds(predicate, tuple(constant_of(term, bound) for term in arguments))
        case Equality(left, right):
            return constant_of(left, bound) == constant_of(right, bound)
        case Comparison(operator, left, right):
            return compares(operator, number_of(left, bound), number_of(right, bound))
        case Not(operand):
            return not evaluate(operand, structure, bound)
        case And(operands):
            return all(evaluate(operand, structure, bound) for operand in operands)
        case Or(operands):
            return any(evaluate(operand, structure, bound) for operand in operands)
        case Implies(premise, conclusion):
            return not evaluate(premise, structure, bound) or evaluate(conclusion, structure, bound)
        case Iff(left, right):
            return evaluate(left, structure, bound) == evaluate(right, structure, bound)
        case ForAll(variables, body):
            return all(evaluate(body, structure, b) for b in bindings(variables, body, structure, bound))
        case Exists(variables, body):
            return any(evaluate(body, structure, b) for b in bindings(variables, body, structure, bound))
        case CountingExists(relation, bound_, variables, body):
            number = sum(evaluate(body, structure, b) for b in bindings(variables, body, structure, bound))
            return holds_between(relation, number, bound_)
        case Cardinality(predicate, types, relation, bound_):
            argument_lists = product(*map(structure.domain, types))
            number = sum(structure.holds(predicate, arguments) for arguments in argument_lists)
            return holds_between(relation, number, bound_)
        case _:
            assert_never(formula)
