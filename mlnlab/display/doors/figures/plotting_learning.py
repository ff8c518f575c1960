"""Draw figures of the surfaces over two weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.doors.figures.plotting_look import empty_figure, plot_text
from mlnlab.display.scene.look import COLOURS, HUES

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mlnlab.learning.studies.contours import Contours


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
