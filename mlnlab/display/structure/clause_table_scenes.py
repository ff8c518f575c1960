"""Show a table of clauses as a card, and as a drawing: model, filters, a page of rows, the chosen clause."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import MOST_ROWS, Card, table_of
from mlnlab.display.card.formula_markup import formula_markup
from mlnlab.display.card.markup import Node, count_of, element, shorten_text
from mlnlab.display.scene.building import numbered_id
from mlnlab.display.scene.chips import Chip, chip, chip_lines
from mlnlab.display.scene.items import Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, fitted_lines
from mlnlab.display.structure.clause_details import detail_items
from mlnlab.display.structure.clause_table_rows import (
    ROW,
    SHORT_VERDICTS,
    WIDTH,
    dropped_items,
    heading_items,
    number,
    pager_items,
    row_items,
)
from mlnlab.structure.clauses.judged_paths import VERDICTS

if TYPE_CHECKING:
    from mlnlab.display.structure.clause_table_rows import ShownTable
    from mlnlab.structure.ask.clause_provenance import Provenance
    from mlnlab.structure.ask.clause_table import ClauseRow, ClauseTable
    from mlnlab.structure.paths.dropped_paths import DroppedPaths

_UNDO = WIDTH - 52
MOST_PREDICATES = 16  # that have a button; others are typed


def clause_table_scene(shown: ShownTable) -> Scene:
    """Return all of it as one drawing; only the path of the chosen clause pans and zooms."""
    items, y = _model_items(shown, 2.0)
    found, y = _filter_items(shown, y + 2)
    items += found
    if shown.shows_dropped:
        found, y = dropped_items(shown, y)
    else:
        items += heading_items(shown, y)
        found, y = row_items(shown, y + ROW)
    items += found
    found, y = pager_items(shown, y)
    items += found
    below: list[Layer] = []
    top = y
    if shown.chosen is not None and not shown.shows_dropped:
        items.append(Path(path=segments([((4, y), (WIDTH - 4, y))]), look="frame"))
        drawn, found, y = detail_items(shown, shown.chosen, y + 6)
        items += found
        below = [Layer("path", (drawn,))] if drawn is not None else []
    elif not shown.shows_dropped:
        hint = "Click a clause for its path, groundings and sub-clauses, and to keep it or throw it out."
        items.append(Text(x=8, y=y + 12, text=hint, look="quiet small"))
        y += ROW
    # What is panned goes behind the rows, and in front of the ground on which all of it stands.
    plate = Rectangle(x=0, y=0, width=WIDTH, height=top, look="plate")
    ground = Layer("ground", (Rectangle(x=0, y=0, width=WIDTH, height=y + 4, look="plate"),), zooms=False)
    words = f"{count_of(len(shown.table), 'clause')} by {shown.table.order}."
    return Scene(
        WIDTH, y + 4, (ground, *below, Layer("table", (plate, *items), zooms=False)), "Clauses", words
    )


# --- the model ------------------------------------------------------------------------------------


def model_words(shown: ShownTable) -> str:
    """Describe the model: its number of clauses, the edits by hand, and their effect on its WPLL."""
    learned = shown.table.learned
    words = f"The model: {count_of(len(learned.kept), 'clause')}"
    kept = sum(edit.kept for edit in learned.edits)
    if learned.edits:
        words += f", by hand {kept:,} kept and {len(learned.edits) - kept:,} thrown out"
    change = f" (as learned {number(shown.wpll_before)})" if learned.edits else ""
    return words + (f"; WPLL {number(shown.wpll)}{change}" if number(shown.wpll) else "")


def _model_items(shown: ShownTable, top: float) -> tuple[list[Item], float]:
    words = fit_text(model_words(shown), WIDTH - 230, "strong")
    items: list[Item] = [Text(id="model", x=8, y=top + 14, text=words, look="words strong")]
    if shown.edits:  # always at this place, so that it can be clicked in a row
        items.append(chip("undo", _UNDO, top, "undo", "take the last edit by hand back")[0])
    if shown.busy:
        items.append(Text(id="busy", x=_UNDO - 10, y=top + 14, text=shown.busy, look="quiet", anchor="end"))
    y = top + ROW + 2
    for line in fitted_lines(shorten_text(shown.problem, 400), WIDTH - 24, 3) if shown.problem else ():
        items.append(Text(id="problem", x=8, y=y + 12, text=f"! {line}", look="words"))
        y += 16
    return items, y


# --- filters --------------------------------------------------------------------------------------


def _filter_items(shown: ShownTable, top: float) -> tuple[list[Item], float]:
    chosen = shown.table.chosen
    lines = [("show", _verdict_chips(shown))]
    names = tuple(shown.table.learned.mln.vocabulary.predicates)[:MOST_PREDICATES]
    found = [(numbered_id("predicate", 0), "any", "whatever its predicates", not chosen.predicate)]
    found += [
        (numbered_id("predicate", place), fit_text(name, 150, "small"), "clauses in which it occurs",
         chosen.predicate == name)
        for place, name in enumerate(names, 1)
    ]  # fmt: skip
    lines.append(("predicate", found))
    lengths = sorted(set(shown.table.learned.candidates.columns.lengths.tolist()))
    found = [(numbered_id("literals", 0), "any", "however long", not chosen.literals)]
    found += [
        (numbered_id("literals", length), f"{length}", "clauses with this number of literals",
         chosen.literals == length)
        for length in lengths
    ]  # fmt: skip
    lines.append(("literals", found))
    items: list[Item] = []
    y = top
    for heading, chips in lines[:1] if shown.shows_dropped else lines:
        items.append(Text(x=8, y=y + 13.5, text=heading, look="quiet small"))
        row, y = chip_lines(chips, 70, y, WIDTH - 4)
        items += row
    return items, y + 4


def _verdict_chips(shown: ShownTable) -> list[Chip]:
    table = shown.table
    here = table.chosen.verdict if not shown.shows_dropped else "paths"
    of_all = here == "" and not table.chosen.model
    total = len(table.learned.candidates)
    in_model = table.chosen.model and not shown.shows_dropped
    found: list[Chip] = [
        (numbered_id("show", 0), f"all {total:,}", "every candidate", of_all),
        (numbered_id("show", 1), f"in the model {len(table.learned.kept):,}",
         "clauses of the model", in_model),
    ]  # fmt: skip
    for place, verdict in enumerate(VERDICTS, 2):
        if table.verdicts[verdict]:
            words = ("" if place == 2 else "dropped ") + SHORT_VERDICTS[verdict]
            words = words.strip()
            found.append((numbered_id("show", place), f"{words} {table.verdicts[verdict]:,}",
                          verdict, here == verdict))  # fmt: skip
    known = "" if shown.dropped is None else f" {shown.dropped.dropped:,}"
    found.append((numbered_id("show", 9), f"paths dropped by μ{known}",
                  "heuristic 1: paths with too few true atoms, of which no clause was made",
                  shown.shows_dropped))  # fmt: skip
    return found


# --- cards ----------------------------------------------------------------------------------------

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
