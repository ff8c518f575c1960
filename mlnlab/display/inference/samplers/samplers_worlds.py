"""The current world of each chain: which atoms are true, and which have flipped since the last step."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.card.markup import count_of
from mlnlab.display.chart.bars import WIDTH, short_label
from mlnlab.display.inference.samplers.samplers_chains import MOST_CHAINS
from mlnlab.display.inference.samplers.samplers_view import MOST_ROWS, Latest, SamplerView
from mlnlab.display.scene.building import Entry, legend, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Picture, Scene, Text
from mlnlab.display.scene.look import COLOURS
from mlnlab.display.scene.pixels import png_address, rgba
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from mlnlab.display.runs.runs import Draw
    from mlnlab.inference.sampling.state_reading import ChainsReader
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

    Truths = NDArray[np.bool_]

_CELL, _HEAD, _TOP = 20.0, 34.0, 4.0
_WIDEST_NAME, _BETWEEN = 240.0, 28.0
_TRUE = "M-6 -6h12v12h-12Z"
_FALSE = "M-4 0A4 4 0 0 1 4 0A4 4 0 0 1 -4 0Z"
_FLIPPED = "M-9 -9h18v18h-18Z"
_BOTH = (False, True)
_LONGEST = 80
_LOOKS = {True: ("bar blue", _TRUE), False: ("curve grey", _FALSE)}
MOST_PIXELS = 1_360  # atoms in the strips: two pixels each, four strips
_IN_A_STRIP, _PIXEL, _LINE = 340, 2.0, 8.0


class _Place(NamedTuple):
    """Where an atom's row stands, its number among the open atoms, and its name as it is written."""

    number: int
    id: str
    x: float
    y: float
    name: Text
    tip: str


class _Frame(NamedTuple):
    """The parts that stay from step to step; ``marks`` are those of a chain, by truth and by flip."""

    places: tuple[_Place, ...]
    headings: tuple[Item, ...]
    marks: tuple[tuple[tuple[Item, Item], tuple[Item, Item]], ...]
    height: float


def worlds_part(view: SamplerView, reader: ChainsReader) -> Draw:
    """Return a function that draws a row for each atom, with a mark for each chain."""
    truths = Latest(reader.truths)
    before = Latest(reader.truths)
    order = _order(view, reader)
    columns = tuple(str(reader.atoms[number])[:_LONGEST] for number in order)
    frame_of = cache(lambda chains: _frame(reader, order[:MOST_ROWS], chains))

    def draw(step: Step[Any], trace: Trace[Any]) -> Scene:
        chains = min(len(step.state.log_weights), MOST_CHAINS)
        frame: _Frame = frame_of(chains)
        now = truths(step.state)[:chains]
        earlier = _step_before(step, trace)
        then = now if earlier is None else before(earlier.state)[:chains]
        flipped = now != then
        rows = tuple(
            _row(place, frame, now[:, place.number].tolist(), flipped[:, place.number].tolist())
            for place in frame.places
        )
        cells = now[:, order].astype(np.uint8) + 2 * flipped[:, order].astype(np.uint8)
        strips, bottom = _strips(columns, cells, frame.height)
        words = _in_words(flipped, earlier, len(reader.atoms), len(frame.places))
        explained, taken = legend(_entries(), 8, bottom, WIDTH - 16)
        note = Text(x=8, y=bottom + taken + 14, text=words, look="quiet small")
        layers = (
            Layer("rows", (*frame.headings, *rows, *strips)),
            Layer("explained", (explained, note), zooms=False),
        )
        return Scene(WIDTH, bottom + taken + 22, layers, "Worlds", words)

    return draw


def _order(view: SamplerView, reader: ChainsReader) -> list[int]:
    """Return the open atoms: first those that other parts draw, then the other queries, then the rest."""
    numbers = {str(atom): number for number, atom in enumerate(reader.atoms)}
    asked = [*(reader.names[place] for place in view.shown), *reader.names]
    found = dict.fromkeys(numbers[name] for name in asked if name in numbers)
    return list(dict.fromkeys([*found, *range(len(reader.atoms))]))[:MOST_PIXELS]


def _step_before(step: Step[Any], trace: Trace[Any]) -> Step[Any] | None:
    """Return the recorded step before this one."""
    if not len(trace) or step.index <= trace.indices[0]:
        return None
    return trace.seek(step.index - 1)


