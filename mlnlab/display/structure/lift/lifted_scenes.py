"""The drawing of a clustering: a box for each cluster, a line for each hyperedge with its counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.bars import WIDTH
from mlnlab.display.scene.building import Entry, label, legend, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Expands, Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import polyline
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.display.structure.lift.lifted_boxes import (
    Shown,
    box_item,
    boxes_of,
    dash_of,
    hue_of_cluster,
    shape_of,
)
from mlnlab.display.structure.lift.lifted_edges import LIT, edge_items, name_items
from mlnlab.display.structure.lift.lifted_groups import group_id
from mlnlab.display.structure.lift.lifted_places import MOST_INSIDE, MOST_OPEN, in_grid, slots_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.display.structure.lift.lifted_boxes import Box
    from mlnlab.display.structure.lift.lifted_places import Caption, Size
    from mlnlab.structure.lift.lifted_hypergraph import LiftedEdge, LiftedHypergraph

_NOTHING: Mapping[int, str] = {}
_NO_HANDLES: Mapping[str, str] = {}
_NO_PICKS: Mapping[str, str] = {}


def clusters_scene(
    lifted: LiftedHypergraph,
    groups: Mapping[int, str] = _NOTHING,
    *,
    of: LiftedHypergraph | None = None,
    opened: frozenset[int] = frozenset(),
    folds: bool = False,
    handles: Mapping[str, str] = _NO_HANDLES,
) -> Scene:
    """Return a drawing of all clusters and hyperedges; ``groups`` are boxes that stand for several clusters.

    ``of`` is the clustering that is drawn more coarsely than it is; ``opened`` clusters show their constants,
    however many these are; ``handles`` close what stands open.
    """
    order = np.arange(len(lifted.labels))

    def is_counted(members: NDArray[np.int64]) -> bool:
        many = len(members) > MOST_INSIDE and int(members[0]) not in opened
        return many or int(members[0]) in groups

    def arrange_members(members: NDArray[np.int64], cell: Size) -> NDArray[np.float64]:
        return in_grid(len(members), cell, WIDTH - 40)

    slots = slots_of(
        lifted.hypergraph, lifted.labels, order, WIDTH, counted=is_counted, arranged=arrange_members
    )
    boxes = boxes_of(lifted, slots, frozenset(groups), opened)
    ranks = np.searchsorted(lifted.clusters, lifted.labels)
    items = []
    for cluster, box in boxes.items():
        group = groups.get(cluster, "")
        expands: Expands = "open" if cluster in opened else "closed" if group or _opens(box) else ""
        name = group_id(lifted, cluster) if group else numbered_id("cluster", cluster)
        shown = Shown(
            name, "grey" if group else hue_of_cluster(cluster, ranks), words=group,
            pick=not group and not (folds and expands), expands=expands if folds else "",
            badges=badges_of(lifted, cluster),
        )  # fmt: skip
        items.append(box_item(lifted, box, shown))
    explained, height = legend(predicate_entries(lifted), 8, slots.size[1] + 8, WIDTH - 16)
    foot = slots.size[1] + height + 12
    layers = (
        Layer("edges", tuple(edge_items(lifted, boxes))),
        Layer("clusters", tuple(items)),
        Layer("names", tuple(name_items(lifted, boxes, slots.captions))),
        Layer("captions", tuple(caption_items(slots.captions))),
        Layer("explained", (explained,) if height else (), zooms=False),
        Layer("handles", tuple(_handles(handles, foot)), zooms=False),
    )
    bottom = foot + 26 * bool(handles)
    return Scene(slots.size[0], bottom, layers, "Lifted hypergraph", in_words(of or lifted))


def _opens(box: Box) -> bool:
    """Tell whether a cluster is a count, of constants that there is room to name."""
    return not box.inside and len(box.members) <= MOST_OPEN


def opened_of(lifted: LiftedHypergraph, names: Collection[str]) -> frozenset[int]:
    """Return the clusters that stand open and are counts else."""
    sizes = lifted.sizes
    many = np.flatnonzero((sizes > MOST_INSIDE) & (sizes <= MOST_OPEN)).tolist()
    return frozenset(cluster for cluster in many if numbered_id("cluster", cluster) in names)


def _handles(handles: Mapping[str, str], y: float) -> Iterator[Item]:
    """Yield buttons that close the open types."""
    x = 8.0
    for name, type_ in handles.items():
        words = fit_text(f"close {type_}", 160, "small")
        width = text_width(words, "small") + 16
        yield Group(
            id=name, x=x, y=y, expands="open", tooltip=tooltip(words, "draw its clusters as one again"),
            children=(
                Rectangle(x=0, y=0, width=width, height=19, look="panel", corner=4),
                Text(x=8, y=13.5, text=words, look="words small"),
            ),
        )  # fmt: skip
        x += width + 6


def badges_of(lifted: LiftedHypergraph, cluster: int) -> tuple[LiftedEdge, ...]:
    """Return the properties that some of a cluster's constants have."""
    edges = (lifted.edges[number] for number in lifted.edges_of[cluster])
    return tuple(edge for edge in edges if len(edge.clusters) == 1)


def caption_items(captions: Sequence[Caption]) -> Iterator[Item]:
    """Yield the captions above blocks."""
    for caption in captions:
        yield label(caption.x, caption.y, caption.words, caption.width, "label small slanted")


def predicate_entries(
    lifted: LiftedHypergraph,
    lit: frozenset[str] = frozenset(),
    together: Sequence[Sequence[str]] = (),
    picks: Mapping[str, str] = _NO_PICKS,
) -> list[Entry]:
    """Return the legend: predicates by dashes and marks, and which of them are one cluster.

    Those that were merged just now, ``lit``, have a colour; ``picks`` names those that can be clicked.
    """
    found = []
    for name, rows in lifted.hypergraph.members.items():
        hue = LIT if name in lit else "grey"
        look = f"curve {hue} {dash_of(lifted, name)}".strip()
        line = (Path(path=polyline([(-10, 0), (8, 0)]), look=look),) * (rows.shape[1] > 1)
        sample = Group(children=(*line, mark(shape_of(lifted, name), 3.6, f"bar {hue}", -1)))
        found.append(Entry(sample, shorten_text(name), picks.get(name, "")))
    for cluster in together:
        words = f"{{{', '.join(shorten_text(name, 20) for name in cluster)}}} are one cluster"
        look = f"wash {LIT if lit & set(cluster) else 'grey'}"
        frame = Rectangle(x=-7, y=-5, width=13, height=10, corner=3, look=look)
        found.append(Entry(frame, words))
    return found


def in_words(lifted: LiftedHypergraph) -> str:
    """Say how large a lifted hypergraph is."""
    clusters, constants = count_of(len(lifted.clusters), "cluster"), count_of(len(lifted.labels), "constant")
    return f"{clusters} of {constants}, over {count_of(lifted.hypergraph.number_of_edges, 'true atom')}."
