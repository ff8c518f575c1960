"""Matrices as pictures of one pixel a cell: a small PNG writer (PNG specification, W3C 2003) on zlib."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PALETTE_COLOURS = 3  # the colour type of pictures whose pixels are numbers of colours
Colour = tuple[int, int, int, int]  # red, green, blue, opacity: 0 to 255


def png_bytes(cells: NDArray[np.uint8], palette: Sequence[Colour]) -> bytes:
    """Return a PNG whose pixel in row i and column j has the colour that ``cells[i, j]`` numbers."""
    rows, columns = cells.shape
    if not rows or not columns or not 0 < len(palette) <= 256:
        raise ValueError("A picture needs cells and between 1 and 256 colours.")
    if int(cells.max()) >= len(palette):
        raise ValueError("A cell numbers a colour that the palette lacks.")
    # Each line begins with the number of its filter; 0 leaves the numbers as they are.
    lines = np.zeros((rows, columns + 1), np.uint8)
    lines[:, 1:] = cells
    header = struct.pack(">IIBBBBB", columns, rows, 8, _PALETTE_COLOURS, 0, 0, 0)
    return b"".join(
        [
            _SIGNATURE,
            _chunk(b"IHDR", header),
            _chunk(b"PLTE", bytes(value for colour in palette for value in colour[:3])),
            _chunk(b"tRNS", bytes(colour[3] for colour in palette)),
            _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png_address(cells: NDArray[np.uint8], palette: Sequence[Colour]) -> str:
    """Return the PNG as a data address."""
    return "data:image/png;base64," + base64.b64encode(png_bytes(cells, palette)).decode("ascii")


def rgba(colour: str, opacity: int = 255) -> Colour:
    """Return ``#rrggbb`` as four numbers."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return red, green, blue, opacity
