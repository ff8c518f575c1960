"""The rows of a table of clauses, as a drawing: headings that sort, a row for each clause, pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.display.card.formula_markup import formula_text
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.chips import chip
from mlnlab.display.scene.items import Group, Item, Path, Rectangle, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, fitted_lines, text_width
from mlnlab.structure.ask.clause_table import PAGE, ClauseRow, ClauseTable
from mlnlab.structure.clauses.judged_paths import VERDICTS

if TYPE_CHECKING:
    from mlnlab.structure.ask.clause_provenance import GroundingsTold, Provenance
    from mlnlab.structure.paths.dropped_paths import DroppedPaths

WIDTH, ROW = 960.0, 21.0
SHORT_VERDICTS = dict(
    zip(VERDICTS, ("retained", "on its path", "for a sub-clause", "beside its parts", ""), strict=True)
)
_LONGEST = 300
_CLAUSE, _VERDICT = 26.0, 842.0
_ROOM = 336.0  # of a clause, which takes several lines where it is long
_MOST_LINES, _LINE = 3, 15.0


class Heading(NamedTuple):
    """A column's heading: its words, the column that a click sorts by, its right end, and its tooltip."""

    words: str
    column: str
    right: float
    tip: str


HEADINGS = (
    Heading("score", "score", 500, "Score(c, D): WPLL with unit clauses at best weights, less π per literal"),
    Heading("gain", "gain", 570, "Score(c, D) − Score(∅, D): what it adds to unit clauses alone"),
    Heading("sub", "best sub-clause", 640, "the score of its best retained sub-clause"),
    Heading("path", "on its path", 702, "heuristic 2: Score(c, D') − Score(∅, D') on the atoms of its path"),
    Heading("literals", "literals", 766, "how many literals it has"),
    Heading("atoms", "true atoms", 828, "true ground atoms in the hyperedges that support its path"),
)
_IN_MODEL = 420.0  # where the weight in the model ends


