"""Chart measured seconds: of learning, of lifted learning, and of counting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from mlnlab.display.card.cards import Card
from mlnlab.display.chart.axes import value_axis
from mlnlab.display.chart.curves import Chart, vertical_axis
from mlnlab.display.chart.figures import empty_figure, plot_text
from mlnlab.display.chart.plots import Line, Plot
from mlnlab.display.runs.run_cards import frame_table
from mlnlab.display.scene.look import COLOURS, HUES
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from numpy.typing import NDArray

    from mlnlab.experiments.reproduce.figure_2 import LiftedScaling, LiftedTiming
    from mlnlab.experiments.studies.counting_growth import CountingGrowth, GrowthPoint
    from mlnlab.experiments.studies.learning_growth import LearningGrowth, LearningPoint

_EMPTY = "There is nothing to draw: nothing was measured."
_MARKS = ("circle", "square", "diamond", "triangle-up")
_WAYS: tuple[tuple[Literal["planned", "duckdb"], str, str], ...] = (
    ("planned", "planned", "solid"),
    ("duckdb", "DuckDB", "dash"),
)


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


# --- figure of counting ---------------------------------------------------------------------------


def growth_figure(growth: CountingGrowth) -> go.Figure:
    """Draw a curve for each shape and way: hue and mark tell shapes, dashes tell DuckDB."""
    if not growth.points:
        raise ArgumentError("There is nothing to draw: nothing was measured.")
    by_tuples, by_arity = growth.along("tuples"), growth.along("arity")
    figure = empty_figure("Seconds of counting", rows=13)
    for place, (shape, points) in enumerate({**by_tuples, **by_arity}.items()):
        _add_shape(figure, shape, points, place, second=shape in by_arity)
    figure.update_layout(
        xaxis={"domain": [0, 0.56], "type": "log", "dtick": 1, "title": "true atoms of each relation"},
        xaxis2={"domain": [0.66, 1], "title": "arguments of each predicate", "dtick": 1, "anchor": "y2"},
        yaxis={"type": "log", "title": "seconds", "dtick": 1, "exponentformat": "power"},
        yaxis2={"type": "log", "anchor": "x2", "dtick": 1, "exponentformat": "power"},
        legend={"orientation": "h", "y": -0.22},
    )
    return figure


def _add_shape(
    figure: go.Figure, shape: str, points: Sequence[GrowthPoint], place: int, *, second: bool
) -> None:
    colour = COLOURS[HUES[place % len(HUES)]].middle
    for way, words, dash in _WAYS:
        figure.add_scatter(
            x=[point.arity if second else point.tuples for point in points],
            y=[getattr(point, way) for point in points],
            name=f"{plot_text(shape)}, {words}",
            mode="lines+markers",
            line={"color": colour, "dash": dash},
            marker={"symbol": _MARKS[place % len(_MARKS)], "size": 8},
            xaxis="x2" if second else "x",
            yaxis="y2" if second else "y",
            customdata=[[plot_text(point.formula, 200), point.tuples] for point in points],
            hovertemplate="%{customdata[0]}<br>%{customdata[1]:,} atoms: %{y:.3~s}s<extra>"
            f"{plot_text(words)}</extra>",
        )
