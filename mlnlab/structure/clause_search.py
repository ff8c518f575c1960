"""What a reader types to find clauses: words of the clause, and conditions on its numbers.

    !TAs Advises        clauses with the literal !TAs(...), in which Advises occurs
    gain>0 literals=2..3 retained

A condition is a column, a comparison and a number, or a span of numbers; every other word is looked for in
the text of the clause, its verdict, or what it has to do with the model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf, isfinite
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

_CONDITION = re.compile(r"([A-Za-z][A-Za-z -]*?)\s*(<=|>=|<|>|=)\s*(\S+)")
_TESTS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class NumberTest:
    """A condition on one column: a comparison with a number, or a span with both its ends."""

    column: str
    sign: str
    low: float
    high: float

    def holds(self, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Tell for which values it holds; what is not known holds nothing."""
        if self.sign == "=":
            return (values >= self.low) & (values <= self.high)
        return np.asarray(_TESTS[self.sign](values, self.low), bool) & ~np.isnan(values)


@dataclass(frozen=True, slots=True)
class Searched:
    """What was typed, read: words, and conditions on numbers."""

    words: tuple[str, ...] = ()
    tests: tuple[NumberTest, ...] = ()


def searched(text: str, columns: Iterable[str], other_words: Mapping[str, str] | None = None) -> Searched:
    """Read what was typed; ``columns`` are those that have numbers, ``other_words`` also stand for them."""
    if not isinstance(text, str):
        raise ArgumentError(f'A search is words, such as "!Smokes gain>0", not {text!r:.60}.')
    if len(text) > _LONGEST:
        raise ArgumentError(f"A search of up to {_LONGEST} letters can be typed here.")
    names = {name: name for name in columns} | dict(other_words or {})
    tests, rest, end = [], [], 0
    for found in _CONDITION.finditer(text):
        before, name = _column(found.group(1), names)
        rest.append(text[end : found.start()] + before)
        end = found.end()
        tests.append(_test(name, found.group(2), found.group(3)))
    words = " ".join([*rest, text[end:]]).split()
    return Searched(tuple(word.lower() for word in words), tuple(tests))


def _column(words: str, names: Mapping[str, str]) -> tuple[str, str]:
    """Return the column that stands before a comparison, and the words before it."""
    parts = words.split()
    for first in range(len(parts)):
        name = " ".join(parts[first:]).lower()
        if name in names:
            return " ".join(parts[:first]), names[name]
    hint = did_you_mean(parts[-1], names) or "."
    raise ArgumentError(f"There is no column {parts[-1]} to compare{hint} There are: {', '.join(names)}.")


def _test(name: str, sign: str, text: str) -> NumberTest:
    low, _, high = text.partition("..")
    try:
        ends = float(low or -inf), float(high or inf) if ".." in text else float(low)
    except ValueError:
        raise ArgumentError(
            f"{name} is compared with a number, or a span such as 2..3, not {text}."
        ) from None
    if sign != "=" and (".." in text or not isfinite(ends[0])):
        raise ArgumentError(f"A span of numbers stands behind =, as in {name}=2..3.")
    return NumberTest(name, sign, *ends)
