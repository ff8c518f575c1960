"""Draw the items of collapsed drawings: discs with counts, names of open groups, nodes, lines between."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.nodelink.collapsed_layout import NODE, WIDEST_NAME, Spot
from mlnlab.display.nodelink.collapsed_outline import Cluster, Outline
from mlnlab.display.scene.building import Entry, Kind, kind_number, label, mark, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Path, Rectangle, Text
from mlnlab.display.scene.paths import polyline, segments, toward
from mlnlab.display.scene.text_fitting import fit_text, text_width

_MOST_EXAMPLES = 5
_LONGEST_ID = 60
_MANY = 50  # links in common


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
