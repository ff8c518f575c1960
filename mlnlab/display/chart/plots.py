"""Plots of curves as items of a scene: axes, light grid lines, lines told apart by hue and dash, their names.

The number of items and their kinds follow from the plot's lines alone, never from values: from step to step
only fields change, so that a view that follows a run sends few bytes. Axes lie in the same plane as the
curves, so that a reader who zooms in still reads true numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from mlnlab.display.chart.axes import MOST_TICKS, Axis, value_words
from mlnlab.display.scene.building import Entry, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Path, Rectangle, Text
from mlnlab.display.scene.look import DASHES, HUES
from mlnlab.display.scene.paths import polyline, segments
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers: TypeAlias = NDArray[np.float64]

MOST_NAMED = 6  # lines that are named at their ends; more get a legend
_LEFT, _RIGHT, _BOTTOM, _TITLE = 56.0, 14.0, 22.0, 20.0
_SAMPLE = 16.0
_ROW = 14.0  # pixels between names at lines' ends
_PER_COLUMN = 4  # points that are kept of a column of pixels: the first, the least, the greatest, the last
_FURTHEST = 1e5  # pixels; renderers refuse what lies further out
_LONE = 2.5  # half the width of the mark of a point without neighbours


class Line(NamedTuple):
    """A curve: its name, its points, and perhaps how far around its values a band reaches.

    A figure has room for more: ``detail`` behind the name, ``tips`` for the points at some indices.
    """

    name: str
    across: Numbers
    values: Numbers
    errors: Numbers | None = None
    detail: str = ""
    tips: Callable[[NDArray[np.intp]], list[str]] | None = None


class Box(NamedTuple):
    """Where something stands: its upper left corner and its size."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, eq=False)
class Plot:
    """Curves over one horizontal axis.

    ``shaded`` is a stretch of the horizontal axis, ``marked`` a place on it, ``level`` a value that is marked
    by a dashed line. ``named`` says whether lines are named at their ends.
    """

    title: str
    lines: tuple[Line, ...]
    horizontal: Axis
    vertical: Axis
    across: str = "step"
    shaded: tuple[float, float] | None = None
    marked: float | None = None
    level: float | None = None
    named: bool = True
    widest_name: float = 120.0  # of a line, at its end
    offset: int = field(default=0)  # where the hues begin


def style_of(number: int) -> str:
    """Return how the line with this number looks; no two of the first 20 share hue and dash."""
    hues = HUES[:-1]
    dash = DASHES[number % len(DASHES)]  # there are five hues and four dashes: all pairs come in turn
    return f"{hues[number % len(hues)]} {dash}".strip()


def sample(number: int) -> Path:
    """Return a short piece of the line with this number, around (0, 0)."""
    return Path(path=polyline([(-_SAMPLE / 2, 0), (_SAMPLE / 2, 0)]), look=f"curve {style_of(number)}")


def entries(names: Sequence[str]) -> list[Entry]:
    """Return the lines of a legend."""
    return [Entry(sample(number), name) for number, name in enumerate(names)]


def plot_items(plot: Plot, box: Box, number: int) -> tuple[Item, ...]:
    """Return a plot as items; ``number`` tells the plots of one scene apart."""
    names, inner = _names_lines(plot), inner_box(plot, box)
    places = [_pixels(plot, line, inner) for line in plot.lines]
    return (
        *_title(plot, box),
        *_shade(plot, inner),
        *_axes(plot, inner, number),
        *_bands(plot, inner, places),
        *_curves(plot, places, number),
        *(_names(plot, inner, places, number) if names else ()),
        _marker(plot, inner, number),
    )


def _names_lines(plot: Plot) -> bool:
    return plot.named and 1 < len(plot.lines) <= MOST_NAMED


def inner_box(plot: Plot, box: Box) -> Box:
    """Return where the curves of a plot are drawn, between its axes."""
    shown = [fit_text(line.name, plot.widest_name, "small") for line in plot.lines]
    widest = max((text_width(words, "small") for words in shown), default=0)
    right = (_SAMPLE + 6 + widest) if _names_lines(plot) else _RIGHT
    title = _TITLE if plot.title else 6.0
    return Box(box.x + _LEFT, box.y + title, box.width - _LEFT - right, box.height - title - _BOTTOM)


