"""Chart studies: seconds of learning and counting, estimated counts, planted rules, figure 4.1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import element, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.axes import MOST_TICKS, Axis, value_axis
from mlnlab.display.chart.curves import Chart, plots_scene, vertical_axis
from mlnlab.display.chart.plots import MARKS, Line, Plot
from mlnlab.display.counting.count_bars import number_text
from mlnlab.display.runs.run_cards import frame_table
from mlnlab.display.scene.look import HUES
from mlnlab.experiments.reproduce.figure_4_1_scores import ALL, Figure
from mlnlab.learning.ask.tuning import MEASURES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.display.scene.items import Scene
    from mlnlab.experiments.reproduce.figure_2 import LiftedScaling, LiftedTiming
    from mlnlab.experiments.studies.count_estimates import CountEstimates, EstimatePoint
    from mlnlab.experiments.studies.counting_growth import CountingGrowth, GrowthPoint
    from mlnlab.experiments.studies.learning_growth import LearningGrowth, LearningPoint
    from mlnlab.experiments.studies.planted_rules import PlantedRules
    from mlnlab.learning.ask.held_out import Measure

_EMPTY = "There is nothing to draw: nothing was measured."
_LONGEST_FORMULA = 200
_WAYS = (("planned", "planned", ""), ("duckdb", "DuckDB", "dashed"))


def learning_growth_chart(growth: LearningGrowth) -> Chart:
    """Return the seconds of counting once and of each iteration after it, over ground atoms."""
    parts = {"counting, once": "counting", "an iteration": "iteration"}
    tips = [f"{point.people:,} people, {point.rows:,} different rows" for point in growth.points]
    return _seconds(
        "Seconds of pseudo-likelihood learning", growth.points, "atoms", "ground atoms", parts, tips
    )


def learning_growth_card(growth: LearningGrowth) -> Card:
    """Return the card of measured seconds of learning, a row for each database."""
    chart, table = learning_growth_chart(growth), frame_table(growth.to_frame(), "databases")
    return Card(chart.title, picture=chart.scene(), undrawn=_EMPTY, table=table)


def lifted_scaling_chart(scaling: LiftedScaling) -> Chart:
    """Return seconds over people, in total and for each part of the work (Van den Broeck et al. 2013)."""
    parts = {"all": "total", **{name: name for name in ("learning", "counting", "compiling")}}
    tips = [f"{one.atoms:,} atoms, {one.steps} steps" for one in scaling.timings]
    return _seconds("Seconds of lifted weight learning", scaling.timings, "people", "people", parts, tips)


def _seconds(
    title: str,
    measured: Sequence[LearningPoint | LiftedTiming],
    size: str,
    across: str,
    parts: Mapping[str, str],
    tips: Sequence[str],
) -> Chart:
    """Return a line for each part of the work, both axes logarithmic."""
    if not measured:
        return Chart(title, (), empty=_EMPTY)
    sizes = _column(measured, size)
    pick = partial(_choose_points, tips)
    lines = tuple(Line(name, sizes, _column(measured, part), tips=pick) for name, part in parts.items())
    horizontal = value_axis(float(sizes.min()), float(sizes.max()), log=True)
    plot = Plot("seconds", lines, horizontal, vertical_axis(lines, log=True), across=across)
    return Chart(title, (plot,), f"Seconds over {across}.", _EMPTY)


def _column(measured: Sequence[LearningPoint | LiftedTiming | GrowthPoint], name: str) -> NDArray[np.float64]:
    return np.array([getattr(one, name) for one in measured], np.float64)


def _choose_points(tips: Sequence[str], points: NDArray[np.intp]) -> list[str]:
    return [tips[point] for point in points.tolist()]


# --- counting -------------------------------------------------------------------------------------


def growth_chart(growth: CountingGrowth) -> Chart:
    """Return a curve for each shape and way: hue and mark tell shapes, dashes tell DuckDB."""
    by_tuples, by_arity = growth.along("tuples"), growth.along("arity")
    hues = {shape: place for place, shape in enumerate({**by_tuples, **by_arity})}
    plots = []
    if by_tuples:
        sizes = [point.tuples for points in by_tuples.values() for point in points]
        axis = value_axis(min(sizes), max(sizes), log=True)
        plots.append(_growth_plot(by_tuples, "tuples", axis, "true atoms of each relation", hues))
    if by_arity:
        sizes = sorted({point.arity for points in by_arity.values() for point in points})
        axis = Axis(sizes[0] - 0.2, sizes[-1] + 0.2, tuple(sizes), tuple(map(str, sizes)), named=True)
        plots.append(_growth_plot(by_arity, "arity", axis, "arguments of each predicate", hues))
    words = "Seconds over true atoms and over arguments."
    return Chart("Seconds of counting", tuple(plots), words, _EMPTY, height=220.0, beside=True)


def _growth_plot(
    curves: Mapping[str, Sequence[GrowthPoint]], size: str, axis: Axis, across: str, hues: Mapping[str, int]
) -> Plot:
    lines = tuple(
        Line(
            f"{shape}, {words}", _column(points, size), _column(points, way),
            tips=partial(_choose_points, [f"{one.formula}: {one.tuples:,} atoms" for one in points]),
            mark=MARKS[hues[shape] % len(MARKS)], look=f"{HUES[hues[shape] % len(HUES)]} {dash}",
        )
        for shape, points in curves.items()
        for way, words, dash in _WAYS
    )  # fmt: skip
    return Plot("seconds", lines, axis, vertical_axis(lines, log=True), across, named=False)


def growth_card(growth: CountingGrowth) -> Card:
    """Return the card of measured seconds of counting, a row for each question."""
    chart, table = growth_chart(growth), frame_table(growth.to_frame(), "questions")
    return Card(chart.title, picture=chart.scene(), undrawn=_EMPTY, table=table)


# --- estimated counts ---------------------------------------------------------------------------


def count_estimates_chart(found: CountEstimates) -> Chart:
    """Return the estimates over i, the exact number dashed, i = treewidth + 1 dotted; and sizes of tables."""
    bounds = np.array([point.i for point in found.points], np.float64)
    ticks = tuple(point.i for point in found.points[:MOST_TICKS])
    words = tuple(f"i = {tick}" for tick in ticks)
    across = Axis(bounds[0] - 0.3, bounds[-1] + 0.3, ticks, words, named=True)
    tips = partial(_choose_points, [f"i = {one.i}, {_name_end(one)}" for one in found.points])

    def line(name: str) -> Line:
        values = np.array([getattr(point, name) for point in found.points], np.float64)
        return Line(name, bounds, values, tips=tips, mark=MARKS[0])

    estimates, cells, marked = line("estimate"), line("cells"), float(found.treewidth + 1)
    level = None if found.exact is None else float(found.exact)
    axis = vertical_axis((estimates,), around=() if level is None else (level,))
    sizes = vertical_axis((cells,), log=True)
    plots = (
        Plot("true groundings", (estimates,), across, axis, "", marked=marked, level=level),
        Plot("cells of the largest table", (cells,), across, sizes, "", marked=marked),
    )
    return Chart("Estimated count by i", plots, " ".join(_describe_estimates(found)))


def _name_end(point: EstimatePoint) -> str:
    return "exact" if point.exact else "settled" if point.settled else "not settled"


def _describe_estimates(found: CountEstimates) -> Iterator[str]:
    if found.exact is not None:
        yield f"Dashed: the exact number, {number_text(found.exact)}."
    yield f"Dotted: i = {found.treewidth + 1}, the treewidth + 1; from there on estimates are exact."


def count_estimates_card(found: CountEstimates) -> Card:
    """Return the card of estimates by i."""
    chart = count_estimates_chart(found)
    exactly = "the exact count was refused" if found.exact is None else f"exactly {number_text(found.exact)}"
    return Card(
        chart.title,
        f"{exactly} of {number_text(found.groundings)} groundings, treewidth {found.treewidth}",
        lead=(element("div", in_symbols(shorten_text(found.formula, _LONGEST_FORMULA)), kind="formula"),),
        picture=chart.scene(),
        table=_estimates_table(found),
        remarks=(*_describe_estimates(found), *_remark_errors(found)),
    )


def _estimates_table(found: CountEstimates) -> Table:
    rows = (
        (str(point.i), number_text(point.estimate), "" if isnan(error) else f"{error:,.6g}",
         _name_end(point),
         number_text(point.cells), f"{1000 * point.seconds:,.3g}")
        for point, error in zip(found.points, found.errors, strict=True)
    )  # fmt: skip
    headings = ("i", "true groundings", "error", "messages", "cells of the largest table", "milliseconds")
    return table_of(headings, rows, len(found.points), "bounds", numbers=(0, 1, 2, 4, 5))


def _remark_errors(found: CountEstimates) -> Iterator[str]:
    if found.rises:
        yield f"The error grows from one i to the next at i = {', '.join(map(str, found.rises))}."
    restless = [point.i for point in found.points if not point.settled]
    if restless:
        yield f"Messages did not settle at i = {', '.join(map(str, restless))}: allow more sweeps=."
    if found.exact is not None:
        times = sum(point.seconds > found.exact_seconds for point in found.points)
        yield (
            f"The exact count took {found.exact_seconds:.2g} s of processor time; {times} of"
            f" {len(found.points)} estimates took longer."
        )


# --- planted rules --------------------------------------------------------------------------------

_TITLE = "Planted rules, found again"


def planted_rules_chart(found: PlantedRules) -> Chart:
    """Return precision and recall over noise, a line for each learner."""
    if not found.points:
        return Chart(_TITLE, (), empty=_EMPTY)
    plots = tuple(_plot(found, measure) for measure in ("precision", "recall"))
    return Chart(_TITLE, plots, "Over the share of concluded atoms that were exchanged.", _EMPTY)


def _plot(found: PlantedRules, measure: str) -> Plot:
    def column(name: str, field: str) -> NDArray[np.float64]:
        return np.array([getattr(point, field) for point in found.by(name)], np.float64)

    lines = tuple(
        Line(name, column(name, "noise"), column(name, measure), column(name, f"{measure}_error"))
        for name in found.learners
    )
    most = max(point.noise for point in found.points)
    return Plot(measure, lines, value_axis(0.0, most), value_axis(0.0, 1.0), across="noise")


def planted_rules_card(found: PlantedRules) -> Card:
    """Return the card of the study, a row for each learner and level of noise."""
    table = frame_table(found.to_frame(), "rows")
    return Card(_TITLE, picture=planted_rules_chart(found).scene(), undrawn=_EMPTY, table=table)


# --- figure 4.1 -----------------------------------------------------------------------------------


def figure_4_1_scene(found: Figure) -> Scene:
    """Return a plot for each measure and each judged set of atoms."""
    plots = [_judged_plot(found, measure, of) for of in found.judged for measure in MEASURES]
    folds = len({piece.fold for piece in found.pieces})
    described = f"{len(found.learners)} learners on {folds} folds of {found.task}, over seconds of learning."
    return plots_scene(plots, f"CLL and AUC on {found.task}", described)


def _judged_plot(found: Figure, measure: Measure, of: str) -> Plot:
    series = found.curve(measure, of).series
    lines = tuple(Line(one.name, one.across("seconds"), one.values) for one in series)
    ends = np.array([[line.across[0], line.across[-1]] for line in lines])
    across = value_axis(float(ends[:, 0].min()), float(ends[:, 1].max()), log=True)
    words = "all predicates" if of == ALL else of
    return Plot(
        f"{measure.upper()} of {words}",
        lines,
        across,
        vertical_axis(lines),
        "seconds",
        named=False,
    )
