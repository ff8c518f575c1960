"""Layered drawings of directed acyclic graphs whose layers are known, such as circuits.

Edges that skip layers are led through points of their own, so that they run between the nodes. Within layers
nodes are ordered by barycentre sweeps (Sugiyama, Tagawa, Toda 1981).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]

_ALIGNMENTS = 6  # passes that pull nodes over and under their neighbours
_OF_A_POINT = 0.35  # the room of a point of an edge, compared with that of a node
_SWEEPS = 24
_PATIENCE = 6  # sweeps without gain before the search ends


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


# --- order ----------------------------------------------------------------------------------------


class Levels(NamedTuple):
    """A graph whose edges all lead from a layer to the next one; ``edges[k]`` from layer k to k + 1."""

    size: int
    layers: tuple[Numbers, ...]
    edges: tuple[Numbers, ...]


def order_layers(levels: Levels, start: Sequence[Numbers]) -> list[Numbers]:
    """Return an order of each layer with few crossings, searched from a given one."""
    best = [layer.copy() for layer in start]
    least = total_crossings(levels, best)
    current, since = best, 0
    for sweep in range(_SWEEPS):
        if least == 0 or since == _PATIENCE:
            break
        current = _sweep_layers(levels, current, downward=sweep % 2 == 0)
        crossings = total_crossings(levels, current)
        since += 1
        if crossings < least:
            best, least, since = current, crossings, 0
    return best


def places_of(levels: Levels, order: Sequence[Numbers]) -> NDArray[np.float64]:
    """Return the place of each node within its layer."""
    places = np.zeros(levels.size)
    for layer in order:
        places[layer] = np.arange(len(layer))
    return places


def _sweep_layers(levels: Levels, order: Sequence[Numbers], *, downward: bool) -> list[Numbers]:
    """Order each layer by the middle of its neighbours in the layer before, in the direction of the sweep."""
    result = list(order)
    places = places_of(levels, order)
    depth = len(result)
    for k in range(1, depth) if downward else range(depth - 2, -1, -1):
        edges = levels.edges[k - 1 if downward else k]
        own, others = (edges[:, 1], edges[:, 0]) if downward else (edges[:, 0], edges[:, 1])
        middles = barycentres(levels.size, own, places[others], places)
        layer = result[k]
        # A stable sort: nodes that tie keep their order, so the picture has no reason to jump.
        result[k] = layer[np.argsort(middles[layer], kind="stable")]
        places[result[k]] = np.arange(len(layer))
    return result


def barycentres(
    size: int, own: Numbers, values: NDArray[np.float64], otherwise: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mean of each node's neighbours' values; without neighbours, its value in ``otherwise``."""
    degrees = np.bincount(own, minlength=size)
    sums = np.bincount(own, weights=values, minlength=size)
    return np.where(degrees > 0, sums / np.maximum(degrees, 1), otherwise)


def total_crossings(levels: Levels, order: Sequence[Numbers]) -> int:
    """Return how many pairs of edges cross."""
    places = places_of(levels, order)
    return sum(
        crossings(places[edges[:, 0]].astype(np.int64), places[edges[:, 1]].astype(np.int64))
        for edges in levels.edges
    )


def crossings(upper: Numbers, lower: Numbers) -> int:
    """Return how many pairs of edges between two layers cross: the inversions of their lower ends.

    A merge sort counts them, each pass in whole arrays (Barth, Jünger, Mutzel 2004 count with a tree).
    """
    sequence = lower[np.lexsort((lower, upper))]
    count, width, length = 0, 1, len(sequence)
    ranks = np.unique(sequence, return_inverse=True)[1]
    span = int(ranks.max()) + 1 if length else 1
    while width < length:
        # Blocks of `width` are sorted; offsets keep the blocks of one pair apart from all others.
        pair = np.arange(length) // (2 * width)
        right = (np.arange(length) // width) % 2 == 1
        keys = pair * span + ranks
        lefts = keys[~right]
        bigger = np.searchsorted(lefts, (pair[right] + 1) * span) - np.searchsorted(
            lefts, keys[right], side="right"
        )
        count += int(bigger.sum())
        ranks = np.sort(keys, kind="stable") % span
        width *= 2
    return count


# --- room -----------------------------------------------------------------------------------------


def spread(wanted: Reals, gaps: Reals) -> Reals:
    """Return x with x[i+1] - x[i] >= gaps[i] that minimises the sum of (x - wanted)².

    Subtracting the gaps turns the condition into "never falling": isotonic regression, solved by pooling
    neighbours that contradict each other (Ayer et al. 1955).
    """
    if len(wanted) == 0:
        return np.zeros(0)
    offsets = np.concatenate([[0.0], np.cumsum(gaps)])
    sums: list[float] = []
    counts: list[int] = []
    for value in (wanted - offsets).tolist():
        total, count = value, 1
        while sums and sums[-1] * count >= total * counts[-1]:
            total += sums.pop()
            count += counts.pop()
        sums.append(total)
        counts.append(count)
    means = np.array(sums) / np.array(counts)
    return np.asarray(np.repeat(means, counts) + offsets)
