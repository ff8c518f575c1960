"""Layered drawings of directed acyclic graphs whose layers are known, such as circuits.

Edges that skip layers are led through points of their own, so that they run between the nodes.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.nodelink.layouts.ordering import Levels, barycentres, order_layers
from mlnlab.display.nodelink.layouts.spacing import spread
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]

_ALIGNMENTS = 6  # passes that pull nodes over and under their neighbours
_OF_A_POINT = 0.35  # the room of a point of an edge, compared with that of a node


class Layered(NamedTuple):
    """Where nodes stand, and the points that each edge leads through (its ends among them)."""

    places: Reals
    routes: tuple[Reals, ...]


def layered_layout(
    layers: ArrayLike,
    edges: ArrayLike,
    *,
    across: float | ArrayLike = 60.0,
    down: float = 80.0,
    previous: ArrayLike | None = None,
) -> Layered:
    """Return places for nodes in given layers and edges (pairs of nodes) that lead to higher layers.

    ``across`` is the room of a node, one number or one for each. ``previous`` holds earlier places, with
    not-a-number for new nodes: known nodes then keep their order, and stay as near as they can.
    """
    level = np.asarray(layers, np.int64)
    pairs = np.asarray(edges, np.int64).reshape(-1, 2)
    if len(pairs) and (level[pairs[:, 0]] >= level[pairs[:, 1]]).any():
        raise ArgumentError("Each edge must lead to a higher layer.")
    if len(level) == 0:
        return Layered(np.zeros((0, 2)), ())
    levels, chains, tiers = _with_points(level, pairs)
    rooms = np.asarray(across, float)
    room = np.full(levels.size, _OF_A_POINT * float(rooms.mean()))
    room[: len(level)] = rooms
    known = np.full(levels.size, np.nan)
    if previous is not None:
        known[: len(level)] = np.asarray(previous, float).reshape(-1, 2)[:, 0]
    order = _order(levels, known) if np.isfinite(known).any() else order_layers(levels, levels.layers)
    x = _align_nodes(levels, order, room, known)
    places = np.column_stack([x, tiers * down])
    return Layered(places[: len(level)], tuple(places[chain] for chain in chains))


def _with_points(level: Numbers, pairs: Numbers) -> tuple[Levels, list[Numbers], Numbers]:
    """Return the graph with a point wherever an edge passes a layer, and the chain of each edge."""
    tiers = list(level)
    chains: list[Numbers] = []
    steps: list[list[tuple[int, int]]] = [[] for _ in range(int(level.max()))]
    for source, target in pairs.tolist():
        passed = range(int(level[source]) + 1, int(level[target]))
        points = list(range(len(tiers), len(tiers) + len(passed)))
        tiers += passed
        chain = [source, *points, target]
        chains.append(np.array(chain))
        for first, second in pairwise(chain):
            steps[tiers[first]].append((first, second))
    all_tiers = np.array(tiers)
    rows = tuple(np.flatnonzero(all_tiers == tier) for tier in range(int(level.max()) + 1))
    edges = tuple(np.array(step, np.int64).reshape(-1, 2) for step in steps)
    return Levels(len(tiers), rows, edges), chains, all_tiers


def _order(levels: Levels, known: Reals) -> list[Numbers]:
    """Order each layer as before; new nodes go near their neighbours."""
    x = known.copy()
    pairs = np.concatenate([*levels.edges, np.zeros((0, 2), np.int64)])
    for _ in range(len(levels.layers)):
        unknown = np.isnan(x)
        if not unknown.any():
            break
        ends = np.concatenate([pairs, pairs[:, ::-1]])
        ends = ends[np.isfinite(x[ends[:, 1]])]
        found = barycentres(levels.size, ends[:, 0], x[ends[:, 1]], np.full(levels.size, np.nan))
        if not (unknown & np.isfinite(found)).any():
            break
        x[unknown] = found[unknown]
    x[np.isnan(x)] = np.nanmax(x)
    return [layer[np.argsort(x[layer], kind="stable")] for layer in levels.layers]


def _align_nodes(levels: Levels, order: Sequence[Numbers], room: Reals, known: Reals) -> Reals:
    """Return x coordinates: nodes are pulled toward the middle of their neighbours, layer after layer."""
    gaps = [(room[layer[:-1]] + room[layer[1:]]) / 2 for layer in order]
    x = np.zeros(levels.size)
    for layer, gap in zip(order, gaps, strict=True):
        x[layer] = spread(np.zeros(len(layer)), gap)
    old = np.isfinite(known)
    x[old] = known[old]
    pairs = np.concatenate([*levels.edges, np.zeros((0, 2), np.int64)])
    for sweep in range(_ALIGNMENTS):
        down = sweep % 2 == 0
        own, others = (pairs[:, 1], pairs[:, 0]) if down else (pairs[:, 0], pairs[:, 1])
        for k in range(len(order)) if down else range(len(order) - 1, -1, -1):
            wanted = barycentres(levels.size, own, x[others], x)
            wanted[old] = known[old]
            x[order[k]] = spread(wanted[order[k]], gaps[k])
    return x if old.any() else x - x.min()
