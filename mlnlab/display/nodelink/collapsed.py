"""Large graphs as discs with counts that open on a click: one drawing for hypergraphs and ground networks.

Up to 500 things are drawn at a time; what is opened shows its groups, in the end its nodes, in its place.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.markup import count_of
from mlnlab.display.chart.bars import WIDTH
from mlnlab.display.nodelink.collapsed_items import (
    Line,
    cluster_tip,
    kind_entries,
    line_items,
    node_tip,
    region_items,
    spot_items,
)
from mlnlab.display.nodelink.collapsed_layout import WIDEST_NAME, Spot, arrange_group
from mlnlab.display.nodelink.collapsed_outline import ROOT, Cluster, Outline, outline_of
from mlnlab.display.scene.building import legend
from mlnlab.display.scene.items import Layer, Scene

if TYPE_CHECKING:
    from mlnlab.grounding.networks.ground_network import GroundNetwork
    from mlnlab.model.database.hypergraph import Hypergraph

MOST_SHOWN = 500  # groups and nodes
_MOST_LINES = 150  # with groups
_MOST_SINGLE_LINES = 1_500  # between nodes
_MARGIN = 26.0
_LEGEND_GAP = 8.0


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
        explained, taken = legend(kind_entries(outline), 8, height + _LEGEND_GAP, WIDTH - 16)
        layers = (
            Layer("regions", tuple(region_items(drawn))),
            Layer("links", tuple(line_items(outline, drawn, lines))),
            Layer("nodes", tuple(spot_items(outline, drawn, folds))),
            Layer("explained", (explained,) if taken else (), zooms=False),
        )
        bottom = height + (taken + _LEGEND_GAP if taken else 0) + 4
        return Scene(width, bottom, layers, outline.title, _in_words(outline, drawn, len(lines), total))

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
