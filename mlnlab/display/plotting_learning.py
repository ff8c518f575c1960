"""Figures of weight learning: learned weights with their errors, and the surfaces over two weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.learned_weights import standard_errors
from mlnlab.display.plotting_look import empty_figure, plot_text, with_names
from mlnlab.display.scene.look import COLOURS, HUES
from mlnlab.logic.printing import to_text

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mlnlab.learning.contours import Contours
    from mlnlab.learning.learned_weights import LearnedWeights

MOST_BARS = 60


def learned_figure(learned: LearnedWeights) -> go.Figure:
    """Draw the weights as bars, the largest of them where there are many."""
    order = np.argsort(-np.abs(learned.weights), kind="stable")[:MOST_BARS].tolist()
    order.sort()
    names = [to_text(learned.data.formulas[number].formula) for number in order]
    errors = standard_errors(learned)
    figure = empty_figure(f"Weights by {plot_text(learned.method, 80)}", rows=len(order))
    figure.add_bar(
        x=learned.weights[order],
        y=list(range(len(order))),
        orientation="h",
        marker={"color": COLOURS["blue"].middle},
        error_x=None if errors is None else {"type": "data", "array": [errors[number] for number in order]},
        customdata=[
            (plot_text(name, 200), learned.observed[number], learned.expected[number], learned.gap[number])
            for name, number in zip(names, order, strict=True)
        ],
        hovertemplate="%{customdata[0]}<br>weight %{x:.5g}<br>in the data %{customdata[1]:.6g}, expected"
        " %{customdata[2]:.6g}, gap %{customdata[3]:.3g}<extra></extra>",
    )
    figure.update_xaxes(title="weight", zeroline=True)
    return with_names(figure, names)


def contours_figure(contours: Contours) -> go.Figure:
    """Draw the first surface as contour lines, with all optima and ways."""
    surface = contours.surfaces[0]
    figure = empty_figure(f"{surface.name} over two weights", rows=20)
    figure.add_contour(
        x=contours.first, y=contours.second, z=surface.values, ncontours=24, showscale=False,
        contours={"coloring": "lines"}, colorscale=[[0, COLOURS["grey"].middle], [1, COLOURS["blue"].middle]],
        hovertemplate="%{x:.3g}, %{y:.3g}: %{z:.5g}<extra></extra>",
    )  # fmt: skip
    for place, way in enumerate(contours.ways):
        hue = COLOURS[HUES[(place + 1) % (len(HUES) - 1)]].middle
        figure.add_scatter(
            x=way.points[:, 0], y=way.points[:, 1], mode="lines+markers", name=plot_text(way.name),
            line={"color": hue}, marker={"size": 4},
        )  # fmt: skip
    for one in contours.surfaces:
        figure.add_scatter(
            x=[one.optimum[0]], y=[one.optimum[1]], mode="markers", name=f"optimum of the {one.name}",
            marker={"symbol": "diamond", "size": 10},
        )  # fmt: skip
    figure.update_xaxes(title=plot_text(contours.formulas[0]))
    figure.update_yaxes(title=plot_text(contours.formulas[1]))
    return figure
