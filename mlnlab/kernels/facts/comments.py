"""Replace the comments of a fact file by blanks, one for each character, so that columns stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.facts.words import BACKSLASH, NEWLINE, QUOTE, SPACE

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CHUNK = 16_000_000  # bytes per call, some 30 ms: between two calls the user can interrupt
_SLASH, _STAR = 47, 42
_POSITION, _WRITTEN, _INSIDE, _DEAF = 0, 1, 2, 3
_LINE_COMMENT, _BLOCK_COMMENT = 1, 2  # what the position is inside of


def without_comments(source: bytes) -> tuple[bytearray, int]:
    """Return the text with blanks for comments, and where a comment begins that never ends (-1: none)."""
    result = bytearray(len(source))
    text, out = np.frombuffer(source, np.uint8), np.frombuffer(result, np.uint8)
    state, opened = np.zeros(4, np.int64), np.full(1, -1, np.int64)
    while state[_POSITION] < len(text):
        _blank(text, min(len(text), int(state[_POSITION]) + _CHUNK), state, opened, out)
    del out  # or the result could not be cut
    del result[int(state[_WRITTEN]) :]
    return result, int(opened[0]) if state[_INSIDE] == _BLOCK_COMMENT else -1


@compiled
def _blank(
    text: NDArray[np.uint8],
    limit: int,
    state: NDArray[np.int64],
    opened: NDArray[np.int64],
    out: NDArray[np.uint8],
) -> None:
    """Go on until behind the limit."""
    position, written, inside, deaf = state[_POSITION], state[_WRITTEN], state[_INSIDE], state[_DEAF]
    while position < limit:
        byte = text[position]
        following = text[position + 1] if position + 1 < len(text) else np.uint8(0)
        stop = position + 1
        if byte == NEWLINE:
            deaf = 0
            inside = 0 if inside == _LINE_COMMENT else inside
        elif inside == _BLOCK_COMMENT and byte == _STAR and following == _SLASH:
            inside, stop = 0, position + 2
            out[written] = out[written + 1] = SPACE
            written += 2
            position = stop
        elif inside == 0 and byte == _SLASH and (following == _SLASH or following == _STAR):  # noqa: PLR1714, SIM109
            inside = _LINE_COMMENT if following == _SLASH else _BLOCK_COMMENT
            opened[0], stop = position, position + 2
            out[written] = out[written + 1] = SPACE
            written += 2
            position = stop
        elif inside == 0 and byte == QUOTE and deaf == 0:
            closing = _closing_quote(text, position)
            deaf = 1 if closing < 0 else 0
            stop = max(stop, closing + 1)
        while position < stop:
            if inside == 0 or text[position] == NEWLINE:
                out[written] = text[position]
                written += 1
            elif text[position] & 0xC0 != 0x80:  # one blank for all bytes of a character
                out[written] = SPACE
                written += 1
            position += 1
    state[_POSITION], state[_WRITTEN], state[_INSIDE], state[_DEAF] = position, written, inside, deaf


@compiled
def _closing_quote(text: NDArray[np.uint8], position: int) -> int:
    """Return where the quoted name at the position ends, on its line; -1: nowhere.

    Then all quotes behind it are escaped, so that none of them begins a name that ends, either.
    """
    position += 1
    while position < len(text) and text[position] != NEWLINE:
        if text[position] == QUOTE:
            return position
        position += 2 if text[position] == BACKSLASH else 1
        if position <= len(text) and text[position - 1] == NEWLINE:
            return -1
    return -1
