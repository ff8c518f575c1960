"""Plots of curves as items of a scene: axes, light grid lines, lines told apart by hue and dash, their names.

The number of items and their kinds follow from the plot's lines alone, never from values: from step to step
only fields change, so that a view that follows a run sends few bytes. Axes lie in the same plane as the
curves, so that a reader who zooms in still reads true numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from mlnlab.display.chart.axes import MOST_TICKS, Axis, value_words
from mlnlab.display.chart.curve_paths import band_path, curve_path, mark_path
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
MARKS = ("circle", "square", "diamond", "triangle")
_CAP = 3.0  # of a whisker


class Line(NamedTuple):
    """A curve: its name, its points, and perhaps how far around its values a band reaches.

    ``points`` are not joined, ``bars`` stand upright; both, and lines with a ``mark`` at their points, have
    whiskers instead of a band. Errors to below and to above are two rows. ``look`` is a hue and a dash
    instead of those of the line's number, ``words`` stand above the points, and ``told`` behind the name of
    what is pointed at; a line that is not ``listed`` has no other name. A figure has room for more:
    ``detail`` behind the name, ``tips`` for the points at some indices.
    """

    name: str
    across: Numbers
    values: Numbers
    errors: Numbers | None = None
    detail: str = ""
    tips: Callable[[NDArray[np.intp]], list[str]] | None = None
    kind: Literal["line", "points", "bars"] = "line"
    mark: str = ""
    look: str = ""
    words: tuple[str, ...] = ()
    listed: bool = True
    told: str = ""

    @property
    def has_whiskers(self) -> bool:
        """Whether errors are drawn point by point."""
        return bool(self.mark) or self.kind != "line"

    def edges(self) -> tuple[Numbers, Numbers]:
        """Return the values less and plus their errors."""
        if self.errors is None:
            return self.values, self.values
        below, above = self.errors if self.errors.ndim == 2 else (self.errors, self.errors)
        return self.values - below, self.values + above


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
    by a dashed line. ``named`` says whether lines are named at their ends; ``said`` stands below the title.
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
    said: str = ""

    @property
    def listed(self) -> list[tuple[int, Line]]:
        """The lines that have names of their own, with their numbers."""
        return [(place, line) for place, line in enumerate(self.lines) if line.listed]

    @property
    def names_lines(self) -> bool:
        """Whether lines are named at their ends."""
        return self.named and 1 < len(self.listed) <= MOST_NAMED

    def look(self, place: int) -> str:
        """Return the hue and the dash of a line."""
        return self.lines[place].look or style_of(place + self.offset)

    def sample(self, place: int) -> Item:
        """Return a piece of a line around (0, 0), with its mark."""
        line, look = self.lines[place], self.look(place)
        piece = Path(path=polyline([(-_SAMPLE / 2, 0), (_SAMPLE / 2, 0)]), look=f"curve {look}")
        if line.kind == "line" and not line.mark:
            return piece
        shape = Path(path=mark_path([0.0], [0.0], line.mark or "square"), look=f"bar {look.split()[0]}")
        return Group(children=(piece, shape)) if line.kind == "line" else shape


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
    names, inner = plot.names_lines, inner_box(plot, box)
    places = [_pixels(plot, line, inner) for line in plot.lines]
    return (
        *_title(plot, box),
        *_shade(plot, inner),
        *_axes(plot, inner, number),
        *_bands(plot, inner, places),
        *_curves(plot, inner, places, number),
        *(_names(plot, inner, places, number) if names else ()),
        _marker(plot, inner, number),
    )


def inner_box(plot: Plot, box: Box) -> Box:
    """Return where the curves of a plot are drawn, between its axes."""
    shown = [fit_text(line.name, plot.widest_name, "small") for _, line in plot.listed]
    widest = max((text_width(words, "small") for words in shown), default=0)
    right = (_SAMPLE + 6 + widest) if plot.names_lines else _RIGHT
    title = (_TITLE if plot.title else 6.0) + (_ROW if plot.said else 0.0)
    bottom = _BOTTOM + (_ROW if _stands_below(plot, box.width) else 0.0)
    return Box(box.x + _LEFT, box.y + title, box.width - _LEFT - right, box.height - title - bottom)


def _stands_below(plot: Plot, width: float) -> bool:
    """Whether the words along the horizontal axis would hide numbers that are needed."""
    bars = any(line.kind == "bars" for line in plot.lines)
    return bool(plot.across) and (bars or text_width(plot.across, "small") > (width - _LEFT) / 3)


def _title(plot: Plot, box: Box) -> tuple[Item, ...]:
    """Return the title, and the line below it."""
    texts = ((plot.title, "words strong"), (plot.said, "quiet small"))
    return tuple(
        Text(
            x=box.x + _LEFT, y=box.y + 12 + (_ROW + 1) * line, text=words, look=look,
            tooltip=tooltip(text) if words != text else "",
        )
        for line, (text, look) in enumerate(texts)
        if text
        for words in (fit_text(text, box.width - _LEFT, look),)
    )  # fmt: skip


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
        _across_words(plot, inner),
    )


def _across_words(plot: Plot, inner: Box) -> Text:
    below = _stands_below(plot, inner.width + _LEFT)
    words = fit_text(plot.across, inner.width + _LEFT, "small")
    y = inner.y + inner.height + 15 + (_ROW if below else 0)
    tip = tooltip(plot.across) if words != plot.across else ""
    return Text(x=inner.x + inner.width, y=y, text=words, look="quiet small", anchor="end", tooltip=tip)


def _shares(axis: Axis) -> list[float]:
    shown = axis.ticks if axis.named else axis.ticks[: MOST_TICKS + 1]
    return axis.shares(np.array(shown)).tolist() if shown else []


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
    beside = 0.0 if _stands_below(plot, inner.width + _LEFT) else text_width(plot.across, "small")
    room = inner.width / max(len(right), 1) - 6
    words = [fit_text(text, room, "small") for text in axis.words] if axis.named else axis.words
    shown = _without_overlap(words, right, inner.x + inner.width + (_RIGHT if not beside else -beside))
    return [
        Text(
            id=numbered_id("place", number, place),
            x=right[place] if place < len(right) else inner.x, y=inner.y + inner.height + 15,
            text=words[place] if place < len(right) and shown[place] else "",
            look="number small", anchor="middle",
        )
        for place in range(len(right) if axis.named else MOST_TICKS)
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
    inside = (right >= inner.x - 0.01) & (right <= inner.x + inner.width + 0.01) | np.isnan(line.across)
    return right[inside], down[inside]


def _bands(plot: Plot, inner: Box, places: Sequence[tuple[Numbers, Numbers]]) -> list[Item]:
    """Return the bands of standard errors, cut at the frame; on a log scale an edge below 0 is the bottom."""
    found: list[Item] = []
    for place, (line, (_, down)) in enumerate(zip(plot.lines, places, strict=True)):
        if line.errors is None or line.has_whiskers:
            continue
        low, high = (_edge_pixels(plot, edge, inner) for edge in line.edges())
        right = inner.x + plot.horizontal.shares(line.across) * inner.width
        path = band_path(right, high, low) if len(down) else ""
        found.append(Path(path=path, look=f"bar {plot.look(place).split()[0]} washed"))
    return found


def _edge_pixels(plot: Plot, edge: Numbers, inner: Box) -> Numbers:
    lowest = plot.vertical.log & np.isfinite(edge) & (edge <= 0)
    shares = np.clip(np.where(lowest, 0.0, plot.vertical.shares(edge)), 0, 1)
    return inner.y + (1 - shares) * inner.height


def _curves(plot: Plot, inner: Box, places: Sequence[tuple[Numbers, Numbers]], number: int) -> Iterator[Item]:
    for place, (line, (right, down)) in enumerate(zip(plot.lines, places, strict=True)):
        look, tip = plot.look(place), tooltip(line.name, line.told or line_in_words(line))
        name, solid = numbered_id("line", number, place), f"bar {look.split()[0]}"
        if line.kind == "bars":
            yield from _bars(line, right, down, inner, name, solid)
            continue
        if line.errors is not None and line.has_whiskers:
            yield Path(path=_whiskers(plot, line, inner), look=f"curve {look.split()[0]}")
        marks = mark_path(right.tolist(), down.tolist(), line.mark) if line.mark else ""
        if line.kind == "line":
            path = curve_path(right, down) if len(right) else ""
            yield Path(id=name, path=path, look=f"curve {look}", tooltip=tip)
            if line.mark:
                yield Path(path=marks, look=solid)
        else:
            yield Path(id=name, path=marks, look=solid, tooltip=tip)
        yield from _words_above(line, right - 5, down - 4, "end")


def _whiskers(plot: Plot, line: Line, inner: Box) -> str:
    """Return a line from the lower to the upper edge of each point, with caps."""
    right = inner.x + plot.horizontal.shares(line.across) * inner.width
    ends = (_edge_pixels(plot, edge, inner).tolist() for edge in line.edges())
    return segments(
        piece
        for x, low, high in zip(right.tolist(), *ends, strict=True)
        if isfinite(x) and isfinite(low) and isfinite(high)
        for piece in (
            ((x, low), (x, high)), *(((x - _CAP, y), (x + _CAP, y)) for y in (low, high)),
        )
    )  # fmt: skip


def _bars(line: Line, right: Numbers, down: Numbers, inner: Box, name: str, look: str) -> Iterator[Item]:
    """Yield upright bars, as wide as their neighbours leave room."""
    width = (float(np.diff(right).min()) if len(right) > 1 else inner.width / 4) - 2
    tips = [line.name] * len(right) if line.tips is None else line.tips(np.arange(len(right)))
    for place, (x, y, tip) in enumerate(zip(right.tolist(), down.tolist(), tips, strict=True)):
        yield Rectangle(
            id=f"{name}-{place}", x=x - width / 2, y=y, width=width,
            height=max(inner.y + inner.height - y, 0), look=look, tooltip=tooltip(tip),
        )  # fmt: skip
    yield from _words_above(line, right, down - 3, "middle", width + 2)


def _words_above(
    line: Line, right: Numbers, down: Numbers, anchor: Literal["middle", "end"], room: float = float("inf")
) -> Iterator[Text]:
    """Yield the words of points; bars that are narrower have none, but for the highest."""
    highest = float(down.min(initial=0.0))
    for words, x, y in zip(line.words, right.tolist(), down.tolist(), strict=False):
        fits = y == highest or text_width(words, "small") <= room
        yield Text(x=x, y=y, text=words if fits else "", look="quiet small", anchor=anchor)


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
    for place, _ in plot.listed:
        known = places[place][1][np.isfinite(places[place][1])]
        targets.append(float(known[-1]) if len(known) else inner.y + inner.height)
    found: list[Item] = []
    for (place, line), y in zip(plot.listed, spread(targets, inner), strict=True):
        words = fit_text(line.name, plot.widest_name, "small")
        found.append(
            Group(
                id=numbered_id("name", number, place),
                x=inner.x + inner.width + 3 + _SAMPLE / 2, y=y,
                tooltip=tooltip(line.name) if words != line.name else "",
                children=(
                    plot.sample(place), Text(x=_SAMPLE / 2 + 3, y=4, text=words, look="words small"),
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
