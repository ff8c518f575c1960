"""The plan of a count: its steps as a tree of rows, with the estimated and the real size of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from math import log10
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.counting.plans.explaining import FREE_VARIABLES, work_words
from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import element, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import BAR, ROW, WIDTH
from mlnlab.display.counting.count_bars import number_text
from mlnlab.display.scene.building import Entry, explained_scene, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import Point, segments
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from mlnlab.counting.plans.explaining import Explanation, PlanStep, TermExplanation
    from mlnlab.counting.steps.counting_states import OutlineRow

MOST_STEPS = 80  # rows of the drawing and of the table
_TOP, _INDENT = 6.0, 16.0
_WIDEST_STEP = 400.0
_LONGEST = 160


SIZE_ENTRIES = (
    Entry(Rectangle(x=-6, y=-5, width=12, height=10, look="bar blue"), "actual rows"),
    Entry(Path(path=segments([((0, -8), (0, 8))]), look="curve orange thick"), "as estimated"),
)


class StepRow(NamedTuple):
    """A plan's row: its depth in the tree, its words, and the numbers of expected and real rows."""

    depth: int
    words: str
    estimated: float | None  # none for the terms themselves, which are numbers
    real: int | None
    parent: int  # the row above to which it belongs, -1 for a term
    work: float | None = None  # look-ups, of what makes no table: these are no rows, and have no bar


def step_rows(explanation: Explanation) -> list[StepRow]:
    """Return the terms of a plan, and below each its steps, with the inputs of a step below it."""
    rows: list[StepRow] = []
    for term in explanation.terms:
        rows.append(StepRow(0, _term_words(term), None, term.count, -1))
        top = len(rows) - 1
        if term.free != 1:
            words = f"times the ways to choose {FREE_VARIABLES}"
            rows.append(StepRow(1, words, None, term.free, top))
        for step in term.steps:
            _add(rows, step, 1, top)
    return rows


def _add(rows: list[StepRow], step: PlanStep, depth: int, parent: int) -> None:
    estimated = step.estimated if step.work is None else None
    rows.append(StepRow(depth, in_symbols(step.text), estimated, step.real, parent, step.work))
    here = len(rows) - 1
    for inner in step.inputs:
        _add(rows, inner, depth + 1, here)


def _term_words(term: TermExplanation) -> str:
    sign = "−" if term.coefficient < 0 else "+"
    times = f"{abs(term.coefficient)} × " if abs(term.coefficient) != 1 else ""
    what = (
        "all groundings" if term.conjunction == "1" else in_symbols(shorten_text(term.conjunction, _LONGEST))
    )
    return f"{sign} {times}{what}"


def plan_scene(explanation: Explanation) -> Scene | None:
    """Return the plan as a drawing: bars on a logarithmic scale, with a tick where the estimate was."""
    rows = step_rows(explanation)[:MOST_STEPS]
    if not rows:
        return None
    words = [fit_text(row.words, _WIDEST_STEP - _INDENT * row.depth, _look(row)) for row in rows]
    ends = [
        16 + _INDENT * row.depth + text_width(text, _look(row)) for row, text in zip(rows, words, strict=True)
    ]
    frame = SizeFrame(max(ends) + 16, _largest(rows), max(text_width(_size_words(row)) for row in rows))
    items = tuple(
        _row(place, row, text, frame) for place, (row, text) in enumerate(zip(rows, words, strict=True))
    )
    lines = Path(path=segments(elbows(rows, 12, _TOP, _INDENT)), look="link")
    bottom = _TOP + len(rows) * ROW
    layers = Layer("tree", (lines,)), Layer("steps", items)
    summary = f"{len(explanation.terms)} terms, with the size of each step on a logarithmic scale."
    return explained_scene(layers, SIZE_ENTRIES, (WIDTH, bottom), "Plan of a count", summary)


class SizeFrame(NamedTuple):
    """Where bars begin, the largest size, and the room of the numbers behind the bars."""

    left: float
    largest: float
    numbers: float

    def length(self, size: float) -> float:
        """Return the length of the bar of a size: 0 for none, then by powers of ten."""
        room = WIDTH - self.left - self.numbers - 16
        return room * log10(1 + max(size, 0.0)) / log10(1 + self.largest)


def _largest(rows: Sequence[StepRow]) -> float:
    sizes = [
        float(size)
        for row in rows
        if row.estimated is not None  # what has no bar needs no room
        for size in (row.estimated, row.real)
        if size is not None
    ]
    return max([9.0, *sizes])


def _look(row: StepRow) -> str:
    return "words" if row.depth else "words strong"


def _row(place: int, row: StepRow, words: str, frame: SizeFrame) -> Group:
    children: list[Item] = [Text(x=8 + _INDENT * row.depth, y=BAR - 1.5, text=words, look=_look(row))]
    x = frame.left
    if row.estimated is not None:
        real = frame.length(row.real or 0)
        children.append(Rectangle(x=x, y=1, width=real, height=BAR - 1, look="bar blue"))
        tick = x + frame.length(row.estimated)
        children.append(Path(path=segments([((tick, -1), (tick, BAR + 2))]), look="curve orange thick"))
        x += max(real, frame.length(row.estimated))
    look = "number" if row.depth else "number strong"
    children.append(Text(x=x + 8, y=BAR - 1.5, text=_size_words(row), look=look))
    tip = tooltip(row.words, _tip(row))
    return Group(
        id=numbered_id("step", place), y=_TOP + place * ROW, pick=True, tooltip=tip, children=tuple(children)
    )


def _size_words(row: StepRow) -> str:
    if row.work is not None:
        return work_words(row.work)
    return "not needed" if row.real is None else number_text(row.real)


def _tip(row: StepRow) -> str:
    if row.work is not None:
        return f"{work_words(row.work)}, as estimated; one number comes out, and no table is made"
    if row.estimated is None:
        return f"{_size_words(row)} in all"
    return f"estimated {_estimate(row)}, in fact {_size_words(row)}"


def _estimate(row: StepRow) -> str:
    return "" if row.estimated is None else f"{row.estimated:,.0f}"


def elbows(
    rows: Sequence[StepRow | OutlineRow], left: float, top: float, indent: float, first: int = 0
) -> Iterator[tuple[Point, Point]]:
    """Yield the lines from each row to those below it that it needs; ``first`` is the number of the first."""
    for place, row in enumerate(rows):
        if row.parent < first:
            continue
        x = left + indent * (row.depth - 1)
        above, middle = top + (row.parent - first) * ROW + BAR + 2, top + place * ROW + BAR / 2
        yield (x, above), (x, middle)
        yield (x, middle), (x + 8, middle)


def plan_card(explanation: Explanation) -> Card:
    """Return the card of a plan."""
    rows = step_rows(explanation)
    cells = ((f"{'· ' * row.depth}{row.words}", _estimate(row), _size_words(row)) for row in rows)
    headings, where = ("step", "rows, as estimated", "in fact"), "str() has them all"
    words = str(explanation).splitlines()
    return Card(
        "Plan of a count",
        f"{number_text(explanation.count)} true groundings",
        lead=(element("div", in_symbols(shorten_text(explanation.formula, _LONGEST)), kind="formula"),),
        picture=plan_scene(explanation),
        undrawn="No constant makes a grounding.",
        table=table_of(headings, islice(cells, MOST_STEPS), len(rows), "steps", numbers=(1, 2), where=where),
        folds=(
            ("in words", element("pre", "\n".join(shorten_text(line, 200) for line in words[:MOST_STEPS]))),
        ),
    )
