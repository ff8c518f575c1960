"""Draw the gain of merging two clusters: a row for each new combination, and other pairs beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.display.card.markup import shorten_text
from mlnlab.display.scene.building import mark, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Path, Rectangle, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.display.structure.lift.lifted_boxes import shape_of

if TYPE_CHECKING:
    from mlnlab.display.structure.lift.lift_run_view import LiftView
    from mlnlab.structure.lift.lift_graph import GainTerm, Merge
    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

MOST_TERMS = 9
_ROW = 19.0
_LONGEST_NAME = 20
_WIDEST_COUNTS = 112.0
_NAME, _COUNTS, _ZERO, _REACH, _RIGHT = 8.0, 392.0, 470.0, 62.0, 600.0
_OTHERS, _END, _LONGEST_BAR = 628.0, 892.0, 60.0


class Row(NamedTuple):
    """A line of the sum: its combination, its counts, and its two parts."""

    words: str
    counts: str
    likelihood: float
    prior: float
    predicate: str = ""
    tip: str = ""


def gain_rows(view: LiftView, lifted: LiftedHypergraph, merge: Merge) -> list[Row]:
    """Return a row for each combination, those that count most first; the rest is one row."""
    terms = sorted(merge.terms, key=lambda term: -abs(term.likelihood + term.prior))
    rows = [_row(view, lifted, term) for term in terms[:MOST_TERMS]]
    rest = terms[MOST_TERMS:]
    if rest:
        parts = sum(term.likelihood for term in rest), sum(term.prior for term in rest)
        rows.append(Row(f"{len(rest):,} more combinations", "", *parts))
    return rows


def _row(view: LiftView, lifted: LiftedHypergraph, term: GainTerm) -> Row:
    clusters = term.after.clusters
    names = [_of(view, lifted, cluster) for cluster in clusters]
    words = f"{term.predicate}({', '.join(shorten_text(name, _LONGEST_NAME) for name in names)})"
    whole = f"{term.predicate}({', '.join(names)})"
    if not clusters:
        words = whole = f"{term.predicate}: its default rule"
    before = ", ".join(f"{one.true:,}/{one.atoms:,}" for one in term.before)
    counts = f"{before} → {term.after.true:,}/{term.after.atoms:,}"
    saved = f"{len(term.before)} combinations become one" if len(term.before) > 1 else "no combination less"
    tip = tooltip(
        whole, f"true of all atoms: {counts}", f"likelihood {add_sign(term.likelihood)}",
        f"prior {add_sign(term.prior)}: {saved}",
    )  # fmt: skip
    return Row(words, counts, term.likelihood, term.prior, term.predicate, tip)


def _of(view: LiftView, lifted: LiftedHypergraph, cluster: int) -> str:
    """Return a cluster of a combination in short; one that is merged bears its first constant's name."""
    named = int(lifted.labels[cluster]) if cluster < len(lifted.labels) else cluster
    words = view.name(lifted, named)
    return f"{{{words}}}" if named < len(lifted.labels) and lifted.sizes[named] > 1 else words


def add_sign(value: float) -> str:
    """Return a number with its sign, short enough for a column."""
    if abs(value) < 0.005:
        return "0"
    return f"{'+' if value > 0 else '−'}{abs(value):,.{2 if abs(value) < 1000 else 0}f}"


def gain_items(
    lifted: LiftedHypergraph, rows: Sequence[Row], merge: Merge, heading: str, y: float
) -> tuple[list[Item], float]:
    """Return the sum as a table with bars, and where it ends."""
    most = max((max(abs(row.likelihood), abs(row.prior)) for row in rows), default=1.0)
    most = max(most, abs(merge.likelihood), abs(merge.prior), 1e-9)
    items: list[Item] = [
        Text(
            id="gain-heading", x=_NAME, y=y + 13, text=fit_text(heading, 330, "strong"), look="words strong"
        ),
        Rectangle(x=_ZERO - 66, y=y + 5, width=9, height=9, look="bar blue", corner=2),
        Text(x=_ZERO - 53, y=y + 13, text="likelihood", look="quiet small"),
        Rectangle(x=_ZERO + 10, y=y + 5, width=9, height=9, look="bar orange", corner=2),
        Text(x=_ZERO + 23, y=y + 13, text="prior", look="quiet small"),
        Text(x=_RIGHT, y=y + 13, text="gain", look="quiet small", anchor="end"),
    ]
    top = y + 22
    for number, row in enumerate(rows):
        items.append(_line(lifted, row, numbered_id("term", number), top, most))
        top += _ROW
    items.append(Path(path=segments([((_NAME, top + 1), (_RIGHT, top + 1))]), look="frame"))
    total = Row("all together", "", merge.likelihood, merge.prior)
    items.append(_line(lifted, total, "term-all", top + 4, most))
    axis = Path(path=segments([((_ZERO, y + 20), (_ZERO, top + _ROW))]), look="frame")
    return [axis, *items], top + _ROW + 8


