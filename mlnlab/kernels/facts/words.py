"""The words of a fact line, in bytes: bare names, quoted names, decimal numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

# What is known of a word: the offset of its first byte (behind the quote), the number of bytes of its name
# (-1: not a word), its hash, whether it is bare with bytes beyond ASCII, which may be no letters, and whether
# it is quoted with escapes.
START, SIZE, HASH, FOREIGN, ESCAPED = 0, 1, 2, 3, 4
COLUMNS = 5

NEWLINE, TAB, SPACE, QUOTE, BACKSLASH = 10, 9, 32, 34, 92
_DOT, _APOSTROPHE, _PLUS, _MINUS, _ZERO, _NINE = 46, 39, 43, 45, 48, 57
_E, _SMALL_E = 69, 101

# FNV-1a in 32 bits; the products stay below 2^63, so plain Python computes the same numbers.
_BASIS, _PRIME, _MASK = 0x811C9DC5, 0x01000193, 0xFFFFFFFF

# A quotient or product of two numbers that float64 holds exactly is rounded once, as Python's float() does.
_POWERS = np.array([10.0**exponent for exponent in range(23)])
_MOST_EXACT = 1 << 53
_ROOM = 10**17  # one more digit still fits into 63 bits
_LETTER, _MARK, _IS_DOT, _BEYOND_ASCII = 1, 2, 4, 8


def _byte_classes() -> NDArray[np.uint8]:
    """Return the class of each byte, in bits; 0: not part of bare names."""
    classes = np.zeros(256, np.uint8)
    classes[list(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] = _LETTER
    classes[128:] = _LETTER | _BEYOND_ASCII
    classes[list(b"'-")] = _MARK
    classes[_DOT] = _MARK | _IS_DOT
    return classes


_CLASSES = _byte_classes()


@compiled
def behind_blanks(text: NDArray[np.uint8], position: int) -> int:
    """Return where the next byte stands that is neither blank nor tab."""
    while position < len(text) and (text[position] == SPACE or text[position] == TAB):
        position += 1
    return position


@compiled
def read_bare(text: NDArray[np.uint8], position: int, index: int, words: NDArray[np.int64]) -> int:
    """Note the bare word at the position and return where it ends.

    Marks alone, such as "...", are no word; nor is 'a' in single quotes, nor what has dots but is no number.
    """
    start = position
    code, seen = np.int64(_BASIS), np.int64(0)
    while position < len(text):
        byte = np.int64(text[position])
        kind = np.int64(_CLASSES[byte])
        if kind == 0:
            break
        seen |= kind
        code = ((code ^ byte) * _PRIME) & _MASK
        position += 1
    good = seen & _LETTER != 0 and text[start] != _APOSTROPHE
    if good and seen & _IS_DOT:
        good = read_number(text, start)[0] == position
    words[index, START], words[index, SIZE] = start, position - start if good else -1
    words[index, HASH], words[index, FOREIGN], words[index, ESCAPED] = code, seen & _BEYOND_ASCII, 0
    return position


@compiled
def read_quoted(text: NDArray[np.uint8], position: int, index: int, words: NDArray[np.int64]) -> int:
    r"""Note the name behind the quote at the position, \" and \\ undone; return where it ends."""
    position += 1
    code, size = np.int64(_BASIS), 0
    words[index, START], words[index, SIZE], words[index, FOREIGN] = position, -1, 0
    while position < len(text) and text[position] != NEWLINE:
        if text[position] == QUOTE:
            words[index, SIZE], words[index, HASH] = size, code
            words[index, ESCAPED] = position - words[index, START] - size
            return position + 1
        position = _behind_escape(text, position)
        code = ((code ^ np.int64(text[position])) * _PRIME) & _MASK
        size += 1
        position += 1
    return position


@compiled
def _behind_escape(text: NDArray[np.uint8], position: int) -> int:
    r"""Return the position of the character that a backslash escapes; else the position itself."""
    if text[position] == BACKSLASH and position + 1 < len(text):
        following = text[position + 1]
        if following == QUOTE or following == BACKSLASH:  # noqa: PLR1714, SIM109 - compiled faster
            return position + 1
    return position


@compiled
def is_stored(
    text: NDArray[np.uint8], words: NDArray[np.int64], index: int, store: NDArray[np.uint8], place: int
) -> bool:
    """Return whether the store has a word, escapes undone, at a place."""
    position = words[index, START]
    escaped = words[index, ESCAPED]
    for offset in range(words[index, SIZE]):
        if escaped:
            position = _behind_escape(text, position)
        if store[place + offset] != text[position]:
            return False
        position += 1
    return True


@compiled
def put(
    text: NDArray[np.uint8], words: NDArray[np.int64], index: int, store: NDArray[np.uint8], place: int
) -> None:
    """Write a word, escapes undone, into the store, and a line feed behind it."""
    position, size = words[index, START], words[index, SIZE]
    for offset in range(size):
        position = _behind_escape(text, position)
        store[place + offset] = text[position]
        position += 1
    store[place + size] = NEWLINE


@compiled
def _is_digit(text: NDArray[np.uint8], position: int) -> bool:
    return position < len(text) and _ZERO <= text[position] <= _NINE


@compiled
def read_number(text: NDArray[np.uint8], start: int) -> tuple[int, float]:
    """Return where the decimal number at the position ends (at its start: there is none), and its value.

    The value is that of Python's ``float``, or not-a-number where finding it takes more than one division.
    """
    position = start + 1 if text[start] == _PLUS or text[start] == _MINUS else start
    mantissa, scale, digits, lost, fraction = np.int64(0), np.int64(0), 0, False, False
    while _is_digit(text, position) or (not fraction and position < len(text) and text[position] == _DOT):
        if text[position] == _DOT:
            fraction = True
        else:
            lost = lost or bool(mantissa >= _ROOM)
            mantissa = mantissa if lost else mantissa * 10 + np.int64(text[position]) - _ZERO
            scale -= 1 if fraction else 0
            digits += 1
        position += 1
    if digits == 0:
        return start, 0.0
    position, exponent = _read_exponent(text, position)
    scale += exponent
    if lost or mantissa > _MOST_EXACT or abs(scale) >= len(_POWERS):
        return position, np.nan
    value = float(mantissa) / _POWERS[-scale] if scale < 0 else float(mantissa) * _POWERS[scale]
    return position, -value if text[start] == _MINUS else value


@compiled
def _read_exponent(text: NDArray[np.uint8], start: int) -> tuple[int, np.int64]:
    """Return where an exponent such as e-3 ends, and its value; without one, the start and 0."""
    exponent = np.int64(0)
    if start >= len(text) or (text[start] != _E and text[start] != _SMALL_E):
        return start, exponent
    position = start + 1
    negative = position < len(text) and text[position] == _MINUS
    if position < len(text) and (text[position] == _PLUS or text[position] == _MINUS):
        position += 1
    if not _is_digit(text, position):
        return start, exponent
    while _is_digit(text, position):
        exponent = min(exponent * 10 + np.int64(text[position]) - _ZERO, np.int64(1_000_000))
        position += 1
    return position, -exponent if negative else exponent
