"""Hold the shared view of a weight learner's pictures: drawn formulas, their names, a step's values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import asinh, floor, isfinite, log10
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.card.formula_markup import formula_text
from mlnlab.display.chart.axes import value_words
from mlnlab.display.chart.bars import BAR, ROW, WIDTH
from mlnlab.display.chart.plots import sample
from mlnlab.display.inference.samplers.samplers_view import History
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Path, Rectangle, Text
from mlnlab.display.scene.paths import polyline, segments
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.learning.ask.steering import Change, changes_of, frozen_weights
from mlnlab.learning.problems.free_weights import FIXED
from mlnlab.learning.studies.heaviest import GapMakers
from mlnlab.logic.formulas.printing import marks_of, to_text
from mlnlab.logic.formulas.weights import Hard

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problems.learning_state import LearningState
    from mlnlab.learning.problems.problem import Problem
    from mlnlab.learning.problems.training_data import TrainingData
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

    Numbers = NDArray[np.float64]

MOST_FORMULAS = 24  # that are drawn one by one
MOST_IN_TABLE = 1_000
_MOST_LABELS = 20_000
_LONGEST_FORMULA = 60
_BEND = 30.0  # how much of the scale is logarithmic: the largest gap is so many times the linear part
_LABEL, _LABEL_END, _END = 30.0, 262.0, WIDTH - 4.0
_NOISE = 2.0  # standard errors
_HEAD = 18.0


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """The values of one step in curves."""

    index: int
    seconds: float
    value: float
    largest: float
    noise: float  # the standard error of the largest gap
    size: float
    rate: float
    damping: float
    rejected: int
    accepted: bool
    shown: Numbers  # the weights of the formulas that are drawn
    change: Change | None  # what was last changed by hand


@dataclass(frozen=True, eq=False)
class LearningView:
    """A learning problem with its drawn formulas, and the values read from its states."""

    data: TrainingData
    problem: Problem
    shown: tuple[int, ...]
    counting_seconds: float  # spent on counting the data, before the first step
    makers: GapMakers  # counts what makes gaps, once for all pictures
    averages: bool = False  # whether an average of the steps is returned
    returned: bool = False  # whether the weights are drawn that are returned, instead of a step's own
    history: History[Moment] = field(init=False)
    label: Callable[[int], str] = field(init=False)

    def __post_init__(self) -> None:
        """Cache the moments and the labels, so that each state is read once."""
        object.__setattr__(self, "history", History(self._moment))
        object.__setattr__(self, "label", lru_cache(_MOST_LABELS)(self._label))

    def _formula(self, number: int) -> Any:  # noqa: ANN401 - any kind of formula
        return self.data.formulas[number].formula

    def _marks(self, number: int) -> Any:  # noqa: ANN401
        return marks_of(self.data.formulas[number])

    def _label(self, number: int) -> str:
        return formula_text(self._formula(number), self._marks(number))

    @property
    def number(self) -> int:
        """The number of formulas."""
        return len(self.data.formulas)

    @property
    def rest(self) -> str:
        """Say that not all formulas are drawn; nothing where they are."""
        if len(self.shown) == self.number:
            return ""
        table = "all" if self.number <= MOST_IN_TABLE else f"the {MOST_IN_TABLE:,} with the largest gaps"
        return (
            f"{len(self.shown)} of {self.number:,} formulas are drawn. The table has {table}; a click on one"
            " of its rows draws that formula, too."
        )

    def drawing(self, shown: Iterable[int]) -> LearningView:
        """Return a view that draws these formulas."""
        return replace(self, shown=tuple(sorted(set(shown))))

    def with_largest_gaps(self, state: LearningState) -> LearningView:
        """Return a view that draws the formulas whose gaps are the largest in a state."""
        return self.drawing(self.by_gap(state)[:MOST_FORMULAS])

    def by_gap(self, state: LearningState) -> list[int]:
        """Return the formulas, those with the largest gaps first."""
        found: list[int] = np.argsort(-np.abs(state.gap), kind="stable").tolist()
        return found

    def with_formula(self, number: int) -> LearningView:
        """Return a view that draws this formula, too; where there is no room, in the place of the last."""
        if number in self.shown:
            return self
        return self.drawing((*self.shown[: MOST_FORMULAS - 1], number))

    # --- a step -------------------------------------------------------------------------------

    def errors(self, state: LearningState) -> Numbers:
        """Return the standard error of each formula's gap; tied weights share one, frozen ones have none."""
        if state.errors is None:
            return np.zeros(self.number)
        free = self.problem.free
        found = np.sqrt(free.spread(free.gather_derivatives(state.errors**2)))
        frozen = free.parameter[list(frozen_weights(changes_of(state)))]
        return np.where(np.isin(free.parameter, frozen), 0.0, found)

    def _moment(self, step: Step[Any]) -> Moment:
        state, move = step.state, step.state.move
        gaps = np.abs(state.gap)
        place = int(gaps.argmax()) if len(gaps) else 0
        noise = float(self.errors(state)[place]) if len(gaps) else 0.0
        return Moment(
            step.index, step.seconds, state.value, float(gaps.max(initial=0.0)), noise, move.size, move.rate,
            move.damping, move.rejected, move.accepted,
            (state.answer if self.returned else state.weights)[list(self.shown)],
            (changes_of(state) or (None,))[-1],
        )  # fmt: skip

    def rows(self, state: LearningState) -> list[GapRow]:
        """Return a row for each formula that is drawn."""
        errors, frozen = self.errors(state), frozen_weights(changes_of(state))
        return [self._row(number, state, float(errors[number]), frozen) for number in self.shown]

    def _row(self, number: int, state: LearningState, error: float, frozen: dict[int, float]) -> GapRow:
        mark = self.mark(number, frozen)
        known = state.observed[number], state.expected[number]
        own = 0.0 if state.errors is None else float(state.errors[number])  # ties do not share their counts
        noise = f" ± {value_words(own)}" if own else ""
        average = (
            f", average of the steps {state.answer[number]:.5g}"
            if self.averages and not self.returned
            else ""
        )
        tip = (
            f"formula {number}: weight {state.weights[number]:.5g}{average}\n"
            f"in the data {value_words(float(known[0]))}, expected {value_words(float(known[1]))}{noise}"
        )
        weight, gap = float(state.weights[number]), float(state.gap[number])
        beside = float(state.answer[number]) if self.averages and not self.returned else None
        return GapRow(number, self.label(number), weight, gap, error, mark, tip, beside)

    def mark(self, number: int, frozen: dict[int, float]) -> str:
        """Say in a word why a formula's weight does not move; nothing where it does."""
        free = self.problem.free
        parameter = int(free.parameter[number])
        if parameter == FIXED:
            return "hard" if isinstance(self.data.formulas[number].weight, Hard) else "fixed"
        if any(int(free.parameter[formula]) == parameter for formula in frozen):
            return "frozen"
        return ""

    def axis(self, moments: Sequence[Moment], *others: float) -> GapAxis:
        """Return the scale of gaps: the largest of all steps so far, so that bars shrink."""
        return GapAxis(max((*(moment.largest for moment in moments), *others), default=0.0))

    def changes(self, step: Step[Any], trace: Trace[Any]) -> list[tuple[int, str]]:
        """Return the step and the words of each change in the recording up to a step.

        A state names those that led to it; those before a step that was returned to stand in others.
        """
        recorded = [moment.change for moment in self.moments(step, trace) if moment.change is not None]
        found = {change.step: change for change in (*recorded, *changes_of(step.state))}
        formulas = self.data.formulas
        return [(number, change_in_words(found[number], formulas)) for number in sorted(found)]

    def moments(self, step: Step[Any], trace: Trace[Any]) -> list[Moment]:
        """Return the moments of recorded steps up to this one."""
        return self.history.until(step, trace)


