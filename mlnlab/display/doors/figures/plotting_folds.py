"""Draw figures of cross-validations: each learner's score on each fold, with equal folds joined."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Literal

from mlnlab.display.doors.figures.plotting_look import empty_figure, plot_text
from mlnlab.display.scene.look import COLOURS, HUES
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mlnlab.experiments.folds.validated import CrossValidation

_MARKS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")
_MEASURES: tuple[tuple[Literal["cll", "auc"], str, str], ...] = (("cll", "CLL", ""), ("auc", "AUC", "2"))


def cross_validation_figure(found: CrossValidation) -> go.Figure:
    """Draw a point for each learner and fold, its mean as a bar, CLL beside AUC; lines join equal folds."""
    if not any(result.finished for result in found.results):
        raise ArgumentError("There is nothing to draw: no learner finished on any fold.")
    figure = empty_figure(f"Cross-validation on {len(found.folds)} folds", rows=13)
    for measure, words, axis in _MEASURES:
        for place, fold in enumerate(found.folds):
            _add_fold(figure, found, fold, place, measure, axis)
        _add_means(figure, found, measure, axis)
        figure.update_layout({f"yaxis{axis}": {"title": words, "anchor": f"x{axis}"}})
    names = {"tickvals": list(range(len(found.learners))), "ticktext": [plot_text(n) for n in found.learners],
             "range": [-0.6, len(found.learners) - 0.4]}  # fmt: skip
    figure.update_layout(
        xaxis={"domain": [0, 0.44], **names},
        xaxis2={"domain": [0.56, 1], "anchor": "y2", **names},
        legend={"orientation": "h", "y": -0.2},
        showlegend=True,
    )
    return figure


def _add_fold(
    figure: go.Figure,
    found: CrossValidation,
    fold: str,
    place: int,
    measure: Literal["cll", "auc"],
    axis: str,
) -> None:
    by_learner = {result.learner: result for result in found.results if result.fold == fold}
    values = [getattr(by_learner[name], measure) if name in by_learner else None for name in found.learners]
    figure.add_scatter(
        x=list(range(len(values))), y=[v if v is not None and isfinite(v) else None for v in values],
        name=plot_text(fold), mode="lines+markers", legendgroup=str(place), showlegend=not axis,
        line={"color": COLOURS[HUES[place % len(HUES)]].middle, "width": 1},
        marker={"symbol": _MARKS[place % len(_MARKS)], "size": 8}, xaxis=f"x{axis}", yaxis=f"y{axis}",
        customdata=[plot_text(name) for name in found.learners],
        hovertemplate="%{customdata}: %{y:.4f}<extra>" + plot_text(fold) + "</extra>",
    )  # fmt: skip


def _add_means(figure: go.Figure, found: CrossValidation, measure: str, axis: str) -> None:
    means = found.summary()[measure].tolist()
    figure.add_scatter(
        x=list(range(len(means))), y=[value if isfinite(value) else None for value in means],
        name="mean", mode="markers", legendgroup="mean", showlegend=not axis,
        marker={"symbol": "line-ew-open", "size": 30, "color": COLOURS["text"].middle, "line": {"width": 2}},
        hovertemplate="mean %{y:.4f}<extra></extra>", xaxis=f"x{axis}", yaxis=f"y{axis}",
    )  # fmt: skip
