"""Clusters as boxes: their constants inside where these are few, else a count; constants stay in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.nodelink.layouts.packing import boxes_apart
from mlnlab.display.scene.building import kind_number, label, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Expands, Group, Item, Rectangle
from mlnlab.display.scene.look import DASHES, HUES
from mlnlab.display.scene.text_fitting import text_width
from mlnlab.display.structure.lift.lifted_places import (
    COUNTED,
    MOST_INSIDE,
    PADDING,
    WIDEST_NAME,
    in_grid,
    room_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.display.structure.lift.lifted_places import Size, Slots
    from mlnlab.structure.lift.lifted_hypergraph import LiftedEdge, LiftedHypergraph

    Numbers = NDArray[np.int64]

_MOST_EXAMPLES = 12
_LONGEST = 40
_SMALL = 15.0  # pixels: a dot instead of a name
_ANSWERS: Mapping[str, str] = {"": "", "closed": "click to open", "open": "click to close"}


class Box(NamedTuple):
    """A cluster's box around a middle; ``inside`` are the places of its constants, none of a count."""

    cluster: int
    members: tuple[int, ...]
    x: float
    y: float
    width: float
    height: float
    inside: tuple[tuple[float, float], ...]


def boxes_of(
    lifted: LiftedHypergraph,
    slots: Slots,
    counted: frozenset[int] = frozenset(),
    opened: frozenset[int] = frozenset(),
) -> dict[int, Box]:
    """Return a box for each cluster: around the slots of its constants where no other one lies between.

    Else its constants move together at their middle, and boxes that would cover each other are moved apart.
    Clusters of many constants are counts, unless they are ``opened``, and ``counted`` ones in any case.
    """
    counts = (lifted.sizes > MOST_INSIDE) & (lifted.sizes > 0)
    counts[list(opened)], counts[list(counted)] = False, True
    found = [_box(lifted, slots, cluster, bool(counts[cluster])) for cluster in lifted.clusters.tolist()]
    middles = np.array([(box.x, box.y) for box in found]).reshape(-1, 2)
    sizes = np.array([(box.width, box.height) for box in found]).reshape(-1, 2)
    apart = boxes_apart(middles, sizes, 1.0)
    moved = (_move_box(box, *place) for box, place in zip(found, apart.tolist(), strict=True))
    return {box.cluster: box for box in moved}


def _box(lifted: LiftedHypergraph, slots: Slots, cluster: int, counted: bool) -> Box:
    members = lifted.members(cluster)
    places = slots.places[members]
    low, high = places.min(0), places.max(0)
    x, y = ((low + high) / 2).tolist()
    if counted or (not slots.named and len(members) > 1):
        wide, tall = _count_room(len(members), slots.named)
        return Box(cluster, tuple(members.tolist()), x, y, wide, tall, ())
    covered = ((slots.places >= low - 1) & (slots.places <= high + 1)).all(1)
    cell = tuple(slots.cells[members].max(0).tolist())
    wide, tall = (high - low + cell + PADDING).tolist()
    if covered.sum() > len(members):  # others lie between
        x, y = places.mean(0).tolist()
        places = np.array([x, y]) + in_grid(len(members), cell)
        wide, tall = room_of(len(members), cell)
    if len(members) == 1:
        wide, tall = wide - PADDING - 4, tall - PADDING - 1
    return Box(cluster, tuple(members.tolist()), x, y, wide, tall, tuple(map(tuple, places.tolist())))


def _count_room(number: int, named: bool) -> Size:
    """Return the size of a cluster that is a count; among dots, the more it holds the larger."""
    if named:
        return COUNTED
    side = 7.5 * number**0.5
    return max(side * 1.25, text_width(f"{number:,}", "small") + 9), max(side, 17.0)


def _move_box(box: Box, x: float, y: float) -> Box:
    inside = tuple((at[0] + x - box.x, at[1] + y - box.y) for at in box.inside)
    return box._replace(x=x, y=y, inside=inside)


# --- as items -------------------------------------------------------------------------------------


def hue_of_cluster(cluster: int, ranks: Numbers) -> str:
    """Return the colour of a cluster: that of its first constant, so that a merge changes one colour only."""
    return HUES[int(ranks[cluster]) % (len(HUES) - 1)]


class Shown(NamedTuple):
    """A box's appearance: its id, colour, words if it stands for several clusters, response to clicks."""

    id: str
    hue: str
    words: str = ""
    pick: bool = True
    expands: Expands = ""
    badges: Sequence[LiftedEdge] = ()
    lit: bool = False


def box_item(lifted: LiftedHypergraph, box: Box, shown: Shown) -> Group:
    """Return a box as an item: its frame in its type's dashes, its constants or their number, its badges."""
    washed = len(box.members) > 1 or shown.lit
    look = f"wash {shown.hue}" if washed else "ring grey" if box.height > _SMALL else "clear"
    frame = _frame(box, f"{look} {'thick' if shown.lit else _dash(lifted, box.cluster)}")
    ground = (_frame(box, "plate"),) * washed
    tip = cluster_tip(lifted, box.cluster)
    return Group(
        id=shown.id, x=box.x, y=box.y, pick=shown.pick, expands=shown.expands,
        tooltip=tooltip(shown.words, tip, _ANSWERS[shown.expands]),
        children=(*ground, frame, *_content(lifted, box, shown), *_badges(lifted, box, shown.badges)),
    )  # fmt: skip


