"""A table of clauses in a cell: a page of rows that needs no kernel, and how to find the others."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import MOST_ROWS, Card, table_of
from mlnlab.display.card.formula_markup import formula_markup
from mlnlab.display.card.markup import Node, count_of, element, shorten_text

if TYPE_CHECKING:
    from mlnlab.structure.ask.clause_provenance import Provenance
    from mlnlab.structure.ask.clause_table import ClauseRow, ClauseTable
    from mlnlab.structure.paths.dropped_paths import DroppedPaths

_HEADINGS = ("", "clause", "in the model", "weight", "score", "gain", "sub-clause", "on its path",
             "true atoms", "verdict", "reason")  # fmt: skip
_NUMBERS = (0, 3, 4, 5, 6, 7, 8)
_MOST_ATOMS = 30


def clause_table_card(table: ClauseTable) -> Card:
    """Return the card of a table of clauses."""
    rows = map(_row, map(table.row, table.places[:MOST_ROWS].tolist()))
    counts = ", ".join(f"{number:,} {verdict}" for verdict, number in table.verdicts.items() if number)
    return Card(
        "Clauses",
        f"{_chosen_words(table)} by {table.order}; of all candidates {counts}",
        lead=tuple(f"by hand {edit}" for edit in table.learned.edits),
        table=table_of(
            _HEADINGS, rows, len(table), "clauses", numbers=_NUMBERS, where="to_frame() has them all"
        ),
        remarks=(
            element(
                "div", element("code", "table.where(verdict=..., predicate=..., literals=...)"), ", ",
                element("code", 'table.search("!Smokes gain>0")'), " and ",
                element("code", 'table.sorted_by("gain")'), " return other tables; ",
                element("code", "ml.clause_table_view(learned)"), " is one to click.", kind="quiet",
            ),
        ),
    )  # fmt: skip


def _chosen_words(table: ClauseTable) -> str:
    total = len(table.learned.candidates)
    return f"{count_of(len(table), 'candidate')}" + (f" of {total:,}" if len(table) < total else "")


def _row(row: ClauseRow) -> tuple[Node, ...]:
    one = row.candidate
    best = max((score for _, score in one.sub_scores), default=nan)
    return (
        f"{row.place:,}", formula_markup(one.clause), row.in_model,
        "" if row.chosen is None else f"{row.chosen.weight:.4f}", _number(one.score),
        _number(one.score - one.score_without), _number(best), _number(one.near), f"{one.true_atoms:,}",
        one.verdict, shorten_text(one.reason, 300),
    )  # fmt: skip


def _number(value: float) -> str:
    return "" if isnan(value) else f"{value:.5g}"


# --- where one clause came from -------------------------------------------------------------------


def provenance_card(found: Provenance) -> Card:
    """Return the card of a clause's provenance: verdict, scores, atoms and groundings."""
    one = found.candidate
    told = found.collect_groundings()
    parts = sorted(one.sub_scores, key=lambda pair: -pair[1])
    rows: list[tuple[Node, ...]] = [(formula_markup(one.clause), "this clause", _number(one.score))]
    rows += [(formula_markup(part), "retained sub-clause", _number(score)) for part, score in parts]
    rows.append(("", "unit clauses alone", _number(one.score_without)))
    atoms = [atom for of_database in found.atoms for atom in of_database]
    counted = f"{told.total - told.violated:,} groundings are true, {told.violated:,} violated."
    return Card(
        "Clause",
        one.verdict,
        lead=(element("div", formula_markup(one.clause)), f"{one.reason}."),
        table=table_of(("clause", "", "score"), rows, len(rows), "clauses", numbers=(2,)),
        remarks=(
            element("div", told.problem or counted),
            *(element("div", f"✗ {shorten_text(text, 300)}") for text in told.violations),
        ),
        folds=(
            (
                f"{count_of(len(atoms), 'true atom')} that support its path",
                element("div", shorten_text(", ".join(map(str, atoms[:_MOST_ATOMS])), 2_000)),
            ),
        ),
    )


def dropped_paths_card(found: DroppedPaths) -> Card:
    """Return the card of the paths that heuristic 1 dropped."""
    rows = (
        (str(path.path), f"{path.true_atoms:,}", f"{found.count_needed_atoms(path):,}")
        for path in found.closest
    )
    least = "" if found.complete else "at least "
    return Card(
        "Paths dropped by heuristic 1",
        f"{least}{found.dropped:,} of {found.paths:,}, μ = {found.fewest:g}",
        table=table_of(("path", "true atoms", "needed"), rows, found.dropped, "paths", numbers=(1, 2)),
    )
