"""The rows of an exploration: an answer with its bars and its mark of evidence, and a fact with its mark."""

from __future__ import annotations

from math import inf, isfinite, isnan, nan
from typing import NamedTuple

from mlnlab.display.card.markup import shorten_text
from mlnlab.display.chart.bars import BAR, ROW, WIDTH
from mlnlab.display.inference.probabilities import error_in_words, probability_in_words
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Path, Rectangle, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, fitted_lines

BETWEEN = 4.0
MARK_WIDTH = 62.0
_NUMBERS = 170.0
_HALF = (BAR + 4) / 2
_CAP = 3.0
_LOOKS = {"true": "bar blue washed", "false": "bar orange washed", "unknown": "shaded", "open": "clear"}


CERTAIN = 3.0  # standard errors: beyond, two answers disagree
_NOTICEABLE = 0.01  # a difference where nobody knows the errors
_ROUNDING = 1e-9


class Gap(NamedTuple):
    """How far two answers are apart; ``error`` is their combined standard error, sqrt(e1^2 + e2^2).

    Of an approximation nobody knows the error: then this is not a number.
    """

    word: str
    apart: float
    error: float

    @property
    def units(self) -> float:
        """The distance in combined standard errors; NaN where nobody knows these."""
        if not isfinite(self.error):
            return nan
        if self.apart <= _ROUNDING:
            return 0.0
        return self.apart / self.error if self.error else inf

    @property
    def words(self) -> str:
        """Say that the answers are too far apart; nothing where they are not."""
        if isnan(self.units):
            return f"{self.apart:.2g} off" if self.apart > _NOTICEABLE else ""
        return f"≠ {self.word}" if self.units > CERTAIN else ""

    @property
    def told(self) -> str:
        """Return the distance in a line."""
        other = "the lower bar" if self.word == "lower" else "enumeration"
        line = f"{self.apart:.2g} from {other}"
        if isnan(self.units):
            return f"{line}; the error of an approximation is unknown"
        if not isfinite(self.units):
            return f"{line}; both count as exact"
        return f"{line}: {self.units:.1f} combined standard errors"


class Answer(NamedTuple):
    """A query with the answer of each method; NaN where a method gives none."""

    name: str
    first: float
    error: float
    beside: float
    beside_error: float
    exact: float
    value: str  # how the facts have it: "true", "false", "open", or "" for a formula
    changed: bool

    @property
    def gaps(self) -> tuple[Gap, ...]:
        """Return how far the first answer is from each other one that is known."""
        others = ((self.beside, self.beside_error, "lower"), (self.exact, 0.0, "exact"))
        return tuple(
            Gap(word, abs(self.first - other), (self.error**2 + error**2) ** 0.5)
            for other, error, word in others
            if not (isnan(other) or isnan(self.first))
        )

    @property
    def disagreement(self) -> str:
        """Say where two answers are further apart than their errors explain; nothing where they are not."""
        return next((gap.words for gap in self.gaps if gap.words), "")


class EvidenceRow(NamedTuple):
    """A fact that can be changed: its atom, how it stands, and whether that was changed here."""

    name: str
    value: str
    changed: bool


def mark(name: str, x: float, y: float, value: str, *, changed: bool) -> Group:
    """Return the button that says how an atom stands; a click makes it otherwise."""
    words = value if value == "open" or not changed else f"{value} *"
    tip = "click: true, false, unknown, and back to how it was"
    return Group(
        id=name, x=x, y=y, press=True,
        tooltip=tooltip(f"{value}{', changed here' if changed else ''}", tip),
        children=(
            Rectangle(x=0, y=-1, width=MARK_WIDTH - 6, height=BAR + 3, corner=3,
                      look=_LOOKS.get(value, "shaded")),
            Rectangle(x=0, y=-1, width=MARK_WIDTH - 6, height=BAR + 3, corner=3,
                      look="curve" if changed else "frame"),
            Text(x=(MARK_WIDTH - 6) / 2, y=BAR - 2, text=words, look="words small", anchor="middle"),
        ),
    )  # fmt: skip


def evidence_row(row: EvidenceRow, place: int, x: float, y: float, width: float) -> Group:
    """Return a fact with its mark."""
    name = fit_text(row.name, width - MARK_WIDTH - 20)
    return Group(
        id=numbered_id("row", place), x=x + 8, y=y, tooltip=tooltip(row.name),
        children=(
            mark(numbered_id("fact-mark", place), 0, 0, row.value, changed=row.changed),
            Text(x=MARK_WIDTH + 2, y=BAR - 2, text=name, look="words"),
        ),
    )  # fmt: skip


