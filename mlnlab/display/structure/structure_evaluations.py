"""Show learned structures that were tested: scores, curves, tests, and structures side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isnan
from typing import TYPE_CHECKING, Any

from mlnlab.display.card.cards import Card, Part, Table, scene_image, table_of
from mlnlab.display.card.formula_markup import formula_markup
from mlnlab.display.card.markup import Node, count_of, shorten_text
from mlnlab.display.chart.axes import value_axis
from mlnlab.display.chart.curves import MOST_PLOTS, Chart, plots_scene
from mlnlab.display.chart.plots import MOST_NAMED, Line, Plot

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.experiments.structures.structure_comparison import ComparedClause, StructureComparison
    from mlnlab.experiments.structures.structure_results import StructureEvaluation

_MOST_SYSTEMS = 24
_MOST_CURVES = 12
_MOST_ROWS = 100
_MOST_PROBLEMS = 5
_LONGEST = 60
_MEASURES = (
    "CLL and AUC are over the test atoms of all folds, taken together, ± their standard errors; beside them"
    " are the means of the folds, in which each fold counts the same."
)
_HEADINGS = (
    "system", "folds", "CLL", "AUC", "CLL, mean of folds", "AUC, mean of folds", "AUC, mean of predicates",
    "seconds of learning",
)  # fmt: skip


def structure_evaluation_chart(found: StructureEvaluation) -> Chart:
    """Return the precision-recall curve of each system over all test atoms."""
    plot = _plot(found, None)
    empty = "There is no curve to draw: no test atom is true, or no system finished."
    if plot is None:
        return Chart("Precision and recall", (), empty=empty)
    said = f"Guessing would have a precision of {plot.level:.3g}."
    return Chart("Precision and recall", (plot,), said, empty)


def structure_evaluation_scene(found: StructureEvaluation) -> Scene | None:
    """Return the drawing of the precision-recall curves."""
    return structure_evaluation_chart(found).scene()


def predicates_scene(found: StructureEvaluation) -> Scene | None:
    """Return the same predicate by predicate, as small plots."""
    plots = [plot for name in found.predicates[:MOST_PLOTS] if (plot := _plot(found, name)) is not None]
    if not plots:
        return None
    return plots_scene(plots, "Precision and recall, predicate by predicate")


def _plot(found: StructureEvaluation, predicate: str | None) -> Plot | None:
    """Return the curves of one predicate, or of all; ``None`` where none of its atoms is true."""
    lines = tuple(_lines(found, predicate))
    if not lines:
        return None
    truths = next(
        one for name in _list_finished_systems(found) if len(one := found.pooled(name, predicate).truths)
    )
    return Plot(
        "precision over recall" if predicate is None else shorten_text(predicate, 40), lines,
        value_axis(0.0, 1.0), value_axis(0.0, 1.0), across="recall",
        level=float(truths.mean()), named=predicate is None,
    )  # fmt: skip


def _list_finished_systems(found: StructureEvaluation) -> list[str]:
    return [name for name in found.systems if any(one.finished for one in found.validated.by(name))]


def _lines(found: StructureEvaluation, predicate: str | None) -> Iterator[Line]:
    for name in _list_finished_systems(found)[:_MOST_CURVES]:
        curve = found.curve(name, predicate)
        recall, precision = curve.interpolate_curve()
        if len(recall):
            yield Line(shorten_text(name, 40), recall, precision, detail=f"AUC {curve.area:.3f}")


def structure_evaluation_card(found: StructureEvaluation) -> Card:
    """Return the card of an evaluation of learned structures."""
    rows = list(_summary(found))
    areas = ", ".join(f"{found.curve(name).area:.3f}" for name in _list_finished_systems(found)[:MOST_NAMED])
    headings = range(1, len(_HEADINGS))
    tests = (("is one better? paired t-tests over folds", tests_table(found)),)
    return Card(
        "Learned structures, tested",
        _sizes(found),
        lead=(
            table_of(_HEADINGS, rows[:_MOST_SYSTEMS], len(rows), "systems", numbers=headings),
            f"{describe_question(found)} {_MEASURES}",
            *(shorten_text(problem, 300) for problem in found.problems[:_MOST_PROBLEMS]),
        ),
        picture=structure_evaluation_scene(found),
        alternative="Precision over recall of the systems in the table's order; areas under the curves: "
        + areas,
        folds=(*parts_by_predicate(found), *(tests if len(_list_finished_systems(found)) > 1 else ()))
        if rows
        else (),
    )


def _sizes(found: StructureEvaluation) -> str:
    finished = sum(result.finished for result in found.validated.results)
    number = len(found.systems) * len(found.folds)
    return (
        f"{count_of(len(found.systems), 'system')} on {count_of(len(found.folds), 'fold')},"
        f" {finished} of {number} finished"
    )


def describe_question(found: StructureEvaluation) -> str:
    """Name the predicates that were hidden together, and the evidence."""
    if found.testing.evidence == "all-other-atoms":
        return "Each atom is predicted given all other ground atoms."
    together = [" and ".join(group) for group in found.testing.groups if len(group) > 1]
    words = f", {'; '.join(together)} together" if together else ""
    how = "" if not found.testing.exact else ", exactly where a junction tree is small enough"
    return f"The atoms of each predicate are predicted given those of all others{words}{how}."


def _summary(found: StructureEvaluation) -> Iterator[tuple[str, ...]]:
    rows: Iterator[Any] = found.summary().itertuples()
    for row in rows:
        yield (
            shorten_text(str(row.system), _LONGEST), str(row.folds), score_words(row.cll, row.cll_error),
            score_words(row.auc, row.auc_error), score_words(row.cll_by_fold, row.cll_by_fold_error),
            score_words(row.auc_by_fold, row.auc_by_fold_error), number_words(row.auc_by_predicate),
            "–" if isnan(row.learning_seconds) else f"{row.learning_seconds:.3g}",
        )  # fmt: skip


def parts_by_predicate(found: StructureEvaluation) -> Iterator[tuple[str, Part]]:
    """Yield the curves of each predicate, where there are any, and its scores."""
    scene = predicates_scene(found)
    if scene is not None:
        words = "Precision over recall of each predicate; the areas are in the table below"
        yield "curves of each predicate", scene_image(scene, words)
    yield "predicate by predicate", _predicates_table(found)


def _predicates_table(found: StructureEvaluation) -> Table:
    frame = found.by_predicate().sort_values("predicate", key=_places(found), kind="stable")
    listed: Iterator[Any] = frame.head(_MOST_ROWS).itertuples()
    rows = (
        (
            shorten_text(str(row.predicate), _LONGEST), shorten_text(str(row.system), _LONGEST),
            f"{row.atoms:,}",
            f"{row.true:,}", score_words(row.cll, row.cll_error), score_words(row.auc, row.auc_error),
        )
        for row in listed
    )  # fmt: skip
    headings = ("predicate", "system", "atoms", "true", "CLL", "AUC")
    return table_of(headings, rows, len(frame), "rows", numbers=range(2, 6))


def _places(found: StructureEvaluation) -> Callable[[Any], Any]:
    """Return a key that puts rows of the same predicate beside each other, all atoms together last."""
    order = {name: place for place, name in enumerate(found.predicates)}
    return lambda names: names.map(lambda name: order.get(name, len(order)))


def tests_table(found: StructureEvaluation) -> Table:
    """Return the one-tailed paired t-tests: a row for each pair and measure, the better one first."""
    listed: list[Any] = [*found.tests("cll").itertuples(), *found.tests("auc").itertuples()]
    rows = [
        (
            shorten_text(str(row.first), _LONGEST), shorten_text(str(row.second), _LONGEST),
            row.measure.upper(),
            score_words(row.difference, row.error), str(row.folds), "–" if isnan(row.p) else f"{row.p:.3g}",
        )
        for row in listed
        if isnan(row.difference) or row.difference >= 0
    ]  # fmt: skip
    headings = ("better", "than", "by", "mean difference", "folds", "p, one-tailed")
    return table_of(headings, rows[:_MOST_ROWS], len(rows), "rows", numbers=(3, 4, 5))


def score_words(value: float, error: float) -> str:
    """Return a score with its standard error, where that is known."""
    return number_words(value) + ("" if isnan(error) or isnan(value) else f" ± {error:.4f}")


def number_words(value: float) -> str:
    """Return a score; a dash where there is none."""
    return "–" if isnan(value) else f"{value:.4f}".replace("-inf", "−∞").replace("-", "−")


# --- side by side ---------------------------------------------------------------------------------

_MOST = 12  # structures that are drawn beside each other
_LONGEST_NAME = 40
_UNTESTED = (
    "There is no curve to draw: give compare_structures(..., test=) databases that were not learned from."
)
_SCORES = (
    "WPLL is of all atoms that were learned from. CLL and AUC are of the test atoms, ± their standard errors."
)


def structure_comparison_chart(found: StructureComparison) -> Chart:
    """Return the precision-recall curve of each structure over all test atoms."""
    if found.evaluation is None:
        return Chart("Precision and recall", (), empty=_UNTESTED)
    return structure_evaluation_chart(found.evaluation)


def structure_comparison_card(found: StructureComparison) -> Card:
    """Return the card of structures side by side."""
    chart = structure_comparison_chart(found)
    tested = found.evaluation
    return Card(
        "Learned structures, side by side",
        f"{count_of(len(found.names), 'structure')}; {count_of(len(found.clauses), 'clause')},"
        f" {len(found.shared):,} in all of them",
        lead=(
            _score_rows(found),
            *((f"{describe_question(tested)} {_SCORES}", *_problems(tested)) if tested is not None else ()),
        ),
        picture=chart.scene(),
        undrawn=chart.empty,
        table=_clauses(found),
        remarks=("A clause that a model lacks was never considered, or dropped: see below.",),
        folds=(("why clauses are missing", _missing(found)), *(_tests(tested) if tested is not None else ())),
        alternative="Precision over recall of the structures in the table's order.",
    )


def _problems(found: StructureEvaluation) -> Iterator[str]:
    for problem in found.problems[:3]:
        yield shorten_text(problem, 300)


def _tests(found: StructureEvaluation) -> Iterator[tuple[str, Part]]:
    """Yield the scores by predicate, and the paired tests, which need several databases."""
    yield from parts_by_predicate(found)
    headline = "is one better? paired t-tests over test databases"
    yield headline, tests_table(found) if len(found.folds) > 1 else "A paired test needs several of them."


def _score_rows(found: StructureComparison) -> Table:
    rows: Iterator[Any] = found.summary().itertuples()
    tested = found.evaluation is not None
    cells: Iterator[tuple[str, ...]] = (
        (
            shorten_text(str(row.structure), _LONGEST_NAME), str(row.method), f"{row.clauses:,}",
            f"{row.only_here:,}", f"{row.candidates:,}", f"{row.wpll:.4f}".replace("-", "−"),
            "–" if isnan(row.seconds) else f"{row.seconds:.3g}",
            *((score_words(row.cll, row.cll_error), score_words(row.auc, row.auc_error)) if tested else ()),
        )
        for row in rows
    )  # fmt: skip
    headings = ("structure", "method", "clauses", "only here", "candidates", "WPLL", "seconds")
    more = ("CLL", "AUC") if tested else ()
    return table_of((*headings, *more), cells, len(found.names), "structures", numbers=range(2, 9))


def _clauses(found: StructureComparison) -> Table:
    """Return the clauses with their weights in each model."""
    names = found.names[:_MOST]
    rows: Iterator[tuple[Node, ...]] = (
        (formula_markup(one.formula), *(_weight(one, name) for name in names)) for one in found.clauses
    )
    return table_of(
        ("clause", *(shorten_text(name, _LONGEST_NAME) for name in names)),
        rows, len(found.clauses), "clauses",
        numbers=range(1, len(names) + 1), where="to_frame() has them all",
        name="clauses and their weights in each model",
    )  # fmt: skip


def _weight(clause: ComparedClause, name: str) -> str:
    return f"{clause.weights[name]:.3f}".replace("-", "−") if name in clause.weights else "–"


def _missing(found: StructureComparison) -> Table:
    rows = list(_missing_rows(found))
    return table_of(("clause", "is not in", "because it was"), rows, len(rows), "rows", where=".clauses")


def _missing_rows(found: StructureComparison) -> Iterator[tuple[Node, ...]]:
    for clause in found.clauses:
        for name, reason in clause.missing.items():
            yield formula_markup(clause.formula), shorten_text(name, _LONGEST_NAME), shorten_text(reason, 300)
