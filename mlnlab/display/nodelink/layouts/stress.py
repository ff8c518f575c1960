"""Drawings of graphs in which distances tell how many edges lie between (stress majorisation).

Gansner, Koren, North: Graph Drawing by Stress Majorization, GD 2004; the start is that of Brandes, Pich:
Eigensolver Methods for Progressive Multidimensional Scaling, GD 2006, so chance plays no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import csr_array

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]

_PIVOTS = 50
_STEPS, _LATER_STEPS = 40, 12
_SMALL = 400
_ENOUGH = 0.002  # the share by which a step must still shorten the way, else the search ends
_ANCHOR = 0.6  # how strongly a node holds on to its earlier place, as a share of all other pulls
_GOLDEN = 2.399963  # radians: turning by this spreads points evenly
_PUSHES = 12
_MOVES = 240
_NUDGE = 0.4  # a little more than needed, so that a crowd comes to rest soon
_WIDE = 1.7  # how much wider than high a picture should be


def stress_layout(
    size: int, edges: ArrayLike, *, length: float = 50.0, gap: float = 24.0, previous: ArrayLike | None = None
) -> Reals:
    """Return places for the nodes of a graph; edges of ``length``, no two nodes nearer than ``gap``.

    ``previous`` holds earlier places, with not-a-number for new nodes: known nodes then stay near them.
    """
    pairs = np.asarray(edges, np.int64).reshape(-1, 2)
    if size == 0:
        return np.zeros((0, 2))
    graph = adjacency(size, pairs)
    if previous is not None and np.isfinite(np.asarray(previous, float)).any():
        return _continue_layout(graph, np.asarray(previous, float).reshape(-1, 2), length, gap)
    places = np.zeros((size, 2))
    found = parts(graph)
    for part in found:
        places[part] = _place_connected_graph(graph[part][:, part], length, gap)
    return pack_groups(places, found, gap * 1.6)


def _place_connected_graph(graph: csr_array, length: float, gap: float) -> Reals:
    """Return places for a connected graph, its longer side horizontal."""
    size = graph.shape[0]
    if size == 1:
        return np.zeros((1, 2))
    lengths = path_lengths(graph)
    start = _pivot_start(lengths) * length
    steps = _STEPS if size <= _SMALL else _STEPS // 2  # the start is good, and each step costs size²
    return _turn_places(pushed_apart(_majorise_stress(start, lengths * length, steps), gap))


def _pivot_start(lengths: Reals) -> Reals:
    """Return the two main directions of the distances to a few nodes that lie far apart."""
    size = len(lengths)
    pivots = [0]
    nearest = lengths[0].copy()
    for _ in range(min(_PIVOTS, size) - 1):
        pivots.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, lengths[pivots[-1]])
    squares = lengths[pivots].T ** 2
    centred = -(squares - squares.mean(0) - squares.mean(1)[:, None] + squares.mean()) / 2
    values, vectors = np.linalg.eigh(centred.T @ centred)
    main = vectors[:, np.argsort(-values)[:2]]
    main *= np.sign(main[np.abs(main).argmax(0), np.arange(main.shape[1])])  # an axis has no sign of its own
    places = np.zeros((size, 2))
    places[:, : main.shape[1]] = centred @ main
    spread = np.abs(places).max() or 1.0
    # Nodes with the same neighbours would fall together: a small turn for each tells them apart.
    turns = np.arange(size) * _GOLDEN
    aside = 0.2 * np.column_stack([np.cos(turns), np.sin(turns)])
    return np.asarray(places / spread * lengths.max() / 2 + aside)


def _majorise_stress(start: Reals, lengths: Reals, steps: int, anchors: Reals | None = None) -> Reals:
    """Return places whose distances fit the lengths better; anchors (or not-a-number) hold nodes back."""
    wanted = np.where(np.isfinite(lengths), lengths, 0).astype(np.float32)
    weights = np.zeros_like(wanted)
    np.divide(1, wanted * wanted, out=weights, where=wanted > 0)
    pull = weights * wanted
    total = weights.sum(1, keepdims=True)
    hold = np.zeros_like(total)
    home = np.zeros_like(start, np.float32)
    if anchors is not None:
        held = np.isfinite(anchors[:, 0])
        hold[held] = _ANCHOR * total[held] + 1e-6
        home[held] = anchors[held]
    x = start.astype(np.float32)
    # All nodes move at once; without some weight on where they are, two of them would swing for ever.
    stay = total / max(len(x) - 1, 1)
    whole = np.maximum(total + hold + stay, 1e-12)
    buffer = np.empty_like(wanted)
    for _ in range(steps):
        # Localized optimisation of Gansner et al., section 2.3.
        ratio = np.divide(pull, _distances(x, buffer), out=buffer)
        moved = weights @ x + ratio.sum(1, keepdims=True) * x - ratio @ x + hold * home + stay * x
        following = np.where(total + hold > 0, moved / whole, x)
        way = np.abs(following - x).max()
        x = following
        if way < _ENOUGH * max(float(np.ptp(x)), 1e-6):
            break
    return x.astype(np.float64)


def _distances(x: NDArray[np.float32], buffer: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return all distances, none of them zero; everything happens in the buffer, which is the costly part."""
    squares = (x * x).sum(1)
    np.matmul(-2 * x, x.T, out=buffer)
    buffer += squares[:, None]
    buffer += squares[None, :]
    np.maximum(buffer, 1e-6, out=buffer)
    return np.sqrt(buffer, out=buffer)