def _frame(reader: ChainsReader, atoms: list[int], chains: int) -> _Frame:
    """Return the rows' places, in as many columns as fit, and all marks that a chain can show."""
    asked = {name: place for place, name in enumerate(reader.names)}
    names = [str(reader.atoms[number]) for number in atoms]
    shown = [fit_text(short_label(name), _WIDEST_NAME) for name in names]
    label = max(map(text_width, shown), default=0.0) + 10
    width = label + chains * _CELL + _BETWEEN
    columns = min(max(1, int((WIDTH + _BETWEEN) // width)), -(-len(atoms) // 8) or 1)
    rows = -(-len(atoms) // columns)
    places = tuple(
        _Place(
            number,
            numbered_id("atom", asked[name]) if name in asked else numbered_id("open", number),
            place // rows * width,
            _TOP + _HEAD + (place % rows + 0.5) * _CELL,
            Text(x=label - 8, y=4.5, text=text, look="words", anchor="end"),
            tooltip(name),
        )
        for place, (number, name, text) in enumerate(zip(atoms, names, shown, strict=True))
    )
    middles = [label + (chain + 0.5) * _CELL for chain in range(chains)]
    marks = tuple(tuple(tuple(_mark(x, true, flip) for flip in _BOTH) for true in _BOTH) for x in middles)
    headings = tuple(item for x in range(columns) for item in _headings(x * width + label, chains))
    return _Frame(places, headings, marks, _TOP + _HEAD + rows * _CELL + 8)  # type: ignore[arg-type]


def _mark(x: float, true: bool, flipped: bool) -> Item:
    look, path = _LOOKS[true]
    around = Path(path=_FLIPPED if flipped else "", look="curve orange")
    return Group(x=x, children=(Path(path=path, look=look), around))


def _headings(left: float, chains: int) -> list[Item]:
    return [
        Text(x=left, y=_TOP + 12, text="chain", look="quiet small"),
        *(
            Text(
                x=left + (n + 0.5) * _CELL, y=_TOP + 28, text=str(n + 1), look="quiet small", anchor="middle"
            )
            for n in range(chains)
        ),
    ]


def _row(place: _Place, frame: _Frame, now: list[bool], flipped: list[bool]) -> Group:
    marks = (
        frame.marks[chain][true][flip] for chain, (true, flip) in enumerate(zip(now, flipped, strict=True))
    )
    tip = f"true in {sum(now)} of {count_of(len(now), 'chain')}\n{sum(flipped)} flipped since the last step"
    return Group(
        id=place.id,
        x=place.x,
        y=place.y,
        pick=True,
        tooltip=f"{place.tip}\n{tip}",
        children=(place.name, *marks),
    )


def _entries() -> list[Entry]:
    return [
        Entry(Path(path=_TRUE, look="bar blue"), "true"),
        Entry(Path(path=_FALSE, look="curve grey"), "false"),
        Entry(Path(path=_FLIPPED, look="curve orange"), "flipped since the last step"),
    ]


def _in_words(flipped: Truths, earlier: Step[Any] | None, total: int, drawn: int) -> str:
    changed = (
        "" if earlier is None else f"{count_of(int(flipped.sum()), 'flip')} since step {earlier.index:,}. "
    )
    rest = (
        f"{drawn} of {total:,} open atoms have rows; above, a row of pixels for each chain."
        if total > drawn
        else ""
    )
    return changed + rest


# --- many atoms -----------------------------------------------------------------------------------

_PALETTE = (
    rgba("#808080", 46),  # false
    rgba(COLOURS["blue"].middle),  # true
    rgba(COLOURS["orange"].middle, 150),  # has become false
    rgba(COLOURS["orange"].middle),  # has become true
)


def _strips(columns: tuple[str, ...], cells: NDArray[np.uint8], top: float) -> tuple[tuple[Item, ...], float]:
    """Return pictures with a pixel for each atom in each chain, where there are more atoms than rows."""
    if len(columns) <= MOST_ROWS:
        return (), top
    chains = len(cells)
    rows = tuple(f"chain {number + 1}" for number in range(chains))
    found: list[Item] = []
    for number, start in enumerate(range(0, len(columns), _IN_A_STRIP)):
        names = columns[start : start + _IN_A_STRIP]
        found.append(
            Picture(
                id=numbered_id("strip", number), x=0, y=top, width=_PIXEL * len(names), height=_LINE * chains,
                source=png_address(cells[:, start : start + _IN_A_STRIP], _PALETTE), rows=rows, look="pixels",
                columns=names,
            )
        )  # fmt: skip
        top += _LINE * chains + 6
    return tuple(found), top
