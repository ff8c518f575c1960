"""Write points of curves as paths: gaps stay gaps, lone points are seen, no spike is lost."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]

_PER_COLUMN = 4  # points that are kept of a column of pixels: the first, the least, the greatest, the last
_FURTHEST = 1e5  # pixels; renderers refuse what lies further out
_LONE = 2.5  # half the width of the mark of a point without neighbours
_MOST_MARKS = 200  # of a line
# As paths from a point that a relative step leads to.
_OUTLINES = {
    "dot": "m-1.5 0a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0 -3 0Z",
    "circle": "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0Z",
    "square": "m-3 -3h6v6h-6Z", "diamond": "m0 -4.5l4.5 4.5l-4.5 4.5l-4.5 -4.5Z",
    "triangle": "m0 -4.5l4 7h-8Z", "dash": "m-12 -1h24v2h-24Z",
}  # fmt: skip


def mark_path(right: Sequence[float], down: Sequence[float], mark: str) -> str:
    """Return the outline of a mark at each point that has a place."""
    points = [point for point in zip(right, down, strict=True) if isfinite(point[1])][:_MOST_MARKS]
    return "".join(f"M{x:.1f} {y:.1f}{_OUTLINES[mark]}" for x, y in points)


def thin_points(across: Numbers, down: Numbers) -> tuple[Numbers, Numbers]:
    """Return at most four points for each column of pixels, so that the drawing looks the same."""
    if len(across) <= 1:
        return across, down
    columns = np.floor(across)
    firsts = np.flatnonzero(np.concatenate([[True], columns[1:] != columns[:-1]]))
    if len(across) <= _PER_COLUMN * len(firsts):
        return across, down
    ends = np.append(firsts[1:], len(down))
    rows = [
        _find_first_numbers(down, firsts, ends),
        np.fmin.reduceat(down, firsts),
        np.fmax.reduceat(down, firsts),
        _find_last_numbers(down, firsts, ends),
    ]
    return np.repeat(columns[firsts] + 0.5, _PER_COLUMN), np.array(rows).T.ravel()


def _find_first_numbers(values: Numbers, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> Numbers:
    """Return for each stretch its first number, NaN where it has none."""
    known = np.flatnonzero(~np.isnan(values))
    place = np.searchsorted(known, starts)
    candidates = np.append(known, len(values))[place]
    return np.where(candidates < ends, np.append(values, np.nan)[candidates], np.nan)


def _find_last_numbers(values: Numbers, starts: NDArray[np.intp], ends: NDArray[np.intp]) -> Numbers:
    known = np.flatnonzero(~np.isnan(values))
    place = np.searchsorted(known, ends) - 1
    candidates = np.concatenate([known, [-1]])[place]
    return np.where(candidates >= starts, values[candidates], np.nan)


def curve_path(across: Numbers, down: Numbers) -> str:
    """Return lines through points; a NaN breaks them, a point alone between gaps becomes a small rhomb."""
    across, down = thin_points(across, np.clip(down, -_FURTHEST, _FURTHEST))
    here = np.isfinite(down) & np.isfinite(across)
    starts = here & ~np.concatenate([[False], here[:-1]])
    ends = here & ~np.concatenate([here[1:], [False]])
    alone = starts & ends
    # What looks the same as the point before is left out, where a line goes on.
    x, y = np.round(across, 1) + 0.0, np.round(down, 1) + 0.0
    same = np.concatenate([[False], (x[1:] == x[:-1]) & (y[1:] == y[:-1])]) & here & ~starts
    kept = here & ~same
    rows = zip(x[kept].tolist(), y[kept].tolist(), starts[kept].tolist(), alone[kept].tolist(), strict=True)
    parts = []
    for right, low, start, single in rows:
        if single:
            parts.append(_rhomb(right, low))
        else:
            parts.append(f"{'M' if start else 'L'}{right:.6g} {low:.6g}")
    return "".join(parts)


def _rhomb(x: float, y: float) -> str:
    side = f"{_LONE:g}"
    return f"M{x - _LONE:.6g} {y:.6g}l{side} -{side}l{side} {side}l-{side} {side}Z"


def band_path(across: Numbers, upper: Numbers, lower: Numbers) -> str:
    """Return the area between two curves; where one has a gap, the band has one too."""
    limit = np.clip(np.array([upper, lower]), -_FURTHEST, _FURTHEST)
    gaps = np.isnan(limit).any(axis=0)
    tops = np.where(gaps, np.nan, limit.min(axis=0))
    bottoms = np.where(gaps, np.nan, limit.max(axis=0))
    columns, (tops, bottoms) = _columns(across, tops, bottoms)
    here = np.isfinite(tops)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], here.astype(np.int8), [0]])))
    return "".join(
        _ring(columns[start:stop], tops[start:stop], bottoms[start:stop])
        for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)
    )


def _columns(across: Numbers, tops: Numbers, bottoms: Numbers) -> tuple[Numbers, tuple[Numbers, Numbers]]:
    """Return the outermost edges in each column of pixels, where there are more points than columns."""
    columns = np.floor(across)
    firsts = np.flatnonzero(np.concatenate([[True], columns[1:] != columns[:-1]]))
    if len(across) <= 2 * len(firsts):
        return across, (tops, bottoms)
    return columns[firsts] + 0.5, (np.fmin.reduceat(tops, firsts), np.fmax.reduceat(bottoms, firsts))


def _ring(across: Numbers, tops: Numbers, bottoms: Numbers) -> str:
    if len(across) == 1:  # a band of one point is a short bar
        across, tops, bottoms = np.array([across[0] - 2, across[0] + 2]), tops.repeat(2), bottoms.repeat(2)
    x = np.round(np.concatenate([across, across[::-1]]), 1).tolist()
    y = np.round(np.concatenate([tops, bottoms[::-1]]), 1).tolist()
    points = [f"{right:.6g} {low:.6g}" for right, low in zip(x, y, strict=True)]
    return f"M{'L'.join(points)}Z"


def telling_places(values: Numbers, most: int) -> NDArray[np.intp]:
    """Return at most ``most`` indices of values: the minimum and the maximum of each segment, or its gap."""
    if len(values) <= most:
        return np.arange(len(values))
    ends = np.linspace(0, len(values), max(most // 2, 1)).astype(np.intp)
    found = {0, len(values) - 1}
    for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        part = values[start:stop]
        if np.isnan(part).all():
            found.add(start)  # one place is enough for a gap
        else:
            found |= {start + int(np.nanargmin(part)), start + int(np.nanargmax(part))}
    return np.array(sorted(found), np.intp)
