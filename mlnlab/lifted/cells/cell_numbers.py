"""The numbers in tables of cells: logarithms, remainders by a prime, or exact numbers with derivatives.

Floats keep logarithms, all weights being positive. Remainders are fingerprints: what two tables have in
common at random weights they have at all weights, but for a chance of about 1 in 10^9 (Schwartz, JACM
1980). Exact numbers are fractions, balls or polynomials of python-flint, if asked with their derivatives.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Array = Any  # an array of whatever the numbers are
PRIME = 2_147_483_647


class Numbers(Protocol):
    """Arrays of numbers that are multiplied, and summed along an axis."""

    def ones(self, shape: tuple[int, ...]) -> Array:
        """Return ones."""

    def choose(self, where: NDArray[np.bool_], true: object, false: object) -> Array:
        """Return one of two numbers at each place."""

    def product(self, left: Array, right: Array) -> Array:
        """Return a product, place by place."""

    def total(self, array: Array, axis: int) -> Array:
        """Return sums along an axis."""


class Logarithms:
    """Floats that are logarithms; the number 0 is minus infinity."""

    def ones(self, shape: tuple[int, ...]) -> Array:
        """Return ones."""
        return np.zeros(shape)

    def choose(self, where: NDArray[np.bool_], true: object, false: object) -> Array:
        """Return one of two numbers at each place."""
        return np.where(where, true, false)  # type: ignore[call-overload]

    def product(self, left: Array, right: Array) -> Array:
        """Return a product, place by place."""
        return left + right

    def total(self, array: Array, axis: int) -> Array:
        """Return sums along an axis."""
        return np.logaddexp.reduce(array, axis=axis)


class Remainders:
    """Whole numbers by a prime below 2^31, so that products fit."""

    def ones(self, shape: tuple[int, ...]) -> Array:
        """Return ones."""
        return np.ones(shape, dtype=np.int64)

    def choose(self, where: NDArray[np.bool_], true: object, false: object) -> Array:
        """Return one of two numbers at each place."""
        return np.where(where, np.int64(true), np.int64(false))  # type: ignore[arg-type]

    def product(self, left: Array, right: Array) -> Array:
        """Return a product, place by place."""
        return left * right % PRIME

    def total(self, array: Array, axis: int) -> Array:
        """Return sums along an axis."""
        return array.sum(axis=axis) % PRIME


class Exact:
    """A number of python-flint with its derivatives by some weights, if any are asked for."""

    __slots__ = ("slopes", "value")

    def __init__(self, value: Any, slopes: NDArray[np.object_] | None = None) -> None:  # noqa: ANN401
        self.value, self.slopes = value, slopes

    def __add__(self, other: Exact) -> Exact:
        return Exact(self.value + other.value, _sum(self.slopes, other.slopes))

    def __mul__(self, other: Exact) -> Exact:
        slopes = _sum(_scale_slopes(self.slopes, other.value), _scale_slopes(other.slopes, self.value))
        return Exact(self.value * other.value, slopes)

    def __truediv__(self, other: Exact) -> Exact:
        value = self.value / other.value
        slopes = _sum(
            _scale_slopes(self.slopes, 1 / other.value), _scale_slopes(other.slopes, -value / other.value)
        )
        return Exact(value, slopes)

    def __pow__(self, times: int) -> Exact:
        if times < 0:
            return Exact(self.value * 0 + 1) / self**-times
        if times == 0:
            return Exact(self.value * 0 + 1)
        below = _power(self.value, times - 1)
        return Exact(below * self.value, _scale_slopes(self.slopes, below * times))

    def times(self, number: int) -> Exact:
        """Return a multiple by a whole number."""
        return Exact(self.value * number, _scale_slopes(self.slopes, number))


def _power(value: Any, times: int) -> Any:  # noqa: ANN401
    """Return a power by squaring: flint's own of a ball that contains 0 is not a number."""
    result, square = value * 0 + 1, value
    while times:
        if times & 1:
            result = result * square
        times >>= 1
        if times:
            square = square * square
    return result


def _scale_slopes(slopes: NDArray[np.object_] | None, factor: Any) -> NDArray[np.object_] | None:  # noqa: ANN401
    """Return derivatives times a number, which numpy must not take for a list of coefficients."""
    if slopes is None:
        return None
    boxed = np.empty((), dtype=object)
    boxed[()] = factor
    return np.asarray(slopes * boxed)


def _sum(left: NDArray[np.object_] | None, right: NDArray[np.object_] | None) -> NDArray[np.object_] | None:
    if left is None or right is None:
        return right if left is None else left
    return np.asarray(left + right)


def plain(value: Any) -> Exact:  # noqa: ANN401
    """Return a number of which no derivatives are asked."""
    return Exact(value)


class ExactNumbers:
    """Arrays of :class:`Exact` numbers of the kind of ``one``; ``undivided`` ones know no quotients."""

    def __init__(self, one: Any, *, undivided: bool = False) -> None:  # noqa: ANN401 - no stubs
        self.one, self.zero, self.undivided = Exact(one), Exact(one * 0), undivided
        self._times: np.ufunc = np.frompyfunc(self._multiply, 2, 1)
        self._plus: np.ufunc = np.frompyfunc(self._add, 2, 1)

    def _multiply(self, left: Exact, right: Exact) -> Exact:
        """Return a product; most numbers of a table are this very 1 or 0, with which nothing is computed."""
        if left is self.one or right is self.zero:
            return right
        return left if right is self.one or left is self.zero else left * right

    def _add(self, left: Exact, right: Exact) -> Exact:
        return right if left is self.zero else left if right is self.zero else left + right

    def ones(self, shape: tuple[int, ...]) -> Array:
        """Return ones."""
        return np.full(shape, self.one, dtype=object)

    def choose(self, where: NDArray[np.bool_], true: object, false: object) -> Array:
        """Return one of two numbers at each place."""
        made = np.full(where.shape, false, dtype=object)
        made[where] = true
        return made

    def product(self, left: Array, right: Array) -> Array:
        """Return a product, place by place."""
        return self._times(left, right)

    def total(self, array: Array, axis: int) -> Array:
        """Return sums along an axis."""
        return self._plus.reduce(array, axis=axis)
