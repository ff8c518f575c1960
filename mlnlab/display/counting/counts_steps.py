"""A count step by step: the rows of its plan, which are done and which wait, and the sum so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log10
from typing import TYPE_CHECKING, Any, NamedTuple

from mlnlab.display.card import cards
from mlnlab.display.card.cards import Card
from mlnlab.display.card.markup import count_of, element, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import BAR, ROW, WIDTH
from mlnlab.display.counting.count_bars import number_text
from mlnlab.display.counting.counts_steps_network import variables_part
from mlnlab.display.runs.runs import Column, RunPicture, Table
from mlnlab.display.scene.building import Entry, legend, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.steps.step import Step

if TYPE_CHECKING:
    from mlnlab.counting.steps.counting_states import CountingState, CountingSteps, Outline, OutlineRow
    from mlnlab.steps.recordings.trace import Trace

MOST_ROWS = 60  # of an outline that are drawn together: a page of it
_TOP, _INDENT, _LEFT = 40.0, 15.0, 26.0
_WIDEST, _NUMBERS = 400.0, 120.0
_LONGEST = 160
_EXACT = 1 << 53  # larger whole numbers would be rounded in a page
DONE, NOW, WAITING, SKIPPED = "✓", "▶", "·", "–"
_MEANINGS = ((DONE, "done"), (NOW, "this step"), (WAITING, "waiting"), (SKIPPED, "not needed"))


def counting_picture(_source: CountingSteps | Trace[Any]) -> RunPicture:
    """Return the pictures of a count at work, or of a recording of one: its states know the plan."""
    return RunPicture(
        title="Counting step by step",
        parts={
            "plan": lambda step, _trace: plan_part(step.state),
            "variables": lambda step, _trace: variables_part(step.state),
        },
        caption=_caption,
        remarks=lambda step: list(_remarks(step)),
        table=_table,
    )


def _caption(step: Step[Any]) -> str:
    state: CountingState = step.state
    words = in_symbols(shorten_text(state.words, _LONGEST))
    return f"step {step.index:,}: {words}; sum so far {number_text(state.total)}"


def _remarks(step: Step[Any]) -> Iterator[str]:
    state: CountingState = step.state
    first, rows = page_of(state)
    total = len(state.outline.rows)
    if len(rows) < total:
        yield f"Rows {first + 1:,} to {first + len(rows):,} of {total:,} are drawn, around the present one."
    row = state.outline.rows[state.current] if state.done else None
    if row is not None and row.estimate and state.done[-1].length > 10 * row.estimate + 10:
        times = state.done[-1].length / row.estimate
        yield f"This table has {times:,.0f} times as many rows as the planner expected."


def _table(step: Step[Any]) -> Table | None:
    """Return the value that was worked out last: its bindings with their numbers."""
    state: CountingState = step.state
    value = state.value
    if value is None:
        return None
    what = in_symbols(shorten_text(state.outline.rows[state.current].text, _LONGEST))
    rest = f", {len(value.rows):,} of {value.length:,} rows" if value.length > len(value.rows) else ""
    columns = (*(Column(shorten_text(name)) for name in value.columns), Column("number", number=True))
    rows = tuple(
        (*(shorten_text(name, 200) for name in names), _cell(number)) for names, number in value.rows
    )
    return Table(f"{what}{rest}", columns, rows)


def _cell(number: int) -> int | str:
    return number if abs(number) < _EXACT else number_text(number)


# --- which rows, and how they stand -------------------------------------------------------------


def page_of(state: CountingState) -> tuple[int, Sequence[OutlineRow]]:
    """Return the rows that are drawn, and the number of the first of them."""
    first = max(state.current, 0) // MOST_ROWS * MOST_ROWS
    return first, state.outline.rows[first : first + MOST_ROWS]


def standing(state: CountingState) -> list[str]:
    """Return of each row whether it is done, worked out now, waiting, or not needed."""
    rows, sizes = state.outline.rows, state.sizes
    found = [DONE if number in sizes else WAITING for number in range(len(rows))]
    for number in reversed(range(len(rows))):  # what is needed for a row stands below it
        below = [found[k] for k in _below(rows, number)]
        if (
            found[number] == WAITING
            and below
            and set(below) == {DONE}
            and rows[number].coefficient is not None
        ):
            found[number] = DONE  # a term of a quantifier: it is compared, not added
    for number, row in enumerate(rows):
        if found[number] == WAITING and row.parent >= 0 and found[row.parent] in {DONE, SKIPPED}:
            found[number] = SKIPPED
    if state.done:
        found[state.current] = NOW
    return found


def _below(rows: Sequence[OutlineRow], number: int) -> Iterator[int]:
    depth = rows[number].depth
    for k in range(number + 1, len(rows)):
        if rows[k].depth <= depth:
            return
        if rows[k].depth == depth + 1:
            yield k


# --- the drawing --------------------------------------------------------------------------------


class _Frame(NamedTuple):
    """Where bars begin and the largest size; it is the same at every step, or nearly so."""

    left: float
    largest: float

    def length(self, size: float) -> float:
        """Return the length of the bar of a size: 0 for none, then by powers of ten."""
        room = WIDTH - self.left - _NUMBERS
        return room * min(1.0, log10(1 + max(size, 0.0)) / log10(1 + self.largest))


def plan_part(state: CountingState) -> Scene:
    """Draw the rows of a plan: finished steps with their sizes, the present step, waiting steps."""
    first, rows = page_of(state)
    words = [_words(row) for row in rows]
    ends = [
        _LEFT + _INDENT * row.depth + text_width(text)
        for row, text in zip(rows, words, strict=True)
        if row.estimate is not None
    ]
    sizes = [*(row.estimate or 0.0 for row in rows), *(float(size.length) for size in state.done)]
    frame = _Frame(max(ends, default=0.0) + 14, max([9.0, *sizes]))
    marks = standing(state)
    items = tuple(
        _row(state, first + place, marks[first + place], text, place, frame)
        for place, text in enumerate(words)
    )
    bottom = _TOP + len(rows) * ROW
    explained, height = legend(_entries(), 8, bottom + 6, WIDTH - 16)
    layers = (
        Layer("tree", (Path(path=segments(_elbows(rows, first)), look="link"),)),
        Layer("steps", items),
        Layer("sum", _headline(state), zooms=False),
        Layer("explained", (explained,), zooms=False),
    )
    summary = f"{len(state.sizes):,} of {count_of(len(state.outline.rows), 'row')} done."
    return Scene(WIDTH, bottom + height + 12, layers, "Counting step by step", summary)


def _words(row: OutlineRow) -> str:
    sign = {True: "", False: "− " if (row.coefficient or 0) < 0 else "+ "}[row.coefficient is None]
    times = "" if abs(row.coefficient or 1) == 1 else f"{abs(row.coefficient or 1)} × "
    text = in_symbols(shorten_text(row.text, _LONGEST))
    widest = _WIDEST if row.estimate is not None else WIDTH - _LEFT - _NUMBERS  # no bar stands behind it
    return fit_text(f"{sign}{times}{text}", widest - _INDENT * row.depth, "words strong")


def _headline(state: CountingState) -> tuple[Item, ...]:
    total = f"sum so far: {number_text(state.total)}"
    room = WIDTH - text_width(total, "words strong") - 32
    words = fit_text(in_symbols(shorten_text(state.words, 2 * _LONGEST)), room, "words strong")
    return (
        Text(x=8, y=18, text=words, look="words strong"),
        Text(x=WIDTH - 8, y=18, text=total, look="words strong", anchor="end"),
    )


def _row(state: CountingState, number: int, mark: str, words: str, place: int, frame: _Frame) -> Group:
    row = state.outline.rows[number]
    now, begins = mark == NOW, _LEFT + _INDENT * row.depth
    look = ("quiet" if mark in {WAITING, SKIPPED} else "words") + ("" if row.depth else " strong")
    size = state.sizes.get(number)
    length = frame.length(size.length) if size is not None and row.estimate is not None else 0.0
    tick = frame.left + frame.length(row.estimate or 0.0)
    ticks = [((tick, -1), (tick, BAR + 2))] if row.estimate is not None else []
    behind = max(frame.left + length, tick) if ticks else begins + text_width(words, look)
    line = "thick" if size is not None else "dotted"
    return Group(
        id=numbered_id("step", number), y=_TOP + place * ROW, pick=True,
        tooltip=tooltip(in_symbols(row.text), _tip(state, number, mark)),
        children=(
            Rectangle(x=1, y=-3, width=WIDTH - 2, height=ROW - 1, corner=3, look="panel" if now else "clear"),
            Text(x=8, y=BAR - 1.5, text=mark, look=look),
            Text(x=begins, y=BAR - 1.5, text=words, look=look),
            Rectangle(x=frame.left, y=1, width=length, height=BAR - 1, look="bar blue"),
            Path(path=segments(ticks), look=f"curve orange {line}"),
            Text(x=behind + 8, y=BAR - 1.5, text=_size_words(state, number, mark), look="number"),
        ),
    )  # fmt: skip


def _size_words(state: CountingState, number: int, mark: str) -> str:
    size = state.sizes.get(number)
    if size is None:
        return "not needed" if mark == SKIPPED else ""
    if size.number is not None:
        return f"= {fit_text(number_text(size.number), _NUMBERS - 24, 'number')}"
    return number_text(size.length)


def _tip(state: CountingState, number: int, mark: str) -> str:
    row, size = state.outline.rows[number], state.sizes.get(number)
    expected = "" if row.estimate is None else f"estimated {row.estimate:,.0f} rows, "
    found = dict(_MEANINGS)[mark] if size is None else f"in fact {_size_words(state, number, mark)}"
    return f"{expected}{found}"


def _elbows(
    rows: Sequence[OutlineRow], first: int
) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Yield the lines from each row to those below it that it needs."""
    for place, row in enumerate(rows):
        if row.parent < first:
            continue
        x = _LEFT + 4 + _INDENT * (row.depth - 1)
        top, middle = _TOP + (row.parent - first) * ROW + BAR + 2, _TOP + place * ROW + BAR / 2
        yield (x, top), (x, middle)
        yield (x, middle), (x + 8, middle)


