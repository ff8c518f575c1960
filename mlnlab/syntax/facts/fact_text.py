"""The text of a fact file made fit for reading: UTF-8, one kind of line end, comments blanked out."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.syntax.facts.fact_findings import Findings, Problem
from mlnlab.syntax.facts.plain_facts import SMALL

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BYTE_ORDER_MARK = "\ufeff".encode()
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")  # how UTF-16 begins
_REPLACEMENT = "\ufffd"
LONGEST_LINE = 1_000_000  # characters; longer lines nobody wrote
_MOST_UNDECODABLE = 1 / 4  # of the characters; beyond, it is no Latin-1 text either
_HEAD = 1_000  # characters of an endless line that are shown
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class FactText:
    """A fact file. ``clean`` has the same lines and columns as ``content``, but blanks for comments.

    Lines too long to be read are empty in both; ``heads`` has the beginning of each.
    """

    content: bytes
    clean: bytes | bytearray
    heads: Mapping[int, str]

    @cached_property
    def _line_ends(self) -> NDArray[np.int64]:
        return _line_ends(self.content)

    @cached_property
    def _clean_line_ends(self) -> NDArray[np.int64]:
        return _line_ends(self.clean)

    def line(self, number: int) -> str:
        """Return a line by its number, counted from 1, with its comments and without its end."""
        return self.heads.get(number) or _line(self.content, self._line_ends, number)

    def clean_line(self, number: int) -> str:
        """Return a line by its number, with blanks for comments."""
        if self.clean is self.content:
            return self.line(number)
        return _line(self.clean, self._clean_line_ends, number)


def _line_ends(content: bytes | bytearray) -> NDArray[np.int64]:
    return np.flatnonzero(np.frombuffer(content, np.uint8) == ord("\n"))


def _line(content: bytes | bytearray, ends: NDArray[np.int64], number: int) -> str:
    start = int(ends[number - 2]) + 1 if number >= 2 else 0
    stop = int(ends[number - 1]) if number <= len(ends) else len(content)
    return content[start:stop].decode()


def read_text(source: bytes | str, findings: Findings) -> FactText:
    """Return the text; bytes outside UTF-8 are noted and replaced, an unclosed comment is noted.

    A file that is not text becomes empty, and so does a line that is too long; its beginning is kept.
    """
    content = (
        _unify_line_ends(_encode_source(source, findings))
        if isinstance(source, str)
        else _decode_source(source, findings)
    )
    content, heads = _without_endless_lines(content, findings)
    clean, opened = without_comments(content)
    if opened >= 0:
        line, column = _place(content[:opened])
        message = "this comment never ends; the rest of the file is part of it"
        findings.add(Problem("unclosed-comment", message, line, column, column + 2, "*/", "close it with */"))
    return FactText(content, clean, heads)


def _without_endless_lines(content: bytes, findings: Findings) -> tuple[bytes, dict[int, str]]:
    """Return the text with empty lines for those that are too long, and the beginnings of these."""
    heads: dict[int, str] = {}
    kept, done, start = [], 0, 0
    while start + LONGEST_LINE < len(content):
        # The last line end within reach; many short lines are leapt over at once.
        last = content.rfind(b"\n", start, start + LONGEST_LINE + 1)
        if last >= 0:
            start = last + 1
            continue
        stop = content.find(b"\n", start)
        stop = len(content) if stop < 0 else stop
        if _characters(content, start, stop) > LONGEST_LINE:
            line = content.count(b"\n", 0, start) + 1
            heads[line] = content[start : start + 4 * _HEAD].decode(errors="ignore")[:_HEAD]
            message = f"a line of more than {LONGEST_LINE:,} characters"
            findings.add(Problem("too-long", message, line, 0, 1, "a fact", "one fact on each line"))
            kept.append(content[done:start])
            done = stop
        start = stop
    return (b"".join([*kept, content[done:]]) if heads else content), heads


def _characters(content: bytes, start: int, stop: int) -> int:
    """Return the number of characters in a stretch of UTF-8."""
    piece = np.frombuffer(content, np.uint8, stop - start, start)
    return int(np.count_nonzero(piece & 0xC0 != 0x80))


def _encode_source(source: str, findings: Findings) -> bytes:
    try:
        return source.encode()
    except UnicodeEncodeError as error:
        line, column = _place(source[: error.start].encode())
        code_point = ord(source[error.start])
        message = f"U+{code_point:04X} is half of a character (a surrogate), which no file can hold"
        findings.add(Problem("not-unicode", message, line, column, column + 1))
        return _SURROGATES.sub(_REPLACEMENT, source).encode()


def _unify_line_ends(content: bytes) -> bytes:
    """Let every line end in a line feed; an old Mac's lone carriage return ends a line, too."""
    content = content.removeprefix(_BYTE_ORDER_MARK)
    return content.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in content else content


def _decode_source(source: bytes, findings: Findings) -> bytes:
    if message := _no_text(source):
        findings.add(Problem("not-text", message, 1, 0, 1, "text in UTF-8", "save the file as UTF-8"))
        return b""
    content = _unify_line_ends(bytes(source))
    if content.isascii():
        return content
    try:
        content.decode()
    except UnicodeDecodeError as error:
        text = content.decode(errors="replace")
        if text.count(_REPLACEMENT) > _MOST_UNDECODABLE * len(text):
            message = "this is not text in UTF-8: most of it cannot be decoded"
            findings.add(Problem("not-text", message, 1, 0, 1, "text in UTF-8", "save the file as UTF-8"))
            return b""
        latin = content[error.start : error.start + 1].decode("latin-1")
        repair = f"save the file as UTF-8 (read as Latin-1, the character would be {latin!r})"
        line, column = _place(content[: error.start])
        message = "this is not UTF-8 text"
        findings.add(Problem("not-utf-8", message, line, column, column + 1, "text in UTF-8", repair))
        return text.encode()
    return content


def _no_text(source: bytes) -> str:
    """Return why some bytes are no text at all, without a look at their characters; else nothing."""
    if source.startswith(_WIDE_MARKS):
        return "this is not text in UTF-8, but in UTF-16"
    if b"\0" in source:
        return "this is not text: it holds zero bytes, as binary files (or UTF-16) do"
    return ""


def _place(before: bytes) -> tuple[int, int]:
    """Return the line, from 1, and the column, from 0, behind a stretch of text."""
    unified = _unify_line_ends(before)
    return unified.count(b"\n") + 1, len(unified[unified.rfind(b"\n") + 1 :].decode())


# --- replace the comments of a fact file by blanks ----------------------------------------------

# One for each character, so that columns do not move.

# Small texts take a regular expression, large ones the kernel that does the same.

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
