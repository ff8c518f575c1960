"""Draw a search for a most probable world: its cost, the broken formulas, the flipped atom and the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.axes import place_axis, value_words
from mlnlab.display.chart.bars import WIDTH
from mlnlab.display.chart.curves import vertical_axis
from mlnlab.display.chart.plots import Box, Line, Plot, plot_items
from mlnlab.display.inference.samplers.samplers_view import History
from mlnlab.display.inference.search.map_moves import moves_part
from mlnlab.display.inference.search.map_view import SearchView, search_view
from mlnlab.display.inference.search.map_worlds import worlds_part
from mlnlab.display.runs.runs import Column, Draw, RunPicture, Table
from mlnlab.display.scene.building import Entry, legend, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text

if TYPE_CHECKING:
    from mlnlab.inference.ask.solver import Solver
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

MOST_BROKEN = 14  # that are written out
MOST_IN_TABLE = 1_000
_TALL, _ROW, _LINE = 200.0, 19.0, 17.0
_SOFT = "M-5 -5h10v10h-10Z"
_HARD = "M0 -7L7 0L0 7L-7 0Z"
_NEW = "M-9 -9h18v18h-18Z"
_WRITTEN = {"icm": "ICM", "max-walk-sat": "MaxWalkSAT", "rc2": "RC2"}  # as their papers write them
_NAMES = {"cost": "cost now", "best_cost": "best world", "bound": "proven bound"}


class CostRow(NamedTuple):
    """The costs at one step."""

    place: int
    costs: tuple[float, ...]


def search_picture(solver: Solver) -> RunPicture:
    """Return the pictures of a search's run; the model is grounded once, here."""
    view = search_view(solver)
    name = solver.method.name
    return RunPicture(
        title=f"{_WRITTEN.get(name, name[:1].upper() + name[1:])}: search for a most probable world",
        parts=_parts(view),
        caption=lambda step: _caption(view, step),
        remarks=_remarks,
        table=lambda step: _table(view, step),
    )


def _parts(view: SearchView) -> dict[str, Draw]:
    parts = {"search": search_part(view), "worlds": worlds_part(view)}
    if view.solver.method.name != "rc2":  # a proof moves from bound to bound, not from world to world
        parts["moves"] = moves_part(view)
    return parts


def search_part(view: SearchView) -> Draw:
    """Return a function that draws the costs over the steps, the last move, and the broken formulas."""
    history = History(lambda step: CostRow(step.index, _costs(step)))

    def draw(step: Step[Any], trace: Trace[Any]) -> Scene:
        rows = history.until(step, trace)
        names = [_NAMES[key] for key in _NAMES if key in step.state.metrics()]
        across = np.array([row.place for row in rows], np.float64)
        values = np.array([row.costs for row in rows], np.float64).reshape(len(rows), len(names)).T
        lines = tuple(Line(name, across, row) for name, row in zip(names, values, strict=True))
        axis = place_axis(0, float(max(trace.indices[-1] if len(trace) else 0, step.index, 10)), whole=True)
        plot = Plot(
            "cost of what is broken", lines, axis, vertical_axis(lines, around=(0.0,)), marked=step.index
        )
        items = list(plot_items(plot, Box(0, 4, WIDTH, _TALL), 0))
        move, top = view.move(step.state), 4 + _TALL + 20
        for number, line in enumerate(_two_lines(move.words)):
            items.append(
                Text(id=numbered_id("move", number), x=8, y=top + number * _LINE, text=line, look="words")
            )
        below, bottom = _broken_items(view, step, trace, top + 2 * _LINE + 8)
        explained, taken = legend(_entries(), 8, bottom, WIDTH - 16)
        layers = (Layer("drawn", (*items, *below)), Layer("explained", (explained,), zooms=False))
        return Scene(WIDTH, bottom + taken + 8, layers, "Search", _in_words(view, step))

    return draw


def _costs(step: Step[Any]) -> tuple[float, ...]:
    metrics = step.state.metrics()
    return tuple(metrics[key] for key in _NAMES if key in metrics)


def _two_lines(words: str) -> tuple[str, str]:
    first, _, second = words.partition(". ")
    return fit_text(first + "." * bool(first), WIDTH - 16), fit_text(second, WIDTH - 16)


