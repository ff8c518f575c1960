"""The parts of drawings: labels that fit, marks whose shape tells as much as their hue, legends."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from typing import NamedTuple

from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.look import HUES
from mlnlab.display.scene.paths import polyline
from mlnlab.display.scene.text_fitting import fit_text, fitted_name, shorten_text, text_width
from mlnlab.errors import visible as fit

WIDTH = 680  # of a page, in pixels
SHAPES = ("square", "diamond", "triangle", "circle")
_LONGEST_TOOLTIP = 400


class Kind(NamedTuple):
    """How the things of one kind are drawn; no two of the first 20 kinds share hue and shape."""

    hue: str
    shape: str


def kind_number(number: int) -> Kind:
    """Return the hue and the shape of a kind of things, by its number."""
    hues = HUES[:-1]  # grey is for what is of no kind
    return Kind(hues[number % len(hues)], SHAPES[number % len(SHAPES)])  # 5 and 4: all pairs come in turn


def numbered_id(word: str, *numbers: int) -> str:
    """Return an id of ours: ``constant-3``, ``edge-2-17``."""
    return "-".join([word, *map(str, numbers)])


def tooltip(*lines: str) -> str:
    """Return lines as a tooltip of bearable length; the first one names the thing."""
    shown = (fit(shorten_text(line, _LONGEST_TOOLTIP)) for line in lines if line)
    return shorten_text("\n".join(shown), _LONGEST_TOOLTIP)


def label(x: float, y: float, text: str, width: float, look: str = "label") -> Text:
    """Return a text centred on a point, cut where it is wider than ``width`` pixels."""
    return Text(x=x, y=y, text=fitted_name(text, width, look), look=look, anchor="middle")


@lru_cache(maxsize=4_096)  # many are alike, and drawn anew at each step
def mark(shape: str, size: float, look: str = "", x: float = 0, y: float = 0) -> Item:
    """Return a small shape around a point; all shapes of one size have about the same area."""
    if shape == "circle":
        return Circle(x=x, y=y, radius=size, look=look)
    if shape == "square":
        half = size * 0.9
        return Rectangle(x=x - half, y=y - half, width=2 * half, height=2 * half, corner=2, look=look)
    if shape == "diamond":
        far = size * 1.27
        points = [(x, y - far), (x + far, y), (x, y + far), (x - far, y)]
    else:
        far = size * 1.4
        points = [(x, y - far), (x + far * sqrt(3) / 2, y + far / 2), (x - far * sqrt(3) / 2, y + far / 2)]
    return Path(path=polyline(points, closed=True), look=look)


class Entry(NamedTuple):
    """A line of a legend: a small drawing around (0, 0), its meaning, its name if it can be clicked."""

    sample: Item
    words: str
    pick: str = ""


def swatch(look: str) -> Item:
    """Return a small box, as a legend shows one."""
    return Rectangle(x=-6, y=-5, width=12, height=10, corner=3, look=look)


def legend(entries: Sequence[Entry], x: float, y: float, width: float) -> tuple[Group, float]:
    """Return a legend in rows that fit into a width, and the height it takes."""
    left, top, row = x, y, 20.0
    parts: list[Item] = []
    for number, entry in enumerate(entries):
        words = fit_text(entry.words, min(width - 24, 220))
        needed = 22 + text_width(words) + 16
        if left > x and left + needed > x + width:
            left, top = x, top + row
        parts.append(
            Group(
                id=entry.pick or numbered_id("legend", number),
                x=left + 7,
                y=top + row / 2,
                tooltip=tooltip(entry.words) if words != entry.words else "",
                pick=bool(entry.pick),
                children=(entry.sample, Text(x=14, y=4.5, text=words, look="words")),
            )
        )
        left += needed
    return Group(id="legend", children=tuple(parts)), (top + row - y if entries else 0.0)


def explained_scene(
    layers: Sequence[Layer], entries: Sequence[Entry], size: tuple[float, float], title: str,
    description: str = "", *, gap: float = 6.0, foot: float = 6.0, note: str | None = None,
) -> Scene:  # fmt: skip
    """Return layers of a size as a scene, their legend below a gap, and perhaps a note below the legend."""
    explained, height = legend(entries, 8, size[1] + gap, WIDTH - 16)
    end = size[1] + (gap + height if height else 0)
    below = () if note is None else (Text(x=8, y=end + 14, text=note, look="quiet small"),)
    layer = Layer("explained", (*((explained,) if height else ()), *below), zooms=False)
    total = end + (foot if note is None else 22)
    return Scene(size[0], total, (*layers, layer), title, description)
