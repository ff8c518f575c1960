"""Draw one formula of a learner closely: its weight and its gap over the steps, and the parts of the gap."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.markup import count_of
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.axes import place_axis, value_words
from mlnlab.display.chart.bars import BAR, ROW, WIDTH
from mlnlab.display.chart.curves import vertical_axis
from mlnlab.display.chart.plots import Line, Plot
from mlnlab.display.inference.samplers.samplers_view import History, Latest
from mlnlab.display.learning.learning_plots import plots_items
from mlnlab.display.runs.runs import Draw
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Rectangle, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text
from mlnlab.learning.problems.contributions import Contribution, Heaviest
from mlnlab.learning.studies.heaviest import MOST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.display.learning.learning_view import LearningView
    from mlnlab.learning.problems.learning_state import LearningState
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

_TRUTH, _CHANCE, _CHANGE, _ZERO, _HALF = 372.0, 440.0, 492.0, 566.0, 56.0
_TEXT = 330.0


def groundings_part(view: LearningView, chosen: int | None) -> Draw:
    """Return a function that draws the chosen formula, or if none was chosen the one with the largest gap."""
    found = Latest(lambda asked: view.makers.of(asked[0], asked[1]))
    keys: dict[tuple[int, int], Any] = {}
    histories: dict[int, History[tuple[float, ...]]] = {}

    def draw(step: Step[Any], trace: Trace[Any]) -> Scene:
        state = step.state
        formula = int(np.abs(state.gap).argmax()) if chosen is None else chosen
        # One pair for each state, so that what was worked out is found again by its identity.
        asked = keys.get((id(state), formula))
        if asked is None or asked[0] is not state:
            keys.clear()
            asked = keys[id(state), formula] = (state, formula)
        history = histories.setdefault(formula, History(partial(_read, view, formula)))
        rows = np.array(history.until(step, trace), np.float64)
        items, top = _curves(view, formula, rows, step, trace)
        listed, bottom = _list_rows(found(asked), _other_parts(state, formula), top)
        words = f"What makes the gap of formula {formula}"
        return Scene(WIDTH, bottom, (Layer("drawn", (*items, *listed)),), words, view.label(formula))

    return draw


def _read(view: LearningView, formula: int, step: Step[Any]) -> tuple[float, ...]:
    state = step.state
    noise = 2 * float(view.errors(state)[formula])
    return (
        float(step.index), float(state.weights[formula]), float(state.gap[formula]), noise,
        float(state.observed[formula]), float(state.expected[formula]),
    )  # fmt: skip


def _curves(
    view: LearningView,
    formula: int,
    rows: NDArray[np.float64],
    step: Step[Any],
    trace: Trace[Any],
) -> tuple[list[Item], float]:
    label = fit_text(f"formula {formula}: {view.label(formula)}", WIDTH - 16, "strong")
    across, weight, gap, noise, observed, expected = rows.T
    axis = place_axis(0, float(max(trace.indices[-1] if len(trace) else 0, step.index, 5)), whole=True)
    counts = Line("in the data", across, observed), Line("expected", across, expected)
    plots = []
    for title, lines, around in (
        ("weight", (Line("weight", across, weight),), ()),
        ("gap, with the noise of sampling" if noise.any() else "gap",
         (Line("gap", across, gap, noise if noise.any() else None),), (0.0,)),
        ("counts", counts, ()),
    ):  # fmt: skip
        level = 0.0 if title.startswith("gap") else None
        plots.append(
            Plot(title, lines, axis, vertical_axis(lines, around=around), marked=step.index, level=level)
        )
    items, bottom = plots_items(plots, 26, view.changes(step, trace))
    return [Text(id="named", x=8, y=18, text=label, look="words strong"), *items], bottom


def _other_parts(state: LearningState, formula: int) -> str:
    """Name the parts of a gap beside its formula's counts; return nothing where there are none."""
    gap, counts = float(state.gap[formula]), float(state.observed[formula] - state.expected[formula])
    if abs(gap - counts) <= 1e-9 * max(1.0, abs(gap)):
        return ""
    return f"; {counts:+.3g} of the gap is theirs, {gap - counts:+.3g} of priors or ties"


def _list_rows(found: Heaviest, others: str, top: float) -> tuple[list[Item], float]:
    """Return a row for each of the heaviest; as many at every step."""
    shown = min(len(found.rows), MOST)
    places = min(max(found.number, shown), MOST)
    noun = "class" if found.kind == "classes" else found.kind[:-1]
    words = f"The heaviest of {count_of(found.number, noun, found.kind)}{others}"
    items: list[Item] = [
        Text(x=8, y=top + 12, text=fit_text(words, WIDTH - 16, "strong"), look="words strong"),
        Text(x=8, y=top + 30, text=fit_text(found.remark, WIDTH - 16, "small"), look="quiet small"),
    ]
    top += 36
    headings = (("data", _TRUTH), ("P", _CHANCE), ("Δn", _CHANGE), ("share of the gap", WIDTH - 4.0))
    items += [Text(x=x, y=top + 11, text=text, look="quiet small", anchor="end") for text, x in headings]
    largest = max((abs(row.share) for row in found.rows), default=0.0) or 1.0
    for place in range(places):
        row = found.rows[place] if place < shown else None
        items.append(_row(row, largest, place, top + 18 + place * ROW))
    return items, top + 18 + places * ROW + 6


def _row(row: Contribution | None, largest: float, place: int, y: float) -> Group:
    reach = 0.0 if row is None else row.share / largest * _HALF
    more = f" and {row.alike - 1:,} alike" if row is not None and row.alike > 1 else ""
    text = "" if row is None else in_symbols(row.text)
    truth, chance, change, share = (
        ("", "", "", "")
        if row is None
        else (
            ("true" if row.true else "false") if row.share_true is None else f"{row.share_true:.3f}",
            f"{row.probability:.3f}",
            value_words(row.change),
            f"{row.share:+.3g}",
        )
    )
    room = _TEXT - (7.5 * len(more))
    return Group(
        id=numbered_id("heavy", place), y=y,
        tooltip=tooltip(f"{text}{more}", f"{truth} in the data, probability {chance}") if row else "",
        children=(
            Rectangle(
                x=_ZERO + min(reach, 0.0), y=0, width=abs(reach), height=BAR,
                look="bar orange" if reach < 0 else "bar blue",
            ),
            Rectangle(x=_ZERO, y=-2, width=0.6, height=ROW, look="frame"),
            Text(x=8, y=BAR - 1.5, text=f"{fit_text(text, room)}{more}" if row else "", look="words"),
            Text(x=_TRUTH, y=BAR - 1.5, text=truth, look="words", anchor="end"),
            Text(x=_CHANCE, y=BAR - 1.5, text=chance, look="number", anchor="end"),
            Text(x=_CHANGE, y=BAR - 1.5, text=change, look="number", anchor="end"),
            Text(x=WIDTH - 4, y=BAR - 1.5, text=share, look="number", anchor="end"),
        ),
    )  # fmt: skip
