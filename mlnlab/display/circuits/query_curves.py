"""Figure 5.3 of Lowd's thesis made anew: the score of queries by the shares of evidence and of query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.chart.axes import value_axis
from mlnlab.display.chart.curves import Chart, vertical_axis
from mlnlab.display.chart.plots import Line, Plot

if TYPE_CHECKING:
    import pandas as pd

_WORDS = (
    "Conditional log-likelihood of a query for each variable asked for: over the share of the variables that "
    "are evidence, and over the share that is asked for."
)
_EMPTY = "There is nothing to draw: no query has been answered."


def query_chart(points: pd.DataFrame, dataset: str) -> Chart:
    """Return the figure of a data set from the points of ``figure_frame``."""
    own = points[points["dataset"] == dataset] if len(points) else points
    drawn = [_plot(own, varied) for varied in ("evidence", "query")] if len(own) else []
    plots = tuple(plot for plot in drawn if plot is not None)
    return Chart(f"Answers to queries, {dataset}", plots, _WORDS, _EMPTY, height=240.0, beside=True)


def _plot(points: pd.DataFrame, varied: str) -> Plot | None:
    own = points[points["varied"] == varied]
    lines = tuple(
        Line(str(way), found["share"].to_numpy(float), found["score"].to_numpy(float), mark="circle")
        for way, found in own.groupby("way", sort=False)
    )
    if not lines:
        return None
    vertical = vertical_axis(lines, log=False)
    return Plot("score", lines, value_axis(0.0, 0.6), vertical, f"share of {varied} variables", named=False)
