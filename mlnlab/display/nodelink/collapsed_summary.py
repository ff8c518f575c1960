"""A graph too large for any drawing of its nodes: for each kind, how many links its nodes are in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.card.markup import count_of
from mlnlab.display.chart.bars import WIDTH
from mlnlab.display.scene.building import kind_number, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from mlnlab.display.nodelink.collapsed_outline import Outline

MOST_KINDS = 6
_ACROSS, _LEFT, _TOP = 2, 12.0, 8.0
_HEIGHT, _HEAD, _FOOT, _BETWEEN = 62.0, 40.0, 30.0, 24.0
_WIDEST_BAR, _NARROW = 40.0, 28.0


class Histogram(NamedTuple):
    """How many nodes of a kind are in no link, in one, in 2 to 3, in 4 to 7, and so on."""

    kind: int
    counts: tuple[int, ...]
    mean: float
    most: int

    @property
    def total(self) -> int:
        """The number of nodes of the kind."""
        return sum(self.counts)


def histograms(outline: Outline) -> list[Histogram]:
    """Return the histogram of each kind that has nodes, the most common kind first."""
    found = []
    for kind in np.unique(outline.kinds).tolist():
        degrees = outline.degrees[outline.kinds == kind]
        # 0 stays apart; k >= 1 falls into the bin of its highest bit.
        bins = np.where(degrees > 0, np.log2(np.maximum(degrees, 1)).astype(np.int64) + 1, 0)
        counts = tuple(np.bincount(bins).tolist())
        found.append(Histogram(kind, counts, float(degrees.mean()), int(degrees.max())))
    return sorted(found, key=lambda histogram: -histogram.total)


def bin_words(number: int) -> str:
    """Return which degrees a bin holds."""
    low = 1 << max(number - 1, 0)
    return str(min(number, low)) if number < 2 else f"{low:,}–{2 * low - 1:,}"


def summary_scene(outline: Outline) -> Scene:
    """Return small histograms of degrees, one for each kind."""
    shown = histograms(outline)
    drawn = shown[:MOST_KINDS]
    width = (WIDTH - _LEFT - (_ACROSS - 1) * _BETWEEN) / _ACROSS
    row = _HEAD + _HEIGHT + _FOOT
    panels = tuple(
        Group(
            id=numbered_id("histogram", histogram.kind),
            x=_LEFT + place % _ACROSS * (width + _BETWEEN),
            y=_TOP + place // _ACROSS * row,
            children=tuple(_panel(outline, histogram, width)),
        )
        for place, histogram in enumerate(drawn)
    )
    nodes = count_of(outline.size, outline.node_word)
    links = count_of(outline.number_of_links, outline.link_word)
    rest = f" Of {len(shown)} kinds, the {MOST_KINDS} largest are shown." if len(shown) > len(drawn) else ""
    words = f"{nodes}, {links}: in how many {outline.link_word}s each {outline.node_word} is.{rest}"
    height = _TOP + -(-len(drawn) // _ACROSS) * row
    return Scene(WIDTH, height, (Layer("histograms", panels, zooms=False),), outline.title, words)


def _panel(outline: Outline, histogram: Histogram, width: float) -> Iterator[Item]:
    hue, shape = kind_number(histogram.kind)
    name = fit_text(outline.kind_names[histogram.kind], width - 120, "strong")
    link = outline.link_word
    spread = f"in {histogram.mean:,.1f} {link}s on average, in at most {histogram.most:,}"
    yield mark(shape, 5, f"disc {hue}", x=5, y=8)
    yield Text(x=16, y=12, text=f"{name} · {histogram.total:,}", look="words strong")
    yield Text(x=16, y=28, text=spread, look="quiet small")
    step = min(_WIDEST_BAR, width / len(histogram.counts))
    bottom = _HEAD + _HEIGHT
    highest = max(histogram.counts)
    every = 1 if step > _NARROW else 2
    for number, count in enumerate(histogram.counts):
        height = (_HEIGHT - 12) * count / highest
        tip = tooltip(f"{count_of(count, outline.node_word)} in {bin_words(number)} {link}s")
        left, top = number * step + 1, bottom - height
        yield Rectangle(x=left, y=top, width=step - 3, height=height, look=f"bar {hue}", tooltip=tip)
        middle = left + (step - 3) / 2
        if count == highest or text_width(compact(count), "small") + 3 <= step:
            yield Text(x=middle, y=top - 3, text=compact(count), look="quiet small", anchor="middle")
        if number % every == 0:
            low = compact(1 << (number - 1) if number else 0)
            yield Text(x=middle, y=bottom + 13, text=low, look="quiet small", anchor="middle")
    yield Path(path=segments([((0.0, bottom), (step * len(histogram.counts), bottom))]), look="frame")


def compact(number: int) -> str:
    """Return a number in few letters: ``950``, ``9.5k``, ``12k``, ``3.4M``."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            share = number / size
            return f"{share:.1f}{letter}" if share < 10 and round(share, 1) % 1 else f"{share:.0f}{letter}"
    return str(number)
