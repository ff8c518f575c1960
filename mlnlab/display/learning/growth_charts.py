"""Chart measured seconds: of learning, of lifted learning, and of counting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card
from mlnlab.display.chart.axes import Axis, value_axis
from mlnlab.display.chart.curves import Chart, vertical_axis
from mlnlab.display.chart.plots import MARKS, Line, Plot
from mlnlab.display.runs.run_cards import frame_table
from mlnlab.display.scene.look import HUES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.experiments.reproduce.figure_2 import LiftedScaling, LiftedTiming
    from mlnlab.experiments.studies.counting_growth import CountingGrowth, GrowthPoint
    from mlnlab.experiments.studies.learning_growth import LearningGrowth, LearningPoint

_EMPTY = "There is nothing to draw: nothing was measured."
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
