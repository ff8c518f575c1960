"""Show evaluations and calibrations: scores by predicate, precision-recall curves, reliability diagrams."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.axes import value_axis
from mlnlab.display.chart.curves import Chart
from mlnlab.display.chart.plots import Line, Plot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.evaluation.calibration import Calibration, Part
    from mlnlab.evaluation.evaluating import Evaluation, Score

_HEADINGS = ("predicate", "atoms", "true", "CLL", "AUC", "average precision")
_MOST_ROWS = 24
_MOST_CURVES = 12
_EMPTY = "There is no curve to draw: no hidden atom is true in the database."
_UNDECIDED = "There is nothing to compare: the database decides no atom whose probability was computed."


def evaluation_chart(evaluation: Evaluation) -> Chart:
    """Return the precision-recall curves, one for each predicate, and of all atoms together."""
    lines = tuple(_lines(evaluation)) if evaluation.judged.truths.any() else ()
    if not lines:
        return Chart("Precision and recall", (), empty=_EMPTY)
    true = float(evaluation.judged.truths.mean())
    axis = value_axis(0.0, 1.0)
    plot = Plot("precision over recall", lines, axis, axis, across="recall", level=true)
    return Chart("Precision and recall", (plot,), f"Guessing would have a precision of {true:.3g}.", _EMPTY)


def _lines(evaluation: Evaluation) -> Iterator[Line]:
    names = evaluation.predicates
    parts = [] if len(names) == 1 else [(name, evaluation.of(name)) for name in names[: _MOST_CURVES - 1]]
    for name, part in [("all together" if parts else "".join(names), evaluation), *parts]:
        recall, precision = part.curve.interpolate_curve()
        if len(recall):
            area = f"AUC {part.auc.value:.3f} ± {part.auc.error:.3f}"
            yield Line(
                shorten_text(name, 40), recall, precision, None, area, partial(_thresholds, part, recall)
            )


def _thresholds(part: Evaluation, recall: NDArray[np.float64], points: NDArray[np.intp]) -> list[str]:
    """Say from which probability on atoms count as true, at some points of a curve."""
    # A point between two thresholds is reached by a share of the atoms that have the lower one.
    reached = recall[points] * part.curve.positives * (1 - 1e-12)
    places = np.searchsorted(part.curve.true_positives, reached)
    return [f"probability from {value:.4f} on" for value in part.curve.thresholds[places].tolist()]


def evaluation_card(evaluation: Evaluation) -> Card:
    """Return the card of an evaluation."""
    judged = evaluation.judged
    predicates = count_of(len(evaluation.predicates), "predicate")
    left_out = count_of(judged.left_out, "query", "queries")
    left = f"{left_out} left out: facts, formulas, or atoms whose truth the database does not give."
    return Card(
        "Evaluation",
        f"{count_of(len(judged), 'atom')}, {int(judged.truths.sum()):,} of them true",
        lead=(_scores(evaluation), *evaluation.remarks) if len(judged) else evaluation.remarks,
        picture=evaluation_chart(evaluation).scene(),
        alternative=f"Precision-recall curves of {predicates}; the table has areas.",
        table=_least_likely(evaluation) if len(judged) else None,
        remarks=(left,) if judged.left_out else (),
    )


def _scores(evaluation: Evaluation) -> Table:
    rows = list(_rows(evaluation))
    return table_of(
        _HEADINGS, rows[:_MOST_ROWS], len(rows), "rows",
        numbers=range(1, len(_HEADINGS)), where="by_predicate() has them all",
    )  # fmt: skip


def _rows(evaluation: Evaluation) -> Iterator[tuple[str, ...]]:
    names = evaluation.predicates
    parts = [("all together", evaluation)] if len(names) > 1 else []
    for name, part in [*parts, *((name, evaluation.of(name)) for name in names)]:
        true = int(part.judged.truths.sum())
        yield (
            shorten_text(name, 60), f"{len(part.judged):,}", f"{true:,}", score_words(part.cll),
            score_words(part.auc), _number(part.curve.average_precision),
        )  # fmt: skip


def score_words(score: Score) -> str:
    """Return a score with its error, as far as there are any."""
    return _number(score.value) + ("" if isnan(score.error) else f" ± {score.error:.4f}")


def _number(value: float) -> str:
    return "–" if isnan(value) else f"{value:.4f}".replace("-inf", "−∞").replace("-", "−")


def _least_likely(evaluation: Evaluation) -> Table:
    """Return the atoms with the least probable truth values: the first ones for a modeller to look at."""
    order = np.argsort(evaluation.log_probabilities, kind="stable")[:_MOST_ROWS]
    judged = evaluation.judged
    rows = (
        (
            shorten_text(str(judged.atoms[place]), 80),
            "true" if judged.truths[place] else "false",
            f"{judged.probabilities[place]:.4f}",
        )
        for place in order.tolist()
    )
    headings = ("atom", "is", "probability of being true")
    name = "where the model is most wrong"
    return table_of(headings, rows, len(judged), "atoms", numbers=(2,), name=name)


# --- calibration ----------------------------------------------------------------------------------


def calibration_chart(calibration: Calibration) -> Chart:
    """Return a reliability diagram: the share that is true over the probability, with Wilson intervals."""
    parts = [part for part in calibration.parts if part.number]
    title = f"Calibration on {calibration.number:,} atoms"
    if not parts:
        return Chart(title, (), empty=_UNDECIDED)
    shares = np.array([part.share_true for part in parts])
    low, high = np.array([part.interval for part in parts]).T
    whole = np.array([0.0, 1.0])
    told = [
        f"{part.true} of {part.number} true, 95 %: {part.interval[0]:.2f} to {part.interval[1]:.2f}"
        for part in parts
    ]
    lines = (
        Line("perfectly calibrated", whole, whole, look="grey dashed"),
        Line(
            "atoms, by probability", np.array([part.mean_probability for part in parts]), shares,
            np.array([shares - low, high - shares]), tips=lambda points: [told[point] for point in points],
            kind="points", mark="circle", look="blue", words=tuple(f"{part.number:,}" for part in parts),
        ),
    )  # fmt: skip
    left_out = f"{calibration.left_out:,} queries left out. " if calibration.left_out else ""
    axis = value_axis(0.0, 1.0)
    plot = Plot(
        "share that is true",
        lines,
        axis,
        axis,
        "probability (numbers: atoms; bars: Wilson intervals of 95 %)",
    )
    words = f"{count_of(len(parts), 'part')} with intervals; the table lists them."
    return Chart(title, (plot,), words, _UNDECIDED, f"{left_out}{calibration.remark}")


def calibration_card(calibration: Calibration) -> Card:
    """Return the card of a calibration."""
    filled = [part for part in calibration.parts if part.number]
    headings = ("probability", "on average", "atoms", "true", "share that is true", "with 95 %")
    left_out = count_of(calibration.left_out, "query", "queries")
    return Card(
        "Calibration",
        f"{count_of(calibration.number, 'atom')}{_error(calibration)}",
        lead=(calibration.remark,),
        picture=calibration_chart(calibration).scene(),
        table=table_of(headings, map(_row, filled), len(filled), "parts", numbers=range(1, 6)),
        remarks=(
            f"{left_out} left out: facts, formulas, or atoms whose truth the database does not give."
            if calibration.left_out
            else "",
        ),
    )


def _error(calibration: Calibration) -> str:
    return f", expected calibration error {calibration.expected_error:.3f}" if calibration.number else ""


def _row(part: Part) -> tuple[str, ...]:
    low, high = part.interval
    return (
        f"{part.low:.2f} to {part.high:.2f}", f"{part.mean_probability:.3f}", f"{part.number:,}",
        f"{part.true:,}", f"{part.share_true:.3f}", f"{low:.2f} to {high:.2f}",
    )  # fmt: skip
