"""An evaluation of learned structures in a cell: each system's scores, by predicate too, and its curves."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING, Any

from mlnlab.display.axes import value_axis
from mlnlab.display.curves import plots_scene
from mlnlab.display.markup import Element, count_of, shortened
from mlnlab.display.plots import MOST_NAMED, Line, Plot
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import bounded_table, table

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.experiments.structure_results import StructureEvaluation

_MOST_SYSTEMS = 24
_MOST_ROWS = 100
_MOST_PROBLEMS = 5
_LONGEST = 60
_HEADINGS = ("system", "folds", "CLL", "AUC", "AUC, mean of predicates", "seconds of learning")


def structure_evaluation_scene(found: StructureEvaluation) -> Scene | None:
    """Return the precision-recall curve of each system over all test atoms."""
    lines = tuple(_lines(found))
    if not lines:
        return None
    truths = found.pooled(_finished(found)[0]).truths
    level = float(truths.mean())
    plot = Plot(
        "precision over recall",
        lines,
        value_axis(0.0, 1.0),
        value_axis(0.0, 1.0),
        across="recall",
        level=level,
    )
    return plots_scene([plot], "Precision and recall", f"Guessing would have a precision of {level:.3g}.")


def _finished(found: StructureEvaluation) -> list[str]:
    return [name for name in found.systems if any(one.finished for one in found.validated.by(name))]


def _lines(found: StructureEvaluation) -> Iterator[Line]:
    for name in _finished(found)[:MOST_NAMED]:
        recall, precision = found.curve(name).interpolated()
        if len(recall):
            yield Line(shortened(name, 40), recall, precision)


def structure_evaluation_display(found: StructureEvaluation) -> Element:
    """Return the display of an evaluation of learned structures."""
    rows = list(_summary(found))
    scene = structure_evaluation_scene(found)
    return card(
        title("Learned structures, tested", _sizes(found)),
        table(_HEADINGS, rows[:_MOST_SYSTEMS], numbers=range(1, len(_HEADINGS))),
        quiet(f"{_asked(found)} Scores are over the test atoms of all folds ± their standard errors."),
        *(quiet(shortened(problem, 300)) for problem in found.problems[:_MOST_PROBLEMS]),
        scene_image(scene, _alternative(found)) if scene is not None else None,
        folded("predicate by predicate", _by_predicate(found)) if rows else None,
        folded("is one better? paired t-tests over folds", _tests(found))
        if len(_finished(found)) > 1
        else None,
    )


def _alternative(found: StructureEvaluation) -> str:
    """Say what the picture shows, without names that come from data."""
    areas = ", ".join(f"{found.curve(name).area:.3f}" for name in _finished(found)[:MOST_NAMED])
    return f"Precision over recall of the systems in the table's order; areas under the curves: {areas}"


def _sizes(found: StructureEvaluation) -> str:
    finished = sum(result.finished for result in found.validated.results)
    number = len(found.systems) * len(found.folds)
    return (
        f"{count_of(len(found.systems), 'system')} on {count_of(len(found.folds), 'fold')},"
        f" {finished} of {number} finished"
    )


def _asked(found: StructureEvaluation) -> str:
    if found.testing.evidence == "all-other-atoms":
        return "Each atom is predicted given all other ground atoms."
    together = [" and ".join(group) for group in found.testing.groups if len(group) > 1]
    words = f", {'; '.join(together)} together" if together else ""
    return f"The atoms of each predicate are predicted given those of all others{words}."


def _summary(found: StructureEvaluation) -> Iterator[tuple[str, ...]]:
    rows: Iterator[Any] = found.summary().itertuples()
    for row in rows:
        yield (
            shortened(str(row.system), _LONGEST), str(row.folds), _score(row.cll, row.cll_error),
            _score(row.auc, row.auc_error), _number(row.auc_by_predicate),
            "–" if isnan(row.learning_seconds) else f"{row.learning_seconds:.3g}",
        )  # fmt: skip


def _by_predicate(found: StructureEvaluation) -> Element:
    frame = found.by_predicate()
    listed: Iterator[Any] = frame.head(_MOST_ROWS).itertuples()
    rows = (
        (
            shortened(str(row.system), _LONGEST), shortened(str(row.predicate), _LONGEST), f"{row.atoms:,}",
            f"{row.true:,}", _score(row.cll, row.cll_error), _score(row.auc, row.auc_error),
        )
        for row in listed
    )  # fmt: skip
    headings = ("system", "predicate", "atoms", "true", "CLL", "AUC")
    return bounded_table(headings, rows, len(frame), "rows", numbers=range(2, 6))


def _tests(found: StructureEvaluation) -> Element:
    listed: list[Any] = [*found.tests("cll").itertuples(), *found.tests("auc").itertuples()]
    rows = [
        (
            shortened(str(row.first), _LONGEST), shortened(str(row.second), _LONGEST), row.measure.upper(),
            _number(row.difference), "–" if isnan(row.p) else f"{row.p:.3g}",
        )
        for row in listed
        if isnan(row.difference) or row.difference >= 0
    ]  # fmt: skip
    headings = ("better", "than", "by", "mean difference", "p, one-tailed")
    return bounded_table(headings, iter(rows[:_MOST_ROWS]), len(rows), "rows", numbers=(3, 4))


def _score(value: float, error: float) -> str:
    return _number(value) + ("" if isnan(error) or isnan(value) else f" ± {error:.4f}")


def _number(value: float) -> str:
    return "–" if isnan(value) else f"{value:.4f}".replace("-inf", "−∞").replace("-", "−")


def structure_evaluation_text(found: StructureEvaluation) -> str:
    """Return an evaluation of learned structures as text."""
    lines = [f"  {name}: CLL {cll}, AUC {auc} ({folds} folds)"
             for name, folds, cll, auc, *_ in _summary(found)]  # fmt: skip
    problems = [f"  {shortened(problem, 300)}" for problem in found.problems[:_MOST_PROBLEMS]]
    return "\n".join([repr(found), *lines, *problems])
