"""Hold the shared view of FindPaths: places of clusters, lines between them, and a path lit on both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.nodelink.layouts.boxes import Spacing, boxes_layout
from mlnlab.display.scene.building import label, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Path
from mlnlab.display.structure.lift.lifted_boxes import (
    Box,
    Line,
    Shown,
    box_item,
    boxes_of,
    edge_items,
    edge_tip,
    hue_of_cluster,
    lines_of,
    name_items,
    shape_of,
)
from mlnlab.display.structure.lift.lifted_hypergraphs import badges_of, caption_items, is_small
from mlnlab.display.structure.lift.lifted_places import COUNTED, MOST_INSIDE, Caption, slots_of
from mlnlab.structure.paths.variabilized import variabilize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step
    from mlnlab.structure.lift.lifted_hypergraph import LiftedEdge, LiftedHypergraph
    from mlnlab.structure.paths.find_paths import FindPaths, PathState

    Numbers = NDArray[np.int64]

GRAPH = 600.0  # pixels: the width of the drawing of the hypergraph
_MOST_LOOKED_AT = 300  # steps at the beginning, and as many just before
_AROUND = 130.0  # the length of lines where only a path is drawn
_MOST_ADDITIONS = 24  # more lines would hide the path
_BESIDE = 3  # the place on a line that leaves its middle to its name
IN_PATH, NEWEST, TO_ADD = "blue", "orange", "green"


class Drawing(NamedTuple):
    """Boxes for clusters, lines for hyperedges by their numbers, captions, and the size of all.

    ``whole`` says that all clusters are drawn, and not those of a path alone.
    """

    boxes: Mapping[int, Box]
    lines: Mapping[int, Line]
    captions: Sequence[Caption]
    width: float
    height: float
    whole: bool = False


@dataclass(frozen=True, eq=False)
class PathView:
    """A search as its pictures need it; ``whole`` is nothing where the hypergraph is too large to draw.

    ``estimated`` is about how many paths there are.
    """

    source: FindPaths
    whole: Drawing | None
    estimated: float

    @property
    def lifted(self) -> LiftedHypergraph:
        """The hypergraph in which paths are found."""
        return self.source.graph

    def edges(self, numbers: Sequence[int]) -> list[LiftedEdge]:
        """Return hyperedges by their numbers."""
        return [self.lifted.edges[number] for number in numbers]

    def drawing(self, state: PathState) -> Drawing:
        """Return the drawing of a state: the whole hypergraph, or the path alone."""
        if self.whole is not None:
            return self.whole
        taken = (state.edge,) if state.did == "backed up" else ()
        return drawing_of(self.lifted, self.edges((*state.path, *taken)))

    def earlier(self, step: Step[Any], trace: Trace[Any]) -> int | None:
        """Return the first of the steps before whose path looks like the one that was just found."""
        if not step.state.verdict:
            return None
        form = variabilize(self.lifted, step.state.path)
        before = [index for index in trace.indices if index < step.index]
        for index in before[:_MOST_LOOKED_AT] + before[_MOST_LOOKED_AT:][-_MOST_LOOKED_AT:]:
            state = trace.seek(index).state
            if state.verdict and variabilize(self.lifted, state.path) == form:
                return index
        return None


def path_view(source: FindPaths) -> PathView:
    """Return the shared view of a search's pictures."""
    whole = whole_drawing(source.graph) if is_small(source.graph) else None
    return PathView(source, whole, source.estimate().number)


def whole_drawing(lifted: LiftedHypergraph) -> Drawing | None:
    """Return places for all clusters; nothing where there are none."""
    if not len(lifted.labels):
        return None

    def is_counted(members: Numbers) -> bool:
        return len(members) > MOST_INSIDE

    order = np.arange(len(lifted.labels))
    slots = slots_of(lifted.hypergraph, lifted.labels, order, GRAPH, counted=is_counted)
    boxes = boxes_of(lifted, slots)
    return Drawing(boxes, lines_of(lifted.edges, boxes), slots.captions, *slots.size, whole=True)


def drawing_of(lifted: LiftedHypergraph, edges: Sequence[LiftedEdge], width: float = GRAPH) -> Drawing:
    """Return places for the clusters of some hyperedges alone."""
    clusters = sorted({cluster for edge in edges for cluster in edge.clusters})
    place_of = {cluster: place for place, cluster in enumerate(clusters)}
    pairs = {
        (place_of[first], place_of[second])
        for edge in edges
        for first in edge.clusters
        for second in edge.clusters
        if first < second
    }
    sizes = np.array([COUNTED] * len(clusters)).reshape(-1, 2)
    links = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    found = boxes_layout(sizes + np.array([50.0, 34.0]), links, Spacing(_AROUND, 40.0, width))
    boxes = {
        cluster: _box(lifted, cluster, *place)
        for cluster, place in zip(clusters, found.places.tolist(), strict=True)
    }
    return Drawing(boxes, lines_of(edges, boxes), (), *found.size)


def _box(lifted: LiftedHypergraph, cluster: int, x: float, y: float) -> Box:
    members = tuple(lifted.members(cluster).tolist())
    wide, tall = COUNTED
    if len(members) == 1:
        return Box(cluster, members, x, y, wide, tall / 2, ((x, y),))
    return Box(cluster, members, x, y, wide, tall, ())


# --- lit ------------------------------------------------------------------------------------------


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
