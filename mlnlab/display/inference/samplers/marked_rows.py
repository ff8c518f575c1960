"""Draw rows that a step marks: a name, a mark, a bar that may go to both sides, a number, a note.

There are as many rows at every step, the last ones perhaps empty, so that from step to step only what stands
in them changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mlnlab.display.chart.bars import BAR, ROW, WIDTH
from mlnlab.display.scene.building import Entry, legend, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text

MADE = "M-5 -6L6 0L-5 6Z"  # a triangle that points at its row
OUT = "M-4.5 -4.5L4.5 4.5M4.5 -4.5L-4.5 4.5"  # a cross
IN = "M-5 -5h10v10h-10Z"
IDLE = "M-4 0A4 4 0 0 1 4 0A4 4 0 0 1 -4 0Z"
_LINE, _TEXT, _BARS, _NUMBERS = 17.0, 32.0, 388.0, 590.0
_LENGTH = 130.0


class MarkedRow(NamedTuple):
    """A row: ``share`` is the length of its bar, from -1 to 1 where bars go to both sides."""

    words: str
    number: str = ""
    share: float = 0.0
    mark: str = ""  # a path around (0, 0)
    look: str = "bar blue"  # of the mark
    note: str = ""
    tip: str = ""


def marked_rows_scene(
    lines: Sequence[str], rows: Sequence[MarkedRow], most: int, headings: tuple[str, str],
    entries: Sequence[Entry], names: tuple[str, str], *, both_sides: bool = False,
) -> Scene:  # fmt: skip
    """Return lines of text, then ``most`` rows, then a legend; ``names`` are a title and a description.

    The headings stand above the words and above the bars.
    """
    items: list[Item] = [
        Text(
            id=numbered_id("line", place), x=8, y=16 + place * _LINE, text=fit_text(words, WIDTH - 16),
            look="words", tooltip=tooltip(words),
        )
        for place, words in enumerate(lines)
    ]  # fmt: skip
    top = 16 + len(lines) * _LINE + 8
    items += [
        Text(x=_TEXT, y=top, text=headings[0], look="quiet small"),
        Text(x=_BARS, y=top, text=headings[1], look="quiet small"),
    ]
    top += 8
    empty = MarkedRow("")
    shown = [*rows[:most], *(empty for _ in range(most - len(rows)))]
    items += [_row(row, place, top + place * ROW, both_sides) for place, row in enumerate(shown)]
    if both_sides and most:
        middle = _BARS + _LENGTH / 2
        items.append(Path(path=segments([((middle, top - 2), (middle, top + most * ROW - 4))]), look="frame"))
    explained, taken = legend(entries, 8, top + most * ROW + 4, WIDTH - 16)
    layers = (Layer("rows", tuple(items)), Layer("explained", (explained,), zooms=False))
    return Scene(WIDTH, top + most * ROW + taken + 10, layers, *names)


def _row(row: MarkedRow, place: int, y: float, both_sides: bool) -> Group:
    start = _BARS + (_LENGTH / 2 if both_sides else 0.0)
    length = (_LENGTH / 2 if both_sides else _LENGTH) * min(max(row.share, -1.0), 1.0)
    return Group(
        id=numbered_id("row", place), y=y,
        tooltip=tooltip(row.words, row.number, row.note, row.tip) if row.words else "",
        children=(
            Group(x=16, y=BAR / 2, children=(Path(path=row.mark, look=row.look),)),
            Text(x=_TEXT, y=BAR - 2, text=fit_text(row.words, _BARS - _TEXT - 10), look="words"),
            Rectangle(
                x=min(start, start + length), y=0, width=abs(length), height=BAR,
                look="bar orange" if length < 0 else "bar blue",
            ),
            Text(x=_NUMBERS, y=BAR - 2, text=row.number, look="number", anchor="end"),
            Text(x=_NUMBERS + 8, y=BAR - 2, text=fit_text(row.note, WIDTH - _NUMBERS - 12, "words small"),
                 look="words small"),
        ),
    )  # fmt: skip
