"""Define a card: a result as people see it, from which its HTML, its text and its picture follow.

A function from a result to its :class:`Card` is all that a new type brings; a line in
``display/doors/display_registry.py`` names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, TypeAlias

from mlnlab.display.card.markup import Element, Node, element, image, plain_text, render, shorten_text
from mlnlab.display.card.style import card, fold_away, quiet, title
from mlnlab.display.scene.items import Scene
from mlnlab.display.scene.svg import svg_text

_MOST_TEXT_ROWS = 40
_LONGEST_CELL = 100  # characters of a cell in the text
_LONGEST_LINE = 600
_LISTS = frozenset({"ul", "ol"})
MOST_ROWS = 200
MOST_CHARACTERS = 60_000  # of one table's markup; a whole bundle stays below 350 kB


@dataclass(frozen=True, slots=True)
class Table:
    """The first rows of a table, how many there are in all, and where the others are.

    ``name`` is the headline under which it is folded; the columns in ``numbers`` are set as numbers.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[Node, ...], ...]
    total: int
    things: str
    numbers: tuple[int, ...] = ()
    where: str = ""
    name: str = "as a table"
    most_characters: int = MOST_CHARACTERS

    def markup(self) -> Element:
        """Return the table as HTML, with a sentence about the rows left out."""
        return bounded_table(
            self.headings, self.rows, self.total, self.things,
            numbers=self.numbers, where=self.where, most_characters=self.most_characters,
        )  # fmt: skip

    def lines(self) -> list[str]:
        """Return the table as lines of aligned text."""
        if not self.rows:
            return []
        shown = [
            [shorten_text(" ".join(plain_text(cell).split()), _LONGEST_CELL) for cell in row]
            for row in (self.headings, *self.rows[:_MOST_TEXT_ROWS])
        ]
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        lines = ["  ".join(map(self._align_cell, range(len(widths)), row, widths)).rstrip() for row in shown]
        left = self.total - len(shown) + 1
        return [*lines, *([f"... and {left:,} more {self.things}"] if left > 0 else [])]

    def _align_cell(self, column: int, cell: str, width: int) -> str:
        return cell.rjust(width) if column in self.numbers else cell.ljust(width)


def table_of(
    headings: Sequence[str],
    rows: Iterable[Sequence[Node]],
    total: int,
    things: str,
    *,
    numbers: Iterable[int] = (),
    where: str = "",
    name: str = "as a table",
    most_characters: int = MOST_CHARACTERS,
) -> Table:
    """Return a table that holds no more rows than are shown; the others are never made."""
    held = tuple(map(tuple, islice(rows, MOST_ROWS)))
    return Table(tuple(headings), held, total, things, tuple(numbers), where, name, most_characters)


class Block(Protocol):
    """A part of a card that is more than a line, such as a table."""

    def markup(self) -> Element:
        """Return it as HTML."""

    def lines(self) -> list[str]:
        """Return it as lines of text."""


Part: TypeAlias = Node | Block  # an empty string is left out


@dataclass(frozen=True, slots=True)
class Card:
    """A result as people see it: its title, facts, picture, table and remarks.

    ``facts`` stand behind the title. ``lead`` comes before the picture and ``remarks`` after it; strings are
    sentences there. ``undrawn`` is said where there is no picture. The table is folded below a picture, and
    open without one. ``folds`` are further parts, each under its headline. ``alternative`` describes the
    picture and must not quote data, ``plain`` is said instead of the text that follows from the rest, and
    ``latex`` is for formulas.
    """

    title: str = ""
    facts: str = ""
    lead: tuple[Part, ...] = ()
    picture: Scene | None = None
    undrawn: str = ""
    table: Table | None = None
    remarks: tuple[Part, ...] = ()
    folds: tuple[tuple[str, Part], ...] = ()
    alternative: str = ""
    plain: str = ""
    latex: str = ""

    def markup(self) -> Element:
        """Return the card as HTML."""
        drawn = self.picture is not None
        table = self.table if self.table is not None and self.table.rows else None
        return card(
            title(self.title, self.facts) if self.title else None,
            *_show_sentences(self.lead),
            self._picture(),
            table.markup() if table is not None and not drawn else None,
            *_show_sentences(self.remarks),
            fold_away(table.name, table.markup()) if table is not None and drawn else None,
            *(fold_away(headline, _markup(part)) for headline, part in self.folds),
        )

    def _picture(self) -> Element | None:
        scene = self.picture
        if scene is None:
            return quiet(self.undrawn) if self.undrawn else None
        return scene_image(scene, self.alternative or f"{scene.title}: {scene.description}")

    def text(self) -> str:
        """Return the card as text: its title and facts, its sentences, and its table."""
        if self.plain:
            return self.plain
        head = " · ".join(filter(None, (self.title, self.facts)))
        undrawn = self.undrawn if self.picture is None else ""
        parts = (*self.lead, undrawn, *([self.table] if self.table is not None else []), *self.remarks)
        indent = "  " if head else ""
        lines = [f"{indent}{shorten_text(line, _LONGEST_LINE)}" for part in parts for line in _lines(part)]
        return "\n".join([head, *lines] if head else lines)


def bullets(sentences: Iterable[str], longest: int = _LONGEST_LINE) -> Element:
    """Return sentences as a list, a line for each."""
    items = (Element("li", _BREAKING, (shorten_text(sentence, longest),)) for sentence in sentences)
    return Element("ul", (), tuple(items))


_BREAKING = (("style", "overflow-wrap:break-word"),)


def _show_sentences(parts: Iterable[Part]) -> list[Node]:
    """Return sentences as quiet lines, and markup as it is."""
    return [quiet(part) if isinstance(part, str) else _markup(part) for part in parts if part]


def _markup(part: Part) -> Node:
    return part if isinstance(part, str | Element) else part.markup()


def _lines(part: Part) -> list[str]:
    """Return the text of a part: a line for each sentence, row, and item of a list."""
    if not isinstance(part, str | Element):
        return part.lines()
    if isinstance(part, Element) and part.tag in _LISTS:
        return [f"- {plain_text(item)}" for item in part.children]
    return [line for line in plain_text(part).splitlines() if line.strip()]


# --- tables ---------------------------------------------------------------------------------------


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


# --- pictures -------------------------------------------------------------------------------------


def scene_image(scene: Scene, alternative: str) -> Element:
    """Return a scene as an ``<img>``; the alternative text must not quote data."""
    return image(svg_text(scene, tooltips=False, ids=False), alternative, round(scene.width))


def scene_picture(scene: Scene, alternative: str, table: Node | None = None) -> Element:
    """Return a scene as an ``<img>`` with the table that says the same, folded."""
    return element(
        "div", scene_image(scene, alternative), fold_away("as a table", table) if table is not None else None
    )
