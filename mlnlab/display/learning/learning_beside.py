"""Two runs of a learner, step beside step: where they part, and how far apart they are from there on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.chart.axes import place_axis
from mlnlab.display.chart.bars import WIDTH
from mlnlab.display.chart.curves import vertical_axis
from mlnlab.display.chart.plots import Line, Plot
from mlnlab.display.inference.samplers.samplers_view import History
from mlnlab.display.learning.learning_controls import button_line
from mlnlab.display.learning.learning_plots import plots_items
from mlnlab.display.scene.items import Item, Layer, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text
from mlnlab.learning.studies.diverging_runs import PartingSearch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.display.learning.learning_view import LearningView
    from mlnlab.display.runs.runs import Draw
    from mlnlab.learning.studies.diverging_runs import Parting
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

    Numbers = NDArray[np.float64]

_NAMES = ("this run", "the other")


class _Row(NamedTuple):
    """The values of a step in a comparison of two runs."""

    step: int
    value: float
    largest: float
    weights: Numbers


def beside_part(view: LearningView, search: PartingSearch, other: Trace[Any]) -> Draw:
    """Return a function that draws a run beside another one, as far as each is recorded."""
    history: History[_Row] = History(_read)

    def draw(step: Step[Any], trace: Trace[Any]) -> Scene:
        found = search.find()
        rows = history.until(step, trace), history.until(other[-1], other)
        formula = int(np.abs(step.state.gap).argmax()) if found is None else found.formula
        items, top = _words(found, search.same_until)
        marks = [] if found is None else [(found.step, "here the runs diverge")]
        last = float(max(trace.indices[-1], other.indices[-1], 5))
        plots = _plots(view, rows, formula, last, step.index)
        curves, bottom = plots_items(plots, top, marks)
        said = "" if found is None else str(found)
        return Scene(WIDTH, bottom, (Layer("drawn", (*items, *curves)),), "Two runs", said)

    return draw


def _read(step: Step[Any]) -> _Row:
    state = step.state
    return _Row(step.index, state.value, float(np.abs(state.gap).max(initial=0.0)), state.weights)


def _words(found: Parting | None, same: int) -> tuple[list[Item], float]:
    """Describe the two runs in two lines with a button; the number of items is always the same."""
    if found is not None:
        first, second = f"{found.where}.", f"{found.what[0].upper()}{found.what[1:]}."
    elif same >= 0:
        first, second = f"The runs are the same, bit for bit, up to step {same:,}.", ""
    else:
        first, second = "The two recordings have no step in common yet.", ""
    button = [("act-parting", "look at where they diverge", "the step from which on the runs differ")]
    items, _ = button_line(button if found is not None else [], 8.0, 44.0)
    return [
        Text(id="parting", x=8, y=18, text=fit_text(first, WIDTH - 16, "strong"), look="words strong"),
        Text(id="parting-more", x=8, y=36, text=fit_text(second, WIDTH - 16, "small"), look="words small"),
        *items,
    ], 72.0


def _plots(
    view: LearningView, rows: Sequence[Sequence[_Row]], formula: int, last: float, marked: int
) -> list[Plot]:
    axis = place_axis(0, last, whole=True)

    def plot(title: str, values: Sequence[Numbers], *, log: bool = False) -> Plot:
        lines = tuple(
            Line(name, np.array([row.step for row in run], np.float64), own)
            for name, run, own in zip(_NAMES, rows, values, strict=True)
        )
        return Plot(title, lines, axis, vertical_axis(lines, log=log), marked=marked)

    found = []
    if view.problem.objective.has_value:
        found.append(plot("objective", [np.array([row.value for row in run]) for run in rows]))
    largest = [np.array([row.largest or np.nan for row in run]) for run in rows]
    found.append(plot("largest gap", largest, log=True))
    title = f"weight of formula {formula}: {view.label(formula)}"
    found.append(plot(title, [np.array([row.weights[formula] for row in run]) for run in rows]))
    across, apart = _distances(*rows)
    line = Line("distance", across, np.where(apart > 0, apart, np.nan))
    title = "distance of their weights"
    return [*found, Plot(title, (line,), axis, vertical_axis((line,), log=True), marked=marked, named=False)]


def _distances(own: Sequence[_Row], other: Sequence[_Row]) -> tuple[Numbers, Numbers]:
    """Return how far apart all weights are, at the steps that were read of both runs."""
    theirs = {row.step: row.weights for row in other}
    both = [row for row in own if row.step in theirs]
    apart = [float(np.linalg.norm(row.weights - theirs[row.step])) for row in both]
    return np.array([row.step for row in both], np.float64), np.array(apart, np.float64)
