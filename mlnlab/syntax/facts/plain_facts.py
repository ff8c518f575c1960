"""The first pass over a fact file: plain lines become numbers, the others go to the careful reader.

Small texts take :func:`scan_by_pattern`, large ones the kernel that does the same fifty times faster;
tests hold both against each other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.syntax.facts.fact_findings import MOST_SHOWN

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.kernels.facts.fact_scan import CodedLines

MOST_ARGUMENTS = 255  # of a plain line, as in the kernel
SMALL = 1_000_000  # bytes; below, importing numba would take longer than reading

# A bare name holds at least one letter, digit or underscore; what else `is_name` asks of it.
WORD = r"[.'\-]*+[A-Za-z0-9_\u0080-\U0010ffff][A-Za-z0-9_.'\-\u0080-\U0010ffff]*+"
# Only \" and \\ are escapes; any other backslash is itself, so that "$\frac{1}{2}$" stays what it is.
QUOTED = r'"(?:[^"\\]|\\.)*+"'
ARGUMENT = rf"(?:{QUOTED}|{WORD})"
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_PLAIN = re.compile(
    rf"[ \t]*+(?:([!?])[ \t]*+|({NUMBER})[ \t]++)?({WORD})[ \t]*+"
    rf"\([ \t]*+({ARGUMENT}[ \t]*+(?:,[ \t]*+{ARGUMENT}[ \t]*+)*+)\)[ \t]*+",
    re.ASCII,
)
_ARGUMENTS = re.compile(ARGUMENT)
_NUMBER = re.compile(NUMBER, re.ASCII)
_KINDS = {None: 0, "!": 1, "?": 2}
_SOFT = 3
_CODES = {1: "unclosed-parenthesis", 2: "junk-after-fact"}  # what the kernel's reasons are called


@dataclass(frozen=True, slots=True, eq=False)
class Scan:
    """Plain facts over numbered names (see ``CodedLines``), and the numbers and texts of all odd lines.

    Of lines that are wrong in the same simple way there may be very many: only the first ones are among the
    odd lines, the others are ``unread``, by the code of what is wrong.
    """

    names: list[str]
    predicates: NDArray[np.uint32]
    kinds: NDArray[np.uint8]
    lines: NDArray[np.uint32]
    ends: NDArray[np.uint32]
    arguments: NDArray[np.uint32]
    probabilities: NDArray[np.float64] | None  # where none is soft
    odd: list[tuple[int, str]]
    unread: dict[str, NDArray[np.uint32]]


def scan(clean: bytes | bytearray) -> Scan:
    """Read a text whose comments are blanked out."""
    return scan_by_pattern(clean) if len(clean) < SMALL else scan_by_kernel(clean)


def scan_by_pattern(clean: bytes | bytearray) -> Scan:
    """Read the text line by line: the readable twin of the kernel."""
    numbers: dict[str, int] = {}
    facts: list[tuple[int, int, int, float, list[int]]] = []
    odd: list[tuple[int, str]] = []
    for number, line in enumerate(clean.decode().split("\n"), 1):
        match = _PLAIN.fullmatch(line)
        words = [match[3], *_ARGUMENTS.findall(match[4])] if match else []
        probability = float(match[2]) if match and match[2] else 1.0
        good = len(words) <= MOST_ARGUMENTS + 1 and 0 <= probability <= 1
        if match and good and all(word[0] == '"' or is_name(word) for word in words):
            predicate, *arguments = [numbers.setdefault(unquote_word(word), len(numbers)) for word in words]
            kind = _soft_kind(probability) if match[2] else _KINDS[match[1]]
            facts.append((predicate, kind, number, probability, arguments))
        elif line.strip(" \t"):
            odd.append((number, line))
    return Scan(
        list(numbers),
        np.array([fact[0] for fact in facts], np.uint32),
        np.array([fact[1] for fact in facts], np.uint8),
        np.array([fact[2] for fact in facts], np.uint32),
        np.cumsum([len(fact[4]) for fact in facts], dtype=np.uint32),
        np.array([number for fact in facts for number in fact[4]], np.uint32),
        np.array([fact[3] for fact in facts]) if any(fact[1] == _SOFT for fact in facts) else None,
        odd,
        {},
    )


def _soft_kind(probability: float) -> int:
    """Return the kind of a fact with a probability: 0 is false and 1 is true."""
    return _SOFT if 0 < probability < 1 else 1 - int(probability)


def scan_by_kernel(clean: bytes | bytearray) -> Scan:
    """Read the text by the compiled byte scanner."""
    from mlnlab.kernels.facts.fact_scan import scan_facts

    coded = scan_facts(clean)
    good = _mark_good_names(coded)
    if coded.probabilities is not None:
        good &= (coded.probabilities >= 0) & (coded.probabilities <= 1)
        soft = coded.kinds == _SOFT
        coded.kinds[soft & (coded.probabilities == 0)] = 1
        coded.kinds[soft & (coded.probabilities == 1)] = 0
    read = np.ones(len(coded.odd_lines), bool)
    unread = {}
    for reason, code in _CODES.items():
        alike = np.flatnonzero(coded.odd_reasons == reason)[MOST_SHOWN:]
        read[alike] = False
        if len(alike):
            unread[code] = coded.odd_lines[alike]
    odd = dict(_odd_lines(clean, coded.odd_lines[read], coded.odd_starts[read]))
    if not good.all():
        odd.update(_lines_by_number(clean, coded.lines[~good].tolist()))
        coded = _only(coded, good)
    return Scan(
        coded.names, coded.predicates, coded.kinds, coded.lines, coded.ends, coded.arguments,
        coded.probabilities if (coded.kinds == _SOFT).any() else None, sorted(odd.items()), unread,
    )  # fmt: skip


def unquote_word(word: str) -> str:
    """Return the name that a word in a fact file stands for."""
    if word[0] != '"':
        return word
    return re.sub(r'\\(["\\])', r"\1", word[1:-1]) if "\\" in word else word[1:-1]


def is_name(word: str) -> bool:
    """Return whether a bare word is a name: no strange character, no single quotes, dots only in numbers."""
    if word[0] == "'" or ("." in word and not _NUMBER.fullmatch(word)):
        return False
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


def _mark_good_names(coded: CodedLines) -> NDArray[np.bool_]:
    """Return for each fact whether all its bare names are names, which bytes alone do not tell."""
    good = np.ones(len(coded.lines), bool)
    strange = [n for n in np.flatnonzero(coded.foreign).tolist() if foreign_character(coded.names[n]) >= 0]
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
    return replace(
        coded,
        predicates=coded.predicates[good],
        kinds=coded.kinds[good],
        lines=coded.lines[good],
        ends=np.cumsum(sizes[good], dtype=np.uint32),
        arguments=coded.arguments[np.repeat(good, sizes)],
        probabilities=None if coded.probabilities is None else coded.probabilities[good],
    )


def _odd_lines(
    clean: bytes | bytearray, lines: NDArray[np.uint32], starts: NDArray[np.int64]
) -> Iterable[tuple[int, str]]:
    for line, start in zip(lines.tolist(), starts.tolist(), strict=True):
        stop = clean.find(b"\n", start)
        yield line, clean[start : stop if stop >= 0 else len(clean)].decode()


def _lines_by_number(clean: bytes | bytearray, numbers: list[int]) -> Iterable[tuple[int, str]]:
    ends = np.flatnonzero(np.frombuffer(clean, np.uint8) == ord("\n"))
    starts = np.concatenate([[0], ends + 1])
    return _odd_lines(clean, np.array(numbers, np.uint32), starts[np.array(numbers) - 1])
