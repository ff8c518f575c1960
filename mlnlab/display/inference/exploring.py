"""Explore answers: methods to choose, a bar for each query, facts, conditions, and sensitivities of one.

Everything that can be clicked is a button of one scene: each click presses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import inf, isfinite, isnan, nan
from typing import NamedTuple

from mlnlab.display.card.markup import shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import BAR, ROW, WIDTH
from mlnlab.display.inference.explanations import tornado_parts
from mlnlab.display.inference.probabilities import error_in_words, probability_in_words
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, fitted_lines, text_width
from mlnlab.inference.answers.explanation import Explanation
from mlnlab.inference.answers.sensitivity import Sensitivities

LISTED = 12  # answers that stand in the list at once
FACTS_LISTED = 6
_LONGEST = 300
_MOST_LINES = 3  # of a reason or a remark
_SHARES = 6
BETWEEN = 4.0
MARK_WIDTH = 62.0
_NUMBERS = 170.0
_HALF = (BAR + 4) / 2
_CAP = 3.0
_LOOKS = {"true": "bar blue washed", "false": "bar orange washed", "unknown": "shaded", "open": "clear"}


CERTAIN = 3.0  # standard errors: beyond, two answers disagree
_NOTICEABLE = 0.01  # a difference where nobody knows the errors
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Exploring:
    """The state of an exploration as plain values, from which the whole picture follows."""

    answers: tuple[Answer, ...]
    facts: tuple[EvidenceRow, ...]  # of predicates that are not asked for, and what was changed
    methods: tuple[str, ...]
    method: str
    beside: str
    conditions: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()  # typed in addition
    chosen: str = ""
    first_answer: int = 0
    first_fact: int = 0
    busy: bool = False
    reasons: tuple[str, ...] = ()
    checked: bool = False
    unchecked: str = ""
    sensitivities: Sensitivities | None = None
    explanation: Explanation | None = None
    problems: tuple[str, ...] = ()
    changes: int = 0
    remarks: tuple[str, ...] = field(default=())


def exploring_scene(state: Exploring) -> Scene:
    """Return all of it as one drawing."""
    items: list[Item] = []
    top = 4.0
    for part in (_method_rows, _answer_rows, _condition_rows, _fact_rows, _reason_rows):
        found, top = part(state, top)
        items += found
    plate = Rectangle(x=0, y=0, width=WIDTH, height=top, look="plate")
    summary = f"{len(state.answers):,} probabilities by {state.method}; {state.changes} facts are changed."
    return Scene(WIDTH, top, (Layer("exploring", (plate, *items), zooms=False),), "Exploring", summary)


# --- buttons --------------------------------------------------------------------------------------


def _button(
    name: str, x: float, y: float, words: str, tip: str, *, pressed: bool = False
) -> tuple[Group, float]:
    width = text_width(words, "words strong") + 16
    look = "panel" if pressed else "frame"
    return Group(
        id=name, x=x, y=y, press=True, tooltip=tooltip(words, tip),
        children=(
            Rectangle(x=0, y=-2, width=width, height=ROW - 3, corner=4, look=look),
            Text(x=8, y=BAR - 2, text=words, look="words strong" if pressed else "words"),
        ),
    ), width  # fmt: skip


def _flow(buttons: Sequence[tuple[str, str, str, bool]], left: float, top: float) -> tuple[list[Item], float]:
    """Place buttons (id, words, tooltip, pressed) in rows, and return the position below them."""
    items: list[Item] = []
    x, y = left, top
    for name, words, tip, pressed in buttons:
        if x > left and x + text_width(words, "words strong") + 16 > WIDTH - 4:
            x, y = left, y + ROW + 2
        made, width = _button(name, x, y, words, tip, pressed=pressed)
        items.append(made)
        x += width + 6
    return items, y + ROW + 4


def _method_rows(state: Exploring, top: float) -> tuple[list[Item], float]:
    items: list[Item] = [Text(x=8, y=top + BAR - 2, text="method", look="words strong")]
    first = [
        (numbered_id("method", place), name, "answer by this method", name == state.method)
        for place, name in enumerate(state.methods)
    ]
    rows, top = _flow(first, 70, top)
    items += [*rows, Text(x=8, y=top + BAR - 2, text="beside", look="words strong")]
    names = ("none", *(name for name in state.methods if name != "auto"))
    second = [
        (numbered_id("beside", place), name, "compare with this method",
         name == (state.beside or "none"))
        for place, name in enumerate(names)
    ]  # fmt: skip
    rows, top = _flow(second, 70, top)
    items += rows
    if state.unchecked:
        words = fit_text(f"No check by enumeration: {state.unchecked}", WIDTH - 16, "quiet")
        items.append(
            Text(x=8, y=top + BAR - 2, text=words, look="quiet", tooltip=tooltip("why", state.unchecked))
        )
    else:
        made, _ = _button(
            "check", 70, top, "check by enumeration", "sum over all worlds",
            pressed=state.checked,
        )  # fmt: skip
        items.append(made)
    return items, top + ROW + 8


# --- answers --------------------------------------------------------------------------------------


def choose_rows(first: int, number: int, most: int) -> range:
    """Return the places that are shown of a long list."""
    start = max(0, min(first, number - most))
    return range(start, min(number, start + most))


def _pager(word: str, shown: range, number: int, y: float) -> Iterator[Item]:
    """Yield buttons to the previous and the next page of a list."""
    if shown.start > 0:
        yield _button(f"{word}-before", 8, y, f"‹ {shown.start:,} before", "go back in the list")[0]
    if shown.stop < number:
        yield _button(f"{word}-behind", 130, y, f"{number - shown.stop:,} more ›", "go on in the list")[0]


def _answer_rows(state: Exploring, top: float) -> tuple[list[Item], float]:
    busy = "computing ..." if state.busy else ""
    items: list[Item] = [
        Text(x=8, y=top + BAR, text="Probabilities", look="words strong"),
        Text(x=WIDTH - 8, y=top + BAR, text=busy, look="quiet", anchor="end"),
    ]
    y = top + ROW
    for problem in state.problems:
        for line in problem_lines(problem):
            items.append(Text(x=8, y=y + BAR, text=line, look="words", tooltip=tooltip("problem", problem)))
            y += ROW - 2
    shown = choose_rows(state.first_answer, len(state.answers), LISTED)
    names = [shorten_text(in_symbols(answer.name), _LONGEST) for answer in state.answers]
    left = min(max([text_width(name) for name in names] or [0.0]), 220.0) + 96
    for place in shown:
        answer = state.answers[place]
        items.append(answer_row(answer, names[place], place, y, left, answer.name == state.chosen))
        y += ROW + BETWEEN
    if len(state.answers) > len(shown):
        items += _pager("answers", shown, len(state.answers), y)
        y += ROW + 2
    for words in filter(None, (*state.reasons, *_agreement(state), *state.remarks)):
        for line in fitted_lines(shorten_text(words, _LONGEST), WIDTH - 16, _MOST_LINES, "quiet"):
            items.append(Text(x=8, y=y + BAR, text=line, look="quiet", tooltip=tooltip("how", words)))
            y += ROW - 2
    return items, y + 8


def _agreement(state: Exploring) -> list[str]:
    """Count the answers that differ by more than their known errors explain, and name the furthest."""
    asked = [answer for answer in state.answers if answer.value not in {"true", "false"}]  # facts agree
    gaps = [(gap, answer.name) for answer in asked for gap in answer.gaps]
    if not gaps:
        return []
    measured = [(gap, name) for gap, name in gaps if not isnan(gap.units)]
    parts = []
    if measured:
        apart = len({name for gap, name in measured if gap.words})
        number = len({name for _, name in measured})
        rule = f"further than {CERTAIN:g} combined standard errors"
        parts.append(f"{apart:,} of {number:,} answers are {rule} apart (≠).")
        most, name = max(measured, key=lambda pair: pair[0].units)
        if isfinite(most.units) and most.units > 0:
            parts.append(f"The furthest: {most.units:.1f} at {in_symbols(shorten_text(name, 60))}.")
    if len(measured) < len(gaps):
        largest = max(gap.apart for gap, _ in gaps if isnan(gap.units))
        parts.append(f"The error of the approximation is unknown; it is up to {largest:.2g} off.")
    return parts


# --- conditions and facts -------------------------------------------------------------------------


def _condition_rows(state: Exploring, top: float) -> tuple[list[Item], float]:
    # Their number is in the ids: what two quick clicks drop is one condition, and not also the next.
    items: list[Item] = []
    y = top
    parts = (("Given", "given", state.conditions), ("Also asked", "asked", state.queries))
    for heading, word, texts in parts:
        if not texts:
            continue
        items.append(Text(x=8, y=y + BAR - 2, text=heading, look="words strong"))
        buttons = [
            (numbered_id(f"drop-{word}", len(texts), place), f"{fit_text(in_symbols(text), 420)}  ×",
             "take it away", False)
            for place, text in enumerate(texts)
        ]  # fmt: skip
        rows, y = _flow(buttons, 90, y)
        items += rows
    return items, y + (4 if items else 0)


def _fact_rows(state: Exploring, top: float) -> tuple[list[Item], float]:
    if not state.facts:
        return [], top
    shown = choose_rows(state.first_fact, len(state.facts), FACTS_LISTED)
    changed = f" · {state.changes} changed" if state.changes else ""
    items: list[Item] = [Text(x=8, y=top + BAR, text=f"Facts{changed}", look="words strong")]
    if state.changes:
        made, _ = _button("restore", 150, top + 2, "put all back", "the facts as they were")
        items.append(made)
    y = top + ROW + 2
    for number, place in enumerate(shown):
        column = number % 2
        items.append(evidence_row(state.facts[place], place, column * WIDTH / 2, y, WIDTH / 2))
        y += ROW if column else 0
    y += ROW if len(shown) % 2 else 0
    if len(state.facts) > len(shown):
        items += _pager("facts", shown, len(state.facts), y + 2)
        y += ROW + 4
    return items, y + 8


# --- reasons --------------------------------------------------------------------------------------


def _reason_rows(state: Exploring, top: float) -> tuple[list[Item], float]:
    if not state.chosen:
        words = "Click an answer to see why, and what would change it; click a mark to change a fact."
        return [Text(x=8, y=top + BAR, text=words, look="quiet")], top + ROW + 4
    head = fit_text(f"Why {in_symbols(shorten_text(state.chosen, _LONGEST))}?", WIDTH - 16, "words strong")
    items: list[Item] = [Text(x=8, y=top + BAR, text=head, look="words strong")]
    y = top + ROW
    for words in _why(state):
        items.append(
            Text(
                x=16,
                y=y + BAR - 2,
                text=fit_text(words, WIDTH - 24),
                look="words",
                tooltip=tooltip("why", words),
            )
        )
        y += ROW - 2
    if state.sensitivities is not None:
        rows, y = tornado_parts(state.sensitivities, y + 6, press=True)
        items += rows
        if state.sensitivities.waiting:
            words = f"{state.sensitivities.waiting:,} facts are still to be tried."
            items.append(Text(x=16, y=y + BAR - 6, text=words, look="quiet"))
            y += ROW
    return items, y + 4


def _why(state: Exploring) -> list[str]:
    if state.explanation is None:
        return []
    start, *shares = state.explanation.sentences()
    return [start, *(in_symbols(share) for share in shares[: _SHARES + 1])]


def in_words(state: Exploring) -> list[str]:
    """Return the answers as text, for a reader without the picture."""
    lines = [f"{a.name}: {probability_in_words(a.first)}" for a in state.answers if not isnan(a.first)]
    return [*lines, *state.reasons]


# --- rows -----------------------------------------------------------------------------------------


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
