"""Read plain fact lines, ``Name(argument, argument)``, from bytes into arrays of numbers.

A plain line holds one atom over names, bare or quoted, with ``!`` (false), ``?`` (unknown) or a probability
before it or not. Every different name gets a number, in order of first appearance. All other lines that are
not blank ("odd" lines) are listed with their place, for a slower and wiser reader:
:mod:`mlnlab.syntax.facts.fact_lines`. The same, readable, as a regular expression:
:func:`mlnlab.syntax.facts.plain_facts.scan_by_pattern`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.facts.comments import without_comments
from mlnlab.kernels.facts.names import move, number_of
from mlnlab.kernels.facts.words import (
    COLUMNS,
    FOREIGN,
    NEWLINE,
    QUOTE,
    SIZE,
    SPACE,
    TAB,
    behind_blanks,
    read_bare,
    read_number,
    read_quoted,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_ARGUMENTS = 255  # of a plain line; longer ones are odd
TRUE, FALSE, UNKNOWN, SOFT = 0, 1, 2, 3
ODD, UNCLOSED, JUNK = 0, 1, 2  # why a line is odd; unclosed parenthesis or a mark behind it: nothing else is

_CHUNK = 4_000_000  # bytes per call, some 30 ms: between two calls the user can interrupt
_FIRST_TABLE = 1 << 12

# What the scanner remembers between two calls, in one array.
_POSITION, _LINE, _FACTS, _ARGUMENTS, _NAMES, _ODD, _SOFT, _DOUBTFUL = 0, 1, 2, 3, 4, 5, 6, 7

_COMMA, _OPEN, _CLOSE, _DOT, _SEMICOLON, _SMALL_V = 44, 40, 41, 46, 59, 118
_NOT, _IS_UNKNOWN = 33, 63  # ! and ?


@dataclass(frozen=True, slots=True, eq=False)
class CodedLines:
    """The scanner's result; fact ``i`` has the arguments ``arguments[ends[i - 1]:ends[i]]``."""

    names: list[str]  # the name of each number
    foreign: NDArray[np.uint8]  # for each name whether it stands bare with bytes beyond ASCII
    predicates: NDArray[np.uint32]
    kinds: NDArray[np.uint8]  # 0 true, 1 false, 2 unknown, 3 soft
    lines: NDArray[np.uint32]  # counted from 1
    ends: NDArray[np.uint32]
    arguments: NDArray[np.uint32]
    probabilities: NDArray[np.float64] | None  # of soft facts (of others 1), not checked; None: no soft ones
    odd_lines: NDArray[np.uint32]
    odd_starts: NDArray[np.int64]  # offset of the first byte of each odd line
    odd_reasons: NDArray[np.uint8]


def scan_facts(source: bytes | bytearray) -> CodedLines:
    """Code the plain lines of a UTF-8 text whose lines end in a line feed."""
    most_lines = source.count(b"\n") + 1
    most_arguments = source.count(b",") + most_lines
    # Untouched pages of these arrays cost no memory, so the bounds may be generous.
    predicates, lines = np.empty(most_lines, np.uint32), np.empty(most_lines, np.uint32)
    kinds, ends = np.empty(most_lines, np.uint8), np.empty(most_lines, np.uint32)
    masses, doubtful = np.empty(most_lines), np.empty((most_lines, 3), np.int64)
    odd_lines, odd_starts = np.empty(most_lines, np.uint32), np.empty(most_lines, np.int64)
    odd_reasons = np.empty(most_lines, np.uint8)
    arguments = np.empty(most_arguments, np.uint32)
    words = np.empty((MOST_ARGUMENTS + 1, COLUMNS), np.int64)
    starts = np.empty(most_arguments + most_lines + 1, np.int64)
    starts[0] = 0
    store, foreign = np.empty(len(source) + 1, np.uint8), np.zeros(len(starts), np.uint8)
    table = np.zeros(_FIRST_TABLE, np.int64)
    state = np.zeros(8, np.int64)
    text = np.frombuffer(source, np.uint8)
    while state[_POSITION] < len(text):
        limit = min(len(text), int(state[_POSITION]) + _CHUNK)
        _scan(
            text, limit, state, table, words, starts, store, foreign, predicates, kinds, lines, ends,
            masses, doubtful, arguments, odd_lines, odd_starts, odd_reasons,
        )  # fmt: skip
        if 2 * (state[_NAMES] + len(words)) > len(table):
            old, table = table, np.zeros(2 * len(table), np.int64)
            move(old, table)
            del old
    facts, odd, names = state[_FACTS], state[_ODD], int(state[_NAMES])
    store = store[: starts[names]]
    del table, starts
    probabilities = None
    if state[_SOFT]:
        probabilities = _probabilities(source, masses[:facts], kinds[:facts], doubtful[: state[_DOUBTFUL]])
    return CodedLines(
        _texts(store), foreign[:names], predicates[:facts], kinds[:facts], lines[:facts],
        ends[:facts], arguments[: state[_ARGUMENTS]], probabilities, odd_lines[:odd], odd_starts[:odd],
        odd_reasons[:odd],
    )  # fmt: skip


def _texts(store: NDArray[np.uint8]) -> list[str]:
    """Return the names, taken out of the store in one piece: a hundred times faster than one by one."""
    return str(store[:-1].data, "utf-8").split("\n") if len(store) else []


