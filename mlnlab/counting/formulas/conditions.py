"""Equalities with arithmetic and comparisons, written down as the tuples that satisfy them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.logic.evaluation import number_of
from mlnlab.logic.formulas.formulas import Arithmetic, Comparison, Constant, Equality, Term, Variable
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.traversal import leaves
from mlnlab.logic.relations import frozen
from mlnlab.logic.vocabulary import Domain, RangeDomain, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


MOST_TUPLES = 50_000_000  # looked at for one condition: about a second
_SAFE = 1 << 62


def satisfying(
    condition: Equality | Comparison, vocabulary: Vocabulary
) -> tuple[tuple[Variable, ...], NDArray[np.uint32]]:
    """Return a condition's variables, and the sorted tuples of constant numbers that satisfy it."""
    if isinstance(condition, Equality):
        for side, other in ((condition.left, condition.right), (condition.right, condition.left)):
            if (
                isinstance(side, Variable)
                and isinstance(other, Arithmetic)
                and side not in set(leaves(other))
            ):
                return _solve_equality(side, other, vocabulary)
    variables = free_variables(condition)
    grids = _grids(variables, vocabulary, condition)
    if isinstance(condition, Comparison):
        holds = _compare_values(condition, grids, vocabulary)
    else:
        holds = _equal(condition, grids, vocabulary)
    shape = tuple(len(vocabulary.domain(variable.type)) for variable in variables)
    found = np.argwhere(np.broadcast_to(holds, shape))
    return variables, frozen(found.astype(np.uint32).reshape(len(found), len(variables)))


_Grids = dict[Variable, "NDArray[np.intp]"]
_Values = tuple["NDArray[Any]", "NDArray[np.bool_]"]  # numbers, and where they are defined


def _grids(variables: Sequence[Variable], vocabulary: Vocabulary, what: object) -> _Grids:
    shape = tuple(len(vocabulary.domain(variable.type)) for variable in variables)
    if prod(shape) > MOST_TUPLES:
        raise TooLargeError(
            f"{what} would be tried on {prod(shape):,} tuples of constants (the limit is {MOST_TUPLES:,}).",
            float(prod(shape)),
            ["use fewer constants", "state the comparison as a predicate with facts"],
        )
    return dict(zip(variables, np.indices(shape, sparse=True), strict=True))


def _solve_equality(
    variable: Variable, term: Arithmetic, vocabulary: Vocabulary
) -> tuple[tuple[Variable, ...], NDArray[np.uint32]]:
    """Return the tuples of ``variable = term``: the term is calculated, its value looked up."""
    inner = tuple(dict.fromkeys(leaf for leaf in leaves(term) if isinstance(leaf, Variable)))
    shape = tuple(len(vocabulary.domain(leaf.type)) for leaf in inner)
    numbers, defined = _values(term, _grids(inner, vocabulary, term), vocabulary)
    places = _places(np.broadcast_to(numbers, shape), vocabulary.domain(variable.type))
    places = np.where(np.broadcast_to(defined, shape), places, -1)
    found = np.argwhere(places >= 0)
    rows = np.column_stack([found, places[places >= 0]]).astype(np.uint32)
    return (*inner, variable), frozen(rows)


def _places(numbers: NDArray[Any], domain: Domain) -> NDArray[np.int64]:
    """Return the number of the constant that each value names, -1 where there is none."""
    if isinstance(domain, RangeDomain) and numbers.dtype != object:
        inside = (numbers >= domain.low) & (numbers <= domain.high)
        return np.where(inside, numbers.astype(np.int64) - domain.low, -1)
    place_of = {name: place for place, name in enumerate(domain)}
    return np.array([place_of.get(str(value), -1) for value in numbers.ravel().tolist()], np.int64).reshape(
        numbers.shape
    )


