"""The first pass over a fact file: plain lines become numbers, the others go to the careful reader.

Small texts take :func:`scan_by_pattern`, large ones the kernel that does the same fifty times faster;
tests hold both against each other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.kernels.fact_scan import CodedLines

MOST_ARGUMENTS = 255  # of a plain line, as in the kernel
_SMALL = 1_000_000  # bytes; below, importing numba would take longer than reading

# A name holds at least one letter, digit or underscore; beyond ASCII see `foreign_character`.
WORD = r"[.'\-]*+[A-Za-z0-9_\u0080-\U0010ffff][A-Za-z0-9_.'\-\u0080-\U0010ffff]*+"
_PLAIN = re.compile(
    rf"[ \t]*+([!?]?)[ \t]*+({WORD})[ \t]*+\([ \t]*+({WORD}[ \t]*+(?:,[ \t]*+{WORD}[ \t]*+)*+)\)[ \t]*+"
)
_WORD = re.compile(WORD)
_KINDS = {"": 0, "!": 1, "?": 2}


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """Plain facts over numbered names (see ``CodedLines``), and the numbers and texts of all odd lines."""

    names: list[str]
    predicates: NDArray[np.uint32]
    kinds: NDArray[np.uint8]
    lines: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    arguments: NDArray[np.uint32]
    odd: list[tuple[int, str]]


def scan(clean: bytes) -> Scan:
    """Read a text whose comments are blanked out."""
    return scan_by_pattern(clean) if len(clean) < _SMALL else scan_by_kernel(clean)


def scan_by_pattern(clean: bytes) -> Scan:
    """Read the text line by line: the readable twin of the kernel."""
    numbers: dict[str, int] = {}
    facts: list[tuple[int, int, int, list[int]]] = []
    odd: list[tuple[int, str]] = []
    for number, line in enumerate(clean.decode().split("\n"), 1):
        match = _PLAIN.fullmatch(line)
        words = [match[2], *_WORD.findall(match[3])] if match else []
        if match and len(words) <= MOST_ARGUMENTS + 1 and all(map(is_name, words)):
            predicate, *arguments = [numbers.setdefault(word, len(numbers)) for word in words]
            facts.append((predicate, _KINDS[match[1]], number, arguments))
        elif line.strip(" \t"):
            odd.append((number, line))
    sizes = [len(arguments) for _, _, _, arguments in facts]
    return Scan(
        list(numbers),
        np.array([fact[0] for fact in facts], np.uint32),
        np.array([fact[1] for fact in facts], np.uint8),
        np.array([fact[2] for fact in facts], np.uint32),
        np.cumsum(sizes, dtype=np.uint32),
        np.array([number for fact in facts for number in fact[3]], np.uint32),
        odd,
    )


def scan_by_kernel(clean: bytes) -> Scan:
    """Read the text by the compiled byte scanner."""
    from mlnlab.kernels.fact_scan import scan_facts

    coded = scan_facts(clean)
    good = np.ones(len(coded.lines), bool) if clean.isascii() else _well_named(coded)
    odd = dict(_odd_lines(clean, coded.odd_lines, coded.odd_starts))
    if not good.all():
        odd.update(_lines_by_number(clean, coded.lines[~good].tolist()))
        coded = _only(coded, good)
    return Scan(
        coded.names, coded.predicates, coded.kinds, coded.lines, coded.ends, coded.arguments,
        sorted(odd.items()),
    )  # fmt: skip


def is_name(word: str) -> bool:
    """Return whether all characters beyond ASCII belong in a name (those in ASCII are known to)."""
    return word.isascii() or foreign_character(word) < 0


def foreign_character(word: str) -> int:
    """Return where the first character stands that is no letter, digit, accent or ASCII; -1: nowhere.

    The replacement character passes: that the text was not UTF-8 has been said.
    """
    for position, character in enumerate(word):
        if (
            not character.isascii()
            and character != "\ufffd"
            and unicodedata.category(character)[0] not in "LMN"
        ):
            return position
    return -1


def _well_named(coded: CodedLines) -> NDArray[np.bool_]:
    """Return for each fact whether all its names are names, which bytes alone do not tell."""
    good = np.ones(len(coded.lines), bool)
    strange = [number for number, name in enumerate(coded.names) if not is_name(name)]
    if strange:
        bad = np.zeros(len(coded.names), bool)
        bad[strange] = True
        good &= ~bad[coded.predicates]
        starts = np.concatenate([[0], coded.ends[:-1]]).astype(np.intp)
        good &= ~np.logical_or.reduceat(bad[coded.arguments], starts)
    return good


def _only(coded: CodedLines, good: NDArray[np.bool_]) -> CodedLines:
    """Return the scan without the facts that are not good."""
    sizes = np.diff(coded.ends, prepend=np.uint32(0))
    kept = np.repeat(good, sizes)
    return type(coded)(
        coded.names, coded.predicates[good], coded.kinds[good], coded.lines[good],
        np.cumsum(sizes[good], dtype=np.uint32), coded.arguments[kept], coded.odd_lines, coded.odd_starts,
    )  # fmt: skip


def _odd_lines(
    clean: bytes, lines: NDArray[np.uint32], starts: NDArray[np.int64]
) -> Iterable[tuple[int, str]]:
    for line, start in zip(lines.tolist(), starts.tolist(), strict=True):
        stop = clean.find(b"\n", start)
        yield line, clean[start : stop if stop >= 0 else len(clean)].decode()


def _lines_by_number(clean: bytes, numbers: list[int]) -> Iterable[tuple[int, str]]:
    ends = np.flatnonzero(np.frombuffer(clean, np.uint8) == ord("\n"))
    starts = np.concatenate([[0], ends + 1])
    return _odd_lines(clean, np.array(numbers, np.uint32), starts[np.array(numbers) - 1])
