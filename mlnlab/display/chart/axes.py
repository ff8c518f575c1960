"""Axes: which range of values is shown, and which round numbers stand along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, isnan, log10
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_TICKS = 7
_LARGEST = 1.6e308  # so that a little more is still a number
_SMALLEST = 1e-300
_GREATEST_POWER = 308  # of ten
_ROOM = 0.05  # beside the values, as a share of their range
_CONSTANT = 1e-12  # of the values' size: less than this apart, numbers cannot be told from rounding


@dataclass(frozen=True, slots=True)
class Axis:
    """A range from ``low`` to ``high`` and the numbers written along it, perhaps on a logarithmic scale.

    Along a ``named`` one stand names instead.
    """

    low: float
    high: float
    ticks: tuple[float, ...]
    words: tuple[str, ...]
    log: bool = False
    named: bool = False

    def shares(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return where values lie: 0 at the low end, 1 at the high one, NaN where they have no place."""
        with np.errstate(divide="ignore", invalid="ignore"):
            numbers = np.clip(values, -_LARGEST, _LARGEST)
            low, high = self.low, self.high
            if self.log:
                numbers, low, high = np.log10(np.where(numbers > 0, numbers, np.nan)), log10(low), log10(high)
            found = (numbers / 2 - low / 2) / (high / 2 - low / 2)
        return np.where(np.isfinite(values) & np.isfinite(found), found, np.nan)

    def share(self, value: float) -> float:
        """Return where one value lies."""
        return float(self.shares(np.array([value]))[0])


def value_axis(low: float, high: float, *, log: bool = False, most: int = MOST_TICKS) -> Axis:
    """Return an axis around values from ``low`` to ``high``, with a little room on both sides."""
    if log:
        return _log_axis(max(low, _SMALLEST), max(high, _SMALLEST), most)
    low, high = _apart(low, high)
    room = (high / 2 - low / 2) * (2 * _ROOM)
    bottom = 0.0 if 0 <= low < room else low - room
    top = 0.0 if -room < high <= 0 else high + room
    return _with_ticks(bottom, top, most, 0.0)


def place_axis(low: float, high: float, *, whole: bool = False, most: int = MOST_TICKS) -> Axis:
    """Return an axis that ends where the places do; ``whole`` ones are steps, and no half is written."""
    if whole and high - low < 1:
        high = low + 1
    low, high = _apart(low, high)
    return _with_ticks(low, high, most, 1.0 if whole else 0.0)


def names_axis(names: Sequence[str]) -> Axis:
    """Return an axis with names at 0, 1, 2 and so on."""
    return Axis(-0.6, len(names) - 0.4, tuple(map(float, range(len(names)))), tuple(names), named=True)


def _with_ticks(low: float, high: float, most: int, least: float) -> Axis:
    """Return an axis with as many round numbers inside as there may be."""
    # Halves here and below, because the distance of two numbers may be too large for one.
    step = max(_round_step((high / 2 - low / 2) / (most + 1) * 2), least)
    while _number_inside(low, high, step) > most:
        step = _round_step(step * 1.5)
    first = ceil(low / step - 1e-9)
    ticks = tuple((first + place) * step for place in range(_number_inside(low, high, step)))
    return Axis(low, high, ticks, number_words(ticks, step))


def _number_inside(low: float, high: float, step: float) -> int:
    return floor(high / step + 1e-9) - ceil(low / step - 1e-9) + 1


def _apart(low: float, high: float) -> tuple[float, float]:
    """Return ends that are apart, also around a single value."""
    low, high = (min(max(end, -_LARGEST), _LARGEST) for end in sorted((low, high)))
    size = max(abs(low), abs(high))
    if high / 2 - low / 2 > max(size * _CONSTANT, _SMALLEST) / 2:
        return low, high
    room = size * 0.1 if size > _SMALLEST else 1.0
    return max(low - room, -_LARGEST), min(high + room, _LARGEST)


def _round_step(step: float) -> float:
    """Return 1, 2 or 5 times a power of ten that is not below a step."""
    power = 10.0 ** floor(log10(step))
    choices = [power * factor for factor in (1, 2, 5, 10)]
    return next((choice for choice in choices if choice >= step * (1 - 1e-9)), choices[-1])


def _log_axis(low: float, high: float, most: int) -> Axis:
    """Return an axis from one power of ten to another, or within one from one round number to another."""
    first = min(floor(log10(min(low, high)) + 1e-9), _GREATEST_POWER - 1)
    last = min(ceil(log10(max(low, high)) - 1e-9), _GREATEST_POWER)
    if last - first <= 1 and last < _GREATEST_POWER:
        return _within_a_decade(low, high, first)
    powers = range(first, last + 1, ceil((last - first) / (most - 1)))
    ticks = tuple(10.0**power for power in powers)
    return Axis(10.0**first, 10.0**last, ticks, tuple(map(_power_words, powers)), log=True)


def _within_a_decade(low: float, high: float, power: int) -> Axis:
    choices = [10.0**power * factor for factor in (1, 2, 5, 10, 20)]
    below = max((choice for choice in choices if choice <= low * (1 + 1e-9)), default=choices[0])
    further = [choice for choice in choices if choice > below]
    above = next((choice for choice in further if choice >= high * (1 - 1e-9)), further[-1])
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
    if isnan(value):
        return "not a number"
    if not isfinite(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:,.0f}" if value == round(value) and abs(value) < 1e6 else f"{value:.4g}"