def learning_view(
    data: TrainingData,
    problem: Problem,
    counting_seconds: float = 0.0,
    *,
    averages: bool = False,
    returned: bool = False,
) -> LearningView:
    """Return the view of a problem: of many formulas those that are learned and count most are drawn."""
    learned, counts = problem.free.parameter != FIXED, problem.objective.counts
    order = sorted(range(len(learned)), key=lambda number: (not learned[number], -abs(counts[number])))
    shown = tuple(sorted(order[:MOST_FORMULAS]))
    makers = GapMakers(data, problem)
    return LearningView(data, problem, shown, counting_seconds, makers, averages=averages, returned=returned)


def change_in_words(change: Change, formulas: Sequence[Any]) -> str:
    """Return a change in words."""
    what = ""
    if change.formula >= 0:
        what = f"formula {change.formula} ({to_text(formulas[change.formula].formula)[:_LONGEST_FORMULA]})"
    match change.kind:
        case "weight":
            return f"weight of {what} set to {change.value:.4g}"
        case "freeze":
            return f"{what} frozen at {change.value:.4g}"
        case "free":
            return f"{what} learned again"
        case "rate":
            return f"rate set to {change.value:.4g}"
        case "return":
            return f"gone on from step {change.of:,}"


# --- rows -----------------------------------------------------------------------------------------
# Bars lie on a scale that is linear near zero and logarithmic far from it (asinh), so that one sees a gap of
# hundreds shrink to one of hundredths. The shaded band around zero is the noise of sampling: what lies in it
# cannot be told from zero.


