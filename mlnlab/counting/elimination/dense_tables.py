"""Tables that list a number for every binding of their variables, multiplied and summed out without rounding.

The numbers are float64, so that matrices multiply at full speed. Whole numbers below 2^53 are exact there.
Where larger ones may turn up, all is computed modulo several primes, and the Chinese remainder theorem puts
the result together: it is known to lie between 0 and the number of bindings.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import prod
from string import ascii_letters
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

EXACT = 1 << 53  # whole numbers up to it are exact in float64
_PRIMES_BELOW = 1 << 21
_LONGEST_SUM = 1 << 11  # products of two remainders that may be added up: 2^42 times 2^11 is 2^53
_WORTH_A_MATRIX = 4  # rows and columns from which a matrix product beats a plain loop


@dataclass(frozen=True, slots=True, eq=False)
class DenseTable:
    """A number for every binding of the variables, an axis for each."""

    scope: tuple[int, ...]
    cells: NDArray[np.float64]


def multiply_tables(left: DenseTable, right: DenseTable, modulus: int) -> DenseTable:
    """Return the product of two tables over the variables of both."""
    scope = (*left.scope, *(v for v in right.scope if v not in left.scope))
    return DenseTable(scope, _reduce_numbers(_summed_product(left, right, scope), modulus))


def summed_out(tables: Sequence[DenseTable], variable: int, modulus: int) -> DenseTable:
    """Return the product of one or two tables that have a variable, summed over it."""
    first, *others = tables
    if not others:
        scope = tuple(v for v in first.scope if v != variable)
        return DenseTable(scope, _reduce_numbers(first.cells.sum(axis=first.scope.index(variable)), modulus))
    (second,) = others
    both = (*first.scope, *(v for v in second.scope if v not in first.scope))
    scope = tuple(v for v in both if v != variable)
    length = first.cells.shape[first.scope.index(variable)]
    if not modulus or length <= _LONGEST_SUM:
        return DenseTable(scope, _reduce_numbers(_contract_variable(first, second, variable, scope), modulus))
    total: NDArray[Any] = np.zeros(())
    for begin in range(0, length, _LONGEST_SUM):
        stretch = slice(begin, begin + _LONGEST_SUM)
        one, other = _piece(first, variable, stretch), _piece(second, variable, stretch)
        total = _reduce_numbers(
            total + _reduce_numbers(_contract_variable(one, other, variable, scope), modulus), modulus
        )
    return DenseTable(scope, np.asarray(total))


def _piece(table: DenseTable, variable: int, piece: slice) -> DenseTable:
    places = tuple(piece if v == variable else slice(None) for v in table.scope)
    return DenseTable(table.scope, table.cells[places])


def _contract_variable(
    left: DenseTable, right: DenseTable, variable: int, scope: tuple[int, ...]
) -> NDArray[np.float64]:
    """Sum over the variable as a product of matrices, where there are rows and columns for it."""
    shared = [v for v in left.scope if v in right.scope and v != variable]
    rows = [v for v in left.scope if v not in right.scope]
    columns = [v for v in right.scope if v not in left.scope]
    sizes = {**dict(zip(right.scope, right.cells.shape, strict=True)),
             **dict(zip(left.scope, left.cells.shape, strict=True))}  # fmt: skip
    many, height, width = (prod(sizes[v] for v in part) for part in (shared, rows, columns))
    if min(height, width, sizes[variable]) < _WORTH_A_MATRIX:
        return _summed_product(left, right, scope)
    one = _arrange_axes(left, [*shared, *rows, variable]).reshape(many, height, sizes[variable])
    other = _arrange_axes(right, [*shared, variable, *columns]).reshape(many, sizes[variable], width)
    order = (*shared, *rows, *columns)
    found = DenseTable(order, np.matmul(one, other).reshape([sizes[v] for v in order]))
    return _arrange_axes(found, scope)


def _arrange_axes(table: DenseTable, order: Sequence[int]) -> NDArray[np.float64]:
    return table.cells.transpose([table.scope.index(v) for v in order])


def _summed_product(left: DenseTable, right: DenseTable, scope: tuple[int, ...]) -> NDArray[np.float64]:
    letters = dict(zip(dict.fromkeys((*left.scope, *right.scope)), ascii_letters, strict=False))
    one, other, both = ("".join(letters[v] for v in found) for found in (left.scope, right.scope, scope))
    return np.asarray(np.einsum(f"{one},{other}->{both}", left.cells, right.cells))


def _reduce_numbers(numbers: NDArray[Any], modulus: int) -> NDArray[Any]:
    """Return remainders, the sign of which is left open: between minus the modulus and the modulus."""
    if not modulus:
        return numbers
    return np.asarray(numbers - np.floor(numbers * (1.0 / modulus)) * modulus)


# --- whole numbers of any size ------------------------------------------------------------------


def moduli(most: int, inner: int) -> tuple[int, ...]:
    """Return the primes modulo which results from 0 to ``most`` are computed; (0,): no modulus is needed.

    Without modulus, no intermediate number is larger than ``inner``.
    """
    if inner < EXACT:
        return (0,)
    found, product = [], 1
    for prime in _primes():
        found.append(prime)
        product *= prime
        if product > most:
            break
    return tuple(found)


def _primes() -> Iterator[int]:
    place = 0
    while True:
        yield _prime(place)
        place += 1


@lru_cache(maxsize=4096)
def _prime(place: int) -> int:
    """Return the largest prime below the limit that is smaller than those before it."""
    candidate = (_prime(place - 1) if place else _PRIMES_BELOW + 1) - 2
    while any(candidate % divisor == 0 for divisor in range(3, int(candidate**0.5) + 1, 2)):
        candidate -= 2
    return candidate


def put_together(remainders: Mapping[int, NDArray[Any]]) -> NDArray[Any]:
    """Return the numbers that have these remainders: int64 where no modulus was needed, else Python's own."""
    if 0 in remainders:
        return np.asarray(np.rint(remainders[0]).astype(np.int64))
    result: Any = 0
    product = 1
    for modulus, found in remainders.items():
        # x = result + product * k, where k is chosen so that x leaves the right remainder.
        rest = np.asarray(found).astype(np.int64).astype(object)
        result = result + product * ((rest - result) * pow(product, -1, modulus) % modulus)
        product *= modulus
    return np.asarray(result, object)
