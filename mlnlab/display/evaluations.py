"""An evaluation in a cell: scores with their errors by predicate, and precision-recall curves."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.axes import value_axis
from mlnlab.display.curves import plots_scene
from mlnlab.display.markup import Element, count_of, shortened
from mlnlab.display.plots import MOST_NAMED, Line, Plot
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import bounded_table, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mlnlab.display.scene.items import Scene
    from mlnlab.evaluation.evaluating import Evaluation, Score

_HEADINGS = ("predicate", "atoms", "true", "CLL", "AUC", "average precision")
_MOST_ROWS = 24


def evaluation_scene(evaluation: Evaluation) -> Scene | None:
    """Return the precision-recall curves, one for each predicate, and of all atoms together."""
    lines = tuple(_lines(evaluation))
    if not lines:
        return None
    true = float(evaluation.judged.truths.mean())
    plot = Plot(
        "precision over recall",
        lines,
        value_axis(0.0, 1.0),
        value_axis(0.0, 1.0),
        across="recall",
        level=true,
    )
    return plots_scene([plot], "Precision and recall", f"Guessing would have a precision of {true:.3g}.")


def _lines(evaluation: Evaluation) -> Iterator[Line]:
    names = evaluation.predicates
    parts = [] if len(names) == 1 else [(name, evaluation.of(name)) for name in names[: MOST_NAMED - 1]]
    for name, part in [("all together" if parts else "".join(names), evaluation), *parts]:
        recall, precision = part.curve.interpolated()
        if len(recall):
            yield Line(shortened(name, 40), recall, precision)


def evaluation_display(evaluation: Evaluation) -> Element:
    """Return the display of an evaluation."""
    scene = evaluation_scene(evaluation)
    judged = evaluation.judged
    rows = list(_rows(evaluation))
    left_out = count_of(judged.left_out, "query", "queries")
    return card(
        title("Evaluation", f"{count_of(len(judged), 'atom')}, {int(judged.truths.sum()):,} of them true"),
        table(_HEADINGS, rows[:_MOST_ROWS], numbers=range(1, len(_HEADINGS))) if len(judged) else None,
        quiet(f"... and {len(rows) - _MOST_ROWS:,} more; by_predicate() has them all.")
        if len(rows) > _MOST_ROWS
        else None,
        *(quiet(remark) for remark in evaluation.remarks),
        scene_image(scene, _alternative(evaluation)) if scene is not None else None,
        _least_likely(evaluation),
        quiet(f"{left_out} left out: facts, formulas, or atoms whose truth the database does not tell.")
        if judged.left_out
        else None,
    )


def _rows(evaluation: Evaluation) -> Iterator[tuple[str, ...]]:
    names = evaluation.predicates
    parts = [("all together", evaluation)] if len(names) > 1 else []
    for name, part in [*parts, *((name, evaluation.of(name)) for name in names)]:
        true = int(part.judged.truths.sum())
        yield (
            shortened(name, 60), f"{len(part.judged):,}", f"{true:,}", score_words(part.cll),
            score_words(part.auc), _number(part.curve.average_precision),
        )  # fmt: skip


def score_words(score: Score) -> str:
    """Return a score with its error, as far as there are any."""
    return _number(score.value) + ("" if isnan(score.error) else f" ± {score.error:.4f}")


def _number(value: float) -> str:
    return "–" if isnan(value) else f"{value:.4f}".replace("-inf", "−∞").replace("-", "−")


def _alternative(evaluation: Evaluation) -> str:
    predicates = count_of(len(evaluation.predicates), "predicate")
    return f"Precision-recall curves of {predicates}; the table has areas."


def _least_likely(evaluation: Evaluation) -> Element | None:
    """Return the atoms of which the model is most wrong: what a modeller looks at next."""
    logs = evaluation.log_probabilities
    if not len(logs):
        return None
    order = np.argsort(logs, kind="stable")[:_MOST_ROWS]
    atoms, said, truths = evaluation.judged.atoms, evaluation.judged.probabilities, evaluation.judged.truths
    rows = (
        (shortened(str(atoms[place]), 80), "true" if truths[place] else "false", f"{said[place]:.4f}")
        for place in order.tolist()
    )
    listed = bounded_table(
        ("atom", "is", "probability of being true"), rows, len(logs), "atoms", numbers=(2,)
    )
    return folded("where the model is most wrong", listed)


def evaluation_text(evaluation: Evaluation) -> str:
    """Return an evaluation as text."""
    lines = [f"  {name}: CLL {cll}, AUC {auc} ({true} of {atoms} true)"
             for name, atoms, true, cll, auc, _ in _rows(evaluation)]  # fmt: skip
    remarks = [f"  {remark}" for remark in evaluation.remarks]
    return "\n".join([repr(evaluation), *lines, *remarks])
