"""Draw clusters as boxes, their constants or a count inside, and hyperedges as lines between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.nodelink.layouts.stress import boxes_apart
from mlnlab.display.scene.building import kind_number, label, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Expands, Group, Item, Path, Rectangle, Text
from mlnlab.display.scene.look import DASHES, HUES
from mlnlab.display.scene.paths import arrow_head, bow_curve, segments, toward
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.display.structure.lift.lifted_places import (
    COUNTED,
    MOST_INSIDE,
    PADDING,
    WIDEST_NAME,
    in_grid,
    room_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.display.structure.lift.lifted_places import Caption, Size, Slots
    from mlnlab.structure.lift.lifted_hypergraph import LiftedEdge, LiftedHypergraph

    Numbers = NDArray[np.int64]
    Point = tuple[float, float]

_MOST_EXAMPLES = 12
_LONGEST = 40
_SMALL = 15.0  # pixels: a dot instead of a name
_ANSWERS: Mapping[str, str] = {"": "", "closed": "click to open", "open": "click to close"}
MOST_NAMED_EDGES = 14  # more hyperedges are lines without names
LIT = "orange"  # the colour of merged predicates
_BOW = 0.16
_WIDEST = 130.0
_PLAIN = 60  # more lines have neither dashes nor heads
_ALWAYS = 6  # hyperedges that are named even where there is no room
_TRIES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)


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


# --- hyperedges -----------------------------------------------------------------------------------


class Bent(NamedTuple):
    """A hyperedge of two clusters with its place among those between the same two."""

    edge: LiftedEdge
    bow: float


def edge_items(
    lifted: LiftedHypergraph, boxes: Mapping[int, Box], lit: frozenset[int] = frozenset(),
    predicates: frozenset[str] = frozenset(),
) -> Iterator[Item]:  # fmt: skip
    """Yield the hyperedges of two or more clusters; ``lit`` clusters have theirs drawn strongly.

    Those of ``predicates`` that were merged have a colour.
    """
    drawn = _list_drawn_edges(lifted)
    places = {name: place for place, name in enumerate(lifted.hypergraph.vocabulary.predicates)}
    for edge, bow in _bent(drawn):
        shape, _ = _shape(edge, boxes, bow)
        coloured = edge.predicate in predicates
        is_lit = coloured or bool(lit & set(edge.clusters))
        look = _line_look(lifted, edge, len(drawn), is_lit)
        head = "bar grey" if "curve" in look else "bar grey faint"
        if coloured:
            look, head = look.replace("grey", LIT), f"bar {LIT}"
        children: list[Item] = [Path(path=shape.line, look=look)]
        if len(drawn) <= _PLAIN or is_lit:
            children.append(Path(path=shape.head, look=head))
        yield Group(id=edge_id(edge, places), tooltip=edge_tip(lifted, edge), children=tuple(children))


def _line_look(lifted: LiftedHypergraph, edge: LiftedEdge, number: int, is_lit: bool) -> str:
    if number > _PLAIN and not is_lit:
        return "link faint"
    dash = dash_of(lifted, edge.predicate)
    return f"{'curve grey' if number <= MOST_NAMED_EDGES or is_lit else 'link'} {dash}".strip()


def name_items(
    lifted: LiftedHypergraph, boxes: Mapping[int, Box], captions: Sequence[Caption]
) -> Iterator[Item]:
    """Yield the names of hyperedges with their counts, where they cover least; none where they are many."""
    drawn = _list_drawn_edges(lifted)
    if len(drawn) > MOST_NAMED_EDGES:
        return
    places = {name: place for place, name in enumerate(lifted.hypergraph.vocabulary.predicates)}
    covered = [_frame_of(box) for box in boxes.values()]
    covered += [(c.x - c.width / 3, c.y - 11, c.x + c.width / 3, c.y + 3) for c in captions]
    for edge, bow in _bent(drawn):
        _, spots = _shape(edge, boxes, bow)
        name = edge_id(edge, places)
        children = tuple(_name_edge(lifted, edge, spots, covered, always=len(drawn) <= _ALWAYS))
        if children:
            yield Group(id=name and f"name-{name}", tooltip=edge_tip(lifted, edge), children=children)


def _list_drawn_edges(lifted: LiftedHypergraph) -> list[LiftedEdge]:
    return [edge for edge in lifted.edges if len(edge.clusters) > 1]


def edge_tip(lifted: LiftedHypergraph, edge: LiftedEdge) -> str:
    """Return the tooltip of a hyperedge."""
    return tooltip(edge_name(lifted, edge), f"{edge.true:,} of {edge.atoms:,} atoms are true")


def edge_name(lifted: LiftedHypergraph, edge: LiftedEdge) -> str:
    """Return a hyperedge as its predicate and clusters."""
    clusters = ", ".join(f"{{{cluster_name(lifted, cluster)}}}" for cluster in edge.clusters)
    return f"{shorten_text(edge.predicate, 40)}({clusters})"


def _bent(edges: Sequence[LiftedEdge]) -> Iterator[Bent]:
    """Yield hyperedges with a bow of their own each where several join the same two clusters."""
    pairs: dict[frozenset[int], list[LiftedEdge]] = {}
    for edge in edges:
        pairs.setdefault(frozenset(edge.clusters), []).append(edge)
    for pair, among in pairs.items():
        for number, edge in enumerate(among):
            bow = (number - (len(among) - 1) / 2) * _BOW * 1.6
            # Seen from its first cluster a line bows to the left: one side for each, whichever is first.
            yield Bent(edge, bow if edge.clusters[0] == min(pair) else -bow)


class _Shape(NamedTuple):
    line: str
    head: str


def _shape(edge: LiftedEdge, boxes: Mapping[int, Box], bow: float) -> tuple[_Shape, list[Point]]:
    """Return a hyperedge's line and arrow head, and where its name may stand, the best place first."""
    clusters = list(dict.fromkeys(edge.clusters))
    if len(clusters) == 1:
        return _loop(boxes[clusters[0]], bow)
    if len(clusters) == 2 and len(edge.clusters) == 2:
        return _between(boxes[clusters[0]], boxes[clusters[1]], bow)
    middles = np.array([(boxes[cluster].x, boxes[cluster].y) for cluster in clusters])
    hub: Point = (float(middles[:, 0].mean()), float(middles[:, 1].mean()) + 40 * bow)
    lines = [(hub, border(boxes[cluster], hub)) for cluster in clusters]
    return _Shape(segments(lines), ""), [hub, (hub[0], hub[1] + 16), (hub[0], hub[1] - 16)]


