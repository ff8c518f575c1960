"""Draw bars as scenes: probabilities with known errors, their spread, shares that add up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from mlnlab.display.card.markup import shorten_text
from mlnlab.display.scene.building import WIDTH as WIDTH  # noqa: PLC0414 - bars are as wide as a page
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import polyline, segments
from mlnlab.display.scene.text_fitting import fit_text, text_width

ROW, BAR = 20, 13  # pixels: row height, bar height
_TOP, _CAP = 4, 4.0
_WIDEST_LABEL, _LONGEST_LABEL = 350.0, 60  # pixels, letters
NUMBER_WIDTH = 60
_GAP, _WIDEST_NUMBERS = 8, 240.0


class Bar(NamedTuple):
    """A bar's row: its label, a value between 0 and 1 (NaN: none yet), and the value in words.

    What is known rather than computed is drawn as a frame. ``error`` is drawn as a whisker to both sides,
    ``exact`` as a tick; ``doubt`` are words behind the value, ``tip`` lines for whoever points at the row.
    """

    label: str
    value: float
    words: str
    known: bool = False
    error: float = 0.0
    exact: float | None = None
    doubt: str = ""
    tip: str = ""


class Series(NamedTuple):
    """Bars of one kind, by default a row for each; a figure draws the series over or behind each other."""

    name: str
    bars: tuple[Bar, ...]
    hue: str = "blue"
    rows: tuple[int, ...] | None = None
    thickness: float = 0.65


@dataclass(frozen=True, slots=True)
class BarChart:
    """Bars in rows, of which a cell draws the first series as a scene and ``ml.plot`` all as a figure.

    ``empty`` is the sentence that refuses a figure without bars, and ``numbers`` the least width of the words
    behind the bars.
    """

    title: str
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    across: str
    empty: str
    description: str = ""
    stacked: bool = False
    signed: bool = False  # values may be below 0 and above 1
    numbers: float = NUMBER_WIDTH

    def scene(self) -> Scene:
        """Return the drawing."""
        return bar_scene(self.series[0].bars, self.title, self.description, self.numbers)


class Stride(NamedTuple):
    """A row of a waterfall: from where to where, in words; a total is drawn from zero and as a frame."""

    label: str
    start: float
    stop: float
    words: str
    total: bool = False


@dataclass(frozen=True, slots=True)
class Waterfall:
    """Strides one after the other, which a cell draws as a scene and ``ml.plot`` as a figure.

    ``empty`` is the sentence that refuses a figure without strides.
    """

    title: str
    strides: tuple[Stride, ...]
    across: str
    empty: str
    description: str = ""

    def scene(self) -> Scene | None:
        """Return the drawing; none without strides."""
        return _waterfall_scene(self.strides, self.title, self.description) if self.strides else None


def short_label(label: str) -> str:
    """Return a label that is no wider than its column, cut in its middle where it has to be."""
    return fit_text(shorten_text(label, _LONGEST_LABEL), _WIDEST_LABEL)


@dataclass(frozen=True, slots=True, eq=False)
class BarFrame:
    """The fixed frame around moving bars: names on the left, tracks from 0 to 1, the axis below.

    ``ids`` are those of the rows, which can be picked; a row that has none cannot.
    """

    labels: tuple[Text, ...]
    tracks: tuple[Rectangle, ...]
    ids: tuple[str, ...]
    tips: tuple[str, ...]
    left: float
    length: float

    @property
    def bottom(self) -> float:
        """Where the rows end and the axis stands."""
        return _TOP + len(self.labels) * ROW

    @property
    def height(self) -> float:
        """The height of the rows with their axis."""
        return self.bottom + 16

    def row(self, place: int, bar: Bar) -> Group:
        """Return a row; the items in it are the same for every value."""
        value = min(max(bar.value, 0.0), 1.0) if isfinite(bar.value) else 0.0
        right = self.left + self.length + _GAP
        words = Text(x=right, y=BAR - 1.5, text=bar.words, look="number")
        shape = Rectangle(
            x=self.left, y=0, width=self.length * value, height=BAR, look="curve" if bar.known else "bar blue"
        )
        error = "" if bar.known else self._whisker(value, bar.error)
        return Group(
            id=self.ids[place] if self.ids else "",
            y=_TOP + place * ROW,
            pick=bool(self.ids),
            tooltip=f"{self.tips[place]}\n{bar.tip or bar.words}",
            children=(
                self.tracks[place],
                self.labels[place],
                shape,
                Path(path=error, look="curve grey"),
                Path(path=self._tick(bar.exact), look="curve orange thick"),
                words,
                Text(x=WIDTH, y=BAR - 1.5, text=bar.doubt, look="words small", anchor="end"),
            ),
        )

    def _whisker(self, value: float, error: float) -> str:
        """Return a line from value - error to value + error with caps, cut at 0 and 1."""
        if not error > 0:
            return ""
        low, high = max(value - error, 0.0), min(value + error, 1.0)
        start, stop, middle = self.left + low * self.length, self.left + high * self.length, BAR / 2
        caps = [((x, middle - _CAP), (x, middle + _CAP)) for x in (start, stop)]
        return segments([((start, middle), (stop, middle)), *caps])

    def _tick(self, exact: float | None) -> str:
        if exact is None:
            return ""
        x = self.left + min(max(exact, 0.0), 1.0) * self.length
        return segments([((x, -2), (x, BAR + 2))])

    def axis(self) -> tuple[Item, ...]:
        """Return a thin line below the bars with marks at 0, one half (also through the bars) and 1."""
        bottom, middle, end = self.bottom, self.left + self.length / 2, self.left + self.length
        ends = ((self.left, "0"), (middle, "½"), (end, "1"))
        return (
            Path(path=segments([((middle, 0), (middle, bottom))]), look="frame dotted"),
            Path(path=polyline([(self.left, bottom), (end, bottom)]), look="frame"),
            Path(path=segments(((x, bottom), (x, bottom + 3)) for x, _ in ends), look="frame"),
            *(Text(x=x, y=bottom + 14, text=words, look="quiet small", anchor="middle") for x, words in ends),
        )


def bar_frame(names: Sequence[str], ids: Sequence[str] = (), numbers: float = NUMBER_WIDTH) -> BarFrame:
    """Return the frame around bars with these names; ``numbers`` is the width for numbers behind the bars."""
    shown = [short_label(name) for name in names]
    left = max(map(text_width, shown), default=8.0) + 12
    length = WIDTH - left - numbers
    labels = tuple(Text(x=left - 8, y=BAR - 1.5, text=text, look="words", anchor="end") for text in shown)
    track = Rectangle(x=left, y=0, width=length, height=BAR, look="shaded")
    tips = tuple(tooltip(name) for name in names)
    return BarFrame(labels, (track,) * len(shown), tuple(ids), tips, left, length)


def bar_scene(bars: Sequence[Bar], title: str, description: str = "", numbers: float = NUMBER_WIDTH) -> Scene:
    """Return bars on tracks from 0 to 1, a row for each, with names on the left and numbers on the right.

    ``numbers`` is the least width of these; where one is wider, tracks are shorter.
    """
    ids = [numbered_id("atom", place) for place in range(len(bars))]
    widest = max((text_width(bar.words, "number") for bar in bars), default=0.0) + _GAP + 2
    numbers = max(numbers, min(widest, _WIDEST_NUMBERS))
    frame = bar_frame([bar.label for bar in bars], ids, numbers)
    rows = tuple(frame.row(place, bar) for place, bar in enumerate(bars))
    layers = (Layer("rows", rows), Layer("axis", frame.axis()))
    return Scene(WIDTH, frame.height, layers, title, description)


def _waterfall_scene(strides: Sequence[Stride], title: str, description: str = "") -> Scene:
    """Return strides that start where the one above ended; each label stands above its bar."""
    ends = [0.0, *(end for stride in strides for end in (stride.start, stride.stop))]
    low, high = min(ends), max(ends)
    left, length = 10.0, WIDTH - 20.0 - NUMBER_WIDTH
    scale = length / ((high - low) or 1.0)
    row = 2 * ROW - 3
    height = _TOP + len(strides) * row
    rows: list[Item] = []
    joints = []
    for number, stride in enumerate(strides):
        rows.append(_stride(stride, number, row, lambda value: left + (value - low) * scale))
        if number + 1 < len(strides):
            x, y = left + (stride.stop - low) * scale, _TOP + number * row + 16
            joints.append(((x, y + BAR), (x, y + row)))
    zero = left - low * scale
    lines = (
        Path(path=segments([((zero, 0), (zero, height))]), look="frame dotted"),
        Path(path=segments(joints), look="frame"),
    )
    return Scene(WIDTH, height, (Layer("lines", lines), Layer("rows", tuple(rows))), title, description)


def _stride(stride: Stride, number: int, row: float, x_of: Callable[[float], float]) -> Group:
    start, stop = sorted((x_of(stride.start), x_of(stride.stop)))
    look = "curve" if stride.total else "bar blue" if stride.stop >= stride.start else "bar orange"
    return Group(
        id=numbered_id("share", number),
        y=_TOP + number * row,
        pick=True,
        tooltip=tooltip(stride.label, stride.words),
        children=(
            Rectangle(x=start, y=16, width=max(stop - start, 1.5), height=BAR, look=look),
            Text(x=15, y=11, text=fit_text(shorten_text(stride.label, 88), WIDTH - 30), look="quiet"),
            Text(x=stop + 6, y=16 + BAR - 2, text=stride.words, look="number"),
        ),
    )
