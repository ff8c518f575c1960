"""Compare runs of learners: a race over seconds, and two runs step beside step up to where they part."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.card.markup import shorten_text
from mlnlab.display.chart.axes import place_axis, value_words
from mlnlab.display.chart.curves import vertical_axis
from mlnlab.display.chart.plots import Box, Line, Plot, plot_items, sample
from mlnlab.display.inference.samplers.samplers_view import History
from mlnlab.display.learning.learning_plots import plots_items
from mlnlab.display.runs.runs import Draw, RunPicture, Table, columns_of
from mlnlab.display.scene.building import WIDTH, numbered_id, tooltip
from mlnlab.display.scene.buttons import button_line
from mlnlab.display.scene.items import Group, Item, Layer, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text
from mlnlab.learning.studies.diverging_runs import Parting, PartingSearch

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.display.learning.learning_view import LearningView
    from mlnlab.learning.studies.race import Race, RaceState, Runner
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

    Numbers = NDArray[np.float64]

_HEIGHT, _ROW = 190.0, 20.0
_LONGEST = 60  # letters of a learner's name
_COLUMNS = (("steps", 330.0), ("seconds", 410.0), ("score", 520.0), ("largest gap", WIDTH - 6.0))

# Of each learner that has begun: iteration, seconds, score, largest gap.
_Places = dict[str, tuple[float, float, float, float]]
_NAMES = ("this run", "the other")


def race_picture(race: Race) -> RunPicture:
    """Return the pictures of a race."""
    history: History[_Places] = History(lambda step: _places(step.state))
    return RunPicture(
        title=f"Race of {len(race.learners)} learners, measured by the {race.yardstick.objective.name}",
        parts={
            "by seconds": partial(_scene, race, history, 1),
            "by steps": partial(_scene, race, history, 0),
        },
        caption=caption,
        remarks=_remarks,
        table=_table,
    )


def _places(state: RaceState) -> _Places:
    return {
        one.name: (
            float(one.state.iteration), one.seconds, one.score, float(np.abs(one.state.gap).max(initial=0.0)),
        )
        for one in state.runners
    }  # fmt: skip


def _scene(race: Race, history: History[_Places], by: int, step: Step[Any], trace: Trace[Any]) -> Scene:
    rows = history.until(step, trace)
    names = list(race.learners)
    ends = _places((trace[-1] if len(trace) else step).state)
    furthest = max((place[by] for place in {**_places(step.state), **ends}.values()), default=1.0)
    axis = place_axis(0, max(furthest, 1e-3 if by else 5.0), whole=not by)
    across = "seconds" if by else "step"
    items: list[Item] = []
    for number, (title, field, log) in enumerate((("score", 2, False), ("largest gap", 3, True))):
        lines = tuple(_line(name, rows, by, field) for name in names)
        plot = Plot(title, lines, axis, vertical_axis(lines, log=log), across=across, named=False)
        items += plot_items(plot, Box(0, 4 + number * (_HEIGHT + 10), WIDTH, _HEIGHT), number)
    below, end = _standing(names, step.state, 4 + 2 * (_HEIGHT + 10))
    return Scene(WIDTH, end, (Layer("drawn", (*items, *below)),), "Race", f"{caption(step)}.")


def _line(name: str, rows: list[_Places], by: int, field: int) -> Line:
    """Return the way of one learner; of recorded steps in which it rested, only the first."""
    points: dict[float, tuple[float, float]] = {}
    for row in rows:
        if name in row:
            points.setdefault(row[name][0], (row[name][by], row[name][field]))
    values = np.array(list(points.values()), np.float64).reshape(len(points), 2)
    shown = np.where(values[:, 1] == 0, np.nan, values[:, 1]) if field == 3 else values[:, 1]
    return Line(shorten_text(name, _LONGEST), values[:, 0], shown)


def _standing(names: list[str], state: RaceState, top: float) -> tuple[list[Item], float]:
    """Return a row for each learner: how far it is, and who moved last."""
    items: list[Item] = [
        Text(x=x, y=top + 12, text=words, look="quiet small", anchor="end") for words, x in _COLUMNS
    ]
    known = {one.name: one for one in state.runners}
    places = _places(state)
    mover = state.runners[state.mover].name
    failures = dict(state.failures)
    for number, name in enumerate(names):
        y = top + 18 + number * _ROW
        numbers = _numbers(places[name]) if name in known else ("", "", "", "")
        word, told = _how_it_stands(known.get(name), failures.get(name))
        look = "words strong" if name == mover else "words"
        cells = [
            Text(x=x, y=4.5, text=words, look="number", anchor="end")
            for (_, x), words in zip(_COLUMNS, numbers, strict=True)
        ]
        items.append(
            Group(
                id=numbered_id("runner", number), x=0, y=y + 6, tooltip=tooltip(name, told),
                children=(
                    Group(x=18, children=(sample(number),)),
                    Text(x=34, y=4.5, text=fit_text(name, 205, "strong"), look=look),
                    Text(x=250, y=4.5, text=word, look="quiet small"),
                    *cells,
                ),
            )
        )  # fmt: skip
    return items, top + 24 + len(names) * _ROW


def _how_it_stands(runner: Runner | None, failure: str | None) -> tuple[str, str]:
    """Return a word and a sentence on whether a learner still runs."""
    if failure is not None:
        return "failed", f"failed: {failure}"
    if runner is None:
        return "", "has not begun"
    return ("ended", runner.state.ended) if runner.state.ended else ("", "")


def _numbers(place: tuple[float, float, float, float]) -> tuple[str, str, str, str]:
    return f"{place[0]:,.0f}", f"{place[1]:.3f}", f"{place[2]:,.5g}", value_words(place[3])


def caption(step: Step[Any]) -> str:
    """Say who leads."""
    runners = step.state.runners
    leader = max(runners, key=lambda one: -np.inf if np.isnan(one.score) else one.score)
    mover = runners[step.state.mover]
    moved, leads = (shorten_text(one.name, _LONGEST) for one in (mover, leader))
    words = f"step {step.index:,}: {moved} moved"
    return words if np.isnan(leader.score) else f"{words}; {leads} leads with {leader.score:,.5g}"


def _remarks(step: Step[Any]) -> list[str]:
    state = step.state
    failures = dict(state.failures)
    ended = [
        f"{shorten_text(one.name, _LONGEST)} ended: {one.state.ended}."
        for one in state.runners if one.state.ended and one.name not in failures
    ]  # fmt: skip
    return [*ended, *(f"{shorten_text(name, _LONGEST)} failed: {why}" for name, why in failures.items())]


def _table(step: Step[Any]) -> Table:
    names = ("learner", "steps", "seconds", "score", "largest gap")
    rows = tuple((shorten_text(name, 200), *place) for name, place in _places(step.state).items())
    return Table("Learners", columns_of(names, range(1, 5)), rows)


# --- two runs -------------------------------------------------------------------------------------


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