class GapRow(NamedTuple):
    """A formula at a step."""

    number: int
    label: str
    weight: float
    gap: float
    error: float = 0.0  # the standard error of the gap
    mark: str = ""  # such as "frozen"
    tip: str = ""
    average: float | None = None  # the weight that is returned, where that is an average of the steps


class _Columns(NamedTuple):
    """Where the numbers of a row end, where its mark begins, and where its bar lies."""

    weight_end: float = 326.0
    average_end: float = 326.0
    zero: float = 494.0
    half: float = 118.0

    @property
    def mark(self) -> float:
        return self.average_end + 5

    @property
    def mark_room(self) -> float:
        return self.zero - self.half - self.mark - 2


_PLAIN, _WITH_AVERAGES = _Columns(), _Columns(average_end=388.0, zero=526.0, half=86.0)


@dataclass(frozen=True, slots=True)
class GapAxis:
    """Where gaps lie between minus and plus the largest one."""

    largest: float

    def place(self, gap: float) -> float:
        """Return a place between -1 and 1."""
        if not isfinite(gap) or not self.largest > 0:
            return 0.0
        share = min(max(gap / self.largest, -1.0), 1.0)
        return asinh(share * _BEND) / asinh(_BEND)

    @property
    def ticks(self) -> tuple[float, ...]:
        """Round numbers on both sides of zero."""
        if not (isfinite(self.largest) and self.largest > 1e-300):
            return (0.0,)
        top = 10.0 ** floor(log10(self.largest) + 1e-9)
        found = [tick for tick in (top, top / 10) if self.largest / _BEND < tick]
        return (*(-tick for tick in found), 0.0, *reversed(found))


def gap_rows(
    rows: Sequence[GapRow], axis: GapAxis, top: float, *, pick: bool = True
) -> tuple[list[Item], float]:
    """Return the rows with their headings and their axis, and where they end."""
    bottom = top + _HEAD + len(rows) * ROW
    columns = _WITH_AVERAGES if any(row.average is not None for row in rows) else _PLAIN
    items: list[Item] = [*_headings(columns, top)]
    items += [
        _row(row, place, axis, columns, top + _HEAD + place * ROW, pick=pick)
        for place, row in enumerate(rows)
    ]
    # Over the rows: their plates take clicks, and would hide the zero line.
    items += _ticks(axis, columns, top + _HEAD, bottom)
    return items, bottom + 20