def _probabilities(
    source: bytes | bytearray,
    masses: NDArray[np.float64],
    kinds: NDArray[np.uint8],
    doubtful: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the probability of each fact; those that the kernel left open are read by Python."""
    masses[kinds != SOFT] = 1.0
    if len(doubtful):
        spans = zip(doubtful[:, 1].tolist(), doubtful[:, 2].tolist(), strict=True)
        masses[doubtful[:, 0]] = [float(source[start:stop]) for start, stop in spans]
    return masses


def warm_up() -> None:
    """Compile every kernel of fact files."""
    without_comments(b"P(a) // a\n")
    for source in (b'0.5 P("a")\n', bytearray(b"P(a)\n")):
        scan_facts(source)
    move(np.zeros(_FIRST_TABLE, np.int64), np.zeros(_FIRST_TABLE, np.int64))


@compiled
def _scan(
    text: NDArray[np.uint8],
    limit: int,
    state: NDArray[np.int64],
    table: NDArray[np.int64],
    words: NDArray[np.int64],
    starts: NDArray[np.int64],
    store: NDArray[np.uint8],
    foreign: NDArray[np.uint8],
    predicates: NDArray[np.uint32],
    kinds: NDArray[np.uint8],
    lines: NDArray[np.uint32],
    ends: NDArray[np.uint32],
    masses: NDArray[np.float64],
    doubtful: NDArray[np.int64],
    arguments: NDArray[np.uint32],
    odd_lines: NDArray[np.uint32],
    odd_starts: NDArray[np.int64],
    odd_reasons: NDArray[np.uint8],
) -> None:
    """Read whole lines until one begins behind the limit, or until the table of names gets crowded."""
    while state[_POSITION] < limit and 2 * (state[_NAMES] + len(words)) <= len(table):
        start, fact, filled = state[_POSITION], state[_FACTS], state[_ARGUMENTS]
        state[_LINE] += 1
        begin, kind, mass, stop = _read_sign(text, start)
        count, state[_POSITION] = _read_atom(text, begin, words)
        if count <= 0:
            if count < 0 or begin > behind_blanks(text, start):  # else the line is blank
                odd_lines[state[_ODD]], odd_starts[state[_ODD]] = state[_LINE], start
                odd_reasons[state[_ODD]] = max(-count - 1, 0)
                state[_ODD] += 1
            continue
        for index in range(count):
            number = number_of(text, words, index, table, starts, store, foreign, state[_NAMES])
            state[_NAMES] = max(state[_NAMES], number + 1)
            if index == 0:
                predicates[fact] = number
            else:
                arguments[filled + index - 1] = number
        if kind == SOFT:
            masses[fact] = mass
            state[_SOFT] += 1
            if np.isnan(mass):
                where = state[_DOUBTFUL]
                doubtful[where, 0], doubtful[where, 2] = fact, stop
                doubtful[where, 1] = behind_blanks(text, start)
                state[_DOUBTFUL] += 1
        state[_ARGUMENTS] = filled + count - 1
        kinds[fact], lines[fact], ends[fact] = kind, state[_LINE], state[_ARGUMENTS]
        state[_FACTS] = fact + 1


@compiled
def _read_sign(text: NDArray[np.uint8], start: int) -> tuple[int, int, float, int]:
    """Return where the atom begins, its kind, the probability before it, and where that number ends."""
    start = behind_blanks(text, start)
    if start >= len(text):
        return start, TRUE, 1.0, start
    if text[start] == _NOT or text[start] == _IS_UNKNOWN:
        return behind_blanks(text, start + 1), FALSE if text[start] == _NOT else UNKNOWN, 1.0, start
    stop, mass = read_number(text, start)
    if stop > start and stop < len(text) and (text[stop] == SPACE or text[stop] == TAB):
        begin = behind_blanks(text, stop)
        if begin < len(text) and text[begin] != _OPEN:  # else the number is a name: 5 (a)
            return begin, SOFT, mass, stop
    return start, TRUE, 1.0, start


@compiled
def _read_atom(text: NDArray[np.uint8], position: int, words: NDArray[np.int64]) -> tuple[int, int]:
    """Return the number of words (0 nothing, below 0 odd line) and where the next line begins.

    An odd line has -1 - its reason, so far as that is sure.
    """
    size = len(text)
    if position >= size or text[position] == NEWLINE:
        return 0, position + 1
    tight = text[position] > 64 and text[position] != _SMALL_V  # a letter; v may be a connective
    count, reason = 0, ODD
    while count < len(words) and position < size:
        if count == 0 or text[position] != QUOTE:
            stop = read_bare(text, position, count, words)
        else:
            stop = read_quoted(text, position, count, words)
        if words[count, SIZE] < 0:
            breaks_off = count > 0 and stop == position and text[position] == NEWLINE
            reason = UNCLOSED if tight and breaks_off else ODD
            position = stop
            break
        position = behind_blanks(text, stop)
        tight = tight and position == stop and words[count, FOREIGN] == 0
        count += 1
        if position >= size or text[position] == NEWLINE:
            reason = UNCLOSED if tight and count > 1 else ODD
            break
        mark = text[position]
        if count > 1 and mark == _CLOSE:
            position = behind_blanks(text, position + 1)
            if position >= size or text[position] == NEWLINE:
                return count, position + 1
            reason = JUNK if tight and _is_lone_mark(text, position) else ODD
            break
        if mark != (_OPEN if count == 1 else _COMMA):
            break
        position = behind_blanks(text, position + 1)
    while position < size and text[position] != NEWLINE:
        position += 1
    return -1 - reason, position + 1


@compiled
def _is_lone_mark(text: NDArray[np.uint8], position: int) -> bool:
    """Return whether a full stop, a comma or a semicolon is the last thing in its line."""
    if text[position] != _DOT and text[position] != _COMMA and text[position] != _SEMICOLON:
        return False
    position = behind_blanks(text, position + 1)
    return position >= len(text) or bool(text[position] == NEWLINE)
