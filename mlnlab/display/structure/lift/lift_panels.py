"""The two halves of a step of LiftGraph: the hypergraph coloured by clusters, and the lifted hypergraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.scene.building import label, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Path, Rectangle, Text
from mlnlab.display.scene.paths import arrow_head, segments
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.display.structure.lift.lifted_boxes import (
    LIT,
    Box,
    Shown,
    box_item,
    boxes_of,
    cluster_tip,
    dash_of,
    edge_items,
    fitting_name,
    hue_of_cluster,
    name_items,
    shape_of,
)
from mlnlab.display.structure.lift.lifted_hypergraphs import badges_of, caption_items
from mlnlab.display.structure.lift.lifted_places import PADDING, WIDEST_NAME, Slots

if TYPE_CHECKING:
    from mlnlab.display.structure.lift.lift_run_view import Before, LiftView
    from mlnlab.structure.lift.lift_graph import GainTerm, Merge
    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

_NODE, _BESIDE = 3.4, 5.0
_PLAIN = 60  # more lines have no dashes
_LEFT, _HIGH, _ROW = 130.0, 22.0, 44.0
_MOST_PIECES = 40
MOST_TERMS = 9
_GAIN_ROW = 19.0
_LONGEST_NAME = 20
_WIDEST_COUNTS = 112.0
_NAME, _COUNTS, _ZERO, _REACH, _RIGHT = 8.0, 392.0, 470.0, 62.0, 600.0
_OTHERS, _END, _LONGEST_BAR = 628.0, 892.0, 60.0


def constants_panel(
    view: LiftView, lifted: LiftedHypergraph, slots: Slots, lit: frozenset[int], predicates: frozenset[str]
) -> Iterator[Item]:
    """Yield the atoms as lines, the clusters as washes behind, constants in their cluster's colour.

    Of what was merged, constants or ``predicates``, everything is lit.
    """
    yield from _washes(view, lifted, slots)
    yield from _atoms(lifted, slots, predicates)
    for node, (x, y) in enumerate(slots.places.tolist()):
        cluster = int(lifted.labels[node])
        alone = lifted.sizes[cluster] == 1
        hue = "grey" if alone else hue_of_cluster(cluster, view.ranks)
        yield _constant(lifted, slots, node, (x, y), hue, node in lit)
    yield from caption_items(slots.captions)


def _constant(
    lifted: LiftedHypergraph, slots: Slots, node: int, place: tuple[float, float], hue: str, lit: bool
) -> Group:
    name, type_ = lifted.hypergraph.node(node).constant, lifted.hypergraph.node(node).type
    number = int(lifted.sizes[lifted.labels[node]])
    company = f"in a cluster of {number:,}" if number > 1 else "in a cluster of its own"
    shape: tuple[Item, ...]
    if slots.named:
        wide, tall = slots.cells[node].tolist()
        shape = (
            Rectangle(
                x=2 - wide / 2, y=1 - tall / 2, width=wide - 4, height=tall - 2, corner=8,
                look=f"ring {hue}{' thick' * lit}",
            ),
            label(0, 4, fitting_name(name), WIDEST_NAME + 4, f"words small{' strong' * lit}"),
        )  # fmt: skip
    else:
        shape = (Circle(x=0, y=0, radius=_NODE + 1.8 * lit, look=f"disc {hue}"),)
    return Group(
        id=numbered_id("constant", node), x=place[0], y=place[1], pick=True,
        tooltip=tooltip(shorten_text(name), type_, company), children=shape,
    )  # fmt: skip


def _washes(view: LiftView, lifted: LiftedHypergraph, slots: Slots) -> Iterator[Item]:
    """Yield a wash behind each cluster whose constants lie side by side."""
    for cluster in lifted.clusters[lifted.sizes[lifted.clusters] > 1].tolist():
        places = slots.places[lifted.members(cluster)]
        low, high = places.min(0), places.max(0)
        if ((slots.places >= low - 1) & (slots.places <= high + 1)).all(1).sum() == len(places):
            cell = slots.cells[cluster]
            left, top = (low - cell / 2).tolist()
            wide, tall = (high - low + cell).tolist()
            look = f"wash {hue_of_cluster(cluster, view.ranks)}"
            shape = Rectangle(x=left, y=top, width=wide, height=tall, corner=9, look=look)
            yield Group(id=numbered_id("wash", cluster), children=(shape,))


def _atoms(lifted: LiftedHypergraph, slots: Slots, lit: frozenset[str]) -> Iterator[Item]:
    """Yield the true atoms of each predicate as one path, in its dashes."""
    graph = lifted.hypergraph
    predicates = list(graph.vocabulary.predicates)
    gap = 9.0 if slots.named else _NODE
    beside: Counter[tuple[int, ...]] = Counter()  # atoms of the same constants lie side by side
    for name, rows in graph.members.items():
        if rows.shape[1] < 2:
            continue
        pairs, heads = [], []
        for nodes, row in zip(rows.tolist(), slots.places[rows.astype(np.int64)], strict=True):
            lines = _lines(row + _aside(row, beside[tuple(nodes)]), gap, slots.named)
            beside[tuple(nodes)] += 1
            pairs += lines
            if len(row) == 2 and slots.named:
                heads.append(arrow_head(lines[0][1], lines[0][0], 6))
        number = predicates.index(name)
        tip = tooltip(shorten_text(name), count_of(len(rows), "true atom"))
        look = f"link {dash_of(lifted, name)}".strip() if graph.number_of_edges <= _PLAIN else "link faint"
        look = f"curve {LIT} {dash_of(lifted, name)}".strip() if name in lit else look
        children: list[Item] = [Path(path=segments(pairs), look=look)]
        if heads:
            children.append(Path(path="".join(heads), look=f"bar {LIT}" if name in lit else "bar grey faint"))
        yield Group(id=numbered_id("atoms", number), tooltip=tip, children=tuple(children))


def _aside(row: np.ndarray, before: int) -> np.ndarray:
    """Return the offset of an atom's line beside ``before`` earlier atoms of the same constants."""
    across, down = (row[-1] - row[0]).tolist()
    length = float(np.hypot(across, down))
    if not before or not length:
        return np.zeros(2)
    far = _BESIDE * ((before + 1) // 2) * (-1) ** before / length
    return np.array([far * down, -far * across])


def _lines(row: np.ndarray, gap: float, named: bool) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Return the lines of an atom: from its first constant to its second, or to all from their middle."""
    points = [(float(x), float(y)) for x, y in row]
    if len(points) == 2:
        return [(_before(points[1], points[0], gap, named), _before(points[0], points[1], gap, named))]
    middle = (float(row[:, 0].mean()), float(row[:, 1].mean()))
    return [(middle, _before(middle, point, gap, named)) for point in points]


def _before(
    start: tuple[float, float], end: tuple[float, float], gap: float, named: bool
) -> tuple[float, float]:
    """Return a point on the way to the end, in front of the item there; names are wider than high."""
    across, down = end[0] - start[0], end[1] - start[1]
    length = float(np.hypot(across, down))
    if not length:
        return end
    reach = gap / max(abs(down) / length, gap / 24.0) if named else gap
    share = max(0.0, 1 - reach / length)
    return start[0] + across * share, start[1] + down * share


# --- lifted ---------------------------------------------------------------------------------------


def clusters_panel(
    view: LiftView, lifted: LiftedHypergraph, slots: Slots, before: Before | None, chosen: Sequence[int],
    predicates: frozenset[str],
) -> Iterator[Item]:  # fmt: skip
    """Yield the hyperedges and the clusters; the clicked clusters are lit, or else the merged one."""
    boxes = boxes_of(lifted, slots)
    merged = int(lifted.labels[before.first[0]]) if before is not None else -1
    lit = frozenset(chosen) or frozenset({merged} - {-1})
    yield from edge_items(lifted, boxes, lit, predicates)
    for cluster, box in boxes.items():
        shown = Shown(
            numbered_id("cluster", cluster), hue_of_cluster(cluster, view.ranks), lit=cluster in lit,
            badges=badges_of(lifted, cluster) if slots.named else (),
        )  # fmt: skip
        yield box_item(lifted, box, shown)
    if before is not None and merged in boxes and boxes[merged].inside and not chosen:
        yield from _halves(boxes[merged], before, slots)
    yield from name_items(lifted, boxes, slots.captions)
    yield from caption_items(slots.captions)


def _halves(box: Box, before: Before, slots: Slots) -> Iterator[Item]:
    """Yield frames around the two clusters that a merged one holds."""
    places = dict(zip(box.members, box.inside, strict=True))
    for name, members in (("first", before.first), ("second", before.second)):
        points = np.array([places[member] for member in members])
        low, high = points.min(0), points.max(0)
        wide, tall = (high - low + slots.cells[members[0]] - PADDING / 2).tolist()
        x, y = ((low + high) / 2).tolist()
        frame = Rectangle(x=-wide / 2, y=-tall / 2, width=wide, height=tall, corner=7, look="frame dashed")
        yield Group(id=f"half-{name}", x=x, y=y, children=(frame,))


# --- strips ---------------------------------------------------------------------------------------


def strips(
    view: LiftView,
    lifted: LiftedHypergraph,
    before: Before | None,
    chosen: Sequence[int],
    y: float,
    width: float,
) -> tuple[list[Item], float]:
    """Return the clusters of each type, the largest first, those of one constant together; where they end."""
    merged = () if before is None else (int(lifted.labels[before.first[0]]),)
    lit = frozenset(chosen or merged)
    items: list[Item] = []
    for number, (type_, constants) in enumerate(lifted.hypergraph.constants.items()):
        if not len(constants):
            continue
        clusters = _clusters_of(lifted, type_)
        words = f"{count_of(len(clusters), 'cluster')} of {len(constants):,}"
        items += [
            Text(
                x=8, y=y + 10, text=fit_text(shorten_text(type_), _LEFT - 16, "strong"), look="words strong"
            ),
            Text(id=numbered_id("sizes", number), x=8, y=y + 24, text=words, look="quiet small"),
            *_pieces(view, lifted, clusters, lit, before, number, y, width - _LEFT - 8),
        ]
        y += _ROW
    return items, y


def _clusters_of(lifted: LiftedHypergraph, type_: str) -> np.ndarray:
    first = lifted.hypergraph.offsets[type_]
    last = first + len(lifted.hypergraph.constants[type_])
    clusters = lifted.clusters[(lifted.clusters >= first) & (lifted.clusters < last)]
    return clusters[np.lexsort((clusters, -lifted.sizes[clusters]))]


def _pieces(
    view: LiftView, lifted: LiftedHypergraph, clusters: np.ndarray, lit: frozenset[int],
    before: Before | None, strip: int, y: float, width: float,
) -> Iterator[Item]:  # fmt: skip
    """Yield the pieces of a strip; a piece is as wide as its share of the constants.

    One that was merged has a line where the two clusters meet.
    """
    total = int(lifted.sizes[clusters].sum())
    x = _LEFT
    drawn = [cluster for cluster in clusters[:_MOST_PIECES].tolist() if lifted.sizes[cluster] > 1]
    drawn += [cluster for cluster in sorted(lit) if cluster in clusters and cluster not in drawn]
    for cluster in drawn:
        wide = width * int(lifted.sizes[cluster]) / total
        words = f"{lifted.sizes[cluster]:,}"
        look = f"wash {hue_of_cluster(cluster, view.ranks)}{' thick' * (cluster in lit)}"
        children: list[Item] = [Rectangle(x=0, y=0, width=wide, height=_HIGH, look=look, corner=2)]
        if text_width(words, "small") < wide - 4:
            children.append(Text(x=wide / 2, y=15, text=words, anchor="middle", look="number small"))
        if before is not None and cluster == lifted.labels[before.first[0]]:
            meet = wide * len(before.first) / int(lifted.sizes[cluster])
            children.append(Path(path=segments([((meet, 0), (meet, _HIGH))]), look="frame dashed"))
        yield Group(
            id=numbered_id("cluster", cluster), x=x, y=y, pick=True, tooltip=cluster_tip(lifted, cluster),
            children=tuple(children),
        )  # fmt: skip
        x += wide
    rest = len(clusters) - len(drawn)
    if rest:
        words = f"{rest:,} more, the smallest" if len(drawn) else f"{rest:,} alone"
        piece = Rectangle(x=0, y=0, width=max(_LEFT + width - x, 0), height=_HIGH, look="panel", corner=2)
        text = Text(
            x=6, y=15, text=fit_text(words, max(_LEFT + width - x - 8, 0), "small"), look="quiet small"
        )
        yield Group(id=numbered_id("others", strip), x=x, y=y, tooltip=tooltip(words), children=(piece, text))


# --- gains ----------------------------------------------------------------------------------------


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
        top += _GAIN_ROW
    items.append(Path(path=segments([((_NAME, top + 1), (_RIGHT, top + 1))]), look="frame"))
    total = Row("all together", "", merge.likelihood, merge.prior)
    items.append(_line(lifted, total, "term-all", top + 4, most))
    axis = Path(path=segments([((_ZERO, y + 20), (_ZERO, top + _GAIN_ROW))]), look="frame")
    return [axis, *items], top + _GAIN_ROW + 8


def _line(lifted: LiftedHypergraph, row: Row, name: str, y: float, most: float) -> Group:
    strong = "" if row.counts else " strong"
    children: list[Item] = [
        Rectangle(x=0, y=0, width=_RIGHT, height=_GAIN_ROW - 2, look="clear"),
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
            Rectangle(x=0, y=0, width=_END - _OTHERS, height=_GAIN_ROW - 2, look="clear"),
            Rectangle(
                x=156, y=4, width=wide, height=9, corner=2, look="bar green" if pair.gain > 0 else "bar grey"
            ),
            Text(x=0, y=12.5, text=fit_text(words, 150, "small"), look="words small"),
            Text(x=_END - _OTHERS, y=12.5, text=add_sign(pair.gain), anchor="end", look="number small"),
        )
        name = numbered_id("pair", pair.first, pair.second)
        items.append(Group(id=name, x=_OTHERS, y=top, press=True, tooltip=tip, children=children))
        top += _GAIN_ROW
    if not pairs:
        items.append(Text(x=_OTHERS, y=top + 10, text="no pair shares a context", look="quiet small"))
        top += _GAIN_ROW
    return items, top
