"""Large graphs as discs with counts that open on a click: one drawing for hypergraphs and ground networks.

Up to 500 things are drawn at a time; what is opened shows its groups, in the end its nodes, in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from math import log10
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.nodelink.collapsed_outline import ROOT, Cluster, Outline, outline_of
from mlnlab.display.nodelink.layouts.stress import boxes_apart, stress_layout
from mlnlab.display.scene.building import (
    WIDTH,
    Entry,
    Kind,
    explained_scene,
    kind_number,
    label,
    mark,
    tooltip,
)
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import polyline, segments, toward
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.grounding.networks.ground_network import GroundNetwork
    from mlnlab.model.database.hypergraph import Hypergraph

    Reals = NDArray[np.float64]
    IsOpen = Callable[[tuple[int, ...]], bool]

MOST_SHOWN = 500  # groups and nodes
_MOST_LINES = 150  # with groups
_MOST_SINGLE_LINES = 1_500  # between nodes
_MARGIN = 26.0
_MOST_EXAMPLES = 5
_LONGEST_ID = 60
_MANY = 50  # links in common
NODE = 5.5
WIDEST_NAME = 92.0
_GAP = 9.0
_STEPS = 80
_TITLE = 16.0  # room above an open group for its name


@dataclass(frozen=True, eq=False)
class Collapsed:
    """A large graph that opens where it is asked to; a live view needs its ``scene`` and ``describe``."""

    outline: Outline

    def scene(self, opened: Collection[str] = (), *, folds: bool = True) -> Scene:
        """Return the drawing with some groups opened; where it does not fold, nothing asks for a click."""
        outline = self.outline
        inside = arrange_group(outline, ROOT, _open_paths(outline, opened).__contains__)
        drawn, (width, height) = _on_the_page(inside.spots)
        lines, total = _lines(outline, drawn)
        layers = (
            Layer("regions", tuple(region_items(drawn))),
            Layer("links", tuple(line_items(outline, drawn, lines))),
            Layer("nodes", tuple(spot_items(outline, drawn, folds))),
        )
        words = _in_words(outline, drawn, len(lines), total)
        size = width, height
        return explained_scene(layers, kind_entries(outline), size, outline.title, words, gap=8, foot=4)

    def choose_open_groups(self) -> frozenset[str]:
        """Return the groups to open where nobody can click: those of the kinds that hold groups."""
        outline = self.outline
        return frozenset(c.id for c in outline.children(ROOT) if outline.children(c.path))

    def describe(self, name: str) -> str:
        """Describe an item of the drawing, by its id."""
        outline = self.outline
        cluster = _find_cluster(outline, name)
        if cluster is not None:
            return cluster_tip(outline, cluster)
        node = next((node for node in range(outline.size) if outline.node_id(node) == name), None)
        return "" if node is None else node_tip(outline, node, most=40)


def collapse_graph(graph: Hypergraph | GroundNetwork) -> Collapsed:
    """Return a large hypergraph or ground network as groups in groups."""
    return Collapsed(outline_of(graph))


def expand_groups(graph: Hypergraph | GroundNetwork, opened: Collection[str] = ()) -> Scene:
    """Return the drawing of a large graph with some groups opened, by the ids of their drawings."""
    return collapse_graph(graph).scene(opened)


# --- what is shown --------------------------------------------------------------------------------


def _open_paths(outline: Outline, opened: Collection[str]) -> set[tuple[int, ...]]:
    """Return the groups that are opened, from the outside in, as far as there is room."""
    waiting = list(outline.children(ROOT))
    shown = len(waiting)
    found: set[tuple[int, ...]] = set()
    for cluster in waiting:  # it grows
        if cluster.id not in opened:
            continue
        inner = outline.children(cluster.path)
        number = len(inner) or len(cluster.members)
        if shown + number <= MOST_SHOWN:
            found.add(cluster.path)
            shown += number
            waiting += inner
    return found


def _find_cluster(outline: Outline, name: str) -> Cluster | None:
    """Return the group with an id, none where there is no such group."""
    word, _, numbers = name.partition("-")
    if word != "group" or not all(part.isdecimal() for part in numbers.split("-")):
        return None
    cluster = outline.cluster(ROOT)
    for place in map(int, numbers.split("-")):
        children = outline.children(cluster.path)
        if place >= len(children):
            return None
        cluster = children[place]
    return cluster


def _on_the_page(spots: tuple[Spot, ...]) -> tuple[tuple[Spot, ...], tuple[float, float]]:
    """Return the spots moved onto a page, and its size."""
    middles = np.array([(spot.x, spot.y) for spot in spots]).reshape(-1, 2)
    reach = np.array([spot.radius for spot in spots])[:, None] + np.array([[WIDEST_NAME / 3, _MARGIN]])
    low, high = (middles - reach).min(0, initial=0), (middles + reach).max(0, initial=0)
    spare = max(0.0, WIDTH - float(high[0] - low[0])) / 2
    moved = (s._replace(x=s.x - float(low[0]) + spare, y=s.y - float(low[1])) for s in spots)
    return tuple(moved), (max(WIDTH, float(high[0] - low[0])), float(high[1] - low[1]))


def _lines(outline: Outline, spots: tuple[Spot, ...]) -> tuple[list[Line], int]:
    """Return which closed groups and nodes share links, the most first; and how many pairs do in all."""
    from scipy.sparse import csr_array

    places = np.full(outline.size, -1)
    for number, spot in enumerate(spots):
        if not spot.open:
            places[spot.cluster.members if spot.cluster else spot.node] = number
    chosen = (np.ones(outline.size), (np.arange(outline.size), places))
    touched = (outline.incidence @ csr_array(chosen, shape=(outline.size, len(spots)))).tocsr()
    touched.data[:] = 1
    shared = (touched.T @ touched).tocoo()
    rows, columns = shared.coords
    kept = np.flatnonzero(rows < columns)
    order = kept[np.lexsort((columns[kept], rows[kept], -shared.data[kept]))]
    single = np.array([spot.cluster is None for spot in spots], np.bool_)
    between = single[rows[order]] & single[columns[order]]  # nodes; their lines are one path
    best = np.concatenate([order[~between][:_MOST_LINES], order[between][:_MOST_SINGLE_LINES]])
    found = zip(rows[best].tolist(), columns[best].tolist(), shared.data[best].tolist(), strict=True)
    return [Line(first, second, int(count)) for first, second, count in found], len(order)


def _in_words(outline: Outline, spots: tuple[Spot, ...], drawn: int, total: int) -> str:
    nodes, links = (
        count_of(outline.size, outline.node_word),
        count_of(outline.number_of_links, outline.link_word),
    )
    groups = count_of(sum(spot.cluster is not None and not spot.open for spot in spots), "group")
    single = sum(spot.cluster is None for spot in spots)
    shown = f"{groups} and {count_of(single, outline.node_word)} are shown" if single else f"in {groups}"
    rest = f"; the {drawn:,} strongest of {total:,} connections" if total > drawn else ""
    return f"{nodes}, {links}; {shown}{rest}."


# --- items ----------------------------------------------------------------------------------------


class Line(NamedTuple):
    """Two spots, and how many links they share."""

    first: int
    second: int
    shared: int


def _kind_of(outline: Outline, spot: Spot) -> Kind:
    node = spot.node if spot.cluster is None else int(spot.cluster.members[0])
    return kind_number(int(outline.kinds[node]))


def _id_of(outline: Outline, spot: Spot) -> str:
    return spot.cluster.id if spot.cluster is not None else outline.node_id(spot.node)


def region_items(spots: tuple[Spot, ...]) -> Iterator[Item]:
    """Yield a disc behind the content of each open group."""
    for spot in spots:
        if spot.open and spot.cluster is not None:
            disc = Circle(x=0, y=0, radius=spot.radius, look="panel")
            yield Group(id=f"region/{spot.cluster.id}", x=spot.x, y=spot.y, children=(disc,))


def spot_items(outline: Outline, spots: tuple[Spot, ...], folds: bool) -> Iterator[Item]:
    """Yield closed groups, the names of open ones, and nodes."""
    for spot in spots:
        if spot.cluster is None:
            yield _node(outline, spot, folds)
        elif spot.open:
            yield _handle(outline, spot, spot.cluster, folds)
        else:
            yield _disc(outline, spot, spot.cluster, folds)


def _disc(outline: Outline, spot: Spot, cluster: Cluster, folds: bool) -> Group:
    """Return a closed group: a disc with its count, its kind's shape on the edge, its name below."""
    hue, shape = _kind_of(outline, spot)
    parts = (
        Circle(x=0, y=0, radius=spot.radius, look="plate"),
        Circle(x=0, y=0, radius=spot.radius, look=f"wash {hue}"),
        mark(shape, 4.5, f"disc {hue}", y=-spot.radius),
        label(0, 4.5, f"{len(cluster.members):,}", 2 * spot.radius + 20, "label number strong"),
        label(0, spot.radius + 13, cluster.words, WIDEST_NAME, "label small"),
    )
    return Group(
        id=cluster.id, x=spot.x, y=spot.y, expands="closed" if folds else "",
        tooltip=cluster_tip(outline, cluster), children=parts,
    )  # fmt: skip