@dataclass(frozen=True, slots=True, eq=False)
class ShownTable:
    """The view of a table as plain values, from which the whole picture follows."""

    table: ClauseTable
    page: int = 0
    chosen: Provenance | None = None
    told: GroundingsTold | None = None  # of the chosen clause
    lists_truths: bool = False  # whether groundings that are true stand below those that are not
    path_place: int = 0  # which of the places of its path is drawn
    busy: str = ""
    problem: str = ""
    pending: frozenset[int] = frozenset()  # places of clauses whose weights are being learned
    edits: int = 0
    wpll: float = nan
    wpll_before: float = nan
    dropped: DroppedPaths | None = None
    shows_dropped: bool = False

    @property
    def pages(self) -> int:
        """The number of pages."""
        total = len(self.table)
        if self.shows_dropped and self.dropped is not None:
            total = len(self.dropped.closest)
        return max(1, -(-total // PAGE))


def number(value: float, digits: int = 4) -> str:
    """Format a number with ``digits`` significant digits, and NaN as an empty text."""
    return "" if isnan(value) else f"{value:#.{digits}g}".rstrip(".").replace("-", "−")


# --- candidates -----------------------------------------------------------------------------------


def heading_items(shown: ShownTable, y: float) -> Iterator[Item]:
    """Yield the headings: a click sorts by one, another click the other way round."""
    yield _heading(shown, 0, "clause", "judged", None, y, "in the order in which they were judged")
    yield Text(x=_IN_MODEL, y=y + 14, text="weight", anchor="end", look="quiet small strong")
    for place, one in enumerate(HEADINGS, 1):
        yield _heading(shown, place, one.words, one.column, one.right, y, one.tip)
    yield Text(x=_VERDICT, y=y + 14, text="verdict", look="quiet small strong")
    yield Path(path=segments([((4, y + 19.5), (WIDTH - 4, y + 19.5))]), look="frame")


def _heading(
    shown: ShownTable, place: int, words: str, column: str, right: float | None, y: float, tip: str
) -> Group:
    table = shown.table
    arrow = (" ▼" if table.descending else " ▲") * (table.order == column)
    look = "words small strong" if arrow else "quiet small strong"
    width = text_width(words + " ▼", "small strong") + 6
    x = _CLAUSE - 2 if right is None else right - width + 2
    at = 2.0 if right is None else width - 2
    return Group(
        id=numbered_id("sort", place), x=x, y=y, press=True,
        tooltip=tooltip(f"sort: {column}", tip),
        children=(
            Rectangle(x=0, y=0, width=width, height=18, corner=3, look="plate"),
            Text(x=at, y=14, text=words + arrow, look=look, anchor="start" if right is None else "end"),
        ),
    )  # fmt: skip


def row_items(shown: ShownTable, top: float) -> tuple[list[Item], float]:
    """Return the rows of a page, and where they end."""
    items: list[Item] = []
    y = top
    for row in shown.table.page(shown.page):
        made, height = _row(shown, row, y)
        items.append(made)
        y += height
    if not items:
        items.append(Text(x=_CLAUSE, y=top + 14.5, text="No candidate is like that.", look="quiet"))
        y += ROW
    return items, y + 4


def _row(shown: ShownTable, row: ClauseRow, y: float) -> tuple[Group, float]:
    one, chosen = row.candidate, row.chosen
    in_model, pending = chosen is not None, row.place in shown.pending
    text = shorten_text(formula_text(one.clause), _LONGEST)
    look = "words strong" if in_model else "words" if one.retained else "quiet"
    is_chosen = shown.chosen is not None and shown.chosen.place == row.place
    best = max((score for _, score in one.sub_scores), default=nan)
    gain = one.score - one.score_without
    values = (number(one.score), number(gain, 3), number(best), number(one.near, 3))
    cells = [*values, f"{one.length}", f"{one.true_atoms:,}"]
    mark = "…" if pending else "●" if in_model else ""
    weight = number(chosen.weight) if chosen is not None and not pending else ""
    numbers = "number" if one.retained else "quiet number"
    hand = "by hand" if row.in_model == "by hand" else ""
    verdict = ("✓ " if one.retained else "✗ ") + SHORT_VERDICTS[one.verdict]
    lines = fitted_lines(text, _ROOM, _MOST_LINES, look)
    height = ROW + _LINE * (len(lines) - 1)
    return Group(
        id=numbered_id("row", row.place), y=y, press=True,
        tooltip=tooltip(text, f"{one.verdict}: {one.reason}", f"in the model {hand}" if in_model else ""),
        children=(
            Rectangle(x=2, y=0, width=WIDTH - 4, height=height - 1, corner=3,
                      look="panel" if is_chosen else "plate"),
            Text(x=8, y=14.5, text=mark, look="words strong"),
            *(Text(x=_CLAUSE, y=14.5 + _LINE * nth, text=line, look=look)
              for nth, line in enumerate(lines)),
            Text(x=_IN_MODEL, y=14.5, text=weight, look="number strong", anchor="end"),
            *(Text(x=h.right, y=14.5, text=cell, look=numbers, anchor="end")
              for h, cell in zip(HEADINGS, cells, strict=True)),
            Text(x=_VERDICT, y=14.5, text=fit_text(verdict, WIDTH - _VERDICT - 8, "small"),
                 look="words small" if one.retained else "quiet small"),
        ),
    ), height  # fmt: skip


def pager_items(shown: ShownTable, y: float) -> tuple[list[Item], float]:
    """Return buttons to other pages, and the range of shown rows among all."""
    total = len(shown.table)
    if shown.shows_dropped and shown.dropped is not None:
        total = len(shown.dropped.closest)
    first, last = shown.page * PAGE, min(total, (shown.page + 1) * PAGE)
    items: list[Item] = []
    x = 8.0
    before, behind = shown.page > 0, shown.page + 1 < shown.pages
    turns = (("first", "‹‹", before), ("before", "‹", before), ("next", "›", behind), ("last", "››", behind))
    if shown.pages > 1:
        for name, words, can in turns:
            if can:
                items.append(chip(f"page-{name}", x, y, words, f"the {name} page")[0])
            x += 36
        x += 6
    what = "path" if shown.shows_dropped else "clause"
    words = f"{first + 1:,}–{last:,} of {count_of(total, what)}" if total else f"0 {what}s"
    everything = len(shown.table.learned.candidates)
    if not shown.shows_dropped and total < everything:
        text = shown.table.chosen.text
        words += f" that fit{f' “{text}”' if text else ''}, of {everything:,}"
    items.append(Text(id="range", x=x, y=y + 13.5, text=fit_text(words, WIDTH - x - 8), look="quiet small"))
    return items, y + 26


# --- paths that heuristic 1 dropped ---------------------------------------------------------------


def dropped_items(shown: ShownTable, top: float) -> tuple[list[Item], float]:
    """Return the paths with too few true atoms, those first that came closest."""
    found = shown.dropped
    if found is None:
        return [
            Text(x=8, y=top + 14, text="The paths are being looked for once more …", look="quiet")
        ], top + ROW
    least = "" if found.complete else "at least "
    words = (
        f"Heuristic 1: {least}{count_of(found.dropped, 'path')} of {found.paths:,} had fewer than μ = "
        f"{found.fewest:g} true atoms for each hyperedge."
    )
    if not found.fewest:
        words = "This run was without heuristic 1 (μ = 0), so that no path was dropped for its true atoms."
    items: list[Item] = [Text(x=8, y=top + 14, text=words, look="words")]
    y = top + ROW + 4
    for path in found.closest[shown.page * PAGE : (shown.page + 1) * PAGE]:
        needed = found.count_needed_atoms(path)
        text = shorten_text(str(path.path), _LONGEST)
        share = path.true_atoms / needed if needed else 0.0
        items += [
            Text(x=_CLAUSE, y=y + 14.5, text=fit_text(text, 640), look="words", tooltip=tooltip(text)),
            Text(x=760, y=y + 14.5, text=f"{path.true_atoms:,} of {needed:,}", look="number", anchor="end"),
            Rectangle(x=774, y=y + 5, width=170, height=10, look="panel"),
            Rectangle(x=774, y=y + 5, width=170 * min(1.0, share), height=10, look="bar grey"),
        ]
        y += ROW
    return items, y + 4