def answer_row(answer: Answer, label: str, place: int, y: float, left: float, chosen: bool) -> Group:
    """Return a query: its mark, its name, a bar for each method with its error, and numbers."""
    length = WIDTH - left - _NUMBERS
    second = not isnan(answer.beside)
    height = _HALF if second else BAR + 4.0
    parts: list[Item] = [
        Rectangle(x=MARK_WIDTH + 4, y=-2, width=WIDTH - MARK_WIDTH - 8, height=ROW, corner=3,
                  look="panel" if chosen else "clear"),
        Text(x=MARK_WIDTH + 12, y=BAR - 2, text=fit_text(label, left - MARK_WIDTH - 24), look="words"),
        Rectangle(x=left, y=-1, width=length, height=BAR + 4, look="shaded"),
        *_bar(answer.first, answer.error, left, length, -1, height, "blue"),
    ]  # fmt: skip
    if second:
        parts += _bar(answer.beside, answer.beside_error, left, length, -1 + _HALF, height, "green")
    if not isnan(answer.exact):
        x = left + length * answer.exact
        parts.append(Path(path=segments([((x, -2), (x, BAR + 4))]), look="curve orange thick"))
    parts.append(Text(x=left + length + 8, y=BAR - 2, text=_numbers(answer), look="number"))
    parts.append(
        Text(x=WIDTH - 4, y=BAR - 2, text=answer.disagreement, look="words strong small", anchor="end")
    )
    row = Group(
        id=numbered_id("answer", place), press=True, tooltip=tooltip(answer.name, *_describe_answer(answer)),
        children=tuple(parts),
    )  # fmt: skip
    if not answer.value:
        return Group(id=numbered_id("line", place), x=4, y=y, children=(row,))
    made = mark(numbered_id("mark", place), 4, 0, answer.value, changed=answer.changed)
    return Group(id=numbered_id("line", place), x=4, y=y, children=(row, made))


def _bar(
    value: float, error: float, left: float, length: float, y: float, height: float, hue: str
) -> list[Item]:
    if isnan(value):
        return []
    middle = y + height / 2
    bar = Rectangle(x=left, y=y, width=length * min(max(value, 0.0), 1.0), height=height, look=f"bar {hue}")
    if not isfinite(error) or error * length < 0.5:
        return [bar]
    start, stop = (left + length * min(max(end, 0.0), 1.0) for end in (value - error, value + error))
    caps = [((x, middle - _CAP), (x, middle + _CAP)) for x in (start, stop)]
    return [bar, Path(path=segments([((start, middle), (stop, middle)), *caps]), look="curve grey")]


def _number(value: float, error: float) -> str:
    if isnan(value):
        return "..."
    words = probability_in_words(value)
    return f"{words} ± {error_in_words(error)}" if isfinite(error) and error > 1e-6 else words


def _numbers(answer: Answer) -> str:
    if answer.value in {"true", "false"}:
        return f"{answer.first:.0f} · fact" if not isnan(answer.first) else "fact"
    return _number(answer.first, answer.error)


def _describe_answer(answer: Answer) -> list[str]:
    """Return all numbers of an answer as lines."""
    lines = [_numbers(answer)]
    if not isnan(answer.beside):
        lines.append(f"beside: {_number(answer.beside, answer.beside_error)}")
    if not isnan(answer.exact):
        lines.append(f"by enumeration: {_number(answer.exact, 0.0)}")
    return [*lines, *(gap.told for gap in answer.gaps)]


# --- what went wrong ------------------------------------------------------------------------------

_MOST_PARTS = 16  # lines of a problem, such as the parts of a conflict
_MOST_LINES = 3  # that each of them is broken into
_LONGEST = 300


def problem_lines(problem: str) -> list[str]:
    """Split a problem into lines: a sentence, and below it the contradictions and the ways out."""
    parts = problem.splitlines()
    # What was written where is named; the place itself, with carets below it, is for fixed-width letters.
    carets = {n for n, part in enumerate(parts) if part.strip() and not part.strip(" ^")}
    lines = [p for n, p in enumerate(parts) if p.strip() and not carets & {n, n + 1}]
    shown = [
        line
        for part in lines[:_MOST_PARTS]
        for line in fitted_lines(shorten_text(part, _LONGEST), WIDTH - 16, _MOST_LINES)
    ]
    return shown if len(lines) <= _MOST_PARTS else [*shown, "…"]
