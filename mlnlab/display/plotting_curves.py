"""Figures of runs and of calibration: curves to zoom into, and how often what was said to hold does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.curve_points import telling_places
from mlnlab.display.curves import MOST_LINES, MOST_PLOTS, has_one_scale
from mlnlab.display.plotting_look import empty_figure, plot_text
from mlnlab.display.scene.look import COLOURS, HUES
from mlnlab.display.traces import shared_curves
from mlnlab.errors import ArgumentError
from mlnlab.steps.learning_curve import LearningCurve, Series

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from mlnlab.evaluation.calibration import Calibration
    from mlnlab.steps.comparison import Comparison
    from mlnlab.steps.trace import Trace

MOST_POINTS = 4_000  # of a curve; of more, the highest and the lowest of each stretch are drawn
_DASHES = ("solid", "dash", "dot", "dashdot")
_ROWS, _ROWS_OF_MANY = 12.0, 8.0


def learning_curve_figure(curve: LearningCurve) -> go.Figure:
    """Draw the series over one axis, or where their scales differ each over its own."""
    together = len(curve.series) < 2 or bool(curve.measure) or has_one_scale(curve)
    if together:
        name = curve.measure or (curve.names[0] if len(curve) == 1 else "")
        return _figure([curve], [name], "Learning curve")
    parts = [LearningCurve((series,), series.name, curve.by, curve.log) for series in curve.series]
    return _figure(parts, [part.measure for part in parts], "Learning curve")


def trace_figure(trace: Trace[Any]) -> go.Figure:
    """Draw the metrics of a recorded run, each over its own axis."""
    curve = LearningCurve.from_trace(trace)
    parts = [LearningCurve((series,), series.name) for series in curve.series]
    return _figure(parts, list(curve.names), f"Recorded run of {trace.recorded:,} steps")


def comparison_figure(comparison: Comparison) -> go.Figure:
    """Draw the metrics that two runs have in common, each over its own axis."""
    curves = shared_curves(comparison)
    return _figure(curves, [curve.measure for curve in curves], "Two runs")


def _figure(curves: Sequence[LearningCurve], names: Sequence[str], title: str) -> go.Figure:
    """Draw curves below each other over the same steps."""
    shown = curves[:MOST_PLOTS]
    if not any(np.isfinite(series.values).any() for curve in shown for series in curve.series):
        raise ArgumentError("There are no values to draw: no step was recorded, or none has metrics.")
    figure = empty_figure(title, rows=_ROWS if len(shown) == 1 else _ROWS_OF_MANY * len(shown))
    height = 1 / len(shown)
    axes: dict[str, Any] = {}
    for row, (curve, name) in enumerate(zip(shown, names, strict=False)):
        number = str(row + 1) if row else ""
        top = 1 - row * height
        axes[f"yaxis{number}"] = {
            "domain": [top - height * (1 if len(shown) == 1 else 0.78), top],
            "title": {"text": plot_text(name)},
            "type": "log" if curve.log else "linear",
            "anchor": "x",
        }
        for place, series in enumerate(curve.series[:MOST_LINES]):
            _add(figure, curve, series, place, f"y{number}", several=len(curve.series) > 1 and row == 0)
    figure.update_layout(**axes)
    last = f"y{len(shown)}" if len(shown) > 1 else "y"
    figure.update_xaxes(title=curves[0].by, anchor=last)
    return figure


def _add(
    figure: go.Figure, curve: LearningCurve, series: Series, place: int, axis: str, *, several: bool
) -> None:
    """Add a series, and around it its band."""
    hue = COLOURS[HUES[place % (len(HUES) - 1)]].middle
    across = series.across(curve.by)
    chosen = telling_places(series.values, MOST_POINTS)
    if series.errors is not None:
        edges = (series.values + series.errors)[chosen], (series.values - series.errors)[chosen]
        figure.add_scatter(
            x=np.concatenate([across[chosen], across[chosen][::-1]]),
            y=np.concatenate([edges[0], edges[1][::-1]]),
            fill="toself", fillcolor=hue, opacity=0.15, line={"width": 0}, mode="lines", hoverinfo="skip",
            showlegend=False, yaxis=axis,
        )  # fmt: skip
    figure.add_scatter(
        x=across[chosen],
        y=series.values[chosen],
        mode="lines" if len(chosen) > 1 else "markers",
        line={"color": hue, "dash": _DASHES[place % len(_DASHES)], "width": 1.8},
        name=plot_text(series.name),
        showlegend=several,
        yaxis=axis,
        hovertemplate=f"{plot_text(series.name, 200)}<br>{curve.by} %{{x:,}}<br>%{{y:.6g}}<extra></extra>",
    )


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
        x=[0, 1], y=[0, 1], mode="lines", hoverinfo="skip", name="as good as said",
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
    """Say under the diagram what its numbers are, and where they are too few."""
    words = "probability (numbers: atoms; bars: Wilson intervals of 95 %)"
    left_out = f"<br>{calibration.left_out:,} queries left out" if calibration.left_out else ""
    remark = f"<br>{calibration.remark}" if calibration.remark else ""
    return f"{words}{left_out}{remark}"
