"""Draw small buttons in lines; the pressed one has a mark as well as a frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from mlnlab.display.scene.building import tooltip
from mlnlab.display.scene.items import Group, Item, Rectangle, Text
from mlnlab.display.scene.text_fitting import text_width

LINE = 23.0
_HEIGHT, _GAP = 19.0, 6.0
Chip: TypeAlias = tuple[str, str, str, bool]  # an id, its words, what is said of it, whether it is pressed


def chip(
    name: str, x: float, y: float, words: str, tip: str, *, pressed: bool = False
) -> tuple[Group, float]:
    """Return a button, and how wide it is; the pressed one has a mark as well as a frame."""
    shown, look = (f"● {words}", "words small strong") if pressed else (words, "words small")
    width = text_width(shown, look) + 16
    return Group(
        id=name, x=x, y=y, press=True, tooltip=tooltip(words, tip),
        children=(
            Rectangle(x=0, y=0, width=width, height=_HEIGHT, corner=4, look="panel" if pressed else "frame"),
            Text(x=8, y=13.5, text=shown, look=look),
        ),
    ), width  # fmt: skip


def chip_lines(chips: Sequence[Chip], left: float, top: float, right: float) -> tuple[list[Item], float]:
    """Place buttons in lines between two sides, and return where these end."""
    items: list[Item] = []
    x, y = left, top
    for name, words, tip, pressed in chips:
        if x > left and x + text_width("● " + words, "small strong") + 16 > right:
            x, y = left, y + LINE
        made, width = chip(name, x, y, words, tip, pressed=pressed)
        items.append(made)
        x += width + _GAP
    return items, y + LINE + 1
