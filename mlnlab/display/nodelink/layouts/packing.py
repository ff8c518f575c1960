"""Keeps nodes apart, and puts the parts of a graph beside each other."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

_PUSHES = 12
_MOVES = 240
_NUDGE = 0.4  # a little more than needed, so that a crowd comes to rest soon
_WIDE = 1.7  # how much wider than high a picture should be


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
