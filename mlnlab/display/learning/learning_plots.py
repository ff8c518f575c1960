"""The curves of a weight learner: objective, largest gap, steps, damping, weights, and held-out scores."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.chart.axes import place_axis
from mlnlab.display.chart.curves import evenly, vertical_axis
from mlnlab.display.chart.plots import Box, Line, Plot, inner_box, plot_items
from mlnlab.display.scene.building import WIDTH, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Item, Path
from mlnlab.display.scene.paths import segments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.display.learning.learning_view import LearningView, Moment
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

    Numbers = NDArray[np.float64]

DOTS = 24  # iterations that can be clicked
_HEIGHT, _GAP = 136.0, 12.0
_CROSS = 3.5


@dataclass(frozen=True, slots=True)
class Score:
    """Scores on held-out data after a step: higher is better in both."""

    index: int
    cll: float
    auc: float


Scores = Callable[[], Sequence[Score]]


def learning_plots(
    view: LearningView, step: Step[Any], trace: Trace[Any], scores: Sequence[Score] | None
) -> list[Plot]:
    """Return the plots of a learner up to a step; which there are depends on the learner alone."""
    moments = view.moments(step, trace)
    across = np.array([moment.index for moment in moments], np.float64)

    def line(name: str, read: Callable[[Moment], float], errors: Numbers | None = None) -> Line:
        return Line(name, across, np.array([read(moment) for moment in moments], np.float64), errors)

    noise = 2 * np.array([moment.noise for moment in moments])
    gap = line("largest gap", lambda moment: moment.largest or np.nan, noise if noise.any() else None)
    last = float(max(trace.indices[-1] if len(trace) else 0, step.index, 5))
    plots = (
        [_plot("objective", (line("objective", lambda m: m.value),), last, step)] if _has_value(view) else []
    )
    if scores is not None:
        plots += _held_out(scores, last, step)
    plots.append(_plot("largest gap, with its noise" if noise.any() else "largest gap", (gap,), last,
                       step, log=True))  # fmt: skip
    plots.append(
        _plot("length of the step", (line("length", lambda m: m.size or np.nan),), last, step, log=True)
    )
    bold = [line("damping λ", lambda m: m.damping), line("rate", lambda m: m.rate)]
    bold = [one for one in bold if np.isfinite(one.values).any()]
    if bold:
        plots.append(_plot(" and ".join(one.name for one in bold), tuple(bold), last, step, log=True))
    # The rows of the formulas say which line is whose.
    weights = _weight_lines(view, across, moments)
    return [*plots, _plot(_weights_title(view), weights, last, step, named=False)]


def _has_value(view: LearningView) -> bool:
    return view.problem.objective.has_value


def _plot(
    title: str,
    lines: tuple[Line, ...],
    last: float,
    step: Step[Any],
    *,
    log: bool = False,
    named: bool = True,
) -> Plot:
    return Plot(
        title, lines, place_axis(0, last, whole=True), vertical_axis(lines, log=log), marked=step.index,
        named=named and len(lines) == 2,
    )  # fmt: skip


def _held_out(scores: Sequence[Score], last: float, step: Step[Any]) -> list[Plot]:
    past = [score for score in scores if score.index <= step.index]
    across = np.array([score.index for score in past], np.float64)
    cll = Line("CLL", across, np.array([score.cll for score in past], np.float64))
    auc = Line("AUC", across, np.array([score.auc for score in past], np.float64))
    return [_plot("held-out CLL", (cll,), last, step), _plot("held-out AUC", (auc,), last, step)]


def _weights_title(view: LearningView) -> str:
    words = "weights" if len(view.shown) == view.number else f"weights of {len(view.shown)} formulas"
    return f"{words}, average of the steps so far" if view.returned and view.averages else words


def _weight_lines(view: LearningView, across: Numbers, moments: Sequence[Moment]) -> tuple[Line, ...]:
    values = np.array([moment.shown for moment in moments], np.float64).reshape(len(moments), len(view.shown))
    return tuple(
        Line(view.label(number), across, values[:, place]) for place, number in enumerate(view.shown)
    )


# --- as items -------------------------------------------------------------------------------------


def plots_items(
    plots: Sequence[Plot], top: float, changes: Sequence[tuple[int, str]], rejected: Sequence[int] = ()
) -> tuple[list[Item], float]:
    """Return the plots in two columns, changes marked in each, and where they end."""
    items: list[Item] = []
    for number, plot in enumerate(plots):
        box = plot_place(number, top)
        items += plot_items(plot, box, number)
        items.append(_marks(plot, box, number, changes))
        if plot.title == "length of the step":
            items.append(_crosses(plot, box, rejected))
    rows = -(-len(plots) // 2)
    return items, top + rows * (_HEIGHT + _GAP)


def plot_place(number: int, top: float) -> Box:
    """Return where a plot stands."""
    half = (WIDTH - _GAP) / 2
    return Box(number % 2 * (half + _GAP), top + number // 2 * (_HEIGHT + _GAP), half, _HEIGHT)


def _marks(plot: Plot, box: Box, number: int, changes: Sequence[tuple[int, str]]) -> Path:
    """Return a line at each step where somebody changed something."""
    inner = inner_box(plot, box)
    places = [inner.x + plot.horizontal.share(index) * inner.width for index, _ in changes]
    lines = [((x, inner.y), (x, inner.y + inner.height)) for x in places if isfinite(x)]
    words = [f"step {index}: {what}" for index, what in changes[-6:]]
    return Path(
        id=numbered_id("change", number), path=segments(lines), look="curve purple dashed",
        tooltip=tooltip("changed by hand", *words) if changes else "",
    )  # fmt: skip


def _crosses(plot: Plot, box: Box, rejected: Sequence[int]) -> Path:
    """Return a cross at the foot of the plot for each recorded step that was taken back."""
    inner = inner_box(plot, box)
    y = inner.y + inner.height - _CROSS - 1
    lines = []
    for index in rejected:
        x = inner.x + plot.horizontal.share(index) * inner.width
        lines.append(((x - _CROSS, y - _CROSS), (x + _CROSS, y + _CROSS)))
        lines.append(((x - _CROSS, y + _CROSS), (x + _CROSS, y - _CROSS)))
    return Path(
        id="rejected",
        path=segments(lines),
        look="curve orange",
        tooltip="steps that were taken back" * bool(lines),
    )


def dotted_steps(step: Step[Any], trace: Trace[Any]) -> list[int]:
    """Return the recorded steps that have a dot: evenly chosen up to the one that is looked at."""
    indices = trace.indices
    number = bisect_right(indices, step.index)
    return [indices[place] for place in evenly(number, DOTS).tolist()]


def dots(plot: Plot, box: Box, step: Step[Any], trace: Trace[Any]) -> list[Item]:
    """Return a dot for each of some steps on the first curve, to be clicked; as many at every step."""
    inner, line = inner_box(plot, box), plot.lines[0]
    chosen = dotted_steps(step, trace)
    found: list[Item] = []
    for place in range(DOTS):
        known = place < len(chosen)
        index = chosen[place] if known else 0
        value = (
            float(np.interp(index, line.across, line.values)) if known and len(line.across) else float("nan")
        )
        share = plot.vertical.share(value)
        known = known and isfinite(share)
        found.append(
            Circle(
                id=numbered_id("at", place), press=known,
                x=inner.x + plot.horizontal.share(index) * inner.width if known else inner.x,
                y=inner.y + (1 - share) * inner.height if known else inner.y + inner.height,
                radius=(4.5 if index == step.index else 3) if known else 0, look="disc blue",
                tooltip=tooltip(f"step {index:,}", "click to take its weights") if known else "",
            )
        )  # fmt: skip
    return found
