"""Chart measured seconds of learning: over ground atoms, and of lifted learning over people."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card
from mlnlab.display.chart.axes import value_axis
from mlnlab.display.chart.curves import Chart, vertical_axis
from mlnlab.display.chart.plots import Line, Plot
from mlnlab.display.runs.frame_cards import frame_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.experiments.reproduce.figure_2 import LiftedScaling, LiftedTiming
    from mlnlab.experiments.studies.learning_growth import LearningGrowth, LearningPoint

_EMPTY = "There is nothing to draw: nothing was measured."


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


def _column(measured: Sequence[LearningPoint | LiftedTiming], name: str) -> NDArray[np.float64]:
    return np.array([getattr(one, name) for one in measured], np.float64)


def _choose_points(tips: Sequence[str], points: NDArray[np.intp]) -> list[str]:
    return [tips[point] for point in points.tolist()]
