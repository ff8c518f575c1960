"""Text for a terminal: names from data must not be able to steer it."""

from __future__ import annotations

from mlnlab.errors import printable


def printable_lines(text: str) -> str:
    """Return a text of several lines in which control characters and turns of direction are marks."""
    return "\n".join(map(printable, text.split("\n")))
