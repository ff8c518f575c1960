"""Draw charts of curves as figures: curves to zoom into, with their points under the mouse."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.chart.curve_points import telling_places
from mlnlab.display.chart.curves import MOST_LINES
from mlnlab.display.doors.figures.plotting_look import empty_figure, plot_text
from mlnlab.display.scene.look import COLOURS, HUES
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mlnlab.display.chart.axes import Axis
    from mlnlab.display.chart.curves import Chart
    from mlnlab.display.chart.plots import Line, Plot

MOST_POINTS = 4_000  # of a curve; of more, the highest and the lowest of each stretch are drawn
_MOST_MARKED = 12  # points of a curve that have marks
_DASHES = ("solid", "dash", "dot", "dashdot")
_ROWS, _ROWS_OF_MANY = 13.0, 8.0


def chart_figure(chart: Chart) -> go.Figure:
    """Draw the plots of a chart below each other over the same horizontal axis."""
    plots = chart.plots
    if not any(np.isfinite(line.values).any() for plot in plots for line in plot.lines):
        raise ArgumentError(chart.empty)
    figure = empty_figure(
        plot_text(chart.title, 200), rows=_ROWS if len(plots) == 1 else _ROWS_OF_MANY * len(plots)
    )
    height = 1 / len(plots)
    axes: dict[str, Any] = {}
    for row, plot in enumerate(plots):
        number = str(row + 1) if row else ""
        top = 1 - row * height
        axes[f"yaxis{number}"] = {
            "domain": [top - height * (1 if len(plots) == 1 else 0.78), top],
            "title": {"text": plot_text(plot.title)},
            "type": "log" if plot.vertical.log else "linear",
            "range": _range(plot.vertical),
            "exponentformat": "power",
            "anchor": "x",
        }
        _add_plot(figure, plot, f"y{number}", named=row == 0)
    last = f"y{len(plots)}" if len(plots) > 1 else "y"
    figure.update_layout(**axes, showlegend=len(plots[0].lines) > 1)
    kind = "log" if plots[0].horizontal.log else "linear"
    return figure.update_xaxes(title=plots[0].across, anchor=last, type=kind)


def _range(axis: Axis) -> list[float]:
    return [log10(axis.low), log10(axis.high)] if axis.log else [axis.low, axis.high]


def _add_plot(figure: go.Figure, plot: Plot, axis: str, *, named: bool) -> None:
    """Add the curves of a plot, and the level that is marked."""
    for place, line in enumerate(plot.lines[:MOST_LINES]):
        _add_line(figure, line, place, axis, plot.across, named=named and len(plot.lines) > 1)
    if plot.level is not None:
        grey = {"color": COLOURS["grey"].middle, "dash": "dot", "width": 1.2}
        figure.add_shape(
            type="line", xref="paper", x0=0, x1=1, yref=axis, y0=plot.level, y1=plot.level, line=grey
        )


def _add_line(figure: go.Figure, line: Line, place: int, axis: str, across: str, *, named: bool) -> None:
    """Add a curve, and around it its band."""
    hue = COLOURS[HUES[place % (len(HUES) - 1)]].middle
    chosen = telling_places(line.values, MOST_POINTS)
    x, y = line.across[chosen], line.values[chosen]
    if line.errors is not None:
        around = line.errors[chosen]
        figure.add_scatter(
            x=np.concatenate([x, x[::-1]]), y=np.concatenate([y + around, (y - around)[::-1]]),
            fill="toself", fillcolor=hue, opacity=0.15, line={"width": 0}, mode="lines", hoverinfo="skip",
            showlegend=False, yaxis=axis,
        )  # fmt: skip
    name, tips = plot_text(line.name, 60), line.tips(chosen) if line.tips is not None else None
    figure.add_scatter(
        x=x,
        y=y,
        mode="markers" if len(chosen) == 1 else "lines+markers" if len(chosen) <= _MOST_MARKED else "lines",
        line={"color": hue, "dash": _DASHES[place % len(_DASHES)], "width": 1.8},
        name=f"{name} ({plot_text(line.detail, 60)})" if line.detail else name,
        showlegend=named,
        yaxis=axis,
        customdata=None if tips is None else [plot_text(tip, 200) for tip in tips],
        hovertemplate=f"{name}<br>{plot_text(across)} %{{x:,}}<br>%{{y:.6g}}"
        f"{'<br>%{customdata}' * (tips is not None)}<extra></extra>",
    )
