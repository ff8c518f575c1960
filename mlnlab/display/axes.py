"""Axes: which range of values is shown, and which round numbers stand along it."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_TICKS = 6
_LARGEST = 8e307  # so that the distance of two values is still a number
_SMALLEST = 1e-300
_CONSTANT = 1e-12  # of the values' size: less than this apart, numbers cannot be told from rounding


@dataclass(frozen=True, slots=True)
class Axis:
    """A range from ``low`` to ``high`` and the numbers written along it, perhaps on a logarithmic scale."""

    low: float
    high: float
    ticks: tuple[float, ...]
    words: tuple[str, ...]
    log: bool = False

    def shares(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where values lie: 0 at the low end, 1 at the high one, NaN where they have no place."""
        with np.errstate(divide="ignore", invalid="ignore"):
            numbers = np.clip(values, -_LARGEST, _LARGEST)
            low, high = self.low, self.high
            if self.log:
                numbers, low, high = np.log10(np.where(numbers > 0, numbers, np.nan)), log10(low), log10(high)
            # Halves, because the distance of two numbers may be too large for one.
            found = (numbers / 2 - low / 2) / (high / 2 - low / 2)
        return np.where(np.isfinite(values) & np.isfinite(found), found, np.nan)

    def share(self, value: float) -> float:
        """Return where one value lies."""
        return float(self.shares(np.array([value]))[0])


def value_axis(low: float, high: float, *, log: bool = False, most: int = MOST_TICKS) -> Axis:
    """Return an axis around values from ``low`` to ``high``, which ends at round numbers."""
    if log:
        return _log_axis(max(low, _SMALLEST), max(high, _SMALLEST), most)
    low, high = _apart(low, high)
    step = _round_step((high - low) / (most - 1), up=True)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    ticks = tuple(number * step for number in range(first, last + 1))
    while len(ticks) > most:  # both ends were rounded outward
        step = _round_step(step * 1.5, up=True)
        first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
        ticks = tuple(number * step for number in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks, number_words(ticks, step))


def exact_axis(low: float, high: float, most: int = MOST_TICKS) -> Axis:
    """Return an axis that ends where the values do, with round numbers inside."""
    low, high = _apart(low, high)
    step = _round_step((high - low) / (most - 1), up=True)
    inside = range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
    ticks = tuple(number * step for number in inside)
    return Axis(low, high, ticks, number_words(ticks, step))


def _apart(low: float, high: float) -> tuple[float, float]:
    """Return ends that are apart, also around a single value."""
    low, high = max(min(low, high), -_LARGEST), min(max(low, high), _LARGEST)
    size = max(abs(low), abs(high))
    if high - low > max(size * _CONSTANT, _SMALLEST):
        return low, high
    room = size * 0.1 if size > _SMALLEST else 1.0
    return max(low - room, -_LARGEST), min(high + room, _LARGEST)


def _round_step(step: float, *, up: bool) -> float:
    """Return 1, 2 or 5 times a power of ten, the next one from a step."""
    power = 10.0 ** floor(log10(step))
    if not isfinite(power) or power == 0:
        return step
    choices = [power * factor for factor in (1, 2, 5, 10)]
    if up:
        return next((choice for choice in choices if choice >= step * (1 - 1e-9)), choices[-1])
    return max(choice for choice in choices if choice <= step * (1 + 1e-9))


def _log_axis(low: float, high: float, most: int) -> Axis:
    """Return an axis from one power of ten to another, or within one from one round number to another."""
    low, high = min(low, high), min(max(low, high), _LARGEST)
    first, last = floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9)
    if last - first <= 1:
        return _within_a_decade(low, high, first)
    every = ceil((last - first) / (most - 1))
    powers = range(first, last + 1, every)
    ticks = tuple(10.0**power for power in powers)
    top = min(10.0**last if last <= 307 else _LARGEST, _LARGEST)
    return Axis(
        10.0**first, max(top, ticks[-1]), ticks, tuple(_power_words(power) for power in powers), log=True
    )


def _within_a_decade(low: float, high: float, power: int) -> Axis:
    choices = [10.0**power * factor for factor in (1, 2, 5, 10, 20)]
    below = max((choice for choice in choices if choice <= low * (1 + 1e-9)), default=choices[0])
    above = next(
        (choice for choice in choices if choice >= high * (1 - 1e-9) and choice > below), choices[-1]
    )
    ticks = tuple(choice for choice in choices if below <= choice <= above)
    words = tuple(number_words((tick,), tick)[0] for tick in ticks)
    return Axis(below, above, ticks, words, log=True)


def _power_words(power: int) -> str:
    return number_words((10.0**power,), 10.0**power)[0] if -4 <= power <= 5 else f"1e{power}"


def number_words(numbers: tuple[float, ...], step: float) -> tuple[str, ...]:
    """Return numbers that are multiples of a step with as many digits as tell them apart."""
    size = max(map(abs, numbers), default=0.0)
    decimals = max(0, -floor(log10(step) + 1e-9)) if step > 0 else 0
    if size >= 1e6 or decimals > 5:
        digits = max(0, floor(log10(size) + 1e-9) - floor(log10(step) + 1e-9)) if size > 0 else 0
        return tuple(_scientific(number, min(digits, 15)) for number in numbers)
    return tuple(f"{number + 0.0:,.{decimals}f}" if abs(number) > step / 2 else "0" for number in numbers)


def _scientific(number: float, digits: int) -> str:
    if number == 0:
        return "0"
    mantissa, _, power = f"{number:.{digits}e}".partition("e")
    short = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return f"{short}e{int(power)}"


def value_words(value: float) -> str:
    """Return a single value in few letters: four digits that count."""
    if not isfinite(value):
        return "no number"
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e6 else f"{value:.4g}"
