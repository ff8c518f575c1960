"""Read plain fact lines, ``Name(argument, argument)``, from bytes into arrays of numbers.

A plain line holds one atom over bare names, with ``!`` (false) or ``?`` (unknown) before it or not. Every
different name gets a number, in order of first appearance. All other lines that are not blank ("odd"
lines) are listed with their place, for a slower and wiser reader: :mod:`mlnlab.syntax.fact_lines`. The
same, readable, as a regular expression: :func:`mlnlab.syntax.fact_scan.scan_by_pattern`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ARGUMENTS = 255  # of a plain line; longer ones are odd

_CHUNK = 4_000_000  # bytes per call, some 30 ms: between two calls the user can interrupt
_FIRST_TABLE = 1 << 12

# What the scanner remembers between two calls, in one array.
_POSITION, _LINE, _FACTS, _ARGUMENTS, _NAMES, _ODD = 0, 1, 2, 3, 4, 5

_NEWLINE, _TAB, _SPACE, _COMMA, _OPEN, _CLOSE = 10, 9, 32, 44, 40, 41
_NOT, _UNKNOWN = 33, 63  # ! and ?

# FNV-1a in 32 bits; the products stay below 2^63, so plain Python computes the same numbers.
_BASIS, _PRIME, _MASK = 0x811C9DC5, 0x01000193, 0xFFFFFFFF


def _byte_classes() -> NDArray[np.uint8]:
    """Return for each byte: 2 letter, digit or part of a character beyond ASCII; 1 mark in names; 0 other."""
    classes = np.zeros(256, np.uint8)
    classes[list(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] = 2
    classes[128:] = 2
    classes[list(b".'-")] = 1
    return classes


_CLASSES = _byte_classes()


@dataclass(frozen=True, slots=True, eq=False)
class CodedLines:
    """What the scanner found; fact ``i`` has the arguments ``arguments[ends[i - 1]:ends[i]]``."""

    names: list[str]  # the name of each number
    predicates: NDArray[np.uint32]
    kinds: NDArray[np.uint8]  # 0 true, 1 false, 2 unknown
    lines: NDArray[np.uint32]  # counted from 1
    ends: NDArray[np.uint32]
    arguments: NDArray[np.uint32]
    odd_lines: NDArray[np.uint32]
    odd_starts: NDArray[np.int64]  # offset of the first byte of each odd line


def scan_facts(source: bytes) -> CodedLines:
    """Code the plain lines of a UTF-8 text whose lines end in a line feed."""
    most_lines = source.count(b"\n") + 1
    most_arguments = source.count(b",") + most_lines
    # Untouched pages of these arrays cost no memory, so the bounds may be generous.
    predicates, lines = np.empty(most_lines, np.uint32), np.empty(most_lines, np.uint32)
    kinds, ends = np.empty(most_lines, np.uint8), np.empty(most_lines, np.uint32)
    odd_lines, odd_starts = np.empty(most_lines, np.uint32), np.empty(most_lines, np.int64)
    arguments = np.empty(most_arguments, np.uint32)
    words = np.empty((MOST_ARGUMENTS + 1, 3), np.int64)
    names = np.empty((most_arguments + most_lines, 3), np.int64)
    table = np.zeros(_FIRST_TABLE, np.uint32)
    state = np.zeros(6, np.int64)
    text = np.frombuffer(source, np.uint8)
    while state[_POSITION] < len(text):
        limit = min(len(text), int(state[_POSITION]) + _CHUNK)
        _scan(
            text, limit, state, table, words, names,
            predicates, kinds, lines, ends, arguments, odd_lines, odd_starts,
        )  # fmt: skip
        if 2 * (state[_NAMES] + len(words)) > len(table):
            table = np.zeros(4 * len(table), np.uint32)
            _fill(table, names, state[_NAMES])
    del table
    facts, odd = state[_FACTS], state[_ODD]
    return CodedLines(
        _texts(text, names, int(state[_NAMES])), predicates[:facts], kinds[:facts], lines[:facts],
        ends[:facts], arguments[: state[_ARGUMENTS]], odd_lines[:odd], odd_starts[:odd],
    )  # fmt: skip


def _texts(text: NDArray[np.uint8], names: NDArray[np.int64], count: int) -> list[str]:
    """Return the names, taken out of the text in one piece: a hundred times faster than one by one."""
    if not count:
        return []
    joined = np.empty(int(names[:count, 1].sum()) + count, np.uint8)
    _join(text, names, count, joined)
    together = str(joined[:-1].data, "utf-8")
    del joined
    return together.split("\n")


def warm_up() -> None:
    """Compile every kernel of this file."""
    scan_facts(b"P(a)\n")
    _fill(np.zeros(_FIRST_TABLE, np.uint32), np.zeros((1, 3), np.int64), np.ones(1, np.int64)[0])


@compiled
def _scan(
    text: NDArray[np.uint8],
    limit: int,
    state: NDArray[np.int64],
    table: NDArray[np.uint32],
    words: NDArray[np.int64],
    names: NDArray[np.int64],
    predicates: NDArray[np.uint32],
    kinds: NDArray[np.uint8],
    lines: NDArray[np.uint32],
    ends: NDArray[np.uint32],
    arguments: NDArray[np.uint32],
    odd_lines: NDArray[np.uint32],
    odd_starts: NDArray[np.int64],
) -> None:
    """Read whole lines until one begins behind the limit, or until the table of names gets crowded."""
    position, line = state[_POSITION], state[_LINE]
    facts, filled, odd = state[_FACTS], state[_ARGUMENTS], state[_ODD]
    while position < limit and 2 * (state[_NAMES] + len(words)) <= len(table):
        start = position
        line += 1
        count, kind, position = _read_line(text, start, words)
        if count < 0:
            odd_lines[odd] = line
            odd_starts[odd] = start
            odd += 1
        elif count > 0:
            predicates[facts] = _number(text, words, 0, table, names, state)
            for index in range(1, count):
                arguments[filled] = _number(text, words, index, table, names, state)
                filled += 1
            kinds[facts] = kind
            lines[facts] = line
            ends[facts] = filled
            facts += 1
    state[_POSITION], state[_LINE] = position, line
    state[_FACTS], state[_ARGUMENTS], state[_ODD] = facts, filled, odd


@compiled
def _read_line(text: NDArray[np.uint8], start: int, words: NDArray[np.int64]) -> tuple[int, int, int]:
    """Return the number of words (0 blank, -1 odd line), the kind of fact, and where the next line begins.

    ``words`` receives for each word its offset, its size and its hash.
    """
    size = len(text)
    position = _behind_blanks(text, start)
    if position >= size or text[position] == _NEWLINE:
        return 0, 0, position + 1
    kind = 0
    if text[position] == _NOT or text[position] == _UNKNOWN:
        kind = 1 if text[position] == _NOT else 2
        position = _behind_blanks(text, position + 1)
    count = 0
    while count < len(words):
        position = _read_word(text, position, count, words)
        if position >= size or words[count, 1] == 0:
            break
        count += 1
        mark = text[position]
        if count > 1 and mark == _CLOSE:
            position = _behind_blanks(text, position + 1)
            if position >= size or text[position] == _NEWLINE:
                return count, kind, position + 1
            break
        if mark != (_OPEN if count == 1 else _COMMA):
            break
        position = _behind_blanks(text, position + 1)
    while position < size and text[position] != _NEWLINE:
        position += 1
    return -1, 0, position + 1


@compiled
def _behind_blanks(text: NDArray[np.uint8], position: int) -> int:
    while position < len(text) and (text[position] == _SPACE or text[position] == _TAB):
        position += 1
    return position


@compiled
def _read_word(text: NDArray[np.uint8], position: int, index: int, words: NDArray[np.int64]) -> int:
    """Note the word at the position and return where the next mark stands; not a word: size 0."""
    start = position
    code, best = np.int64(_BASIS), np.int64(0)
    while position < len(text):
        byte = np.int64(text[position])
        kind = np.int64(_CLASSES[byte])
        if kind == 0:
            break
        best = max(best, kind)
        code = ((code ^ byte) * _PRIME) & _MASK
        position += 1
    words[index, 0] = start
    words[index, 1] = position - start if best == 2 else 0  # marks alone, such as "...", are no name
    words[index, 2] = code
    return _behind_blanks(text, position)


@compiled
def _number(
    text: NDArray[np.uint8],
    words: NDArray[np.int64],
    index: int,
    table: NDArray[np.uint32],
    names: NDArray[np.int64],
    state: NDArray[np.int64],
) -> np.int64:
    """Return the number of a word; a new one is entered into the table (open addressing, linear probing)."""
    start, size, code = words[index, 0], words[index, 1], words[index, 2]
    slot = (code ^ (code >> 15)) & (len(table) - 1)
    while table[slot] != 0:
        known = np.int64(table[slot]) - 1
        if names[known, 2] == code and names[known, 1] == size:
            other = names[known, 0]
            same = 0
            while same < size and text[other + same] == text[start + same]:
                same += 1
            if same == size:
                return known
        slot = (slot + 1) & (len(table) - 1)
    new: np.int64 = state[_NAMES]
    names[new, 0], names[new, 1], names[new, 2] = start, size, code
    table[slot] = new + 1
    state[_NAMES] = new + 1
    return new


@compiled
def _fill(table: NDArray[np.uint32], names: NDArray[np.int64], count: int) -> None:
    """Enter the names into an empty table."""
    for number in range(count):
        code = names[number, 2]
        slot = (code ^ (code >> 15)) & (len(table) - 1)
        while table[slot] != 0:
            slot = (slot + 1) & (len(table) - 1)
        table[slot] = number + 1


@compiled
def _join(text: NDArray[np.uint8], names: NDArray[np.int64], count: int, joined: NDArray[np.uint8]) -> None:
    """Write the names one behind the other, a line feed after each."""
    position = 0
    for number in range(count):
        for offset in range(names[number, 1]):
            joined[position] = text[names[number, 0] + offset]
            position += 1
        joined[position] = _NEWLINE
        position += 1
