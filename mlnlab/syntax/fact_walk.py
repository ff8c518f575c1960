"""A line of a fact file as a row of words and marks, one of them in view."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mlnlab.syntax.fact_findings import Problem

_LONGEST_REPAIR = 80  # characters; a longer line is not written out again

_TOKEN = re.compile(
    r'(?P<word>[A-Za-z0-9_.\'\-\u0080-\U0010ffff]++)|(?P<quoted>"(?:[^"\\]|\\.)*+")|(?P<mark>[^ \t])'
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word or a mark of a line, with its columns."""

    kind: str  # word, quoted, mark; end behind the last one
    text: str
    start: int
    stop: int


class Walk:
    """The tokens of a line with one of them in view; they are read on demand, for a line may have 10 MB."""

    def __init__(self, line: int, text: str) -> None:
        self.line, self.text = line, text
        self._tokens = self._read(0)
        self.here = self.last = next(self._tokens)

    def _read(self, start: int) -> Iterator[Token]:
        for match in _TOKEN.finditer(self.text, start):
            yield Token(str(match.lastgroup), match[0], *match.span())
        end = len(self.text.rstrip(" \t"))
        while True:
            yield Token("end", "", end, end + 1)

    def next(self) -> Token:
        """Step on; return the token that was in view."""
        self.last, self.here = self.here, next(self._tokens)
        return self.last

    def leap(self, pattern: re.Pattern[str]) -> None:
        """Step over all that a pattern matches from here on."""
        match = pattern.match(self.text, self.here.start)
        if match and match.end() > self.here.start:
            self._tokens = self._read(match.end())
            self.here = next(self._tokens)

    def at(self, *marks: str) -> bool:
        """Return whether one of these marks is in view."""
        return self.here.kind == "mark" and self.here.text in marks

    def problem(self, code: str, message: str, *, expected: str = "", repair: str = "") -> Problem:
        """Return a problem about the token in view."""
        short = repair if len(repair) <= _LONGEST_REPAIR else ""
        return Problem(code, message, self.line, self.here.start, self.here.stop, expected, short)