def _broken_items(
    view: SearchView, step: Step[Any], trace: Trace[Any], top: float
) -> tuple[list[Item], float]:
    """Return a row for each of the heaviest broken formulas; as many rows at every step."""
    broken = view.broken(step.state).tolist()
    before = _before(view, step, trace)
    more = len(broken) - MOST_BROKEN
    words = f"{count_of(len(broken), 'ground formula')} broken now" + (
        f", the heaviest {MOST_BROKEN}:" if more > 0 else ":" * bool(broken)
    )
    items: list[Item] = [Text(id="heading", x=8, y=top, text=words, look="words strong")]
    strengths = view.strengths
    for place in range(MOST_BROKEN):
        constraint = broken[place] if place < len(broken) else -1
        is_new = before is not None and constraint >= 0 and constraint not in before
        items.append(
            _row(view, constraint, float(strengths[constraint]), top + (place + 1) * _ROW, place, is_new)
        )
    return items, top + (MOST_BROKEN + 0.5) * _ROW


def _row(view: SearchView, constraint: int, strength: float, y: float, place: int, is_new: bool) -> Group:
    known = constraint >= 0
    text = view.text(constraint) if known else ""
    hard = known and view.is_hard(constraint)
    cost = ("must hold" if hard else value_words(strength)) if known else ""
    return Group(
        id=numbered_id("broken", place), x=16, y=y, tooltip=tooltip(text, cost) if known else "",
        children=(
            Path(path=(_HARD if hard else _SOFT) if known else "", look="bar orange" if hard else "bar blue"),
            Path(path=_NEW if is_new else "", look="curve orange"),
            Text(x=70, y=4.5, text=cost, look="number", anchor="end"),
            Text(x=84, y=4.5, text=fit_text(text, WIDTH - 120), look="words"),
        ),
    )  # fmt: skip


def _before(view: SearchView, step: Step[Any], trace: Trace[Any]) -> set[int] | None:
    """Return the constraints broken in the recorded step before this one."""
    if not len(trace) or step.index <= trace.indices[0]:
        return None
    return set(view.broken(trace.seek(step.index - 1).state).tolist())


def _entries() -> list[Entry]:
    return [
        Entry(Path(path=_SOFT, look="bar blue"), "broken, with its cost"),
        Entry(Path(path=_HARD, look="bar orange"), "broken, but must hold"),
        Entry(Path(path=_NEW, look="curve orange"), "broken since the last step"),
    ]


def _in_words(view: SearchView, step: Step[Any]) -> str:
    return f"{_caption(view, step)}. {view.move(step.state).words}".strip()


def _caption(view: SearchView, step: Step[Any]) -> str:
    metrics = step.state.metrics()
    costs = [f"{_NAMES[key]} {value_words(metrics[key])}" for key in _NAMES if key in metrics]
    return ", ".join([_progress(step), *costs, f"{count_of(len(view.broken(step.state)), 'formula')} broken"])


def _progress(step: Step[Any]) -> str:
    state = step.state
    for name, noun in (("flips", "flip"), ("sweeps", "sweep"), ("cores", "core")):
        if hasattr(state, name):
            walk = f" of walk {state.walk + 1:,}" if getattr(state, "walk", 0) else ""
            return count_of(getattr(state, name), noun) + walk
    return f"step {step.index:,}"


def _remarks(step: Step[Any]) -> list[str]:
    hard = step.state.metrics().get("hard_unsatisfied_in_best", 0)
    return [f"In the best world so far {count_of(int(hard), 'hard formula')} did not hold."] if hard else []


def _table(view: SearchView, step: Step[Any]) -> Table:
    broken = view.broken(step.state).tolist()
    strengths = view.strengths
    rows = tuple(
        (
            shorten_text(view.text(number), 200),
            "must hold" if view.is_hard(number) else round(float(strengths[number]), 6),
        )
        for number in broken[:MOST_IN_TABLE]
    )
    title = "Broken ground formulas"
    if len(broken) > MOST_IN_TABLE:
        title = f"The heaviest {MOST_IN_TABLE:,} of {len(broken):,} broken ground formulas"
    return Table(title, (Column("ground formula"), Column("cost", number=True)), rows)
