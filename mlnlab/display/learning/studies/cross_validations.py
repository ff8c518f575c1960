"""Show a cross-validation: results by learner and by fold, the failures, and a figure."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.axes import names_axis
from mlnlab.display.chart.curves import Chart, vertical_axis
from mlnlab.display.chart.plots import MARKS, Line, Plot

if TYPE_CHECKING:
    from mlnlab.experiments.folds.validated import CrossValidation

_MOST_LEARNERS = 24
_MOST_RESULTS = 60
_MOST_PROBLEMS = 5
_LONGEST = 60
_MEASURES: tuple[tuple[Literal["cll", "auc"], str], ...] = (("cll", "CLL"), ("auc", "AUC"))
_EMPTY = "There is nothing to draw: no learner finished on any fold."


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
        lead=(
            table_of(
                headings, _summary(found), len(found.learners), "learners",
                numbers=range(1, len(headings)), where="summary() has them all",
            ),
        ),
        picture=cross_validation_chart(found).scene(),
        remarks=(
            "Means over folds ± their standard errors.",
            *(shorten_text(problem, 300) for problem in found.problems[:_MOST_PROBLEMS]),
        ),
        folds=(("fold by fold", _results(found)),) if found.results else (),
    )  # fmt: skip


def cross_validation_chart(found: CrossValidation) -> Chart:
    """Return a point for each learner and fold, CLL beside AUC; lines join equal folds, bars are means."""
    plots = tuple(_plot(found, measure, words) for measure, words in _MEASURES)
    title = f"Cross-validation on {count_of(len(found.folds), 'fold')}"
    described = "Points are folds and bars their means; the table has the numbers."
    finished = any(result.finished for result in found.results)
    return Chart(title, plots if finished else (), described, _EMPTY, beside=True)


def _plot(found: CrossValidation, measure: Literal["cll", "auc"], words: str) -> Plot:
    places = np.arange(len(found.learners), dtype=np.float64)
    reached = {(one.fold, one.learner): getattr(one, measure) for one in found.results}
    lines = [
        Line(
            shorten_text(fold, _LONGEST), places,
            np.array([reached.get((fold, name), np.nan) for name in found.learners], np.float64),
            mark=MARKS[place % len(MARKS)],
        )
        for place, fold in enumerate(found.folds)
    ]  # fmt: skip
    means = found.summary()[measure].to_numpy(np.float64)
    lines.append(Line("mean", places, means, kind="points", mark="dash", look="grey"))
    lines = [line._replace(values=np.where(np.isfinite(line.values), line.values, np.nan)) for line in lines]
    return Plot(words, tuple(lines), names_axis(found.learners), vertical_axis(lines), "", named=False)


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
