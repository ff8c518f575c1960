"""Where groups in groups stand: discs that open in their place and push the others straight outwards.

Each open disc displaces all its neighbours by as much as it has grown, away from its centre. Such a
displacement never brings two points nearer (it is the gradient of a convex function), and neither does the
sum of several. So discs that were apart stay apart, whatever is opened, and in whatever order: the places
are a function of what is open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log10
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.nodelink.collapsed_outline import Cluster, Outline
from mlnlab.display.nodelink.layouts.packing import boxes_apart
from mlnlab.display.nodelink.layouts.stress import stress_layout
from mlnlab.display.scene.text_fitting import text_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]
    IsOpen = Callable[[tuple[int, ...]], bool]

NODE = 5.5
WIDEST_NAME = 92.0
_GAP = 9.0
_STEPS = 80
_TITLE = 16.0  # room above an open group for its name


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