def _title(plot: Plot, box: Box) -> tuple[Item, ...]:
    if not plot.title:
        return ()
    words = fit_text(plot.title, box.width - _LEFT, "strong")
    tip = tooltip(plot.title) if words != plot.title else ""
    return (Text(x=box.x + _LEFT, y=box.y + 12, text=words, look="words strong", tooltip=tip),)


def _shade(plot: Plot, inner: Box) -> tuple[Item, ...]:
    if plot.shaded is None:
        return ()
    start, stop = (min(max(plot.horizontal.share(end), 0.0), 1.0) for end in plot.shaded)
    width = (stop - start) * inner.width
    return (
        Rectangle(
            x=inner.x + start * inner.width, y=inner.y, width=width, height=inner.height, look="shaded"
        ),
        Text(
            x=inner.x + start * inner.width + 4,
            y=inner.y + inner.height - 5,
            text="burn-in" if width > text_width("burn-in", "small") + 6 else "",
            look="quiet small",
        ),
    )


def _axes(plot: Plot, inner: Box, number: int) -> tuple[Item, ...]:
    """Return grid lines and as many texts as there can be ticks; those without one are empty."""
    down = [inner.y + (1 - share) * inner.height for share in _shares(plot.vertical)]
    right = [inner.x + share * inner.width for share in _shares(plot.horizontal)]
    bottom, end = inner.y + inner.height, inner.x + inner.width
    level = plot.vertical.share(plot.level) if plot.level is not None else float("nan")
    at = inner.y + (1 - level) * inner.height
    shown = isfinite(level) and 0 <= level <= 1
    return (
        Path(path=segments(((inner.x, y), (end, y)) for y in down), look="link thin faint"),
        Path(path=polyline([(inner.x, bottom), (end, bottom)]), look="frame"),
        Path(path=segments(((x, bottom), (x, bottom + 3)) for x in right), look="frame"),
        *(
            ()
            if plot.level is None
            else (Path(path=segments([((inner.x, at), (end, at))] * shown), look="link dashed"),)
        ),
        *_vertical_words(plot.vertical, down, inner, number),
        *_horizontal_words(plot, right, inner, number),
        Text(x=end, y=bottom + 15, text=plot.across, look="quiet small", anchor="end"),
    )


def _shares(axis: Axis) -> list[float]:
    return axis.shares(np.array(axis.ticks[: MOST_TICKS + 1])).tolist() if axis.ticks else []


def _vertical_words(axis: Axis, down: Sequence[float], inner: Box, number: int) -> list[Item]:
    words = [fit_text(text, _LEFT - 8, "small") for text in axis.words]
    return [
        Text(
            id=numbered_id("value", number, place),
            x=inner.x - 6, y=down[place] + 4 if place < len(down) else inner.y,
            text=words[place] if place < len(down) else "", look="number small", anchor="end",
        )
        for place in range(MOST_TICKS)
    ]  # fmt: skip


def _horizontal_words(plot: Plot, right: Sequence[float], inner: Box, number: int) -> list[Item]:
    axis = plot.horizontal
    shown = _without_overlap(axis.words, right, inner.x + inner.width - text_width(plot.across, "small"))
    return [
        Text(
            id=numbered_id("place", number, place),
            x=right[place] if place < len(right) else inner.x, y=inner.y + inner.height + 15,
            text=axis.words[place] if place < len(right) and shown[place] else "",
            look="number small", anchor="middle",
        )
        for place in range(MOST_TICKS)
    ]  # fmt: skip


def _without_overlap(words: Sequence[str], right: Sequence[float], limit: float) -> list[bool]:
    """Tell which words can stand beside each other, and before a limit."""
    end, shown = float("-inf"), []
    for text, x in zip(words, right, strict=False):
        half = text_width(text, "small") / 2
        shown.append(end + 4 < x - half and x + half + 4 < limit)
        end = x + half if shown[-1] else end
    return shown


