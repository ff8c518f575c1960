"""Formulas compiled to closures over an algebra of truth values.

The same compiled shape serves two readings: with :class:`ScopeAlgebra` a ground formula becomes true, false,
or the set of choices that it depends on; with :class:`ArrayAlgebra` it becomes a truth value for every
combination of those choices at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Protocol, TypeVar, assert_never

import numpy as np

from mlnlab.logic.evaluation import compares, constant_of, number_of, typed_arithmetic
from mlnlab.logic.formulas.formulas import (
    And,
    Atom,
    Cardinality,
    Comparison,
    CountingExists,
    Equality,
    Exists,
    ForAll,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    Relation,
    Truth,
    Variable,
    holds_between,
)
from mlnlab.logic.formulas.traversal import leaves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.logic.vocabulary import Vocabulary

Value = TypeVar("Value")


class Algebra(Protocol[Value]):
    """The operations on truth values; ``bool`` is always a truth value of every algebra."""

    def atom(self, predicate: str, arguments: tuple[str, ...], /) -> Value | bool:
        """Return the truth value of a ground atom."""
        ...

    def negation(self, value: Value | bool, /) -> Value | bool:
        """Return the opposite."""
        ...

    def every(self, values: Iterable[Value | bool], /) -> Value | bool:
        """Return the conjunction."""
        ...

    def same(self, left: Value | bool, right: Value | bool, /) -> Value | bool:
        """Return whether both are true or both false."""
        ...

    def number(self, values: Iterable[Value | bool], relation: Relation, bound: int, /) -> Value | bool:
        """Return whether the number of true ones stands in a relation to a bound."""
        ...


def compile_formula(
    formula: Formula, vocabulary: Vocabulary, algebra: Algebra[Value]
) -> Callable[[Mapping[Variable, str]], Value | bool]:
    """Return a function from bindings of the free variables to truth values of the algebra."""

    def inner(part: Formula) -> Callable[[Mapping[Variable, str]], Value | bool]:
        return compile_formula(part, vocabulary, algebra)

    match formula:
        case Truth(value):
            return lambda _: value
        case Atom(predicate, arguments):
            return lambda b: algebra.atom(predicate, tuple([constant_of(term, b) for term in arguments]))
        case Equality(left, right):
            return lambda b: constant_of(left, b) == constant_of(right, b)
        case Comparison(operator, left, right):
            return lambda b: compares(operator, number_of(left, b), number_of(right, b))
        case Not(operand):
            positive = inner(operand)
            return lambda b: algebra.negation(positive(b))
        case And(operands):
            parts = [inner(operand) for operand in operands]
            return lambda b: algebra.every(part(b) for part in parts)
        case Or(operands):
            parts = [inner(operand) for operand in operands]
            return lambda b: algebra.negation(algebra.every(algebra.negation(part(b)) for part in parts))
        case Implies(premise, conclusion):
            return inner(Or((Not(premise), conclusion)))
        case Iff(left_side, right_side):
            one, other = inner(left_side), inner(right_side)
            return lambda b: algebra.same(one(b), other(b))
        case ForAll(variables, body):
            each, extend = inner(body), extensions(variables, body, vocabulary)
            return lambda b: algebra.every(map(each, extend(b)))
        case Exists(variables, body):
            each, extend = inner(body), extensions(variables, body, vocabulary)
            return lambda b: algebra.negation(algebra.every(algebra.negation(each(c)) for c in extend(b)))
        case CountingExists(relation, bound, variables, body):
            each, extend = inner(body), extensions(variables, body, vocabulary)
            return lambda b: algebra.number(map(each, extend(b)), relation, bound)
        case Cardinality(predicate, types, relation, bound):
            rows = list(product(*map(vocabulary.domain, types)))
            return lambda _: algebra.number((algebra.atom(predicate, row) for row in rows), relation, bound)
        case _:
            assert_never(formula)


def extensions(
    variables: tuple[Variable, ...], scope: Formula, vocabulary: Vocabulary
) -> Callable[[Mapping[Variable, str]], Iterator[dict[Variable, str]]]:
    """Return a function that yields a binding's extensions to more variables."""
    domains = [vocabulary.domain(variable.type) for variable in variables]
    checked = [
        (term, vocabulary.domain(type_))
        for term, type_ in typed_arithmetic(scope)
        if any(leaf in variables for leaf in leaves(term))
    ]

    def extend(binding: Mapping[Variable, str]) -> Iterator[dict[Variable, str]]:
        for names in product(*domains):
            extended = {**binding, **dict(zip(variables, names, strict=True))}
            if all(constant_of(term, extended) in domain for term, domain in checked):
                yield extended

    return extend


