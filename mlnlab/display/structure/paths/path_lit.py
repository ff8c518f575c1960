"""A path lit on the drawing of its hypergraph: its hyperedges numbered as they were added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.scene.building import label, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Path
from mlnlab.display.structure.lift.lifted_boxes import (
    Shown,
    box_item,
    edge_items,
    edge_tip,
    hue_of_cluster,
    name_items,
    shape_of,
)
from mlnlab.display.structure.lift.lifted_hypergraphs import badges_of, caption_items
from mlnlab.display.structure.lift.lifted_places import Caption

if TYPE_CHECKING:
    from mlnlab.display.structure.lift.lifted_boxes import Line
    from mlnlab.display.structure.paths.path_view import Drawing, PathView
    from mlnlab.structure.lift.lifted_hypergraph import LiftedEdge, LiftedHypergraph
    from mlnlab.structure.paths.find_paths import PathState

_MOST_ADDITIONS = 24  # more lines would hide the path
_BESIDE = 3  # the place on a line that leaves its middle to its name
IN_PATH, NEWEST, TO_ADD = "blue", "orange", "green"


def graph_items(view: PathView, state: PathState, additions: Sequence[int]) -> Iterator[Item]:
    """Yield the hypergraph with the path, the last change, and the possible additions."""
    drawing, lifted = view.drawing(state), view.lifted
    if view.whole is not None:
        yield from edge_items(lifted, drawing.boxes)
        for number in additions if len(additions) <= _MOST_ADDITIONS else ():
            if number in drawing.lines:
                yield _line(lifted, drawing, lifted.edges[number], f"curve {TO_ADD}", "add")
    yield from lit_items(lifted, drawing, state.path, state.edge if state.did != "ended" else -1)


def lit_items(
    lifted: LiftedHypergraph, drawing: Drawing, path: Sequence[int], newest: int = -1
) -> Iterator[Item]:
    """Yield a path's hyperedges, the clusters, and numbers in the order of adding; ``newest`` stands out.

    Where ``newest`` is not in the path, it was taken back.
    """
    taken = [newest] if newest >= 0 and newest not in path else []
    for number in (*path, *taken):
        if number in drawing.lines:
            hue = NEWEST if number == newest else IN_PATH
            dashes = " dashed" if number in taken else ""
            look = f"curve {hue} thick{dashes}"
            yield _line(lifted, drawing, lifted.edges[number], look, "back" if taken == [number] else "lit")
    ranks = np.searchsorted(lifted.clusters, lifted.labels)
    lit = {cluster for number in path for cluster in lifted.edges[number].clusters}
    for cluster, box in drawing.boxes.items():
        shown = Shown(
            numbered_id("cluster", cluster), hue_of_cluster(cluster, ranks), lit=cluster in lit,
            badges=badges_of(lifted, cluster),
        )  # fmt: skip
        yield box_item(lifted, box, shown)
    if drawing.whole:
        # Names leave the places free at which the numbers of hyperedges may stand.
        taken_places = [Caption(*_spot(line), 30, "") for line in drawing.lines.values()]
        yield from name_items(lifted, drawing.boxes, [*drawing.captions, *taken_places])
    yield from caption_items(drawing.captions)
    for place, number in enumerate(path, 1):
        yield _number(lifted, drawing, number, place, NEWEST if number == newest else IN_PATH)


def _line(lifted: LiftedHypergraph, drawing: Drawing, edge: LiftedEdge, look: str, word: str) -> Group:
    line = drawing.lines[edge.number]
    hue = next(hue for hue in (IN_PATH, NEWEST, TO_ADD) if hue in look.split())
    head = (Path(path=line.head, look=f"bar {hue}"),) if line.head else ()
    return Group(
        id=numbered_id(word, edge.number), tooltip=edge_tip(lifted, edge),
        children=(Path(path=line.path, look=look), *head),
    )  # fmt: skip


def _spot(line: Line) -> tuple[float, float]:
    """Return where the number of a hyperedge stands on its line."""
    return line.spots[_BESIDE if len(line.spots) > _BESIDE else -1]


def _number(lifted: LiftedHypergraph, drawing: Drawing, number: int, place: int, hue: str) -> Group:
    """Return the number of a hyperedge of the path: on its line, or below the cluster that it is about."""
    edge = lifted.edges[number]
    if number in drawing.lines:
        x, y = _spot(drawing.lines[number])
        shape: Item = Circle(x=0, y=0, radius=8.5, look=f"disc {hue}")
    else:
        box = drawing.boxes[edge.clusters[0]]
        badges = [badge.number for badge in badges_of(lifted, edge.clusters[0])]
        x = box.x + 19 * (badges.index(number) - (len(badges) - 1) / 2)
        y = box.y + box.height / 2 + 10
        shape = mark(shape_of(lifted, edge.predicate), 8.5, f"disc {hue}")
    return Group(
        id=numbered_id("step", number), x=x, y=y,
        tooltip=tooltip(f"hyperedge {place} of the path", edge_tip(lifted, edge)),
        children=(shape, label(0, 4, str(place), 30, "label small strong")),
    )  # fmt: skip
