"""Figures of probabilities: bars of marginals, and the waterfall of the reasons for one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

from mlnlab.display.doors.figures.plotting_bars import bars_figure
from mlnlab.display.doors.figures.plotting_look import empty_figure, plot_text, with_names
from mlnlab.display.inference.explanations import strides_of
from mlnlab.display.inference.probabilities import by_probability, facts_among, marginals_chart
from mlnlab.display.scene.look import COLOURS
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mlnlab.inference.answers.explanation import Explanation
    from mlnlab.inference.answers.marginals import Marginals

MOST_BARS = 60


def marginals_figure(marginals: Marginals) -> go.Figure:
    """Draw bars of probabilities; where there are many, how they spread."""
    known = facts_among(marginals)
    computed = [value for name, value in by_probability(marginals) if name not in known]
    if len(computed) > MOST_BARS:
        return _spread_figure(computed)
    chart = marginals_chart(marginals, MOST_BARS)
    return bars_figure(replace(chart, title=f"Probabilities by {marginals.method}"))


def _spread_figure(values: Sequence[float]) -> go.Figure:
    figure = empty_figure(f"How {len(values):,} probabilities spread", rows=14)
    bins = {"start": 0, "end": 1.0001, "size": 0.05}
    figure.add_histogram(x=values, xbins=bins, marker={"color": COLOURS["blue"].middle})
    figure.update_xaxes(range=[0, 1], title="probability")
    figure.update_yaxes(title="queries")
    return figure


def explanation_figure(explanation: Explanation) -> go.Figure:
    """Draw a waterfall of the shares of the log-odds, as in the explanation's own display."""
    if not (isfinite(explanation.log_odds) and isfinite(explanation.base)):
        raise ArgumentError(f"{plot_text(explanation.atom)} is certain, so that its log-odds have no shares.")
    strides = strides_of(explanation)
    figure = empty_figure(f"Why {plot_text(explanation.atom)}?", rows=len(strides) + 1)
    figure.add_waterfall(
        orientation="h",
        measure=["total" if stride.total else "relative" for stride in strides],
        x=[stride.stop - stride.start for stride in strides],
        y=list(range(len(strides))),
        text=[stride.words for stride in strides],
        textposition="outside",
        cliponaxis=False,
        customdata=[plot_text(stride.label, 200) for stride in strides],
        hovertemplate="%{customdata}<br>%{text}<extra></extra>",
        increasing={"marker": {"color": COLOURS["blue"].middle}},
        decreasing={"marker": {"color": COLOURS["orange"].middle}},
        totals={"marker": {"color": COLOURS["grey"].middle}},
        connector={"line": {"color": COLOURS["line"].middle, "width": 1}},
    )
    figure.update_xaxes(title="log-odds", zeroline=True)
    return with_names(figure, [stride.label for stride in strides])
