"""Boxes with names, and marks between them, as a picture that fits a page and keeps its earlier places."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.nodelink.layouts.stress import boxes_apart, stress_layout

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Reals = NDArray[np.float64]

Earlier = Mapping[str, tuple[float, float]]  # places by ids

EDGE = 18.0  # as far as a hull reaches beyond what it holds
_SQUEEZE = np.array(
    [1.6, 1.0]
)  # names are wider than high, so the picture is laid out narrow, then stretched
_HIGHEST = 560.0
_HIGHER = 1.9
_MOST_BOXES = 260


class Spacing(NamedTuple):
    """How long edges are, how near two boxes may come, and how wide the page is."""

    length: float
    gap: float
    width: float


class Placed(NamedTuple):
    """Where the boxes stand, in a drawing of a size."""

    places: Reals
    size: tuple[float, float]


def known_places(ids: Sequence[str], previous: Earlier | None) -> Reals:
    """Return earlier places in the order of the ids, not-a-number where there was none."""
    return np.array([(previous or {}).get(name, (np.nan, np.nan)) for name in ids]).reshape(-1, 2)


def boxes_layout(
    sizes: Reals, edges: ArrayLike, spacing: Spacing, previous: ArrayLike | None = None
) -> Placed:
    """Return places for boxes that edges join; ``previous`` ones (else not-a-number) are kept if possible."""
    pairs = np.asarray(edges, np.int64).reshape(-1, 2)
    known = None if previous is None else np.asarray(previous, float).reshape(-1, 2)
    if not len(sizes):
        return Placed(np.zeros((0, 2)), (spacing.width, 2 * EDGE))
    if known is not None and np.isfinite(known).any():
        found = _continue_layout(sizes, pairs, spacing, known)
        low = np.minimum((found - sizes / 2).min(0) - EDGE, 0)
    else:
        found = stress_layout(len(sizes), pairs, length=spacing.length, gap=spacing.gap) * _SQUEEZE
        found = _apart(_shrink_to_page(found, sizes, spacing.width), sizes)
        low = (found - sizes / 2).min(0) - EDGE
        spare = max(0.0, spacing.width - float(((found + sizes / 2).max(0) - low)[0]) - EDGE)
        low = low - np.array([spare / 2, 0.0])
    found -= low
    right, bottom = (found + sizes / 2).max(0) + EDGE
    return Placed(found, (max(float(right), spacing.width), float(bottom)))


def _continue_layout(sizes: Reals, pairs: NDArray[np.int64], spacing: Spacing, known: Reals) -> Reals:
    """Return places near the earlier ones; edges are as long as they were."""
    before = known / _SQUEEZE
    ways = np.hypot(*(before[pairs[:, 0]] - before[pairs[:, 1]]).T)
    ways = ways[np.isfinite(ways)]
    length = float(np.median(ways)) if len(ways) else spacing.length
    found = stress_layout(len(sizes), pairs, length=length, gap=spacing.gap / 2, previous=before) * _SQUEEZE
    return _apart(found, sizes)


def _apart(places: Reals, sizes: Reals) -> Reals:
    """Return places without overlaps; where there are many small marks, that was seen to already."""
    return boxes_apart(places, sizes) if len(places) <= _MOST_BOXES else places


def _shrink_to_page(places: Reals, sizes: Reals, width: float) -> Reals:
    """Return places that fit the page; small pictures keep their size."""
    room = np.array([width, _HIGHEST]) - sizes.max(0) - 2 * EDGE
    across, down = (room / np.maximum(np.ptp(places, axis=0), 1e-9)).tolist()
    # What is made narrower may stay higher: names need the height, and the page has it.
    scale = min(1.0, across)
    return np.asarray(places * (scale, min(1.0, down, scale * _HIGHER)))


def names_apart(places: Reals, sizes: Reals, order: ArrayLike) -> set[int]:
    """Return which boxes can have their names written: in this order, each where it covers no earlier one."""
    kept: list[int] = []
    for number in np.asarray(order).tolist():
        room = (sizes[kept] + sizes[number]) / 2
        if not (np.abs(places[kept] - places[number]) < room).all(axis=1).any():
            kept.append(number)
    return set(kept)
