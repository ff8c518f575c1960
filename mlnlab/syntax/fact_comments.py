"""Blanks for the comments of a fact file: one for each character, so that columns stay what they were.

Small texts take a regular expression, large ones the kernel that does the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mlnlab.syntax.fact_scan import SMALL

# A quoted constant is matched only to be passed over: "http://..." holds no comment.
_QUOTE_OR_COMMENT = re.compile(rb'"(?:[^"\\\n]|\\[^\n])*+("?)|//|/\*')
_COMMENT = re.compile(rb"//|/\*")


def without_comments(content: bytes) -> tuple[bytes | bytearray, int]:
    """Return the text with blanks for comments, and where a comment begins that never ends (-1: none)."""
    if b"/" not in content:  # far quicker than to look for two characters
        return content, -1
    if len(content) < SMALL:
        return blanked_by_pattern(content)
    from mlnlab.kernels.facts import comments as kernel

    return kernel.without_comments(content)


def blanked_by_pattern(content: bytes) -> tuple[bytes, int]:
    """Blank comments one by one: the readable twin of the kernel."""
    pieces, position, opened = [], 0, -1
    for start, stop in _comments(content):
        pieces.append(content[position:start])
        lines = content[start:stop].decode().split("\n")
        pieces.append("\n".join(" " * len(line) for line in lines).encode())
        position = stop
        if content.startswith(b"/*", start) and (stop < start + 4 or content[stop - 2 : stop] != b"*/"):
            opened = start
    return b"".join([*pieces, content[position:]]), opened


def _comments(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield where the comments begin and end."""
    position = deaf = 0  # a quote that is not closed: up to `deaf`, its line's end, none is
    while True:
        if position < deaf:
            match = _COMMENT.search(content, position, deaf)
            if not match:
                position = deaf
                continue
        elif not (match := _QUOTE_OR_COMMENT.search(content, position)):
            return
        elif match[0].startswith(b'"'):
            position = match.end() if match[1] else match.start() + 1
            deaf = 0 if match[1] else match.end()
            continue
        start = match.start()
        if match[0] == b"//":
            stop = content.find(b"\n", start)
            position = len(content) if stop < 0 else stop
        else:
            stop = content.find(b"*/", start + 2)
            position = len(content) if stop < 0 else stop + 2
        yield start, position