def _handle(outline: Outline, spot: Spot, cluster: Cluster, folds: bool) -> Group:
    """Return the name of an open group, which closes it; its region itself can be clicked without harm."""
    hue, shape = _kind_of(outline, spot)
    words = fit_text(f"{cluster.words} · {len(cluster.members):,}", 180, "small")
    width = text_width(words, "small") + (34 if folds else 26)
    left = (15 if folds else 7) - width / 2
    parts = (
        Rectangle(x=-width / 2, y=-9, width=width, height=18, corner=9, look=f"ring {hue}"),
        *(
            (Path(path=polyline([(8 - width / 2, 0), (15 - width / 2, 0)]), look=f"curve {hue} thick"),)
            * folds
        ),
        mark(shape, 3.5, f"disc {hue}", x=left + 6),
        Text(x=left + 13, y=4, text=words, look="words small"),
    )
    return Group(
        id=cluster.id, x=spot.x, y=spot.y - spot.radius, expands="open" if folds else "",
        tooltip=tooltip(cluster.words, *("click to close",) * folds), children=parts,
    )  # fmt: skip


def _node(outline: Outline, spot: Spot, folds: bool) -> Group:
    hue, shape = _kind_of(outline, spot)
    name = outline.name(spot.node)
    parts = (mark(shape, NODE, f"disc {hue}"), label(0, NODE + 11, name, WIDEST_NAME, "label small"))
    return Group(
        id=outline.node_id(spot.node), x=spot.x, y=spot.y, pick=folds, tooltip=node_tip(outline, spot.node),
        children=parts,
    )  # fmt: skip


