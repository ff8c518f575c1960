"""Define the variables of factor graphs, with any number of named values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mlnlab.errors import ArgumentError, printable
from mlnlab.logic.suggestions import did_you_mean

Assignment = Mapping[str, object]  # values by the names of variables; what is no text stands for its text


@dataclass(frozen=True, slots=True)
class RandomVariable:
    """A variable with a name and named values; numbers and truth values stand for their texts.

    >>> import mlnlab as ml
    >>> weather = ml.RandomVariable("Weather", ("dry", "rain", "snow"))
    >>> weather.size, weather.number("rain")
    (3, 1)
    >>> ml.RandomVariable.numbered("X", 3).values
    ('0', '1', '2')
    """

    name: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check that there are values, all different."""
        object.__setattr__(self, "name", _checked_name(self.name))
        object.__setattr__(self, "values", _value_names(self.name, self.values))
        if not self.values:
            raise ArgumentError(f"{show_name(self.name)} has no values; a random variable has at least one.")
        if len(set(self.values)) < len(self.values):
            twice = next(value for place, value in enumerate(self.values) if value in self.values[:place])
            raise ArgumentError(f"{show_name(self.name)} has the value {show_name(twice)} twice.")

    @classmethod
    def numbered(cls, name: str, size: int) -> RandomVariable:
        """Return a variable whose values are called 0, 1, 2, ..."""
        return cls(name, tuple(map(str, range(size))))

    @property
    def size(self) -> int:
        """The number of values."""
        return len(self.values)

    def number(self, value: object) -> int:
        """Return the place of a value among the values."""
        name = value_name(value)
        if name not in self.values:
            hint = (
                did_you_mean(name, self.values)
                or f"; it is one of {', '.join(map(show_name, self.values[:8]))}"
            )
            more = ", …" if self.size > 8 and "one of" in hint else ""
            raise ArgumentError(
                f"{show_name(self.name)} has no value {show_name(name)}{hint.removesuffix('?')}{more}."
            )
        return self.values.index(name)


def _checked_name(given: object) -> str:
    if not isinstance(given, str) or not given:
        raise ArgumentError(f"A random variable needs a name, a text, not {given!r:.60}.")
    return given


def _value_names(name: str, given: object) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ArgumentError(f"{show_name(name)} needs a list of values, not {given!r:.60}.")
    return tuple(map(value_name, given))


def value_name(value: object) -> str:
    """Return the name of a value: True stands for ``true``, 1 for ``1``."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def show_name(name: str) -> str:
    """Return a name as a sentence can hold it."""
    text = printable(name)
    return text if len(text) <= 60 else text[:59] + "…"


def shown_names(names: Iterable[str], most: int = 6) -> str:
    """Return some names for a sentence: the first few, and how many more there are."""
    known = list(names)
    rest = len(known) - most
    return ", ".join(map(show_name, known[:most])) + (f" and {rest:,} more" if rest > 0 else "")
