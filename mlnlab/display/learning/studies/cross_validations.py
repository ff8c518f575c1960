"""Show a cross-validation: results by learner and by fold, the failures, and a figure."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite, isnan
from typing import TYPE_CHECKING, Any, Literal

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.figures import empty_figure, plot_text
from mlnlab.display.scene.look import COLOURS, HUES
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mlnlab.experiments.folds.validated import CrossValidation

_MOST_LEARNERS = 24
_MOST_RESULTS = 60
_MOST_PROBLEMS = 5
_LONGEST = 60
_MARKS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")
_MEASURES: tuple[tuple[Literal["cll", "auc"], str, str], ...] = (("cll", "CLL", ""), ("auc", "AUC", "2"))


def cross_validation_card(found: CrossValidation) -> Card:
    """Return the card of a cross-validation."""
    finished = sum(result.finished for result in found.results)
    headings = (
        "learner",
        "folds",
        "CLL",
        "AUC",
        "CLL of all atoms",
        "AUC of all atoms",
        "seconds of learning",
    )
    return Card(
        "Cross-validation",
        f"{count_of(len(found.learners), 'learner')} on {count_of(len(found.folds), 'fold')},"
        f" {finished} of {len(found.learners) * len(found.folds)} finished",
        table=table_of(
            headings, _summary(found), len(found.learners), "learners",
            numbers=range(1, len(headings)), where="summary() has them all",
        ),
        remarks=(
            "Means over folds ± their standard errors.",
            *(shorten_text(problem, 300) for problem in found.problems[:_MOST_PROBLEMS]),
        ),
        folds=(("fold by fold", _results(found)),) if found.results else (),
    )  # fmt: skip


def _summary(found: CrossValidation) -> Iterator[tuple[str, ...]]:
    rows: Iterator[Any] = found.summary().head(_MOST_LEARNERS).itertuples()
    for row in rows:
        yield (
            shorten_text(str(row.learner), _LONGEST), str(row.folds), _score(row.cll, row.cll_error),
            _score(row.auc, row.auc_error), _number(row.pooled_cll), _number(row.pooled_auc),
            "–" if isnan(row.seconds) else f"{row.seconds:.3g}",
        )  # fmt: skip


def _results(found: CrossValidation) -> Table:
    rows = (
        (
            shorten_text(result.learner, _LONGEST), shorten_text(result.fold, _LONGEST),
            _score(result.cll, result.cll_error), _score(result.auc, result.auc_error),
            shorten_text(result.chosen, _LONGEST),
        )
        for result in found.results[:_MOST_RESULTS]
    )  # fmt: skip
    headings = ("learner", "tested on", "CLL", "AUC", "chosen")
    return table_of(headings, rows, len(found.results), "results", numbers=(2, 3))


def _score(value: float, error: float) -> str:
    return _number(value) + ("" if isnan(error) or isnan(value) else f" ± {error:.4f}")


def _number(value: float) -> str:
    return "–" if isnan(value) else f"{value:.4f}".replace("-inf", "−∞").replace("-", "−")


# --- figure ---------------------------------------------------------------------------------------


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