def _turn_places(places: Reals) -> Reals:
    """Return places turned so that the picture is as wide as it can be."""
    centred = places - places.mean(0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    across = vectors[:, ::-1]
    across = across * np.sign(across[np.abs(across).argmax(0), [0, 1]])
    return np.asarray(centred @ across)


def _continue_layout(graph: csr_array, previous: Reals, length: float, gap: float) -> Reals:
    """Return places that begin with the earlier ones; new nodes start beside their neighbours."""
    start = previous.copy()
    turns = np.arange(len(start)) * _GOLDEN
    beside = 0.4 * length * np.column_stack([np.cos(turns), np.sin(turns)])
    for _ in range(len(start)):
        known = np.isfinite(start[:, 0])
        reach = np.asarray(graph @ known.astype(float))
        fresh = ~known & (reach > 0)
        if not fresh.any():
            break
        sums = graph @ np.where(known[:, None], start, 0)
        start[fresh] = sums[fresh] / reach[fresh, None] + beside[fresh]
    lost = np.isnan(start[:, 0])
    if lost.any():
        low, right = np.nanmax(start[:, 1]), np.nanmin(start[:, 0])
        row = np.arange(int(lost.sum()))
        start[lost] = np.column_stack([right + row * gap * 1.6, np.full(len(row), low + gap * 2)])
    places = _majorise_stress(start, path_lengths(graph) * length, _LATER_STEPS, previous)
    return pushed_apart(places, gap)


# --- distances ------------------------------------------------------------------------------------


def adjacency(size: int, edges: Numbers) -> csr_array:
    """Return the graph as a symmetric sparse matrix of ones."""
    from scipy.sparse import csr_array

    ends = np.concatenate([edges, edges[:, ::-1]])
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    return csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(size, size))


def path_lengths(graph: csr_array, sources: Numbers | None = None) -> NDArray[np.float64]:
    """Return the number of edges on a shortest path, infinite where there is none."""
    from scipy.sparse.csgraph import dijkstra

    return np.asarray(dijkstra(graph, directed=False, indices=sources, unweighted=True))


def parts(graph: csr_array) -> list[Numbers]:
    """Return the connected parts, the largest first; ties in the order of their first nodes."""
    from scipy.sparse.csgraph import connected_components

    count, numbers = connected_components(graph, directed=False)
    found = [np.flatnonzero(numbers == part) for part in range(count)]
    return sorted(found, key=lambda part: (-len(part), int(part[0])))


# --- packing --------------------------------------------------------------------------------------


def pushed_apart(places: Reals, gap: float) -> Reals:
    """Return places of which hardly any two are nearer than a gap; each pair shares the way."""
    from scipy.spatial import cKDTree

    x = places.astype(float)
    for _ in range(_PUSHES):
        pairs = cKDTree(x).query_pairs(gap * 0.999, output_type="ndarray")
        if not len(pairs):
            break
        first, second = np.sort(pairs, axis=1).T
        apart = x[first] - x[second]
        distance = np.sqrt((apart**2).sum(1))
        same = distance < 1e-9
        apart[same] = (1.0, 0.0)
        distance[same] = 1.0
        push = apart / distance[:, None] * ((gap - np.where(same, 0, distance)) / 2)[:, None]
        np.add.at(x, first, push)
        np.add.at(x, second, -push)
    return x


def boxes_apart(places: Reals, sizes: Reals, gap: float = 4.0) -> Reals:
    """Return places of boxes of which hardly any two overlap; each pair moves along its shorter way out."""
    x = places.astype(float)
    first, second = np.triu_indices(len(x), 1)
    room = (sizes[first] + sizes[second]) / 2 + gap
    for _ in range(_MOVES):
        apart = x[second] - x[first]
        overlap = room - np.abs(apart)
        hit = np.flatnonzero((overlap > 1e-6).all(1))
        if not len(hit):
            break
        axis = overlap[hit].argmin(1)
        step = (overlap[hit, axis] / 2 + _NUDGE) * np.where(apart[hit, axis] < 0, -1, 1)
        np.add.at(x, (second[hit], axis), step)
        np.add.at(x, (first[hit], axis), -step)
    return x


def pack_groups(places: Reals, groups: Sequence[NDArray[np.int64]], gap: float) -> Reals:
    """Return places with the groups in rows, the largest first; the upper left corner is (0, 0)."""
    result = places.copy()
    sizes = [np.ptp(places[group], axis=0) + gap for group in groups]
    widest = max([size[0] for size in sizes], default=0.0)
    row_width = max(widest, sqrt(sum(size[0] * size[1] for size in sizes) * _WIDE))
    left = top = height = 0.0
    for group, size in zip(groups, sizes, strict=True):
        if left and left + size[0] > row_width + 1e-9:
            left, top, height = 0.0, top + height, 0.0
        result[group] += (left, top) - places[group].min(0)
        left += size[0]
        height = max(height, size[1])
    return result
