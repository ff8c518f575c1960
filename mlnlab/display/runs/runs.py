"""Define the pictures of an algorithm's run: drawings of a step, all pure functions of recorded states.

Widgets, static displays and exported pages ask for the same :class:`RunPicture`; a new algorithm brings a
function that makes one for it, and never new JavaScript.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, SupportsFloat, TypeAlias

from mlnlab.display.card.markup import fit
from mlnlab.display.chart.axes import value_words
from mlnlab.display.scene.items import Scene
from mlnlab.steps.recordings.trace import Trace
from mlnlab.steps.step import Step

TABLE_FORMAT = "mlnlab-table"

# Of a step and the trace in which it was recorded; only what was recorded up to the step is drawn.
Draw: TypeAlias = Callable[[Step[Any], Trace[Any]], Scene]


def step_before(step: Step[Any], trace: Trace[Any]) -> Step[Any] | None:
    """Return the recorded step before this one; none at the first."""
    return trace.seek(step.index - 1) if len(trace) and step.index > trace.indices[0] else None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; one of numbers is aligned to the right and can be filtered by ``> 0.5``."""

    name: str
    number: bool = False


def columns_of(names: Sequence[str], numbers: Collection[int] = ()) -> tuple[Column, ...]:
    """Return columns by their names; those at the places in ``numbers`` are of numbers."""
    return tuple(Column(name, number=place in numbers) for place, name in enumerate(names))


@dataclass(frozen=True, slots=True)
class Table:
    """A table as data: ``table.js`` sorts, filters and searches it in a page."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str | float | int, ...], ...]

    def to_json(self) -> dict[str, object]:
        """Return the table as JSON for ``table.js``."""
        columns = [{"name": column.name, "number": column.number} for column in self.columns]
        return {
            "format": TABLE_FORMAT,
            "version": 1,
            "title": self.title,
            "columns": columns,
            "rows": [[_plain(value) for value in row] for row in self.rows],
        }


def _plain(value: object) -> str | float | int:
    """Return a cell as a message can carry it: numbers that are none, or infinite, as words."""
    match value:
        case str():
            return fit(value)
        case int():
            return value
        case float() if isfinite(value):  # most cells: asking for a protocol takes longer than all the rest
            return value
        case SupportsFloat():
            number = float(value)
            return number if isfinite(number) else value_words(number)
        case _:
            return fit(str(value))


def _nothing_to_choose(_id: str) -> RunPicture | None:
    """Offer nothing."""
    return None


@dataclass(frozen=True, slots=True)
class RunPicture:
    """The pictures of a run: ``parts`` by name, the first of them is shown first.

    ``caption`` says a step in one line, ``remarks`` what a reader has to be warned of, ``table`` gives the
    numbers behind the picture, or nothing. ``choose`` returns the pictures with an item chosen by its id, so
    that it is looked at closely, or nothing where that item makes no difference.
    """

    title: str
    parts: Mapping[str, Draw]
    caption: Callable[[Step[Any]], str]
    remarks: Callable[[Step[Any]], Sequence[str]]
    table: Callable[[Step[Any]], Table | None]
    choose: Callable[[str], RunPicture | None] = _nothing_to_choose
