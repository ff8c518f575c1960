"""The pictures of a weight learner: gaps that shrink to zero, curves, time, and one formula closely."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.axes import value_words
from mlnlab.display.bars import WIDTH
from mlnlab.display.learning_controls import steering_items
from mlnlab.display.learning_groundings import groundings_part
from mlnlab.display.learning_plots import Scores, dots, learning_plots, plot_place, plots_items
from mlnlab.display.learning_rows import gap_rows
from mlnlab.display.learning_view import LearningView, learning_view
from mlnlab.display.markup import shortened
from mlnlab.display.runs import Column, RunPicture, Table
from mlnlab.display.scene.building import Entry, legend
from mlnlab.display.scene.items import Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fitted
from mlnlab.learning.steering import SteeredLearner, changes_of, frozen_weights

if TYPE_CHECKING:
    from mlnlab.learning.learner import WeightLearner
    from mlnlab.learning.learning_state import LearningState
    from mlnlab.steps.step import Step
    from mlnlab.steps.trace import Trace

MOST_IN_TABLE = 2_000
_TIMES = (("counting", "blue"), ("sampling", "orange"), ("stepping", "green"), ("evaluating", "purple"))


@dataclass(frozen=True, eq=False)
class Looking:
    """What is drawn: the learner, the formula that is looked at closely, and what can be steered."""

    view: LearningView
    title: str
    chosen: int | None = None
    scores: Scores | None = None
    steered: SteeredLearner | None = None
    taken: Callable[[], int | None] = lambda: None


def learner_picture(
    source: WeightLearner | SteeredLearner,
    scores: Scores | None = None,
    taken: Callable[[], int | None] | None = None,
) -> RunPicture:
    """Return the pictures of a learner; of a steered one with what steers it."""
    learner = source.learner if isinstance(source, SteeredLearner) else source
    view = learning_view(learner.data, learner.problem, learner.counting_seconds)
    looking = Looking(view, learner.description, scores=scores)
    if isinstance(source, SteeredLearner):
        looking = replace(looking, steered=source, taken=taken or looking.taken)
    return _picture(looking)


def _picture(looking: Looking) -> RunPicture:
    view = looking.view

    def choose(name: str) -> RunPicture | None:
        word, _, number = name.partition("-")
        if word != "formula" or not number.isdigit() or int(number) >= view.number:
            return None
        return _picture(replace(looking, chosen=int(number)))

    return RunPicture(
        title=f"Learning weights: {looking.title}",
        parts={
            "overview": lambda step, trace: overview_scene(looking, step, trace),
            "groundings": groundings_part(view, looking.chosen),
        },
        caption=caption,
        remarks=lambda step: _remarks(view, step),
        table=lambda step: _table(view, step),
        choose=choose,
    )


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
    items = [*_words(step, below), *rows, *_frame_of(looking, top)]
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
    chosen, view = looking.chosen, looking.view
    frozen = frozen_weights(changes_of(state))
    is_frozen = chosen is not None and view.mark(chosen, frozen) == "frozen"
    fixed = chosen is not None and view.mark(chosen, {}) != ""
    return steering_items(
        top,
        rate=looking.steered is not None and looking.steered.has_rate,
        formula=None if fixed else chosen,
        label="" if chosen is None else view.label(chosen),
        frozen=is_frozen,
        taken=looking.taken(),
    )


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


def _words(step: Step[Any], y: float) -> list[Item]:
    move = step.state.move
    taken_back = f" ({move.rejected:,} taken back so far)" if move.rejected else ""
    words = fitted(f"{move.reason}{taken_back}", WIDTH - 16)
    return [Text(id="move", x=8, y=y + 14, text=words, look="words")]


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
    """Return the seconds of counting, sampling, stepping, and of what is left."""
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
    if view.rest:
        found.append(view.rest)
    return found


def _table(view: LearningView, step: Step[Any]) -> Table:
    state = step.state
    errors, frozen = view.errors(state), frozen_weights(changes_of(state))
    rows = tuple(
        (
            number, shortened(view.label(number), 200), float(state.weights[number]),
            float(state.answer[number]), float(state.observed[number]), float(state.expected[number]),
            float(state.gap[number]), float(errors[number]), view.mark(number, frozen),
        )
        for number in range(min(view.number, MOST_IN_TABLE))
    )  # fmt: skip
    columns = (
        Column("", number=True), Column("formula"), Column("weight", number=True),
        Column("answer", number=True), Column("in the data", number=True), Column("expected", number=True),
        Column("gap", number=True), Column("noise", number=True), Column("stays"),
    )  # fmt: skip
    title = (
        "Formulas"
        if view.number <= MOST_IN_TABLE
        else f"The first {MOST_IN_TABLE:,} of {view.number:,} formulas"
    )
    return Table(title, columns, rows)
