"""Where a depth-first search is: for each hyperedge of the path a row of all that was to be tried there."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mlnlab.display.scene.building import Entry, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Path, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text
from mlnlab.display.structure.lift.lifted_edges import edge_name
from mlnlab.display.structure.paths.path_lit import IN_PATH, NEWEST, TO_ADD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mlnlab.display.structure.paths.path_view import PathView
    from mlnlab.structure.paths.find_paths import PathState

MOST_SHOWN = 21  # hyperedges in a row: those around the one that is looked at
ROW, _STEP, _LEFT, _NAMES = 34.0, 17.0, 150.0, 540.0


class Row(NamedTuple):
    """The choices at a place of the path: all hyperedges, the present one, and the number tried before."""

    choices: Sequence[int]
    current: int  # -1 below the path
    done: int

    @property
    def first(self) -> int:
        """The first one that is shown."""
        middle = self.choices.index(self.current) if self.current >= 0 else self.done
        return max(0, min(middle - MOST_SHOWN // 2, len(self.choices) - MOST_SHOWN))

    @property
    def shown(self) -> Sequence[int]:
        """Those that are shown."""
        return self.choices[self.first : self.first + MOST_SHOWN]


def rows_of(view: PathView, state: PathState) -> list[Row]:
    """Return the rows of a state, and one of possible additions if the path is not at full length."""
    if state.ended:
        return []
    choices = view.source.choices(state.path)
    rows = [Row(of, edge, of.index(edge)) for of, edge in zip(choices, state.path, strict=False)]
    if len(state.path) < view.source.longest:
        done = choices[-1].index(state.edge) + 1 if state.did == "backed up" else 0
        rows.append(Row(choices[-1], -1, done))
    return rows


def tree_items(view: PathView, state: PathState, rows: Sequence[Row], top: float) -> Iterator[Item]:
    """Yield the rows from above, joined where the path goes on."""
    yield Text(x=8, y=top + 12, text="the search, depth first", look="words strong")
    for depth, row in enumerate(rows):
        y = top + 34 + ROW * depth
        if depth and row.shown:
            above = rows[depth - 1]
            start = (_x(above, above.shown.index(above.current)), y - ROW + 5)
            first, last = ((_x(row, place), y) for place in (0, len(row.shown) - 1))
            at = row.shown.index(row.current) if row.current >= 0 else 0
            lines = segments([(start, (_x(row, at), y - 5)), (first, last)])
            yield Group(id=numbered_id("branch", depth), children=(Path(path=lines, look="link faint"),))
        yield Text(
            id=numbered_id("row", depth), x=8, y=y + 4, text=_row_words(row, depth), look="words small"
        )
        for place, number in enumerate(row.shown):
            yield _dot(view, state, row, depth, place, number, y)
        yield from _draw_level(view, row, depth, y)
    if rows and rows[-1].current < 0 and state.path:
        yield from _draw_known_edges(view, state, rows[-1], top + 34 + ROW * (len(rows) - 1))


def _x(row: Row, place: int) -> float:
    return _LEFT + _STEP * (place + (row.first > 0))


def _row_words(row: Row, depth: int) -> str:
    if row.current < 0:
        left = len(row.choices) - row.done
        return f"{left:,} of {len(row.choices):,} to add"
    return f"{depth + 1}. of the path: {row.choices.index(row.current) + 1:,} of {len(row.choices):,}"


def _dot(view: PathView, state: PathState, row: Row, depth: int, place: int, number: int, y: float) -> Group:
    """Return a hyperedge that is in the path, was tried, or is to be tried."""
    at = row.first + place
    newest = number == state.edge and (number == row.current or row.current < 0)
    if number == row.current:
        look, words, size = f"disc {NEWEST if newest else IN_PATH}", "in the path", 6.5
    elif at < row.done:
        look, words, size = "bar grey faint", "all sets with it here were found", 4.0
        if newest:
            look, words = f"ring {NEWEST}", "taken back just now"
    else:
        look, words, size = f"ring {TO_ADD if row.current < 0 else 'grey'}", "still to be tried here", 4.0
    edge = view.lifted.edges[number]
    return Group(
        id=numbered_id("tree", depth, number), x=_x(row, place), y=y,
        tooltip=tooltip(edge_name(view.lifted, edge), words),
        children=(Circle(x=0, y=0, radius=size, look=look),),
    )  # fmt: skip


def _draw_level(view: PathView, row: Row, depth: int, y: float) -> Iterator[Item]:
    """Yield dots where more stand to the left or right, and the name of the one in the path."""
    if row.first:
        yield Text(x=_LEFT - 4, y=y + 4, text="…", look="quiet small")
    if row.first + len(row.shown) < len(row.choices):
        yield Text(x=_x(row, len(row.shown)) - 6, y=y + 4, text="…", look="quiet small")
    if row.current >= 0:
        name = fit_text(edge_name(view.lifted, view.lifted.edges[row.current]), 330, "small")
        yield Text(id=numbered_id("name", depth), x=_NAMES, y=y + 4, text=name, look="words small")


def _draw_known_edges(view: PathView, state: PathState, row: Row, y: float) -> Iterator[Item]:
    """Yield how many hyperedges at the path are not added to it, and why."""
    known = len(view.source.list_known_edges(state.path))
    if known:
        words = f"{known:,} more touch it: all sets with them were found before"
        yield Text(id="known", x=_NAMES, y=y + 4, text=words, look="quiet small")
    elif not row.choices:
        yield Text(id="known", x=_NAMES, y=y + 4, text="no other hyperedge touches it", look="quiet small")


def mark_entries() -> tuple[Entry, ...]:
    """Return the legend of the marks."""
    return (
        Entry(mark("circle", 6, f"disc {IN_PATH}"), "in the path"),
        Entry(mark("circle", 6, f"disc {NEWEST}"), "added now"),
        Entry(mark("circle", 4, f"ring {NEWEST}"), "taken back now"),
        Entry(mark("circle", 4, "bar grey faint"), "done"),
        Entry(mark("circle", 4, f"ring {TO_ADD}"), "can be added next"),
        Entry(mark("circle", 4, "ring grey"), "to be tried later"),
    )