def _line(lifted: LiftedHypergraph, row: Row, name: str, y: float, most: float) -> Group:
    strong = "" if row.counts else " strong"
    children: list[Item] = [
        Rectangle(x=0, y=0, width=_RIGHT, height=_ROW - 2, look="clear"),
        Text(x=_NAME + 12, y=12.5, text=fit_text(row.words, 256, "small"), look=f"words small{strong}"),
        Text(x=_COUNTS, y=12.5, text=_fitting(row.counts), look="quiet small", anchor="end"),
        *_bar(row.likelihood / most, 1.5, "blue"),
        *_bar(row.prior / most, 8.5, "orange"),
        Text(
            x=_RIGHT, y=12.5, text=add_sign(row.likelihood + row.prior), anchor="end",
            look=f"number small{strong}",
        ),
    ]  # fmt: skip
    if row.predicate in lifted.hypergraph.vocabulary.predicates:
        children.append(mark(shape_of(lifted, row.predicate), 3.6, "bar grey", _NAME + 4, 8.5))
    return Group(id=name, y=y, tooltip=row.tip, children=tuple(children))


def _fitting(counts: str) -> str:
    """Return counts that fit their column; if too long, only the number of old counts, and the new one."""
    before, arrow, after = counts.partition(" → ")
    if arrow and text_width(counts, "small") > _WIDEST_COUNTS:
        number = before.count(", ") + 1
        counts = f"{number:,} together → {after}" if number > 2 else f"… → {after}"
    return fit_text(counts, _WIDEST_COUNTS, "small")


def _bar(share: float, y: float, hue: str) -> Iterator[Item]:
    wide = abs(share) * _REACH
    left = _ZERO if share > 0 else _ZERO - wide
    yield Rectangle(x=left, y=y, width=wide, height=5.5, look=f"bar {hue}", corner=1)


# --- other pairs ----------------------------------------------------------------------------------


def _in_short(view: LiftView, lifted: LiftedHypergraph, cluster: int) -> str:
    """Return a cluster as its first constant and how many more it holds."""
    constants = len(lifted.labels)
    more = int(lifted.sizes[cluster]) - 1 if cluster < constants else 0
    return f"{shorten_text(view.source.problem.name_of(cluster), 30)}{f' +{more:,}' * (more > 0)}"


def pair_items(
    view: LiftView, lifted: LiftedHypergraph, pairs: Sequence[Merge], heading: str, y: float
) -> tuple[list[Item], float]:
    """Return pairs with their gains, best first; each can be clicked, to be looked at closely."""
    if not heading:
        return [], y
    items: list[Item] = [Text(x=_OTHERS, y=y + 13, text=heading, look="words strong")]
    top = y + 22
    most = max((abs(pair.gain) for pair in pairs), default=0.0) or 1.0
    for pair in pairs:
        words = f"{_in_short(view, lifted, pair.first)} + {_in_short(view, lifted, pair.second)}"
        tip = tooltip(words, f"gain {add_sign(pair.gain)}: likelihood {add_sign(pair.likelihood)}, prior"
                      f" {add_sign(pair.prior)}")  # fmt: skip
        wide = abs(pair.gain) / most * _LONGEST_BAR
        children = (
            Rectangle(x=0, y=0, width=_END - _OTHERS, height=_ROW - 2, look="clear"),
            Rectangle(
                x=156, y=4, width=wide, height=9, corner=2, look="bar green" if pair.gain > 0 else "bar grey"
            ),
            Text(x=0, y=12.5, text=fit_text(words, 150, "small"), look="words small"),
            Text(x=_END - _OTHERS, y=12.5, text=add_sign(pair.gain), anchor="end", look="number small"),
        )
        name = numbered_id("pair", pair.first, pair.second)
        items.append(Group(id=name, x=_OTHERS, y=top, press=True, tooltip=tip, children=children))
        top += _ROW
    if not pairs:
        items.append(Text(x=_OTHERS, y=top + 10, text="no pair shares a context", look="quiet small"))
        top += _ROW
    return items, top
