"""Draw the figure of a calibration: predicted probabilities against observed shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.doors.figures.plotting_look import empty_figure
from mlnlab.display.scene.look import COLOURS
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mlnlab.evaluation.calibration import Calibration


def calibration_figure(calibration: Calibration) -> go.Figure:
    """Draw a reliability diagram: the share that is true over the probability, with Wilson intervals."""
    parts = [part for part in calibration.parts if part.number]
    if not parts:
        raise ArgumentError(
            "There is nothing to compare: the database decides no atom whose probability was computed."
        )
    figure = empty_figure(f"Calibration on {calibration.number:,} atoms", rows=16)
    shares = [part.share_true for part in parts]
    intervals = [part.interval for part in parts]
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", hoverinfo="skip", name="perfectly calibrated",
        line={"color": COLOURS["grey"].middle, "dash": "dash", "width": 1.2},
    )  # fmt: skip
    figure.add_scatter(
        x=[part.mean_probability for part in parts],
        y=shares,
        mode="markers+text",
        text=[f"{part.number:,}" for part in parts],
        textposition="top left",
        marker={"color": COLOURS["blue"].middle, "size": 9},
        error_y={
            "type": "data", "symmetric": False, "thickness": 1.2,
            "array": [high - share for share, (_, high) in zip(shares, intervals, strict=True)],
            "arrayminus": [share - low for share, (low, _) in zip(shares, intervals, strict=True)],
        },
        name="atoms, by probability",
        customdata=[(part.number, part.true, *part.interval) for part in parts],
        hovertemplate="%{customdata[1]} of %{customdata[0]} true, 95 %: %{customdata[2]:.2f} to"
        " %{customdata[3]:.2f}<br>mean probability %{x:.3f}<extra></extra>",
    )  # fmt: skip
    figure.update_xaxes(range=[0, 1], title=_below(calibration))
    figure.update_yaxes(range=[-0.02, 1.08], title="share that is true")
    return figure


def _below(calibration: Calibration) -> str:
    """Explain the numbers under the diagram, and say where they are too few."""
    words = "probability (numbers: atoms; bars: Wilson intervals of 95 %)"
    left_out = f"<br>{calibration.left_out:,} queries left out" if calibration.left_out else ""
    remark = f"<br>{calibration.remark}" if calibration.remark else ""
    return f"{words}{left_out}{remark}"
