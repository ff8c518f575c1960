"""Hold the shared view of FindPaths' pictures: places of clusters, and the lines between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.nodelink.layouts.boxes import Spacing, boxes_layout
from mlnlab.display.structure.lift.lifted_boxes import Box, Line, boxes_of, lines_of
from mlnlab.display.structure.lift.lifted_hypergraphs import is_small
from mlnlab.display.structure.lift.lifted_places import COUNTED, MOST_INSIDE, slots_of
from mlnlab.structure.paths.variabilized import variabilize

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.display.structure.lift.lifted_places import Caption
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step
    from mlnlab.structure.lift.lifted_hypergraph import LiftedEdge, LiftedHypergraph
    from mlnlab.structure.paths.find_paths import FindPaths, PathState

    Numbers = NDArray[np.int64]

GRAPH = 600.0  # pixels: the width of the drawing of the hypergraph
_MOST_LOOKED_AT = 300  # steps at the beginning, and as many just before
_AROUND = 130.0  # the length of lines where only a path is drawn


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