def line_items(outline: Outline, spots: tuple[Spot, ...], lines: list[Line]) -> Iterator[Item]:
    """Yield lines between spots that share links, thicker for more; thin lines between nodes are one path."""
    most = max((line.shared for line in lines), default=1)
    plain = []
    for line in lines:
        first, second = spots[line.first], spots[line.second]
        ends = _ends(first, second)
        if first.cluster is None and second.cluster is None:
            plain.append(ends)
            continue
        width = "thin" if line.shared * 10 < most else "thick" if line.shared > _MANY else ""
        names = f"{_name_of(outline, first)} and {_name_of(outline, second)}"
        tip = tooltip(names, f"{count_of(line.shared, outline.link_word)} in common")
        name = f"{_id_of(outline, first)}/{_id_of(outline, second)}"
        path = Path(path=polyline(ends), look=f"link {width}".strip())
        yield Group(id=name if len(name) <= _LONGEST_ID else "", tooltip=tip, children=(path,))
    if plain:
        yield Path(id="single", path=segments(plain), look="link")


def _ends(first: Spot, second: Spot) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return a line's ends on the edges of two discs."""
    one, other = (first.x, first.y), (second.x, second.y)
    return toward(one, other, first.radius), toward(other, one, second.radius)


def _name_of(outline: Outline, spot: Spot) -> str:
    return shorten_text(spot.cluster.words if spot.cluster is not None else outline.name(spot.node), 60)


def cluster_tip(outline: Outline, cluster: Cluster) -> str:
    """Return the tooltip of a group: its size and its best connected nodes."""
    degrees = outline.degrees[cluster.members]
    best = cluster.members[np.argsort(-degrees, kind="stable")[:_MOST_EXAMPLES]].tolist()
    names = ", ".join(shorten_text(outline.name(node), 40) for node in best)
    more = ", …" if len(cluster.members) > len(best) else ""
    return tooltip(cluster.words, count_of(len(cluster.members), outline.node_word), f"{names}{more}")


def node_tip(outline: Outline, node: int, most: int = 0) -> str:
    """Return the tooltip of a node, with the names of up to ``most`` neighbours."""
    links = count_of(int(outline.degrees[node]), outline.link_word)
    lines = [outline.name(node), outline.kind_names[int(outline.kinds[node])], f"in {links}"]
    if most:
        touched = (outline.incidence.T.tocsr()[[node]] @ outline.incidence).indices
        others = [other for other in np.unique(touched).tolist() if other != node]
        names = ", ".join(shorten_text(outline.name(other), 40) for other in others[:most])
        more = f" and {len(others) - most:,} more" if len(others) > most else ""
        lines.append(f"{count_of(len(others), 'neighbour')}: {names}{more}" if others else "no neighbours")
    return tooltip(*lines)


def kind_entries(outline: Outline) -> list[Entry]:
    """Return the legend: kinds by hue and shape."""
    used = np.unique(outline.kinds).tolist()
    kinds = [(kind_number(kind), outline.kind_names[kind]) for kind in used]
    return (
        [Entry(mark(shape, 5.5, f"disc {hue}"), name) for (hue, shape), name in kinds]
        if len(used) > 1
        else []
    )


# --- places ---------------------------------------------------------------------------------------
# Each open disc displaces all its neighbours by as much as it has grown, away from its centre. Such a
# displacement never brings two points nearer (it is the gradient of a convex function), and neither does the
# sum of several. So discs that were apart stay apart, whatever is opened, and in whatever order: the places
# are a function of what is open.


