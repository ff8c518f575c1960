"""A table of clauses in a cell: a page of rows that needs no kernel, and how to find the others."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING

from mlnlab.display.markup import Element, Node, count_of, element, shortened
from mlnlab.display.mathematics import formula_markup, formula_text
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import MOST_ROWS, bounded_table
from mlnlab.logic.printing import to_text

if TYPE_CHECKING:
    from mlnlab.structure.clause_provenance import Provenance
    from mlnlab.structure.clause_table import ClauseRow, ClauseTable
    from mlnlab.structure.dropped_paths import DroppedPaths

_HEADINGS = ("", "clause", "in the model", "weight", "score", "gain", "sub-clause", "on its path",
             "true atoms", "verdict", "reason")  # fmt: skip
_NUMBERS = (0, 3, 4, 5, 6, 7, 8)
_MOST_ATOMS = 30


def clause_table_display(table: ClauseTable) -> Element:
    """Return the display of a table of clauses."""
    rows = map(_row, map(table.row, table.places[: MOST_ROWS + 1].tolist()))
    counts = ", ".join(f"{number:,} {verdict}" for verdict, number in table.verdicts.items() if number)
    edits = [quiet(f"by hand {edit}") for edit in table.learned.edits]
    return card(
        title("Clauses", f"{_chosen_words(table)} by {table.order}; of all candidates {counts}"),
        *edits,
        bounded_table(_HEADINGS, rows, len(table), "clauses", numbers=_NUMBERS,
                      where="to_frame() has them all"),
        element(
            "div", element("code", "table.where(verdict=..., predicate=..., literals=...)"), ", ",
            element("code", 'table.search("!Smokes gain>0")'), " and ",
            element("code", 'table.sorted_by("gain")'), " return other tables; ",
            element("code", "ml.clause_table_view(learned)"), " is one to click.", kind="quiet",
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
        one.verdict, shortened(one.reason, 300),
    )  # fmt: skip


def _number(value: float) -> str:
    return "" if isnan(value) else f"{value:.5g}"


def clause_table_text(table: ClauseTable) -> str:
    """Return a table of clauses as text: its first rows."""
    rows = table.page(0)
    lines = [
        f"{row.place:>6} {'●' if row.in_model else ' '} {_number(row.candidate.score):>10}  "
        f"{formula_text(row.candidate.clause)}  {row.candidate.verdict}"
        for row in rows
    ]
    rest = len(table) - len(rows)
    return "\n".join([repr(table), *lines, *([f"... and {rest:,} more"] if rest else [])])


# --- where one clause came from -------------------------------------------------------------------


def provenance_display(found: Provenance) -> Element:
    """Return the display of a clause's provenance: verdict, scores, atoms and groundings."""
    one = found.candidate
    told = found.groundings_told()
    parts = sorted(one.sub_scores, key=lambda pair: -pair[1])
    rows: list[tuple[Node, ...]] = [(formula_markup(one.clause), "this clause", _number(one.score))]
    rows += [(formula_markup(part), "retained sub-clause", _number(score)) for part, score in parts]
    rows.append(("", "unit clauses alone", _number(one.score_without)))
    atoms = [atom for of_database in found.atoms for atom in of_database]
    return card(
        title("Clause", one.verdict),
        formula_markup(one.clause),
        quiet(f"{one.reason}."),
        bounded_table(("clause", "", "score"), rows, len(rows), "clauses", numbers=(2,)),
        element("div", told.problem or f"{told.total - told.violated:,} groundings are true, "
                f"{told.violated:,} violated."),
        *(element("div", f"✗ {shortened(text, 300)}") for text in told.violations),
        folded(
            f"{count_of(len(atoms), 'true atom')} that support its path",
            element("div", shortened(", ".join(map(str, atoms[:_MOST_ATOMS])), 2_000)),
        ),
    )  # fmt: skip


def provenance_text(found: Provenance) -> str:
    """Return a clause's provenance as text."""
    one = found.candidate
    return f"<Provenance of {to_text(one.clause)}: {one.verdict}, {one.reason}>"


def dropped_paths_display(found: DroppedPaths) -> Element:
    """Return the display of the paths that heuristic 1 dropped."""
    rows = ((str(path.path), f"{path.true_atoms:,}", f"{found.needed(path):,}") for path in found.closest)
    least = "" if found.complete else "at least "
    return card(
        title(
            "Paths dropped by heuristic 1",
            f"{least}{found.dropped:,} of {found.paths:,}, μ = {found.fewest:g}",
        ),
        bounded_table(("path", "true atoms", "needed"), rows, found.dropped, "paths", numbers=(1, 2)),
    )
