"""The words of files in the UAI competition's formats: numbers, and their places where one is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from mlnlab.factors.files.network_texts import Problems, Source
from mlnlab.factors.graphs.random_variables import show_name

_WORD = re.compile(r"\S+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_SIGNS = set("0123456789+-.eE")


@dataclass(slots=True)
class Words:
    """The words of a text, taken one after the other; their places are looked up only where one is wrong."""

    source: Source
    words: list[str]
    next: int = 0

    @property
    def left(self) -> int:
        """How many words have not been taken."""
        return len(self.words) - self.next

    def problem(self, code: str, message: str, place: int, expected: str = "", repair: str = "") -> Problems:
        """Return a problem at a word, or at the end of the text."""
        for number, found in enumerate(_WORD.finditer(self.source.text)):
            if number == place:
                return Problems(
                    [self.source.problem(code, message, *found.span(), expected=expected, repair=repair)]
                )
        end = len(self.source.text.rstrip())
        start = max(0, end - 1)
        return Problems([self.source.problem(code, message, start, end, expected=expected, repair=repair)])

    def take(self, what: str) -> str:
        """Return the next word."""
        if not self.left:
            raise self.problem("unfinished-file", "the file ends too early", self.next, expected=what)
        self.next += 1
        return self.words[self.next - 1]

    def count(self, what: str, least: int, most: int) -> int:
        """Return the next word as a whole number between two bounds."""
        word = self.take(what)
        if not (word.isascii() and word.isdecimal()):
            raise self.problem(
                "no-whole-number", f"{show_name(word)} is not a whole number", self.next - 1, what
            )
        number = int(word) if len(word.lstrip("0")) <= 18 else 10**18
        if not least <= number <= most:
            many = f"{show_name(word)} cannot be {what}: it is from {least:,} to {most:,} here"
            raise self.problem("number-out-of-range", many, self.next - 1, what)
        return number

    def reals(self, number: int, what: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """Read the next ``number`` words as weights, finite and not negative."""
        words = self.words[self.next : self.next + number]
        # Python would also read 1_000, infinity and digits of other scripts.
        if not set().union(*words) <= _SIGNS or not all(map(_NUMBER.fullmatch, words)):
            wrong = next(place for place, word in enumerate(words) if not _NUMBER.fullmatch(word))
            raise self.problem(
                "no-number", f"{show_name(words[wrong])} is not a number", self.next + wrong, what
            )
        found = np.array(words, np.float64)
        bad = np.flatnonzero(~((found >= 0) & np.isfinite(found)))
        if len(bad):
            place = int(bad[0])
            message = f"{show_name(words[place])} is not a weight"
            raise self.problem("no-weight", message, self.next + place, "a number from 0 up")
        self.next += number
        return found


def words_of(source: Source) -> Words:
    """Return the words of a text."""
    return Words(source, _WORD.findall(source.text))
