"""The world of a search and the best one so far, atom by atom."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.chart.bars import WIDTH, short_label
from mlnlab.display.inference.search.map_view import SearchView, world_of
from mlnlab.display.scene.building import Entry, legend, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Layer, Path, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.display.runs.runs import Draw
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

MOST_ATOMS = 120
_CELL, _HEAD, _WIDEST_NAME, _BETWEEN, _COLUMN = 20.0, 24.0, 200.0, 26.0, 40.0
_TRUE = "M-6 -6h12v12h-12Z"
_FALSE = "M-4 0A4 4 0 0 1 4 0A4 4 0 0 1 -4 0Z"
_FLIPPED = "M-9 -9h18v18h-18Z"


class _Frame(NamedTuple):
    """The parts that stay from step to step: places, names and headings."""

    places: tuple[tuple[float, float], ...]
    names: tuple[str, ...]
    label: float
    headings: tuple[Text, ...]
    height: float


def worlds_part(view: SearchView) -> Draw:
    """Return a function that draws a row for each atom: its truth now, and in the best world."""
    frame_of = cache(lambda: _frame(view))

    def draw(step: Step[Any], trace: Trace[Any]) -> Scene:
        frame = frame_of()
        now, best = (_truths(view, world) for world in (world_of(step.state), step.state.best))
        earlier = None if not len(trace) or step.index <= trace.indices[0] else trace.seek(step.index - 1)
        then = now if earlier is None else _truths(view, world_of(earlier.state))
        rows = tuple(
            _row(place, frame, bool(now[place]), bool(best[place]), bool(now[place] != then[place]), view)
            for place in range(len(frame.places))
        )
        explained, taken = legend(_entries(), 8, frame.height, WIDTH - 16)
        rest = len(view.atoms) - len(rows)
        words = f"{rest:,} more open atoms are not drawn." if rest > 0 else ""
        note = Text(x=8, y=frame.height + taken + 14, text=words, look="quiet small")
        layers = (
            Layer("rows", (*frame.headings, *rows)),
            Layer("explained", (explained, note), zooms=False),
        )
        return Scene(WIDTH, frame.height + taken + 22, layers, "Worlds", _in_words(now, best))

    return draw


def _truths(view: SearchView, chosen: NDArray[np.uint32]) -> NDArray[np.bool_]:
    clauses = view.reader.landscape.clauses
    found = np.zeros(clauses.number_of_atoms, np.bool_)
    places = clauses.first_atoms[:-1].astype(np.int64) + chosen
    found[places[places < clauses.first_atoms[1:]]] = True
    return found


def _frame(view: SearchView) -> _Frame:
    names = [str(atom) for atom in view.atoms[:MOST_ATOMS]]
    shown = [fit_text(short_label(name), _WIDEST_NAME) for name in names]
    label = max(map(text_width, shown), default=0.0) + 10
    width = label + 2 * _COLUMN + _BETWEEN
    columns = min(max(1, int((WIDTH + _BETWEEN) // width)), -(-len(names) // 8) or 1)
    rows = -(-len(names) // columns)
    places = tuple(
        (place // rows * width, _HEAD + (place % rows + 0.5) * _CELL) for place in range(len(names))
    )
    headings = tuple(
        Text(
            x=column * width + label + (k + 0.5) * _COLUMN,
            y=16,
            text=text,
            look="quiet small",
            anchor="middle",
        )
        for column in range(columns)
        for k, text in enumerate(("now", "best"))
    )
    return _Frame(places, tuple(shown), label, headings, _HEAD + rows * _CELL + 8)


def _row(place: int, frame: _Frame, now: bool, best: bool, flipped: bool, view: SearchView) -> Group:
    x, y = frame.places[place]
    marks = [
        Path(path=_TRUE if truth else _FALSE, look="bar blue" if truth else "curve grey")
        for truth in (now, best)
    ]
    around = Path(path=_FLIPPED if flipped else "", look="curve orange")
    words = f"{'true' if now else 'false'} now, {'true' if best else 'false'} in the best world so far"
    return Group(
        id=numbered_id("atom", place), x=x, y=y, tooltip=tooltip(str(view.atoms[place]), words),
        children=(
            Text(x=frame.label - 8, y=4.5, text=frame.names[place], look="words", anchor="end"),
            Group(x=frame.label + 0.5 * _COLUMN, children=(marks[0], around)),
            Group(x=frame.label + 1.5 * _COLUMN, children=(marks[1],)),
        ),
    )  # fmt: skip


def _entries() -> list[Entry]:
    return [
        Entry(Path(path=_TRUE, look="bar blue"), "true"),
        Entry(Path(path=_FALSE, look="curve grey"), "false"),
        Entry(Path(path=_FLIPPED, look="curve orange"), "flipped since the last step"),
    ]


def _in_words(now: NDArray[np.bool_], best: NDArray[np.bool_]) -> str:
    apart = int((now != best).sum())
    true = f"{int(now.sum()):,} open atoms are true now, {int(best.sum()):,} in the best world"
    return f"{true}; {apart:,} differ."
