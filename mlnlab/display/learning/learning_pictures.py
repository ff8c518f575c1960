"""The pictures of a weight learner: gaps that shrink to zero, curves, time, and one formula closely."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.axes import place_axis, value_words
from mlnlab.display.chart.bars import BAR, ROW, WIDTH
from mlnlab.display.chart.curves import vertical_axis
from mlnlab.display.chart.plots import Line, Plot
from mlnlab.display.inference.samplers.samplers_view import History, Latest
from mlnlab.display.learning.learning_controls import Steering, steering_items
from mlnlab.display.learning.learning_gradients import GradientView, gradients_part
from mlnlab.display.learning.learning_plots import Scores, dots, learning_plots, plot_place, plots_items
from mlnlab.display.learning.learning_view import (
    MOST_IN_TABLE,
    LearningView,
    change_in_words,
    gap_rows,
    learning_view,
)
from mlnlab.display.runs.runs import Draw, RunPicture, Table, columns_of
from mlnlab.display.scene.building import Entry, legend, numbered_id, tooltip
from mlnlab.display.scene.buttons import button_line
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.learning.ask.steering import SteeredLearner, changes_of, frozen_weights
from mlnlab.learning.studies.heaviest import MOST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.ask.learner import WeightLearner
    from mlnlab.learning.problems.contributions import Contribution, Heaviest
    from mlnlab.learning.problems.learning_state import LearningState
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

_TIMES = (("counting", "blue"), ("sampling", "orange"), ("stepping", "green"), ("evaluating", "purple"))
_TRUTH, _CHANCE, _CHANGE, _ZERO, _HALF = 372.0, 440.0, 492.0, 566.0, 56.0
_TEXT = 330.0


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
    told = (state.weights, state.answer, state.observed, state.expected, state.gap, errors)
    values = [column.tolist() for column in told]
    rows = tuple(
        (
            number, shorten_text(view.label(number), 200), *(column[number] for column in values),
            view.mark(number, frozen),
        )
        for number in numbers
    )  # fmt: skip
    own = (
        ("weight at this step", "average of the steps", "gap at this step")
        if view.averages
        else ("weight", "answer", "gap")
    )
    names = ("", "formula", *own[:2], "in the data", "expected", own[2], "noise", "stays")
    title = (
        "Formulas" if all_fit else f"The {MOST_IN_TABLE:,} of {view.number:,} formulas with the largest gaps"
    )
    return Table(title, columns_of(names, (0, *range(2, 8))), rows)


# --- groundings -----------------------------------------------------------------------------------


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
