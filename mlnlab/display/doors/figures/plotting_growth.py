"""Draw the growth of counting as a plotly figure: seconds over atoms, and over arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from mlnlab.display.doors.figures.plotting_look import empty_figure, plot_text
from mlnlab.display.scene.look import COLOURS, HUES
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from mlnlab.experiments.studies.counting_growth import CountingGrowth, GrowthPoint

_MARKS = ("circle", "square", "diamond", "triangle-up")
_WAYS: tuple[tuple[Literal["planned", "duckdb"], str, str], ...] = (
    ("planned", "planned", "solid"),
    ("duckdb", "DuckDB", "dash"),
)


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