def _entries() -> tuple[Entry, ...]:
    return (
        *(Entry(Text(x=-4, y=4.5, text=mark, look="words"), words) for mark, words in _MEANINGS),
        Entry(Rectangle(x=-6, y=-5, width=12, height=10, look="bar blue"), "actual rows"),
        Entry(Path(path=segments([((0, -8), (0, 8))]), look="curve orange thick"), "as estimated"),
    )


# --- the count itself, before it begins ---------------------------------------------------------


def steps_scene(steps: CountingSteps) -> Scene:
    """Return the outline before anything is done."""
    return plan_part(steps.begin())


def steps_card(steps: CountingSteps) -> Card:
    """Return the card of a count that is about to be gone through."""
    call = element("code", "ml.stepper(...)")
    return Card(
        "Counting step by step",
        f"by {steps.outline.method}, {_rows(steps.outline)}",
        lead=(element("div", in_symbols(shorten_text(steps.outline.formula, _LONGEST)), kind="formula"),),
        picture=steps_scene(steps),
        table=_outline_table(steps.outline),
        remarks=(
            element("div", "Go through it with ", call, "; list(...) has all states.", kind="quiet"),
            "Nothing has been computed yet.",
        ),
    )


def _outline_table(outline: Outline) -> cards.Table:
    rows = (
        (
            f"{'· ' * row.depth}{in_symbols(shorten_text(_words(row), _LONGEST))}",
            "" if row.estimate is None else f"{row.estimate:,.0f}",
        )
        for row in outline.rows
    )
    headings = ("step", "estimated rows")
    return cards.table_of(headings, rows, len(outline.rows), "rows", numbers=(1,))


def _rows(outline: Outline) -> str:
    return count_of(len(outline.rows), "row")
