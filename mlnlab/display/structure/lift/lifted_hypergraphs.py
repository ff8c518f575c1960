"""Show a lifted hypergraph: its clusters and hyperedges as a drawing, and both as tables."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.card.cards import MOST_ROWS, Card, Table, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.scene.building import WIDTH, Entry, label, legend, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Expands, Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import polyline
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.display.structure.lift.lifted_boxes import (
    LIT,
    Shown,
    box_item,
    boxes_of,
    dash_of,
    edge_items,
    edge_name,
    hue_of_cluster,
    name_items,
    shape_of,
)
from mlnlab.display.structure.lift.lifted_places import MOST_INSIDE, MOST_OPEN, in_grid, slots_of
from mlnlab.structure.lift.lifted_hypergraph import LiftedEdge, LiftedHypergraph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.display.structure.lift.lifted_boxes import Box
    from mlnlab.display.structure.lift.lifted_places import Caption, Size

    Numbers = NDArray[np.int64]

MOST_DRAWN = 500  # clusters and hyperedges
MOST_COUNTED = 20_000  # constants and atoms; of more, hyperedges are not listed one by one
_MOST_MEMBERS = 40
_NOTHING: Mapping[int, str] = {}
_NO_HANDLES: Mapping[str, str] = {}
_NO_PICKS: Mapping[str, str] = {}
MOST_SHOWN = 500  # boxes
_MOST_AT_FIRST = 24  # clusters of several constants


def scene_of(lifted: LiftedHypergraph, opened: Collection[str] = (), *, folds: bool = False) -> Scene | None:
    """Return the drawing that fits the size, none of nothing; where it ``folds``, groups ask for a click."""
    if not len(lifted.labels):
        return None
    if is_small(lifted):
        return clusters_scene(lifted, opened=opened_of(lifted, opened), folds=folds)
    coarse = group_clusters(lifted, opened)
    handles = {}
    for type_, first in lifted.hypergraph.offsets.items():
        if folds and len(lifted.hypergraph.constants[type_]):
            name = group_id(lifted, first)
            if name in opened and name not in {group_id(lifted, cluster) for cluster in coarse.groups}:
                handles[name] = type_
    wide = opened_of(coarse.lifted, opened) - coarse.groups.keys()
    return clusters_scene(coarse.lifted, coarse.groups, of=lifted, opened=wide, folds=folds, handles=handles)


def is_small(lifted: LiftedHypergraph) -> bool:
    """Tell whether all clusters and hyperedges are drawn."""
    return not _is_huge(lifted) and len(lifted.clusters) + len(lifted.edges) <= MOST_DRAWN


def _is_huge(lifted: LiftedHypergraph) -> bool:
    graph = lifted.hypergraph
    return graph.number_of_nodes + graph.number_of_edges > MOST_COUNTED


def lifted_card(lifted: LiftedHypergraph) -> Card:
    """Return the card of a lifted hypergraph."""
    scene = scene_of(lifted)
    small = scene is None or is_small(lifted)
    counts = bool((lifted.sizes > MOST_INSIDE).any())
    return Card(
        "Lifted hypergraph",
        _sizes(lifted),
        picture=scene,
        undrawn="There are no constants to draw.",
        table=_clusters_table(lifted),
        remarks=(
            "" if small else "The largest clusters are drawn; ml.live(...) opens the others on a click.",
            "Large clusters are counts; ml.live(...) opens them on a click." if counts and small else "",
        ),
        folds=(("hyperedges, those with the most true atoms first", _edges_table(lifted)),),
    )


def _sizes(lifted: LiftedHypergraph) -> str:
    clusters, constants = count_of(len(lifted.clusters), "cluster"), count_of(len(lifted.labels), "constant")
    return f"{clusters} of {constants}, {count_of(lifted.hypergraph.number_of_edges, 'true atom')}"


def _clusters_table(lifted: LiftedHypergraph) -> Table:
    def rows() -> Iterator[tuple[str, str, str]]:
        order = np.lexsort((lifted.clusters, -lifted.sizes[lifted.clusters]))
        for cluster in lifted.clusters[order][:MOST_ROWS].tolist():
            members = lifted.members(cluster)
            names = ", ".join(
                shorten_text(lifted.hypergraph.node(node).constant)
                for node in members[:_MOST_MEMBERS].tolist()
            )
            more = f", and {len(members) - _MOST_MEMBERS:,} more" if len(members) > _MOST_MEMBERS else ""
            yield shorten_text(lifted.type_of(cluster)), f"{len(members):,}", names + more

    headings, name = ("type", "constants", "which"), "clusters, the largest first"
    return table_of(headings, rows(), len(lifted.clusters), "clusters", numbers=(1,), name=name)


def _edges_table(lifted: LiftedHypergraph) -> Table:
    shown = group_clusters(lifted, most=0).lifted if _is_huge(lifted) else lifted

    def rows() -> Iterator[tuple[str, str, str, str]]:
        order = sorted(shown.edges, key=lambda edge: (-edge.true, edge.number))
        for edge in order[:MOST_ROWS]:
            yield edge_name(shown, edge), f"{edge.true:,}", f"{edge.atoms:,}", _share(edge)

    headings = ("hyperedge", "true atoms", "of", "share")
    return table_of(headings, rows(), len(shown.edges), "hyperedges", numbers=(1, 2, 3))


def _share(edge: LiftedEdge) -> str:
    return f"{edge.true / edge.atoms:.3g}"


# --- drawing --------------------------------------------------------------------------------------


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


# --- groups ---------------------------------------------------------------------------------------


class Grouped(NamedTuple):
    """A coarser clustering, with words for the boxes that stand for several clusters."""

    lifted: LiftedHypergraph
    groups: Mapping[int, str]


def group_id(lifted: LiftedHypergraph, cluster: int) -> str:
    """Return the id of the group of a cluster's type."""
    return numbered_id("rest", list(lifted.hypergraph.constants).index(lifted.type_of(cluster)))


def group_clusters(
    lifted: LiftedHypergraph, opened: Collection[str] = (), most: int = _MOST_AT_FIRST
) -> Grouped:
    """Return the largest clusters, and for each type those left as one group, but of ``opened`` groups all.

    As many are opened as there is room for.
    """
    largest = lifted.clusters[np.lexsort((lifted.clusters, -lifted.sizes[lifted.clusters]))][:most]
    shown = np.zeros(len(lifted.labels), np.bool_)
    shown[largest[lifted.sizes[largest] > 1]] = True
    representative = lifted.clusters.copy()
    groups = {}
    for ours in _by_type(lifted):
        hidden = ours[~shown[ours]]
        wanted = len(hidden) == 1 or (len(hidden) > 1 and group_id(lifted, int(ours[0])) in opened)
        if wanted and int(shown.sum()) + len(hidden) <= MOST_SHOWN:
            shown[hidden] = True
        elif len(hidden):
            representative[np.isin(lifted.clusters, hidden)] = hidden[0]
            rest = f"{len(hidden):,} other clusters" if len(hidden) < len(ours) else ""
            groups[int(hidden[0])] = rest or count_of(len(hidden), "cluster")
    labels = representative[np.searchsorted(lifted.clusters, lifted.labels)]
    return Grouped(LiftedHypergraph(lifted.hypergraph, labels), groups)


def _by_type(lifted: LiftedHypergraph) -> Iterator[Numbers]:
    """Yield the clusters of each type that has some."""
    offsets = list(lifted.hypergraph.offsets.values())
    for clusters in np.split(lifted.clusters, np.searchsorted(lifted.clusters, offsets[1:])):
        if len(clusters):
            yield clusters
