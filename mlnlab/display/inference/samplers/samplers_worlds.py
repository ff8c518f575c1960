"""Draw the chains of a sampler: their present worlds, their log-weights, their answers to some queries."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.card.markup import count_of
from mlnlab.display.chart.axes import Axis, place_axis, value_axis
from mlnlab.display.chart.bars import WIDTH, short_label
from mlnlab.display.chart.curves import vertical_axis
from mlnlab.display.chart.plots import Box, Line, Plot, entries, plot_items
from mlnlab.display.inference.samplers.samplers_view import MOST_ROWS, History, Latest, SamplerView
from mlnlab.display.runs.runs import Draw, step_before
from mlnlab.display.scene.building import Entry, explained_scene, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Picture, Scene, Text
from mlnlab.display.scene.look import COLOURS
from mlnlab.display.scene.pixels import png_address, rgba
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.inference.sampling.state_reading import ChainsReader
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

    Truths = NDArray[np.bool_]

_CELL, _HEAD, _TOP = 20.0, 34.0, 4.0
_WIDEST_NAME, _BETWEEN = 240.0, 28.0
TRUE = "M-6 -6h12v12h-12Z"
FALSE = "M-4 0A4 4 0 0 1 4 0A4 4 0 0 1 -4 0Z"
FLIPPED = "M-9 -9h18v18h-18Z"
_BOTH = (False, True)
_LONGEST = 80
_LOOKS = {True: ("bar blue", TRUE), False: ("curve grey", FALSE)}
MOST_PIXELS = 1_360  # atoms in the strips: two pixels each, four strips
_IN_A_STRIP, _PIXEL, _LINE = 340, 2.0, 8.0
MOST_CHAINS = 16
_FIRST_REACH = 64  # sweeps
_TALL, _SMALL, _GAP = 190.0, 140.0, 12.0


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
        earlier = step_before(step, trace)
        then = now if earlier is None else before(earlier.state)[:chains]
        flipped = now != then
        rows = tuple(
            _row(place, frame, now[:, place.number].tolist(), flipped[:, place.number].tolist())
            for place in frame.places
        )
        cells = now[:, order].astype(np.uint8) + 2 * flipped[:, order].astype(np.uint8)
        strips, bottom = _strips(columns, cells, frame.height)
        words = _in_words(flipped, earlier, len(reader.atoms), len(frame.places))
        drawn, size = Layer("rows", (*frame.headings, *rows, *strips)), (WIDTH, bottom)
        return explained_scene((drawn,), mark_entries(), size, "Worlds", words, gap=0, note=words)

    return draw


def _order(view: SamplerView, reader: ChainsReader) -> list[int]:
    """Return the open atoms: first those that other parts draw, then the other queries, then the rest."""
    numbers = {str(atom): number for number, atom in enumerate(reader.atoms)}
    asked = [*(reader.names[place] for place in view.shown), *reader.names]
    found = dict.fromkeys(numbers[name] for name in asked if name in numbers)
    return list(dict.fromkeys([*found, *range(len(reader.atoms))]))[:MOST_PIXELS]


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
    around = Path(path=FLIPPED if flipped else "", look="curve orange")
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


def mark_entries() -> list[Entry]:
    """Return the legend of the marks of atoms in worlds."""
    return [
        Entry(Path(path=TRUE, look="bar blue"), "true"),
        Entry(Path(path=FALSE, look="curve grey"), "false"),
        Entry(Path(path=FLIPPED, look="curve orange"), "flipped since the last step"),
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


# --- chains ---------------------------------------------------------------------------------------


class ChainsRow(NamedTuple):
    """A step's record: its number of sweeps, each chain's log-weight, and its answers to chosen queries."""

    sweeps: int
    log_weights: NDArray[np.float64]
    fractions: NDArray[np.float64]


def chains_part(view: SamplerView, reader: ChainsReader) -> Draw:
    """Return a function that draws a curve for each chain."""

    def read(step: Step[Any]) -> ChainsRow:
        state = step.state
        fractions = reader.fractions(state, view.chosen)[:MOST_CHAINS]
        return ChainsRow(state.sweeps, state.log_weights[:MOST_CHAINS], fractions)

    history = History(read)
    shares = value_axis(0, 1, most=3)
    unit = Axis(0.0, 1.0, shares.ticks, shares.words)

    def draw(step: Step[Any], trace: Trace[Any]) -> Scene:
        rows = history.until(step, trace)
        sweeps = np.array([row.sweeps for row in rows], np.float64)
        weights = np.array([row.log_weights for row in rows], np.float64).T
        answers = np.array([row.fractions for row in rows], np.float64).transpose(2, 1, 0)
        across = place_axis(0, _reach(rows[-1].sweeps, reader.sweeps), whole=True)
        lines = _lines(sweeps, weights)
        burn_in = (0.0, float(reader.burn_in))
        plots = [
            Plot(
                "log-weight of the worlds", lines, across, vertical_axis(lines), "sweep", burn_in, named=False
            )
        ]
        for place, answer in zip(view.chosen, answers, strict=True):
            level = view.exact.get(place, -1.0)  # outside: the line is there, and empty
            title, drawn = view.name(place), _lines(sweeps, answer)
            plots.append(Plot(title, drawn, across, unit, "sweep", burn_in, level=level, named=False))
        return _scene(plots, len(step.state.log_weights))

    return draw


def _reach(done: int, whole: int) -> int:
    """Return how far the axis goes: it doubles when the curves reach its end, up to the whole run."""
    reach = _FIRST_REACH
    while reach < done:
        reach *= 2
    return min(reach, max(whole, done))


def _lines(sweeps: NDArray[np.float64], values: NDArray[np.float64]) -> tuple[Line, ...]:
    return tuple(Line(f"chain {number}", sweeps, row) for number, row in enumerate(values, 1))


def _scene(plots: list[Plot], chains: int) -> Scene:
    items: list[Item] = list(plot_items(plots[0], Box(0, 4, WIDTH, _TALL), 0))
    half, top = (WIDTH - _GAP) / 2, 4 + _TALL + _GAP
    for number, plot in enumerate(plots[1:]):
        box = Box(number % 2 * (half + _GAP), top + number // 2 * (_SMALL + _GAP), half, _SMALL)
        items += plot_items(plot, box, number + 1)
    bottom = top + -(-(len(plots) - 1) // 2) * (_SMALL + _GAP)
    names = [line.name for line in plots[0].lines]
    words = "Under the name of a query: the share of its samples in which each chain alone found it true."
    if chains > len(names):
        words += f" {len(names)} of {chains:,} chains are drawn."
    told, note = f"{len(names)} chains over sweeps.", words if len(plots) > 1 else ""
    drawn = Layer("plots", tuple(items))
    return explained_scene((drawn,), entries(names), (WIDTH, bottom), "Chains", told, gap=0, note=note)
