"""The order of nodes within layers: barycentre sweeps (Sugiyama, Tagawa, Toda 1981), and how edges cross."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

_SWEEPS = 24
_PATIENCE = 6  # sweeps without gain before the search ends


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
