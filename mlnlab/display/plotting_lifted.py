"""Lifted weight learning as plotly figures: seconds over people (Van den Broeck et al. 2013, Figure 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.plotting_look import empty_figure
from mlnlab.display.scene.look import COLOURS, HUES
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mlnlab.experiments.figure_2 import LiftedScaling

_CURVES = (
    ("total", "all", "solid", "circle"),
    ("learning", "learning", "dash", "square"),
    ("counting", "counting", "dash", "diamond"),
    ("compiling", "compiling", "dot", "triangle-up"),
)


def lifted_scaling_figure(scaling: LiftedScaling) -> go.Figure:
    """Draw seconds over people, all together and by what they were spent on."""
    if not scaling.timings:
        raise ArgumentError("There is nothing to draw: nothing was measured.")
    figure = empty_figure("Seconds of lifted weight learning", rows=13)
    for place, (name, words, dash, symbol) in enumerate(_CURVES):
        figure.add_scatter(
            x=[one.people for one in scaling.timings],
            y=[getattr(one, name) for one in scaling.timings],
            name=words,
            mode="lines+markers",
            line={"color": COLOURS[HUES[place]].middle, "dash": dash},
            marker={"symbol": symbol, "size": 8},
            customdata=[[one.atoms, one.steps] for one in scaling.timings],
            hovertemplate="%{x:,} people, %{customdata[0]:,} atoms, %{customdata[1]} steps:"
            f" %{{y:.3~s}}s<extra>{words}</extra>",
        )
    figure.update_layout(
        xaxis={"type": "log", "dtick": 1, "title": "people"},
        yaxis={"type": "log", "dtick": 1, "title": "seconds", "exponentformat": "power"},
        legend={"orientation": "h", "y": -0.22},
    )
    return figure
