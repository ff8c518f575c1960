"""Structures side by side in a cell: scores, curves, and the clauses that only some of them have."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING, Any

from mlnlab.display.card.cards import Card, Part, Table, table_of
from mlnlab.display.card.formula_markup import formula_markup
from mlnlab.display.card.markup import Node, count_of, shorten_text
from mlnlab.display.chart.curves import Chart
from mlnlab.display.structure.structure_evaluations import (
    describe_question,
    parts_by_predicate,
    score_words,
    structure_evaluation_chart,
    tests_table,
)

if TYPE_CHECKING:
    from mlnlab.experiments.structures.structure_comparison import ComparedClause, StructureComparison
    from mlnlab.experiments.structures.structure_results import StructureEvaluation

_MOST = 12  # structures that are drawn beside each other
_LONGEST = 40
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
            _summary(found),
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


def _summary(found: StructureComparison) -> Table:
    rows: Iterator[Any] = found.summary().itertuples()
    tested = found.evaluation is not None
    cells: Iterator[tuple[str, ...]] = (
        (
            shorten_text(str(row.structure), _LONGEST), str(row.method), f"{row.clauses:,}",
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
        ("clause", *(shorten_text(name, _LONGEST) for name in names)), rows, len(found.clauses), "clauses",
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
            yield formula_markup(clause.formula), shorten_text(name, _LONGEST), shorten_text(reason, 300)
