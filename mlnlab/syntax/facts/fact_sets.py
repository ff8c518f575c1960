"""Constants in braces: ``person = { Anna, Bob }``, ``time = { 1, ..., 5 }``, in one line or many."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from mlnlab.syntax.facts.fact_findings import Findings, Problem
from mlnlab.syntax.facts.fact_lines import BLANKS, LineFact, read_fact
from mlnlab.syntax.facts.fact_mistakes import explain
from mlnlab.syntax.facts.plain_facts import ARGUMENT, WORD, is_name, unquote_word

LONGEST_RANGE = 1_000_000

_ELEMENT = rf"(?:{ARGUMENT}|\.\.\.)"
_ELEMENTS = rf"(?:{_ELEMENT}{BLANKS}(?:,{BLANKS}{_ELEMENT}{BLANKS})*+)?+"
_BEGIN = re.compile(
    rf"{BLANKS}(?P<type>{WORD}){BLANKS}={BLANKS}\{{(?P<before>){BLANKS}"
    rf"(?P<words>{_ELEMENTS})(?P<after>,?){BLANKS}(?P<end>\}}?){BLANKS}"
)
_REST = re.compile(
    rf"{BLANKS}(?P<before>,?){BLANKS}(?P<words>{_ELEMENTS})(?P<after>,?){BLANKS}(?P<end>\}}?){BLANKS}"
)
_ANY_ELEMENT = re.compile(_ELEMENT)
_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)


@dataclass(frozen=True, slots=True)
class SetLine:
    """The constants that one line adds, and the column of each (from 0)."""

    line: int
    names: list[str]
    starts: array[int]


@dataclass(frozen=True, slots=True)
class TypeSet:
    """``type = { ... }``: constants of a type, in order."""

    type: str
    line: int
    start: int
    lines: list[SetLine]


def read_odd_lines(
    odd: Iterable[tuple[int, str]], has_facts_between: Callable[[int, int], bool], findings: Findings
) -> tuple[list[LineFact], list[TypeSet]]:
    """Return the facts and the sets of constants in the odd lines.

    ``has_facts_between`` tells whether plain facts stand between two lines: braces do not go on over them.
    """
    facts: list[LineFact] = []
    sets: list[TypeSet] = []
    lines = iter(odd)
    pending = next(lines, None)
    while pending:
        number, text = pending
        pending = next(lines, None)
        begin = _BEGIN.fullmatch(text) if "{" in text else None
        if begin and is_name(begin["type"]):
            matches = [(number, begin)]
            while pending and not matches[-1][1]["end"] and not has_facts_between(matches[-1][0], pending[0]):
                rest = _REST.fullmatch(pending[1])
                if not rest:
                    break
                matches.append((pending[0], rest))
                pending = next(lines, None)
            sets.append(_set_of(matches, findings))
        elif fact := read_fact(number, text, findings):
            facts.append(fact)
    return facts, sets


def element_stop(text: str, start: int) -> int:
    """Return where the constant ends that begins at a column of a line."""
    match = _ANY_ELEMENT.match(text, start)
    return match.end() if match else start + 1


def _set_of(matches: list[tuple[int, re.Match[str]]], findings: Findings) -> TypeSet:
    """Return the constants of matched lines."""
    number, begin = matches[0]
    if not matches[-1][1]["end"]:
        message = f"the braces of {begin['type']} are not closed"
        place = number, *begin.span("type")
        expected = f"{begin['type']} = {{ Anna, Bob }}"
        findings.add(Problem("unclosed-brace", message, *place, expected, "close them with }"))
    lines = [_line_of(line, match) for line, match in matches]
    for (_, above), (line, match) in pairwise(matches):
        if above["words"] and match["words"] and not (above["after"] or match["before"]):
            start = match.start("words")
            message = "a comma is missing between this constant and the last one of the line above"
            findings.add(Problem("missing-comma", message, line, start, start + 1, ","))
    return TypeSet(begin["type"], number, begin.start("type"), _written_out(lines, findings))


def _line_of(line: int, match: re.Match[str]) -> SetLine:
    found = list(_ANY_ELEMENT.finditer(match.string, *match.span("words")))
    return SetLine(line, [word[0] for word in found], array("I", [word.start() for word in found]))


def _written_out(lines: list[SetLine], findings: Findings) -> list[SetLine]:
    """Return the lines with quotes taken off, ranges written out, and bad words noted and left out."""
    if all(
        name.isascii() and name[0] not in "\"'" and "." not in name for line in lines for name in line.names
    ):
        return lines
    words = [(line.line, *word) for line in lines for word in zip(line.names, line.starts, strict=True)]
    result = {line.line: SetLine(line.line, [], array("I")) for line in lines}
    for index, (line, _, start) in enumerate(words):
        for name in _names_of(words, index, findings):
            result[line].names.append(name)
            result[line].starts.append(start)
    return list(result.values())


def _names_of(words: list[tuple[int, str, int]], index: int, findings: Findings) -> Iterator[str]:
    """Yield the constants that a word stands for: itself, or the numbers inside a range."""
    line, word, start = words[index]
    if word[0] == '"':
        yield unquote_word(word)
    elif word == "...":
        yield from _between(
            [other for _, other, _ in words[max(index - 1, 0) : index + 2]], words[index], findings
        )
    elif ".." in word:
        message = "the dots of a range go between commas"
        findings.add(Problem("bad-range", message, line, start, start + len(word), "{ 1, ..., 5 }"))
    elif is_name(word):
        yield word
    else:
        findings.add(explain(line, " " * start + word))


def _between(around: list[str], dots: tuple[int, str, int], findings: Findings) -> Iterator[str]:
    """Yield the whole numbers between the two ends of a range."""
    if len(around) < 3 or not all(map(_INTEGER.fullmatch, around[0::2])):
        message = "a range needs a whole number on both sides of its dots"
    elif int(around[2]) - int(around[0]) > LONGEST_RANGE:
        message = f"this range has more than {LONGEST_RANGE:,} numbers; declare it in the model instead"
    elif int(around[0]) > int(around[2]):
        message = f"this range is empty: {around[0]} is greater than {around[2]}"
    else:
        yield from map(str, range(int(around[0]) + 1, int(around[2])))
        return
    line, _, start = dots
    findings.add(Problem("bad-range", message, line, start, start + 3, "{ 1, ..., 5 }"))
