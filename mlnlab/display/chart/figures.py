"""Draw charts as plotly figures: curves with their points under the mouse, bars with their words."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.markup import fit, shorten_text
from mlnlab.display.chart.curves import MOST_LINES, Chart
from mlnlab.display.chart.plots import Line, Plot, telling_places
from mlnlab.display.scene.look import COLOURS, FONT, HUES
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mlnlab.display.chart.axes import Axis
    from mlnlab.display.chart.bars import BarChart, Series

MOST_POINTS = 4_000  # of a curve; of more, the highest and the lowest of each stretch are drawn
_MOST_MARKED = 12  # points of a curve that have marks
_DASHES = ("solid", "dash", "dot", "dashdot")
_ROWS, _ROWS_OF_MANY = 13.0, 8.0
ROW = 24  # pixels of a row of bars
_LONGEST_NAME = 40


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


# --- bars -----------------------------------------------------------------------------------------


def bars_figure(chart: BarChart) -> go.Figure:
    """Draw each series of a chart as horizontal bars, with their words for whoever points at them."""
    if not chart.labels:
        raise ArgumentError(plot_text(chart.empty, 200))
    several = len(chart.series) > 1
    figure = empty_figure(plot_text(chart.title, 200), rows=len(chart.labels) + several)
    for series in chart.series:
        _add_series(figure, series)
    figure.update_layout(barmode="stack" if chart.stacked else "overlay")
    if several:
        figure.update_layout(
            legend={"orientation": "h", "traceorder": "normal", "y": 1.0, "yanchor": "bottom"}
        )
    figure.update_xaxes(title=chart.across, zeroline=True, range=None if chart.signed else [0, 1])
    return with_names(figure, chart.labels)


def _add_series(figure: go.Figure, series: Series) -> None:
    errors = [bar.error if isfinite(bar.error) else 0.0 for bar in series.bars]
    figure.add_bar(
        name=series.name,
        x=[bar.value for bar in series.bars],
        y=list(range(len(series.bars)) if series.rows is None else series.rows),
        orientation="h",
        width=series.thickness,
        marker={"color": [COLOURS["grey" if bar.known else series.hue].middle for bar in series.bars]},
        # Errors are drawn where they can be seen; of an approximation nobody knows them.
        error_x={"type": "data", "array": errors, "thickness": 1.2}
        if max(errors, default=0) > 1e-3
        else None,
        customdata=[
            f"{plot_text(bar.label, 200)}<br>{plot_text(bar.tip or bar.words, 200)}" for bar in series.bars
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )


# --- look -----------------------------------------------------------------------------------------


def plot_text(text: str, longest: int = _LONGEST_NAME) -> str:
    """Escape a name for plotly, which reads tags in texts and typesets text between dollars."""
    shown = shorten_text(fit(text), longest).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return shown.replace("$", "&#36;")


def empty_figure(title: str, rows: float) -> go.Figure:
    """Return a figure without curves, ``rows`` rows high."""
    import plotly.graph_objects as go

    return go.Figure(layout={"title": {"text": title}, "height": 110 + ROW * rows, "template": theme()})


def theme() -> go.layout.Template:
    """Return the look of figures: clear backgrounds, middle tones, our hues."""
    import plotly.graph_objects as go

    letters = COLOURS["text"].middle
    axis = {
        "gridcolor": "rgba(128,128,128,0.25)",
        "linecolor": COLOURS["line"].middle,
        "zerolinecolor": "rgba(128,128,128,0.6)",
        "automargin": True,
        "title": {"font": {"size": 12.5}},
    }
    layout = {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": letters, "family": FONT.replace("'", ""), "size": 12.5},
        "title": {"font": {"size": 15}, "x": 0, "xref": "container", "pad": {"l": 12}},
        "colorway": [COLOURS[hue].middle for hue in HUES],
        "xaxis": axis,
        "yaxis": axis,
        "margin": {"t": 44, "r": 40, "b": 44, "l": 16},
        "bargap": 0.35,
        "hoverlabel": {"align": "left"},
    }
    return go.layout.Template(layout=layout)


def with_names(figure: go.Figure, names: Sequence[str]) -> go.Figure:
    """Write names beside rows; rows are numbered, because two long names may look the same when cut."""
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[plot_text(name) for name in names],
        autorange="reversed",
        ticklabelstandoff=6,
    )
    return figure
