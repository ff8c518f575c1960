"""Show a cross-validation in a cell: each learner's results, by fold too, and the failures."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING, Any

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import count_of, shorten_text

if TYPE_CHECKING:
    from mlnlab.experiments.folds.validated import CrossValidation

_MOST_LEARNERS = 24
_MOST_RESULTS = 60
_MOST_PROBLEMS = 5
_LONGEST = 60


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
