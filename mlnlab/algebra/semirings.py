"""Define semirings to fold circuits over: an addition, a multiplication, and values of leaves.

Exact rationals count; balls (python-flint's ``arb``) carry a certified error, also where weights are
negative; power series in one unknown keep worlds apart by how many atoms are marked; logarithms never
overflow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp, inf, log, log1p
from typing import Any, Generic, TypeVar

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Semiring(Generic[V]):
    """``power`` and ``multiple`` are repeated products and sums; ``subtract`` where there are differences."""

    name: str
    zero: V
    one: V
    add: Callable[[V, V], V]
    multiply: Callable[[V, V], V]
    power: Callable[[V, int], V]
    multiple: Callable[[V, int], V]
    subtract: Callable[[V, V], V]


def rationals() -> Semiring[Any]:
    """Return exact fractions (python-flint's ``fmpq``)."""
    from flint import fmpq

    return _ring("rational", fmpq(0), fmpq(1))


def balls() -> Semiring[Any]:
    """Return real balls at flint's present precision: midpoints with certified radii."""
    from flint import arb

    return replace(_ring("ball", arb(0), arb(1)), power=_power_by_squares)


def _power_by_squares(ball: Any, times: int) -> Any:  # noqa: ANN401 - flint's types have no stubs
    """Return a power; flint's own of a ball that contains 0 is not a number."""
    if 0 not in ball:
        return ball**times
    result, square = ball * 0 + 1, ball
    while times:
        result, square, times = result * square if times & 1 else result, square * square, times >> 1
    return result


def series() -> Semiring[Any]:
    """Return power series with rational coefficients, as many of them as flint's present cap says."""
    from flint import fmpq_series

    return _ring("series", fmpq_series([0]), fmpq_series([1]))


def ball_series() -> Semiring[Any]:
    """Return power series whose coefficients are balls, as many of them as flint's present cap says."""
    from flint import arb_series

    return _ring("ball series", arb_series([0]), arb_series([1]))


def _ring(name: str, zero: Any, one: Any) -> Semiring[Any]:  # noqa: ANN401 - flint's types have no stubs
    return Semiring(
        name, zero, one, lambda a, b: a + b, lambda a, b: a * b, lambda a, n: a**n, lambda a, n: a * n,
        lambda a, b: a - b,
    )  # fmt: skip


def _log_sum(left: float, right: float) -> float:
    low, high = min(left, right), max(left, right)
    return high if low == -inf else high + log1p(exp(low - high))


def _log_difference(left: float, right: float) -> float:
    return left if right == -inf else -inf if right >= left else left + log1p(-exp(right - left))


LOGARITHMS: Semiring[float] = Semiring(
    "logarithm", -inf, 0.0, _log_sum, lambda a, b: a + b, lambda a, n: a * n if n else 0.0,
    lambda a, n: a + log(n) if n else -inf, _log_difference,
)  # fmt: skip
"""Sums of numbers that are held by their logarithms; none of them negative."""

MAXIMA: Semiring[float] = Semiring(
    "maximum", -inf, 0.0, max, lambda a, b: a + b, lambda a, n: a * n if n else 0.0,
    lambda a, n: a if n else -inf, lambda a, b: a if b == -inf else max(a, b),
)  # fmt: skip
"""The logarithm of the largest product: a most probable world's."""