Scope = frozenset[int]


@dataclass(frozen=True, slots=True)
class ScopeAlgebra:
    """Truth values: true, false, or the numbers of the choices on which the truth may depend."""

    look_up: Callable[[str, tuple[str, ...]], bool | int]

    def atom(self, predicate: str, arguments: tuple[str, ...]) -> Scope | bool:
        """Return evidence as it is, a choice as the set of its number."""
        found = self.look_up(predicate, arguments)
        return found if isinstance(found, bool) else frozenset((found,))

    def negation(self, value: Scope | bool) -> Scope | bool:
        """Return the same scope: the opposite depends on the same choices."""
        return not value if isinstance(value, bool) else value

    def every(self, values: Iterable[Scope | bool]) -> Scope | bool:
        """Return false where one is false, else the union of the scopes."""
        scope: Scope = frozenset()
        for value in values:
            if value is False:
                return False
            if value is not True:
                scope |= value
        return scope or True

    def same(self, left: Scope | bool, right: Scope | bool) -> Scope | bool:
        """Return the union of the scopes, or the comparison of two known values."""
        if isinstance(left, bool) and isinstance(right, bool):
            return left == right
        return frozenset().union(*(value for value in (left, right) if not isinstance(value, bool)))

    def number(self, values: Iterable[Scope | bool], relation: Relation, bound: int) -> Scope | bool:
        """Return the union of the scopes, or the comparison where all values are known."""
        found = list(values)
        opened = [value for value in found if not isinstance(value, bool)]
        if opened:
            return frozenset().union(*opened)
        return holds_between(relation, sum(value is True for value in found), bound)


@dataclass(frozen=True, slots=True)
class ArrayAlgebra:
    """Truth values: true, false, or an array of truth values that broadcasts against the others."""

    look_up: Callable[[str, tuple[str, ...]], NDArray[np.bool_] | bool]

    def atom(self, predicate: str, arguments: tuple[str, ...]) -> NDArray[np.bool_] | bool:
        """Return the truth values of an atom."""
        return self.look_up(predicate, arguments)

    def negation(self, value: NDArray[np.bool_] | bool) -> NDArray[np.bool_] | bool:
        """Return the opposite, elementwise."""
        return not value if isinstance(value, bool) else ~value

    def every(self, values: Iterable[NDArray[np.bool_] | bool]) -> NDArray[np.bool_] | bool:
        """Return the conjunction, elementwise."""
        result: NDArray[np.bool_] | bool = True
        for value in values:
            if value is False:
                return False
            if value is not True:
                result = value if result is True else result & value
        return result

    def same(
        self, left: NDArray[np.bool_] | bool, right: NDArray[np.bool_] | bool
    ) -> NDArray[np.bool_] | bool:
        """Return whether both are true or both false, elementwise."""
        return (
            np.equal(left, right)
            if not (isinstance(left, bool) and isinstance(right, bool))
            else left == right
        )

    def number(
        self, values: Iterable[NDArray[np.bool_] | bool], relation: Relation, bound: int
    ) -> NDArray[np.bool_] | bool:
        """Return whether the number of true values stands in a relation to a bound, elementwise."""
        certain = 0
        total: NDArray[np.int64] | None = None
        for value in values:
            if isinstance(value, bool):
                certain += value
            else:
                total = value.astype(np.int64) if total is None else total + value
        if total is None:
            return holds_between(relation, certain, bound)
        compare = {
            "=": np.equal, "!=": np.not_equal, "<": np.less, "<=": np.less_equal,
            ">": np.greater, ">=": np.greater_equal,
        }[relation]  # fmt: skip
        result: NDArray[np.bool_] = compare(total + certain, bound)
        return result