def _values(term: Term, grids: _Grids, vocabulary: Vocabulary) -> _Values:
    """Return the numbers that a term denotes over a grid of constants."""
    match term:
        case Constant():
            number = number_of(term, {})
            return np.array(number, np.int64 if abs(number) < _SAFE else object), np.array(True)
        case Variable():
            numbers = _numbers(vocabulary.domain(term.type))
            if not len(numbers):
                return np.zeros(grids[term].shape, np.int64), np.zeros(grids[term].shape, bool)
            return numbers[grids[term]], np.array(True)
        case Arithmetic(operator, left, right):
            (one, known), (other, known_too) = (_values(part, grids, vocabulary) for part in (left, right))
            return _calculate_values(operator, one, other, np.asarray(known & known_too))


def _numbers(domain: Domain) -> NDArray[Any]:
    if isinstance(domain, RangeDomain) and max(abs(domain.low), abs(domain.high)) < _SAFE:
        return np.arange(domain.low, domain.high + 1, dtype=np.int64)
    numbers = [number_of(Constant(name), {}) for name in domain]
    large = max(map(abs, numbers), default=0) >= _SAFE
    return np.array(numbers, object if large else np.int64)


def _calculate_values(
    operator: str, left: NDArray[Any], right: NDArray[Any], defined: NDArray[np.bool_]
) -> _Values:
    """Calculate elementwise as :func:`mlnlab.logic.evaluation.constant_of` does."""
    if _reach(left) * _reach(right) + _reach(left) + _reach(right) >= _SAFE:
        left, right = left.astype(object), right.astype(object)
    one, other = np.asarray(left), np.asarray(right)
    match operator:
        case "+":
            return np.asarray(one + other), defined
        case "-":
            return np.asarray(one - other), defined
        case "*":
            return np.asarray(one * other), defined
        case _:
            pass
    nonzero = np.asarray(other != 0)
    divisor = np.where(nonzero, other, 1)
    remainder = np.asarray(one % divisor)
    if operator == "%":
        return remainder, defined & nonzero
    return np.asarray(one // divisor), defined & nonzero & np.asarray(remainder == 0)


def _reach(numbers: NDArray[Any]) -> int:
    return (
        max((abs(int(bound)) for bound in (numbers.min(), numbers.max())), default=0) if numbers.size else 0
    )


def _compare_values(condition: Comparison, grids: _Grids, vocabulary: Vocabulary) -> NDArray[np.bool_]:
    (left, known), (right, known_too) = (
        _values(side, grids, vocabulary) for side in (condition.left, condition.right)
    )
    defined = np.asarray(known & known_too)
    if not defined.all() and all(grid.size for grid in grids.values()):
        raise ArgumentError(
            "A division by zero, or with a remainder, has no value, so it cannot be compared by size."
        )
    compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
    return np.asarray(compare[condition.operator](left, right), bool)


def _equal(condition: Equality, grids: _Grids, vocabulary: Vocabulary) -> NDArray[np.bool_]:
    """Compare by name; two undefined sides are equal, as in evaluation."""
    if isinstance(condition.left, Arithmetic) and isinstance(condition.right, Arithmetic):
        (left, known), (right, known_too) = (
            _values(side, grids, vocabulary) for side in (condition.left, condition.right)
        )
        both, neither = known & known_too, ~known & ~known_too
        return np.asarray((np.asarray(left == right) & both) | neither)
    sides = [_names(side, grids, vocabulary) for side in (condition.left, condition.right)]
    return np.asarray(sides[0] == sides[1])


def _names(term: Term, grids: _Grids, vocabulary: Vocabulary) -> NDArray[np.str_]:
    """Return the names of the constants that a term denotes over a grid."""
    match term:
        case Constant(name):
            return np.array(name)
        case Variable():
            domain = tuple(vocabulary.domain(term.type))
            return np.array(domain or ("",))[np.minimum(grids[term], max(len(domain) - 1, 0))]
        case Arithmetic():
            numbers, defined = _values(term, grids, vocabulary)
            text = np.array([str(value) for value in np.ravel(numbers).tolist()], str).reshape(numbers.shape)
            return np.where(defined, text, "")
