"""The pictures of a weight learner: gaps that shrink to zero, curves, time, and one formula closely."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.card.markup import shorten_text
from mlnlab.display.chart.axes import value_words
from mlnlab.display.chart.bars import WIDTH
from mlnlab.display.learning.learning_controls import Steering, button_line, steering_items
from mlnlab.display.learning.learning_gradients import GradientView, gradients_part
from mlnlab.display.learning.learning_groundings import groundings_part
from mlnlab.display.learning.learning_plots import Scores, dots, learning_plots, plot_place, plots_items
from mlnlab.display.learning.learning_rows import gap_rows
from mlnlab.display.learning.learning_view import MOST_IN_TABLE, LearningView, change_in_words, learning_view
from mlnlab.display.runs.runs import Column, Draw, RunPicture, Table
from mlnlab.display.scene.building import Entry, legend
from mlnlab.display.scene.items import Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.learning.ask.steering import SteeredLearner, changes_of, frozen_weights

if TYPE_CHECKING:
    from mlnlab.learning.ask.learner import WeightLearner
    from mlnlab.learning.problems.learning_state import LearningState
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

_TIMES = (("counting", "blue"), ("sampling", "orange"), ("stepping", "green"), ("evaluating", "purple"))


class Told(NamedTuple):
    """A dashboard's messages to its picture: the step whose weights were taken, and the pauses of the run."""

    taken: str = ""
    pauses: frozenset[str] = frozenset()


@dataclass(frozen=True, eq=False)
class Looking:
    """The content of a learner's picture: the learner, the formula looked at closely, and the steering."""

    view: LearningView
    title: str
    gradients: GradientView
    chosen: int | None = None
    scores: Scores | None = None
    steered: SteeredLearner | None = None
    told: Callable[[], Told] = Told
    beside: Draw | None = None  # another run beside this one


def looking_at(
    source: WeightLearner | SteeredLearner,
    scores: Scores | None = None,
    told: Callable[[], Told] = Told,
) -> Looking:
    """Return the initial content of a learner's picture; a steered learner comes with its steering."""
    learner = source.learner if isinstance(source, SteeredLearner) else source
    view = learning_view(
        learner.data, learner.problem, learner.counting_seconds, averages=bool(learner.averages)
    )
    steered = source if isinstance(source, SteeredLearner) else None
    return Looking(
        view, learner.description, GradientView(learner.data), scores=scores, steered=steered, told=told
    )


def learner_picture(source: WeightLearner | SteeredLearner) -> RunPicture:
    """Return the pictures of a learner."""
    return picture_at(looking_at(source))


def picture_at(looking: Looking) -> RunPicture:
    """Return the pictures of a learner and its chosen formula."""
    view = looking.view

    def choose(name: str) -> RunPicture | None:
        word, _, number = name.partition("-")
        if word != "formula" or not number.isdigit() or int(number) >= view.number:
            return None
        return picture_at(with_formula(looking, int(number)))

    parts: dict[str, Draw] = {
        "overview": lambda step, trace: overview_scene(looking, step, trace),
        "groundings": groundings_part(view, looking.chosen),
        "gradients": gradients_part(view, looking.gradients, looking.chosen),
    }
    if looking.beside is not None:
        parts["two runs"] = looking.beside
    return RunPicture(
        title=f"Learning weights: {looking.title}",
        parts=parts,
        caption=caption,
        remarks=lambda step: _remarks(view, step),
        table=lambda step: _table(view, step),
        choose=choose,
    )


def with_formula(looking: Looking, number: int) -> Looking:
    """Look closely at a formula, and draw it."""
    return replace(looking, chosen=number, view=looking.view.with_formula(number))


# --- the overview ---------------------------------------------------------------------------------


def overview_scene(looking: Looking, step: Step[Any], trace: Trace[Any]) -> Scene:
    """Return the whole dashboard of a step."""
    view, state = looking.view, step.state
    moments = view.moments(step, trace)
    top = 6.0
    controls: list[Item] = []
    if looking.steered is not None:
        controls, top = _controls(looking, state, top)
    rows, below = gap_rows(view.rows(state), view.axis(moments), top)
    items = [*_words(view, step, below), *rows, *_frame_of(looking, top)]
    more, below = _more(looking, below)
    controls += more
    scores = None if looking.scores is None else looking.scores()
    plots = learning_plots(view, step, trace, scores)
    rejected = [moment.index for moment in moments if not moment.accepted]
    curves, bottom = plots_items(plots, below + 24, view.changes(step, trace), rejected)
    items += curves
    if looking.steered is not None and plots:
        items += dots(plots[0], plot_place(0, below + 24), step, trace)
    times, end = _times(view, step, bottom)
    layers = (Layer("controls", tuple(controls), zooms=False), Layer("drawn", (*items, *times)))
    return Scene(WIDTH, end, layers, "Learning", f"{caption(step)}. {state.move.reason}")


def _controls(looking: Looking, state: LearningState, top: float) -> tuple[list[Item], float]:
    chosen, view, told = looking.chosen, looking.view, looking.told()
    frozen = frozen_weights(changes_of(state))
    fixed = chosen is not None and view.mark(chosen, {}) != ""
    steering = Steering(
        rate=looking.steered is not None and looking.steered.has_rate,
        value=view.problem.objective.has_value,
        formula=None if fixed else chosen,
        label="" if chosen is None else view.label(chosen),
        frozen=chosen is not None and view.mark(chosen, frozen) == "frozen",
        taken=told.taken,
        pauses=told.pauses,
    )
    return steering_items(steering, top)


