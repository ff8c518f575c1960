"""Draw a chart of bars as a plotly figure."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from mlnlab.display.doors.figures.plotting_look import empty_figure, plot_text, with_names
from mlnlab.display.scene.look import COLOURS
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mlnlab.display.chart.bars import BarChart, Series


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
