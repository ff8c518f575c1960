"""A cross-validation in a cell: what each learner reached, fold by fold too, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING, Any

from mlnlab.display.markup import Element, count_of, shortened
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import bounded_table, table

if TYPE_CHECKING:
    from mlnlab.experiments.validated import CrossValidation

_MOST_LEARNERS = 24
_MOST_RESULTS = 60
_MOST_PROBLEMS = 5
_LONGEST = 60


def cross_validation_display(found: CrossValidation) -> Element:
    """Return the display of a cross-validation."""
    finished = sum(result.finished for result in found.results)
    sizes = (
        f"{count_of(len(found.learners), 'learner')} on {count_of(len(found.folds), 'fold')},"
        f" {finished} of {len(found.learners) * len(found.folds)} finished"
    )
    headings = (
        "learner",
        "folds",
        "CLL",
        "AUC",
        "CLL of all atoms",
        "AUC of all atoms",
        "seconds of learning",
    )
    rows = list(_summary(found))
    more = len(found.learners) - len(rows)
    return card(
        title("Cross-validation", sizes),
        table(headings, rows, numbers=range(1, len(headings))),
        quiet(f"... and {more:,} more learners; summary() has them all.") if more else None,
        quiet("Means over folds ± their standard errors."),
        *(quiet(shortened(problem, 300)) for problem in found.problems[:_MOST_PROBLEMS]),
        folded("fold by fold", _results(found)) if found.results else None,
    )


def _summary(found: CrossValidation) -> Iterator[tuple[str, ...]]:
    rows: Iterator[Any] = found.summary().head(_MOST_LEARNERS).itertuples()
    for row in rows:
        yield (
            shortened(str(row.learner), _LONGEST), str(row.folds), _score(row.cll, row.cll_error),
            _score(row.auc, row.auc_error), _number(row.pooled_cll), _number(row.pooled_auc),
            "–" if isnan(row.seconds) else f"{row.seconds:.3g}",
        )  # fmt: skip


def _results(found: CrossValidation) -> Element:
    rows = (
        (
            shortened(result.learner, _LONGEST), shortened(result.fold, _LONGEST),
            _score(result.cll, result.cll_error), _score(result.auc, result.auc_error),
            shortened(result.chosen, _LONGEST),
        )
        for result in found.results[:_MOST_RESULTS]
    )  # fmt: skip
    headings = ("learner", "tested on", "CLL", "AUC", "chosen")
    return bounded_table(headings, rows, len(found.results), "results", numbers=(2, 3))


def _score(value: float, error: float) -> str:
    return _number(value) + ("" if isnan(error) or isnan(value) else f" ± {error:.4f}")


def _number(value: float) -> str:
    return "–" if isnan(value) else f"{value:.4f}".replace("-inf", "−∞").replace("-", "−")


def cross_validation_text(found: CrossValidation) -> str:
    """Return a cross-validation as text."""
    lines = [f"  {name}: CLL {cll}, AUC {auc} ({folds} folds)"
             for name, folds, cll, auc, *_ in _summary(found)]  # fmt: skip
    problems = [f"  {shortened(problem, 300)}" for problem in found.problems[:_MOST_PROBLEMS]]
    return "\n".join([repr(found), *lines, *problems])