def _between(first: Box, second: Box, bow: float) -> tuple[_Shape, list[Point]]:
    (x1, y1), (x2, y2) = (first.x, first.y), (second.x, second.y)
    control = (x1 + x2) / 2 + (y2 - y1) * bow, (y1 + y2) / 2 - (x2 - x1) * bow
    straight = abs(bow) < 1e-9
    start = border(first, (x2, y2) if straight else control)
    end = border(second, (x1, y1) if straight else control)
    if straight:  # the middle of the line that is seen, which lies elsewhere where one box is large
        control = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    spots = [_on_curve(start, control, end, share) for share in _TRIES]
    line = segments([(start, end)]) if straight else _curve(start, control, end)
    behind = start if straight else control
    return _Shape(line, arrow_head(end, behind, 7)), spots


def _curve(start: Point, control: Point, end: Point) -> str:
    (x1, y1), (cx, cy), (x2, y2) = start, control, end
    across = (x2 - x1), (y2 - y1)
    length = max(across[0] ** 2 + across[1] ** 2, 1e-9)
    # The bow that bends the line between the borders through the same control point.
    aside = ((cx - (x1 + x2) / 2) * across[1] - (cy - (y1 + y2) / 2) * across[0]) / length
    return bow_curve(start, end, aside)


def _on_curve(start: Point, control: Point, end: Point, share: float) -> Point:
    rest = 1 - share
    x, y = (
        rest * rest * one + 2 * rest * share * two + share * share * three
        for one, two, three in zip(start, control, end, strict=True)
    )
    return x, y