def _frame(box: Box, look: str) -> Rectangle:
    return Rectangle(
        x=-box.width / 2, y=-box.height / 2, width=box.width, height=box.height,
        corner=min(9.0, box.height / 2), look=" ".join(look.split()),
    )  # fmt: skip


def _content(lifted: LiftedHypergraph, box: Box, shown: Shown) -> Iterator[Item]:
    number = f"{len(box.members):,}"
    if not box.inside:
        if box.width < COUNTED[0]:
            yield label(0, 4, number, box.width + 20, "label small number strong")
            return
        names = ", ".join(_names(lifted, box.members[:3]))
        yield label(0, 0, number, box.width, "label large number strong")
        yield label(0, 15, shown.words or f"{names}, …", box.width - 8, "label small")
        return
    for member, (x, y) in zip(box.members, box.inside, strict=True):
        if box.height <= _SMALL:
            hue = shown.hue if shown.lit else "grey"
            yield Circle(x=x - box.x, y=y - box.y, radius=3.4, look=f"bar {hue}")
        else:
            (name,) = _names(lifted, (member,))
            yield label(x - box.x, y - box.y + 4, fitting_name(name), WIDEST_NAME + 4, "label small")


def _badges(lifted: LiftedHypergraph, box: Box, edges: Sequence[LiftedEdge]) -> Iterator[Item]:
    """Yield a mark for each property that some of a cluster's constants have; a frame unless all have it."""
    left = -(len(edges) - 1) * 5.0
    for number, edge in enumerate(edges):
        look = "bar grey" if edge.true == edge.atoms else "ring grey"
        shape = shape_of(lifted, edge.predicate)
        yield mark(shape, 3.6, look, left + 10 * number, -box.height / 2)


def shape_of(lifted: LiftedHypergraph, predicate: str) -> str:
    """Return the mark of a predicate."""
    return kind_number(list(lifted.hypergraph.vocabulary.predicates).index(predicate)).shape


def dash_of(lifted: LiftedHypergraph, predicate: str) -> str:
    """Return the dashes of a predicate's lines."""
    return DASHES[list(lifted.hypergraph.vocabulary.predicates).index(predicate) % len(DASHES)]


def _dash(lifted: LiftedHypergraph, cluster: int) -> str:
    return DASHES[list(lifted.hypergraph.constants).index(lifted.type_of(cluster)) % len(DASHES)]


def _names(lifted: LiftedHypergraph, members: Sequence[int]) -> list[str]:
    return [shorten_text(lifted.hypergraph.node(member).constant, _LONGEST) for member in members]


def fitting_name(name: str) -> str:
    """Return a constant's name that fits its place; cut in the middle, as many names differ at the end."""
    for longest in range(min(len(name), _LONGEST), 8, -1):
        words = shorten_text(name, longest)
        if text_width(words, "small") <= WIDEST_NAME:
            return words
    return shorten_text(name, 8)


def cluster_name(lifted: LiftedHypergraph, cluster: int) -> str:
    """Return a cluster in short: its constants where these are one or two, else the first and a number."""
    members = lifted.members(cluster)
    if len(members) <= 2:
        return ", ".join(_names(lifted, members.tolist()))
    (first,) = _names(lifted, members[:1].tolist())
    return f"{first} +{len(members) - 1:,}"


def cluster_tip(lifted: LiftedHypergraph, cluster: int) -> str:
    """Return the tooltip of a cluster: its type, its constants, its properties."""
    members = lifted.members(cluster)
    names = ", ".join(_names(lifted, members[:_MOST_EXAMPLES].tolist()))
    more = f", … {len(members) - _MOST_EXAMPLES:,} more" if len(members) > _MOST_EXAMPLES else ""
    properties = (
        edge_words(edge)
        for edge in (lifted.edges[n] for n in lifted.edges_of[cluster])
        if len(edge.clusters) == 1
    )
    head = (
        lifted.type_of(cluster)
        if len(members) == 1
        else f"{lifted.type_of(cluster)} · {count_of(len(members), 'constant')}"
    )
    return tooltip(head, names + more, *properties)


def edge_words(edge: LiftedEdge) -> str:
    """Return how much of a hyperedge is true."""
    return f"{shorten_text(edge.predicate, _LONGEST)}: {edge.true:,} of {edge.atoms:,}"


def edge_id(edge: LiftedEdge, places: Mapping[str, int]) -> str:
    """Return the id of a hyperedge, which stays while its clusters do; none where that would be too long."""
    name = numbered_id("edge", places[edge.predicate], *edge.clusters)
    return name if len(name) <= 60 else ""