class Spot(NamedTuple):
    """A drawn spot: a closed group, an open one (a region around its content), or a node."""

    cluster: Cluster | None
    node: int  # -1 where it is a group
    open: bool
    x: float
    y: float
    radius: float


class _Inside(NamedTuple):
    """The spots in a group, around the group's own middle, and the radius around them."""

    spots: tuple[Spot, ...]
    radius: float


def disc_radius(count: int) -> float:
    """Return the radius of a closed group."""
    return 8 + 9 * log10(max(count, 1))


def arrange_group(outline: Outline, path: tuple[int, ...], is_open: IsOpen) -> _Inside:
    """Lay out the content of a group, its open groups opened."""
    if not outline.size:
        return _Inside((), 0.0)
    children = outline.children(path)
    if not children:
        return _nodes(outline, outline.cluster(path))
    sizes = np.array([_room(child) for child in children])
    base = _base(outline, children, sizes)
    inner = [
        arrange_group(outline, child.path, is_open) if is_open(child.path) else None for child in children
    ]
    growth = [
        max(0.0, inside.radius + _GAP + _TITLE - size) if inside else 0.0
        for inside, size in zip(inner, sizes.tolist(), strict=True)
    ]
    places = push_apart(base, np.array(growth))
    spots: list[Spot] = []
    for child, inside, (x, y) in zip(children, inner, places.tolist(), strict=True):
        if inside is None:
            spots.append(Spot(child, -1, open=False, x=x, y=y, radius=disc_radius(len(child.members))))
        else:
            spots.append(Spot(child, -1, open=True, x=x, y=y, radius=inside.radius + _GAP / 2))
            spots += [spot._replace(x=spot.x + x, y=spot.y + y) for spot in inside.spots]
    return _around(spots, places, sizes + growth)


def push_apart(places: Reals, growth: Reals) -> Reals:
    """Return places after discs have grown: each pushes the others away from its middle by its growth."""
    moved = places.copy()
    for centre, by in zip(places, growth.tolist(), strict=True):
        if by:
            away = places - centre
            distance = np.hypot(*away.T)
            distance[distance == 0] = np.inf
            moved += by * away / distance[:, None]
    return moved


def _room(cluster: Cluster) -> float:
    """Return how near others may come to a closed group, its name included."""
    name = min(text_width(cluster.words[:100], "small"), WIDEST_NAME)
    return max(disc_radius(len(cluster.members)) + 14, name / 2) + _GAP / 2


def _base(outline: Outline, children: Sequence[Cluster], sizes: Reals) -> Reals:
    """Return where the groups of a group stand while all of them are closed."""
    labels = np.full(outline.size, -1)
    for place, child in enumerate(children):
        labels[child.members] = place
    return _place_boxes(len(children), labels[outline.chains], np.column_stack([2 * sizes, 2 * sizes]))


def _nodes(outline: Outline, cluster: Cluster) -> _Inside:
    """Return the nodes of a small group as spots."""
    labels = np.full(outline.size, -1)
    labels[cluster.members] = np.arange(len(cluster.members))
    names = [outline.name(node)[:100] for node in cluster.members.tolist()]
    widths = [max(min(text_width(name, "small"), WIDEST_NAME), 2 * NODE) + _GAP for name in names]
    sizes = np.column_stack([widths, np.full(len(widths), 30.0)])
    places = _place_boxes(len(names), labels[outline.chains], sizes)
    spots = [
        Spot(None, node, open=False, x=x, y=y, radius=NODE)
        for node, (x, y) in zip(cluster.members.tolist(), places.tolist(), strict=True)
    ]
    return _around(spots, places, np.hypot(*sizes.T) / 2)


def _around(spots: Sequence[Spot], places: Reals, reach: Reals) -> _Inside:
    """Return spots around the middle of a disc that holds them all, and the radius of that disc.

    Each step moves the middle a little towards what lies farthest out (Bădoiu and Clarkson: Smaller core-sets
    for balls, 2003).
    """
    middle = places.mean(0)
    for step in range(2, _STEPS):
        out = np.hypot(*(places - middle).T) + reach
        middle = middle + (places[out.argmax()] - middle) / step
    x, y = middle.tolist()
    moved = tuple(spot._replace(x=spot.x - x, y=spot.y - y) for spot in spots)
    return _Inside(moved, float((np.hypot(*(places - middle).T) + reach).max()))


def _place_boxes(count: int, pairs: NDArray[np.int64], sizes: Reals) -> Reals:
    """Return places where no boxes overlap and joined ones are near each other."""
    inside = (pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1])
    edges = np.unique(np.sort(pairs[inside], axis=1), axis=0)
    size = float(sizes.mean())
    found = stress_layout(count, edges, length=0.9 * size, gap=0.8 * size)
    return boxes_apart(found, sizes)