def _loop(box: Box, bow: float) -> tuple[_Shape, list[Point]]:
    """Return a loop at a box's right upper corner."""
    x, y = box.x + box.width / 2, box.y - box.height / 2
    reach = 22 + 40 * abs(bow)
    begin, end = f"M{x - 12:.1f} {y:.1f}C{x - 12:.1f} {y - reach:.1f}", f"{x:.1f} {y + 12:.1f}"
    line = f"{begin} {x + reach:.1f} {y + 12:.1f} {end}"
    head = arrow_head((x, y + 12), (x + 8, y + 9), 6)
    return _Shape(line, head), [(x + 14, y - 10 - reach / 3), (x + 26, y + 6), (x - 30, y - 12)]


def border(box: Box, target: Point) -> Point:
    """Return where the line from a box's middle to a point leaves the box."""
    across, down = target[0] - box.x, target[1] - box.y
    if not across and not down:
        return box.x, box.y
    shares = [
        (size / 2 + 1.5) / abs(way)
        for size, way in ((box.width, across), (box.height, down))
        if abs(way) > 1e-9
    ]
    share = min(shares)
    if share >= 1:
        return toward((box.x, box.y), target, 1.0)
    return box.x + across * share, box.y + down * share


# --- names ----------------------------------------------------------------------------------------

_Frame = tuple[float, float, float, float]  # left, top, right, bottom


def _frame_of(box: Box) -> _Frame:
    return (
        box.x - box.width / 2, box.y - box.height / 2, box.x + box.width / 2, box.y + box.height / 2,
    )  # fmt: skip


def _name_edge(
    lifted: LiftedHypergraph, edge: LiftedEdge, spots: Sequence[Point], covered: list[_Frame], *, always: bool
) -> list[Item]:
    """Return a hyperedge's mark and name where they cover nothing; ``always`` also where that cannot be."""
    words = fit_text(f"{edge.predicate} {edge.true:,}/{edge.atoms:,}", _WIDEST, "small")
    wide = text_width(words, "small") + 16
    tried = [(x, y + aside) for aside in (0, 13, -13, 26, -26) for x, y in spots]
    frames = [(x - wide / 2, y - 8, x + wide / 2, y + 8) for x, y in tried]
    free = [place for place, frame in enumerate(frames) if not any(_meet(frame, one) for one in covered)]
    if not free and not always:
        return []
    place = free[0] if free else 0
    covered.append(frames[place])
    x, y = tried[place]
    return [
        Rectangle(x=x - wide / 2, y=y - 7, width=wide, height=14, corner=4, look="plate"),
        mark(shape_of(lifted, edge.predicate), 3.6, "bar grey", x - wide / 2 + 6, y),
        Text(x=x - wide / 2 + 14, y=y + 4, text=words, look="words small"),
    ]


def _meet(one: _Frame, other: _Frame) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


# --- lines that are drawn again -------------------------------------------------------------------


class Line(NamedTuple):
    """A hyperedge's line, its arrow head, and where something may be written on it, the best place first."""

    path: str
    head: str
    spots: Sequence[Point]


def lines_of(edges: Sequence[LiftedEdge], boxes: Mapping[int, Box]) -> dict[int, Line]:
    """Return the lines of hyperedges of two or more clusters, by their numbers, as they are drawn above."""
    found = {}
    for edge, bow in _bent([edge for edge in edges if len(edge.clusters) > 1]):
        shape, spots = _shape(edge, boxes, bow)
        found[edge.number] = Line(shape.line, shape.head, spots)
    return found
