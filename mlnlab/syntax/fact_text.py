"""The text of a fact file made fit for reading: UTF-8, one kind of line end, comments blanked out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlnlab.syntax.fact_findings import Findings, Problem

_BYTE_ORDER_MARK = "\ufeff".encode()
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")  # how UTF-16 begins
_REPLACEMENT = "\ufffd"
# A quoted constant is matched only to be passed over: "http://..." holds no comment.
_QUOTE_OR_COMMENT = re.compile(rb'"(?:[^"\\\n]|\\[^\n])*+"|//|/\*')
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class FactText:
    """A fact file. ``clean`` has the same lines and columns as ``content``, but blanks for comments."""

    content: bytes
    clean: bytes

    @cached_property
    def _line_ends(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.flatnonzero(np.frombuffer(self.content, np.uint8) == ord("\n"))

    def line(self, number: int) -> str:
        """Return a line by its number, counted from 1, with its comments and without its end."""
        return _line(self.content, self._line_ends, number)

    def clean_line(self, number: int) -> str:
        """Return a line by its number, with blanks for comments."""
        if self.clean is self.content:
            return self.line(number)
        return _line(self.clean, self._clean_line_ends, number)

    @cached_property
    def _clean_line_ends(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.flatnonzero(np.frombuffer(self.clean, np.uint8) == ord("\n"))


def _line(content: bytes, ends: np.ndarray[tuple[int], np.dtype[np.int64]], number: int) -> str:
    start = int(ends[number - 2]) + 1 if number >= 2 else 0
    stop = int(ends[number - 1]) if number <= len(ends) else len(content)
    return content[start:stop].decode()


def read_text(source: bytes | str, findings: Findings) -> FactText:
    """Return the text; what is not UTF-8 is noted and replaced, an unclosed comment is noted."""
    content = _unified(_encoded(source, findings)) if isinstance(source, str) else _decoded(source, findings)
    return FactText(content, _without_comments(content, findings))


def _unified(content: bytes) -> bytes:
    """Let every line end in a line feed; an old Mac's lone carriage return ends a line, too."""
    content = content.removeprefix(_BYTE_ORDER_MARK)
    return content.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in content else content


def _encoded(source: str, findings: Findings) -> bytes:
    try:
        return source.encode()
    except UnicodeEncodeError as error:
        line, column = _place(source[: error.start].encode())
        code_point = ord(source[error.start])
        message = f"U+{code_point:04X} is half of a character (a surrogate), which no file can hold."
        findings.add(Problem("not-unicode", message, line, column, column + 1))
        return _SURROGATES.sub(_REPLACEMENT, source).encode()


def _decoded(source: bytes, findings: Findings) -> bytes:
    content = _unified(bytes(source))
    if content.isascii():
        return content
    try:
        content.decode()
    except UnicodeDecodeError as error:
        line, column = _place(content[: error.start])
        findings.add(_not_utf8(content, error.start, line, column))
        return content.decode(errors="replace").encode()
    return content


def _not_utf8(content: bytes, offset: int, line: int, column: int) -> Problem:
    if content.startswith(_WIDE_MARKS):
        message = "This file is in UTF-16, a fact file is in UTF-8."
    else:
        culprit = content[offset : offset + 1]
        latin = culprit.decode("latin-1")
        guess = f" (in Latin-1 it would be {latin})" if latin.isprintable() else ""
        message = f"Byte 0x{culprit.hex().upper()} is not UTF-8{guess}."
    repair = "save the file as UTF-8"
    return Problem("not-utf8", message, line, column, column + 1, "text in UTF-8", repair)


def _place(before: bytes) -> tuple[int, int]:
    """Return the line, from 1, and the column, from 0, behind a stretch of text."""
    unified = _unified(before)
    return unified.count(b"\n") + 1, len(unified[unified.rfind(b"\n") + 1 :].decode())


def _without_comments(content: bytes, findings: Findings) -> bytes:
    """Put blanks for comments: one for each character, not byte, so that columns stay what they were."""
    if b"/" not in content:  # far quicker than to look for two characters
        return content
    pieces, position = [], 0
    for start, stop in _comments(content, findings):
        pieces.append(content[position:start])
        lines = content[start:stop].decode().split("\n")
        pieces.append("\n".join(" " * len(line) for line in lines).encode())
        position = stop
    return b"".join([*pieces, content[position:]])


def _comments(content: bytes, findings: Findings) -> list[tuple[int, int]]:
    """Return where the comments begin and end."""
    found, position = [], 0
    while match := _QUOTE_OR_COMMENT.search(content, position):
        position = match.end()
        if match[0] == b"//":
            position = content.find(b"\n", position)
        elif match[0] == b"/*":
            position = content.find(b"*/", position) + 2
            if position == 1:
                line, column = _place(content[: match.start()])
                message = "This comment never ends; the rest of the file is part of it."
                findings.add(
                    Problem("unclosed-comment", message, line, column, column + 2, "*/", "close it with */")
                )
                position = -1
        else:
            continue
        position = len(content) if position < 0 else position
        found.append((match.start(), position))
    return found
