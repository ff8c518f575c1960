"""Build static tables that stay small, with a sentence about the rows left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.markup import Element, Node, element, render
from mlnlab.display.card.style import quiet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_ROWS = 200
MOST_CHARACTERS = 60_000  # of one table's markup; a whole bundle stays below 350 kB


def table(headings: Sequence[str], rows: Iterable[Sequence[Node]], numbers: Sequence[int] = ()) -> Element:
    """Return a table; the columns named in ``numbers`` are set as numbers."""
    return _assemble_table(headings, [_row(row, numbers) for row in rows], numbers)


def bounded_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[Node]],
    total: int,
    what: str,
    *,
    numbers: Sequence[int] = (),
    where: str = "",
    most_characters: int = MOST_CHARACTERS,
) -> Element:
    """Return a table of the first rows, and a sentence where ``total`` rows are more than are shown."""
    shown: list[Element] = []
    size = 0
    for row in rows:
        if len(shown) == MOST_ROWS or size > most_characters:
            break
        shown.append(_row(row, numbers))
        size += len(render(shown[-1]))
    way = f"; {where}" if where else ""
    rest = quiet(f"The first {len(shown):,} of {total:,} {what} are shown{way}.")
    return element("div", _assemble_table(headings, shown, numbers), rest if total > len(shown) else None)


def _row(row: Sequence[Node], numbers: Sequence[int]) -> Element:
    return element("tr", *(element("td", cell, **_look(place, numbers)) for place, cell in enumerate(row)))


def _assemble_table(headings: Sequence[str], rows: Sequence[Element], numbers: Sequence[int]) -> Element:
    head = (element("th", text, **_look(place, numbers), scope="col") for place, text in enumerate(headings))
    return element("table", element("thead", element("tr", *head)), element("tbody", *rows))


def _look(place: int, numbers: Sequence[int]) -> dict[str, str]:
    """Return how a cell is set; in untrusted notebooks Lab drops the style sheet but keeps this style."""
    return {"kind": "number"} if place in numbers else {"style": "text-align:left"}