def _pixels(plot: Plot, line: Line, inner: Box) -> tuple[Numbers, Numbers]:
    right = inner.x + plot.horizontal.shares(line.across) * inner.width
    down = inner.y + (1 - plot.vertical.shares(line.values)) * inner.height
    inside = (right >= inner.x - 0.01) & (right <= inner.x + inner.width + 0.01)
    return right[inside], down[inside]


def _bands(plot: Plot, inner: Box, places: Sequence[tuple[Numbers, Numbers]]) -> list[Item]:
    """Return the bands of standard errors, cut at the frame; on a log scale an edge below 0 is the bottom."""
    found: list[Item] = []
    for number, (line, (_, down)) in enumerate(zip(plot.lines, places, strict=True), plot.offset):
        if line.errors is None:
            continue
        edges = []
        for edge in (line.values + line.errors, line.values - line.errors):
            share = plot.vertical.shares(edge)
            lowest = plot.vertical.log & np.isfinite(edge) & (edge <= 0)
            edges.append(inner.y + (1 - np.clip(np.where(lowest, 0.0, share), 0, 1)) * inner.height)
        right = inner.x + plot.horizontal.shares(line.across) * inner.width
        path = band_path(right, *edges) if len(down) else ""
        found.append(Path(path=path, look=f"bar {style_of(number).split()[0]} washed"))
    return found


def _curves(plot: Plot, places: Sequence[tuple[Numbers, Numbers]], number: int) -> list[Item]:
    found: list[Item] = []
    for place, (line, (right, down)) in enumerate(zip(plot.lines, places, strict=True)):
        look = f"curve {style_of(place + plot.offset)}"
        path = curve_path(right, down) if len(right) else ""
        tip = tooltip(line.name, line_in_words(line))
        found.append(Path(id=numbered_id("line", number, place), path=path, look=look, tooltip=tip))
    return found


def line_in_words(line: Line) -> str:
    """Return the last value of a line, and its range."""
    known = line.values[np.isfinite(line.values)]
    if not len(known):
        return "no values"
    span = f"from {value_words(float(known.min()))} to {value_words(float(known.max()))}"
    return f"last {value_words(float(known[-1]))}, {span}"


def _names(plot: Plot, inner: Box, places: Sequence[tuple[Numbers, Numbers]], number: int) -> list[Item]:
    """Return the names at the lines' ends, moved apart where they would meet."""
    targets = []
    for _, down in places:
        known = down[np.isfinite(down)]
        targets.append(float(known[-1]) if len(known) else inner.y + inner.height)
    found: list[Item] = []
    for place, (line, y) in enumerate(zip(plot.lines, spread(targets, inner), strict=True)):
        words = fit_text(line.name, plot.widest_name, "small")
        found.append(
            Group(
                id=numbered_id("name", number, place),
                x=inner.x + inner.width + 3 + _SAMPLE / 2, y=y,
                tooltip=tooltip(line.name) if words != line.name else "",
                children=(
                    sample(place + plot.offset),
                    Text(x=_SAMPLE / 2 + 3, y=4, text=words, look="words small"),
                ),
            )
        )  # fmt: skip
    return found


def spread(targets: Sequence[float], inner: Box) -> list[float]:
    """Return places near the targets, in their order, at least a row apart and inside of the box."""
    low, high = inner.y + 4, inner.y + inner.height - 2
    order = sorted(range(len(targets)), key=lambda place: targets[place])
    found = [min(max(target, low), high) for target in targets]
    for before, after in pairwise(order):
        found[after] = max(found[after], found[before] + _ROW)
    limit = high
    for place in reversed(order):
        found[place] = min(found[place], limit)
        limit = found[place] - _ROW
    return found


def _marker(plot: Plot, inner: Box, number: int) -> Item:
    share = plot.horizontal.share(plot.marked) if plot.marked is not None else float("nan")
    x = inner.x + share * inner.width
    shown = isfinite(share) and 0 <= share <= 1
    line = [((x, inner.y), (x, inner.y + inner.height))] if shown else []
    return Path(id=numbered_id("marker", number), path=segments(line), look="link dotted")


# --- points ---------------------------------------------------------------------------------------
# Gaps stay gaps, lone points are seen, and of a million points no spike is lost.


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