def _headings(columns: _Columns, top: float) -> list[Item]:
    averages = columns is _WITH_AVERAGES
    places = (
        ("formula", _LABEL, "start"),
        ("this step" if averages else "weight", columns.weight_end, "end"),
        *((("average", columns.average_end, "end"),) if averages else ()),
        ("gap", _END, "end"),
    )
    found: list[Item] = [
        Text(x=x, y=top + 11, text=words, look="quiet small", anchor="end" if anchor == "end" else "start")
        for words, x, anchor in places
    ]
    found.append(
        Text(
            x=columns.zero,
            y=top + 11,
            text="◂ too often · too rarely ▸" if averages else "◂ expected too often · too rarely ▸",
            look="quiet small",
            anchor="middle",
        )
    )
    return found


def _ticks(axis: GapAxis, columns: _Columns, top: float, bottom: float) -> list[Item]:
    """Return the zero line, and marks below the rows; as many items whatever the numbers are."""
    ticks, zero, half_width = axis.ticks, columns.zero, columns.half
    shown = [(zero + axis.place(tick) * half_width, value_words(tick)) for tick in ticks]
    texts: list[Item] = []
    end = float("-inf")
    for place in range(5):
        x, words = shown[place] if place < len(shown) else (zero, "")
        half = text_width(words, "small") / 2
        words = words if x - half > end + 3 else ""
        end = x + half if words else end
        texts.append(Text(x=x, y=bottom + 14, text=words, look="quiet small", anchor="middle"))
    return [
        Path(path=polyline([(zero, top - 2), (zero, bottom)]), look="frame"),
        Path(path=polyline([(zero - half_width, bottom), (zero + half_width, bottom)]), look="frame"),
        Path(path=segments(((x, bottom), (x, bottom + 3)) for x, _ in shown), look="frame"),
        *texts,
    ]


def _row(row: GapRow, place: int, axis: GapAxis, columns: _Columns, y: float, *, pick: bool) -> Group:
    reach = axis.place(row.gap) * columns.half
    noise = axis.place(_NOISE * row.error) * columns.half
    beyond = abs(row.gap) > _NOISE * row.error
    hue = "bar orange" if row.gap < 0 else "bar blue"
    small = text_width(row.label) > _LABEL_END - _LABEL  # a formula of three atoms is not cut
    label = fit_text(row.label, _LABEL_END - _LABEL, "small" * small)
    y_text = BAR - 1.5
    return Group(
        id=numbered_id("formula", row.number),
        y=y,
        pick=pick,
        tooltip=tooltip(row.label, row.tip),
        children=(
            Rectangle(x=2, y=-2, width=WIDTH - 4, height=ROW - 2, look="plate", corner=3),
            Rectangle(x=columns.zero - noise, y=-1, width=2 * noise, height=BAR + 2, look="shaded"),
            Rectangle(
                x=columns.zero + min(reach, 0.0), y=0, width=abs(reach), height=BAR,
                look=hue if beyond else f"{hue} washed",
            ),
            Group(x=15, y=BAR - 6, children=(sample(place),)),  # as its weight is drawn among the curves
            Text(x=_LABEL, y=y_text, text=label, look=f"words{' small' * small}"),
            *_numbers(row, columns, y_text),
            Text(
                x=columns.mark, y=y_text, text=fit_text(row.mark, columns.mark_room, "small"),
                look="quiet small",
            ),
            Text(x=_END, y=y_text, text=_short(row.gap), look="number", anchor="end"),
        ),
    )  # fmt: skip


def _numbers(row: GapRow, columns: _Columns, y: float) -> list[Item]:
    """Return the weight, and beside it the average that is returned, where it is one."""
    found: list[Item] = [
        Text(x=columns.weight_end, y=y, text=_weight(row.weight), look="number", anchor="end")
    ]
    if row.average is not None:
        found.append(Text(x=columns.average_end, y=y, text=_weight(row.average), look="number", anchor="end"))
    return found


def _weight(value: float) -> str:
    return f"{value:+.3f}" if abs(value) < 100 else f"{value:+.4g}"


def _short(gap: float) -> str:
    """Return a gap in few letters; next to nothing is zero."""
    if abs(gap) < 5e-7:
        return "0"
    return f"{gap:+.2g}" if abs(gap) < 0.01 else f"{gap:+.3g}"
