"""The two halves of a step of LiftGraph: the hypergraph coloured by clusters, and the lifted hypergraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.scene.building import label, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Path, Rectangle
from mlnlab.display.scene.paths import arrow_head, segments
from mlnlab.display.structure.lift.lifted_boxes import (
    Box,
    Shown,
    box_item,
    boxes_of,
    dash_of,
    fitting_name,
    hue_of_cluster,
)
from mlnlab.display.structure.lift.lifted_edges import LIT, edge_items, name_items
from mlnlab.display.structure.lift.lifted_places import PADDING, WIDEST_NAME, Slots
from mlnlab.display.structure.lift.lifted_scenes import badges_of, caption_items

if TYPE_CHECKING:
    from mlnlab.display.structure.lift.lift_run_view import Before, LiftView
    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

_NODE, _BESIDE = 3.4, 5.0
_PLAIN = 60  # more lines have no dashes


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
