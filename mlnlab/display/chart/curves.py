"""Learning curves: one plot where the series have one scale, small multiples where they have not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.axes import Axis, place_axis, value_axis, value_words
from mlnlab.display.chart.plots import Box, Line, Plot, plot_items
from mlnlab.display.scene.building import WIDTH, Entry, legend
from mlnlab.display.scene.items import Item, Layer, Scene

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from mlnlab.steps.recordings.learning_curve import LearningCurve, Series
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step
    from mlnlab.steps.values.metric_columns import MetricArrays

MOST_LINES = 20  # in one plot
MOST_PLOTS = 12  # small multiples
_ALONE, _SMALL = 240.0, 150.0  # heights
_GAP = 14.0
LEAST = 1e-12  # changes below are rounding: the bottom of a logarithmic curve
_MOST_IN_TABLE = 24
_ALIKE = 4.0  # series whose ranges are this much smaller than the range of all would be flat lines


def changes_scene(step: Step[Any], trace: Trace[Any], description: str) -> Scene:
    """Return the metrics of a run up to a step, a plot each; how much changes is on a logarithmic scale."""
    found = trace.metrics()
    titles = {name: name.replace("_", " ") for name in found.columns}
    return plots_scene(metric_plots(step, found, titles, log="largest_change"), "Changes", description)


def metric_plots(
    step: Step[Any],
    found: MetricArrays,
    titles: Mapping[str, str],
    *,
    log: str = "",
    around: Sequence[float] = (),
) -> list[Plot]:
    """Return a plot for each metric that has a title, up to a step, over an axis to the last recorded one.

    The metric ``log`` is on a logarithmic scale; ``around`` are values that all other axes hold.
    """
    past = found.indices <= step.index
    steps = found.indices[past].astype(np.float64)
    across = place_axis(0, float(found.indices[-1]) if len(found) else 1.0, whole=True)
    plots = []
    for name, title in titles.items():
        values = found.columns[name][past]
        line = Line(title, steps, np.maximum(values, LEAST) if name == log else values)
        axis = vertical_axis((line,), log=name == log, around=() if name == log else around)
        plots.append(Plot(title, (line,), across, axis, marked=step.index))
    return plots


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """Plots of curves, which a cell draws as a scene and ``ml.plot`` as a figure.

    ``empty`` is the sentence that refuses a figure without values, ``note`` what a figure says below it, and
    ``height`` that of each plot. A figure has plots below each other over one axis, or ``beside`` each other.
    """

    title: str
    plots: tuple[Plot, ...]
    description: str = ""
    empty: str = "There are no values to draw: no step was recorded, or none has metrics."
    note: str = ""
    height: float | None = None
    beside: bool = False

    def scene(self) -> Scene | None:
        """Return the drawing; none without plots."""
        return self.draw() if self.plots else None

    def draw(self) -> Scene:
        """Return the drawing, perhaps an empty one."""
        return plots_scene(self.plots, self.title, self.description, self.height)


def spread_chart(values: ArrayLike, title: str, description: str = "", bins: int = 20) -> Chart:
    """Return bars that say how many values lie in each of the equal parts between 0 and 1."""
    found = np.asarray(values, np.float64)
    counts = np.bincount(np.minimum((found * bins).astype(np.int64), bins - 1), minlength=bins).tolist()
    edges = np.arange(bins + 1) / bins
    tips = [
        f"{number:,} from {low:.2f} to {high:.2f}"
        for number, low, high in zip(counts, edges.tolist(), edges[1:].tolist(), strict=False)
    ]
    line = Line(
        "number", edges[:-1] + 0.5 / bins, np.array(counts, np.float64), kind="bars", look="blue",
        tips=lambda chosen: [tips[place] for place in chosen.tolist()],
        words=tuple(f"{number:,}" if number else "" for number in counts),
    )  # fmt: skip
    across, up = place_axis(0.0, 1.0), value_axis(0.0, 1.1 * max(1.0, *counts))
    return Chart(title, (Plot("", (line,), across, up, "probability"),), description, height=164.0)


def learning_curve_chart(curve: LearningCurve) -> Chart:
    """Return the series over one axis, or where their scales differ each over its own."""
    together = curve.series[:MOST_LINES]
    if len(together) < 2 or curve.measure or has_one_scale(curve):
        name = curve.measure or (curve.names[0] if len(together) == 1 else "")
        plots: tuple[Plot, ...] = (curve_plot(curve, together, name),)
    else:
        plots = tuple(curve_plot(curve, (series,), series.name) for series in curve.series[:MOST_PLOTS])
    return Chart("Learning curve", plots, _description(curve))


def learning_curve_scene(curve: LearningCurve) -> Scene:
    """Return the drawing of a learning curve."""
    return learning_curve_chart(curve).draw()


def plots_scene(
    plots: Sequence[Plot], name: str, description: str = "", height: float | None = None
) -> Scene:
    """Return plots as one drawing: a single one in full width, several as small multiples in two columns."""
    items: list[Item] = []
    box, bottom = Box(0, 4.0, WIDTH, 0.0), 4.0
    for number, plot in enumerate(plots):
        box = plot_box(number, len(plots), 4.0, height)
        items += plot_items(plot, box, number)
        bottom = box.y + box.height + _GAP
    explained: tuple[Item, ...] = ()
    if known := list_entries(plots):
        group, taken = legend(known, 8, bottom, WIDTH - 16)
        explained, bottom = (group,), bottom + taken + 4
    layers = (Layer("plots", tuple(items)), Layer("explained", explained, zooms=False))
    return Scene(WIDTH, max(bottom, 20.0), layers, name, description)


def list_entries(plots: Iterable[Plot]) -> list[Entry]:
    """Return the lines of a legend: each name once, where a plot does not name its lines itself."""
    found: dict[str, Entry] = {}
    for plot in plots:
        if len(plot.listed) > 1 and not plot.names_lines:
            for place, line in plot.listed:
                found.setdefault(line.name, Entry(plot.sample(place), line.name))
    return list(found.values())


def plot_box(number: int, total: int, top: float, height: float | None = None) -> Box:
    """Return where a plot stands among all of a drawing."""
    if total == 1:
        return Box(0, top, WIDTH, height or _ALONE)
    half, height = (WIDTH - _GAP) / 2, height or _SMALL
    return Box(number % 2 * (half + _GAP), top + number // 2 * (height + _GAP), half, height)


def curve_plot(curve: LearningCurve, series: Sequence[Series], name: str) -> Plot:
    """Return series as a plot."""
    lines = tuple(Line(s.name, s.across(curve.by), s.values, s.errors) for s in series)
    places = [line.across for line in lines]
    return Plot(
        name,
        lines,
        horizontal_axis(places, whole=curve.by == "step" and all(map(_are_whole, places))),
        vertical_axis(lines, log=curve.log),
        across="seconds" if curve.by == "seconds" else "step",
        marked=curve.marked,
    )


def horizontal_axis(places: Iterable[NDArray[np.float64]], *, whole: bool) -> Axis:
    """Return an axis over all places."""
    known = [float(end) for place in places if len(place) for end in (place[0], place[-1])]
    return place_axis(min(known, default=0.0), max(known, default=1.0), whole=whole)


def _are_whole(places: NDArray[np.float64]) -> bool:
    return bool((places == np.round(places)).all())


def vertical_axis(lines: Iterable[Line], *, log: bool = False, around: Sequence[float] = ()) -> Axis:
    """Return an axis over all values with their errors, and around some more."""
    known = [part for line in lines for part in _extent(line, log=log)] + list(around)
    if not known:
        return value_axis(0.1 if log else 0.0, 1.0, log=log)
    return value_axis(min(known), max(known), log=log)


def _extent(line: Line, *, log: bool) -> list[float]:
    """Return the least and the greatest value that can be drawn, errors included."""
    found = []
    for edge in line.edges():
        shown = edge[np.isfinite(edge) & (edge > 0)] if log else edge[np.isfinite(edge)]
        if len(shown):
            found += [float(shown.min()), float(shown.max())]
    return found


def has_one_scale(curve: LearningCurve) -> bool:
    """Tell whether no series would be a flat line where all are drawn over one axis."""
    ends = [_extent(Line(s.name, s.steps, s.values), log=curve.log) for s in curve.series]
    spans = [(min(end), max(end)) for end in ends if end]
    if not spans:
        return True
    low, high = min(low for low, _ in spans), max(high for _, high in spans)
    size = high / 2 - low / 2  # halves, because the whole may be too large for a number
    return all(own_high / 2 - own_low / 2 >= size / _ALIKE for own_low, own_high in spans)


def _description(curve: LearningCurve) -> str:
    longest = max(map(len, curve.series), default=0)
    lines = count_of(len(curve), "series", "series")
    return f"{lines} over up to {count_of(longest, 'step')}."


# --- in a cell ------------------------------------------------------------------------------------


def learning_curve_card(curve: LearningCurve) -> Card:
    """Return the card of a learning curve."""
    scene = learning_curve_scene(curve)
    drawn = any(np.isfinite(series.values).any() for series in curve.series)
    steps = len(_all_steps(curve)) if drawn else 0
    return Card(
        "Learning curve",
        shorten_text(curve.measure) or count_of(len(curve), "series", "series"),
        picture=scene if drawn else None,
        alternative=f"{scene.title}: {scene.description} The table below has values.",
        undrawn="There are no values to draw.",
        table=_table(curve) if drawn else None,
        remarks=(*left_out(curve, scene), describe_choice(min(_MOST_IN_TABLE, steps), steps)),
    )


def left_out(curve: LearningCurve, scene: Scene) -> list[str]:
    """List the parts of a curve that its drawing leaves out."""
    found = []
    lines = sum(item.id.startswith("line-") for item in scene.items())
    if lines < len(curve):
        found.append(f"{lines} of {len(curve):,} series are drawn; to_frame() has them all.")
    infinite = sum(int(np.isinf(series.values).sum()) for series in curve.series)
    if infinite:
        found.append(f"{count_of(infinite, 'infinite value')} left out.")
    negative = sum(int((series.values <= 0).sum()) for series in curve.series) if curve.log else 0
    if negative:
        found.append(f"{count_of(negative, 'value')} not above 0 left out: the scale is logarithmic.")
    return found


def _table(curve: LearningCurve) -> Table:
    """Return values at evenly chosen steps, the first and the last among them."""
    shown, steps = curve.series[:MOST_PLOTS], _all_steps(curve)
    chosen = steps[evenly(len(steps), _MOST_IN_TABLE)]
    columns = [_values_at(series, chosen) for series in shown]
    rows = ((f"{step:,.6g}", *(column[place] for column in columns)) for place, step in enumerate(chosen))
    headings = ("step", *(shorten_text(series.name, 40) for series in shown))
    return table_of(headings, rows, len(chosen), "steps", numbers=range(len(headings)))


def _all_steps(curve: LearningCurve) -> NDArray[np.float64]:
    return np.unique(np.concatenate([series.steps for series in curve.series[:MOST_PLOTS]]))


def describe_choice(shown: int, total: int) -> str:
    """Say that a table has some of the steps."""
    return f"The table has {shown:,} of {total:,} steps, evenly chosen; to_frame() has them all." * (
        shown < total
    )


def evenly(number: int, most: int) -> NDArray[np.intp]:
    """Choose at most ``most`` evenly spaced indices below ``number``, the first and the last included."""
    if number <= most:
        return np.arange(number)
    return np.unique(np.round(np.linspace(0, number - 1, most)).astype(np.intp))


def _values_at(series: Series, steps: NDArray[np.float64]) -> list[str]:
    places = np.searchsorted(series.steps, steps, side="right") - 1
    return [
        value_cell(series.values[place]) if place >= 0 and series.steps[place] == step else ""
        for place, step in zip(places.tolist(), steps.tolist(), strict=True)
    ]


def value_cell(value: float) -> str:
    """Return a value as the cell of a table; one that does not exist leaves it empty."""
    return "" if isnan(value) else value_words(float(value))
