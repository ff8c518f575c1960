"""Draw buttons as items of a picture: they need no script of their own."""

from __future__ import annotations

from collections.abc import Sequence

from mlnlab.display.scene.building import tooltip
from mlnlab.display.scene.items import Group, Item, Rectangle, Text
from mlnlab.display.scene.text_fitting import text_width

_HEIGHT, _GAP = 19.0, 6.0

# An id, what stands on the button, and what is said of it.
Button = tuple[str, str, str]


def button_line(buttons: Sequence[Button], x: float, y: float) -> tuple[list[Item], float]:
    """Return buttons in a line, and where it ends."""
    items: list[Item] = []
    for name, words, tip in buttons:
        width = text_width(words, "small") + 16
        items.append(
            Group(
                id=name, x=x, y=y, press=True, tooltip=tooltip(words, tip),
                children=(
                    Rectangle(x=0, y=0, width=width, height=_HEIGHT, look="panel", corner=4),
                    Text(x=8, y=13.5, text=words, look="words small"),
                ),
            )
        )  # fmt: skip
        x += width + _GAP
    return items, x