def _more(looking: Looking, y: float) -> tuple[list[Item], float]:
    """Return a button for the undrawn formulas, and the position below it; nothing if all are drawn."""
    view = looking.view
    if looking.steered is None or len(view.shown) == view.number:
        return [], y
    words = f"{len(view.shown)} of {view.number:,} formulas"
    button = ("act-largest", "draw those with the largest gaps", "at the step that is looked at")
    items, _ = button_line([button], 8 + text_width(words, "small") + 10, y + 20)
    return [Text(x=8, y=y + 33.5, text=words, look="quiet small"), *items], y + 22


def _frame_of(looking: Looking, top: float) -> list[Item]:
    """Return the frame around the row that is looked at closely; nothing where that is not drawn."""
    shown = looking.view.shown
    y = top + 18 + 20 * shown.index(looking.chosen) - 3 if looking.chosen in shown else 0.0
    height = 19 if looking.chosen in shown else 0
    return [
        Rectangle(
            id="chosen", x=2, y=y, width=(WIDTH - 4) * bool(height), height=height, look="frame", corner=3
        )
    ]


def _words(view: LearningView, step: Step[Any], y: float) -> list[Item]:
    """Return how the learner came to this step: by a move of its own, or by hand."""
    move, changes = step.state.move, changes_of(step.state)
    words = f"{move.reason}{f' ({move.rejected:,} taken back so far)' if move.rejected else ''}"
    if changes and changes[-1].step == step.index:
        words = f"by hand: {change_in_words(changes[-1], view.data.formulas)}"
    return [Text(id="move", x=8, y=y + 14, text=fit_text(words, WIDTH - 16), look="words")]


def _times(view: LearningView, step: Step[Any], top: float) -> tuple[list[Item], float]:
    """Return a bar of where the time went, with a legend in seconds."""
    seconds = times_of(view, step)
    total = sum(seconds) or 1.0
    items: list[Item] = []
    left, length = 8.0, WIDTH - 16.0
    for (_, hue), part in zip(_TIMES, seconds, strict=True):
        items.append(Rectangle(x=left, y=top, width=length * part / total, height=8, look=f"bar {hue}"))
        left += length * part / total
    entries = [
        Entry(Rectangle(x=-5, y=-5, width=10, height=10, look=f"bar {hue}"), f"{name} {part:.3g} s")
        for (name, hue), part in zip(_TIMES, seconds, strict=True)
    ]
    entries.append(
        Entry(Path(path=segments([((0, -7), (0, 7))]), look="curve purple dashed"), "changed by hand")
    )
    explained, taken = legend(entries, 8, top + 12, WIDTH - 16)
    return [*items, explained], top + 16 + taken


def times_of(view: LearningView, step: Step[Any]) -> tuple[float, float, float, float]:
    """Return the seconds of counting, of sampling, of stepping, and of the rest."""
    state = step.state
    rest = max(0.0, step.seconds - state.sampling_seconds - state.stepping_seconds)
    return view.counting_seconds, state.sampling_seconds, state.stepping_seconds, rest


# --- in words -------------------------------------------------------------------------------------


def caption(step: Step[Any]) -> str:
    """Say a step in one line."""
    state = step.state
    parts = [f"step {step.index:,}"]
    if not isnan(state.value):
        parts.append(f"objective {state.value:,.6g}")
    parts.append(f"largest gap {value_words(float(np.abs(state.gap).max(initial=0.0)))}")
    if not isnan(state.move.damping):
        parts.append(f"λ {value_words(state.move.damping)}")
    if not isnan(state.move.rate):
        parts.append(f"rate {value_words(state.move.rate)}")
    return ", ".join(parts)


def _remarks(view: LearningView, step: Step[Any]) -> Sequence[str]:
    found = [f"Ended: {step.state.ended}."] if step.state.ended else []
    if view.averages:
        found.append(
            "The average of the steps so far is what learning returns; gaps, counts and curves are those of"
            " this step's own weights."
        )
    if view.rest:
        found.append(view.rest)
    return found


def _table(view: LearningView, step: Step[Any]) -> Table:
    """Return a row for each formula; where there are too many, for those with the largest gaps."""
    state = step.state
    errors, frozen = view.errors(state), frozen_weights(changes_of(state))
    all_fit = view.number <= MOST_IN_TABLE
    numbers = range(view.number) if all_fit else view.by_gap(state)[:MOST_IN_TABLE]
    columns_of = (
        state.weights, state.answer, state.observed, state.expected, state.gap, errors,
    )  # fmt: skip
    values = [column.tolist() for column in columns_of]
    rows = tuple(
        (
            number, shorten_text(view.label(number), 200), *(column[number] for column in values),
            view.mark(number, frozen),
        )
        for number in numbers
    )  # fmt: skip
    columns = (
        Column("", number=True), Column("formula"),
        Column("weight at this step" if view.averages else "weight", number=True),
        Column("average of the steps" if view.averages else "answer", number=True),
        Column("in the data", number=True), Column("expected", number=True),
        Column("gap at this step" if view.averages else "gap", number=True), Column("noise", number=True),
        Column("stays"),
    )  # fmt: skip
    title = (
        "Formulas" if all_fit else f"The {MOST_IN_TABLE:,} of {view.number:,} formulas with the largest gaps"
    )
    return Table(title, columns, rows)
