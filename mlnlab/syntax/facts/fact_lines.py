"""The facts of a fact file that are not plain, such as values of functions, and lines that are no facts.

One line holds one fact:  ``P(A, B)``  ``!P(A)``  ``?P(A)``  ``0.7 P(A)``  ``Anna = MotherOf(Bob)``;
names are constants, quoted where they hold other characters. What is none of these is explained by
:mod:`mlnlab.syntax.facts.fact_mistakes`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import partial

from mlnlab.syntax.facts.fact_findings import Findings
from mlnlab.syntax.facts.fact_mistakes import explain, probability_problem
from mlnlab.syntax.facts.plain_facts import ARGUMENT, NUMBER, WORD, is_name, unquote_word

BLANKS = r"[ \t]*+"
_ATOM = rf"({WORD}){BLANKS}\({BLANKS}((?:{ARGUMENT}{BLANKS}(?:,{BLANKS}{ARGUMENT}{BLANKS})*+)?+)\){BLANKS}"
_FACT = re.compile(rf"{BLANKS}(?:([!?]){BLANKS}|({NUMBER})[ \t]++)?{_ATOM}", re.ASCII)
_VALUE = re.compile(rf"{BLANKS}({ARGUMENT}){BLANKS}={BLANKS}{_ATOM}", re.ASCII)
_ARGUMENTS = re.compile(ARGUMENT)


class Kind(IntEnum):
    """The status that a fact gives to its atom; the numbers are those of the kernel."""

    TRUE = 0
    FALSE = 1
    UNKNOWN = 2
    SOFT = 3


@dataclass(frozen=True, slots=True)
class LineFact:
    """A fact of an odd line; ``has_value``: written ``Anna = MotherOf(Bob)``, with the value last here."""

    line: int
    predicate: str
    arguments: tuple[str, ...]
    kind: Kind = Kind.TRUE
    probability: float = 1.0
    has_value: bool = False


def read_fact(number: int, text: str, findings: Findings) -> LineFact | None:
    """Read the fact of a line, or note the line's problem."""
    if match := _FACT.fullmatch(text):
        sign, weight, predicate, listed = match.groups()
        if is_name(predicate) and (arguments := _names(listed)) is not None:
            if weight is None:
                kind = {None: Kind.TRUE, "!": Kind.FALSE, "?": Kind.UNKNOWN}[sign]
                return LineFact(number, predicate, arguments, kind)
            return _soft(LineFact(number, predicate, arguments), weight, match.start(2), findings)
    elif "=" in text and (match := _VALUE.fullmatch(text)):
        value, predicate, listed = match.groups()
        arguments = _names(f"{listed},{value}") if listed else _names(value)
        if is_name(predicate) and arguments is not None:
            return LineFact(number, predicate, arguments, has_value=True)
    findings.add_bad_line(number, partial(explain, number, text))
    return None


def _soft(fact: LineFact, weight: str, start: int, findings: Findings) -> LineFact | None:
    probability = float(weight)
    if not 0 <= probability <= 1:
        findings.add(probability_problem(fact.line, weight, start))
        return None
    if probability in {0.0, 1.0}:
        kind = Kind.TRUE if probability else Kind.FALSE
        return LineFact(fact.line, fact.predicate, fact.arguments, kind)
    return LineFact(fact.line, fact.predicate, fact.arguments, Kind.SOFT, probability)


def _names(listed: str) -> tuple[str, ...] | None:
    """Return the names of a list of arguments; ``None`` where a bare one is no name."""
    words = _ARGUMENTS.findall(listed)
    if not all(word[0] == '"' or is_name(word) for word in words):
        return None
    return tuple(words) if '"' not in listed else tuple(map(unquote_word, words))


def argument_places(text: str) -> list[tuple[int, int]]:
    """Return where the arguments of a line's fact stand, in the order of reading; a value comes first."""
    if match := _FACT.fullmatch(text):
        return [found.span() for found in _ARGUMENTS.finditer(text, *match.span(4))]
    if match := _VALUE.fullmatch(text):
        return [match.span(1), *(found.span() for found in _ARGUMENTS.finditer(text, *match.span(3)))]
    return []


def predicate_place(text: str) -> tuple[int, int]:
    """Return where the predicate of a line's fact stands."""
    if match := _FACT.fullmatch(text):
        return match.span(3)
    match = _VALUE.fullmatch(text)
    return match.span(2) if match else (0, len(text))
