"""Draw a count step by step: the rows of its plan, the variables that are summed out, the sum so far."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mlnlab.display.card import cards
from mlnlab.display.card.cards import Card
from mlnlab.display.card.markup import count_of, element, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import BAR, ROW, WIDTH
from mlnlab.display.counting.constraint_networks import (
    MOST_VARIABLES,
    NODE,
    Places,
    hue_of_join,
    join_items,
    places_around,
    twins,
    variable_item,
)
from mlnlab.display.counting.count_bars import number_text
from mlnlab.display.counting.plan_trees import SIZE_ENTRIES, SizeFrame, elbows
from mlnlab.display.runs.runs import RunPicture, Table, columns_of
from mlnlab.display.scene.building import Entry, explained_scene, label, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import bow_curve, polyline, segments
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.steps.step import Step

if TYPE_CHECKING:
    from mlnlab.counting.steps.counting_states import (
        CountingState,
        CountingSteps,
        JoinNetwork,
        Outline,
        OutlineRow,
    )
    from mlnlab.steps.recordings.trace import Trace

MOST_ROWS = 60  # of an outline that are drawn together: a page of it
_TOP, _INDENT, _LEFT = 40.0, 15.0, 26.0
_WIDEST, _NUMBERS = 400.0, 120.0
_LONGEST = 160
_EXACT = 1 << 53  # larger whole numbers would be rounded in a page
DONE, NOW, WAITING, SKIPPED = "✓", "▶", "·", "–"
_MEANINGS = ((DONE, "done"), (NOW, "this step"), (WAITING, "waiting"), (SKIPPED, "not needed"))
_MOST_SHOWN = 12  # rows of the value
_TOP_VARIABLE = 96.0
_PANEL = 340.0  # where the value stands
_LIVE, _NOW, _GONE, _KEPT = "ring blue", "wash orange thick", "ring grey dashed", "ring green thick"


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
    names = [shorten_text(name) for name in value.columns]
    columns = columns_of((*names, "number"), (len(names),))
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
    frame = SizeFrame(max(ends, default=0.0) + 14, max([9.0, *sizes]), _NUMBERS - 16)
    marks = standing(state)
    items = tuple(
        _row(state, first + place, marks[first + place], text, place, frame)
        for place, text in enumerate(words)
    )
    bottom = _TOP + len(rows) * ROW
    layers = (
        Layer("tree", (Path(path=segments(elbows(rows, _LEFT + 4, _TOP, _INDENT, first)), look="link"),)),
        Layer("steps", items),
        Layer("sum", _headline(state), zooms=False),
    )
    summary = f"{len(state.sizes):,} of {count_of(len(state.outline.rows), 'row')} done."
    return explained_scene(layers, _entries(), (WIDTH, bottom), "Counting step by step", summary)


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


def _row(state: CountingState, number: int, mark: str, words: str, place: int, frame: SizeFrame) -> Group:
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


def _entries() -> tuple[Entry, ...]:
    return (
        *(Entry(Text(x=-4, y=4.5, text=mark, look="words"), words) for mark, words in _MEANINGS),
        *SIZE_ENTRIES,
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


# --- variables ------------------------------------------------------------------------------------


def network_number(state: CountingState) -> int:
    """Return the network of the present row, else the last one that was worked on; -1 where there is none."""
    rows = state.outline.rows
    worked = [rows[size.row].network for size in state.done if rows[size.row].network >= 0]
    return worked[-1] if worked else 0 if state.outline.networks else -1


def eliminations(state: CountingState, number: int) -> list[OutlineRow]:
    """Return the rows of a network that summed variables out, in the order of the work."""
    rows = state.outline.rows
    done = dict.fromkeys(size.row for size in state.done)
    return [rows[row] for row in done if rows[row].network == number and rows[row].eliminates]


def list_fill_edges(network: JoinNetwork, done: Sequence[OutlineRow]) -> list[tuple[str, str]]:
    """Return the edges between variables that no table had, but a table that was made has."""
    near = network.neighbours()
    found: dict[tuple[str, str], None] = {}
    for row in done:
        for place, one in enumerate(row.scope):
            for other in row.scope[place + 1 :]:
                if other not in near[one]:
                    found[min(one, other), max(one, other)] = None
    return list(found)


def variables_part(state: CountingState) -> Scene:
    """Return the network of the present term, beside it the value that was worked out last."""
    number = network_number(state)
    network = state.outline.networks[number] if number >= 0 else None
    panel, height = _value_panel(state, _PANEL)
    if network is None or not 0 < len(network.variables) <= MOST_VARIABLES:
        words = "This term has no variables." if network is None or not network.variables else (
            f"{len(network.variables)} variables are too many to be drawn.")  # fmt: skip
        note = Text(x=8, y=_TOP_VARIABLE, text=words, look="quiet")
        return Scene(WIDTH, max(height, _TOP_VARIABLE + 20), (Layer("note", (note,)), Layer("value", panel)),
                     "Variables summed out")  # fmt: skip
    done = eliminations(state, number)
    places = places_around(network.variables, _TOP_VARIABLE)
    bottom = max(y for _, y in places.values()) + 66
    gone = {name for row in done for name in row.eliminates}
    layers = (
        Layer("joins", (*_joins(network, places, gone), *_fill(network, done, places, gone))),
        Layer("variables", tuple(_variables(state, network, done, places))),
        Layer("value", (*_clause(network), *panel)),
    )
    summary = f"{len(gone)} of {count_of(len(network.variables), 'variable')} summed out; {_width(done)}."
    entries, size = _variable_entries(network), (WIDTH, max(bottom, height))
    return explained_scene(layers, entries, size, "Variables summed out", summary, gap=0, foot=12)


def _width(done: Sequence[OutlineRow]) -> str:
    wide = max((len(row.scope) for row in done), default=0)
    return f"the widest table made has {count_of(wide, 'variable')}"


def _clause(network: JoinNetwork) -> tuple[Item, ...]:
    words = fit_text(in_symbols(shorten_text(network.title, _LONGEST)), _PANEL - 24, "words strong")
    return (Text(x=8, y=18, text=words, look="words strong"),)


def _joins(network: JoinNetwork, places: Places, gone: set[str]) -> Iterator[Group]:
    """Yield an edge or a square for each table that is read; it fades when a variable of it is summed out."""
    aside = twins([scope for _, scope in network.joins])
    for number, ((words, scope), twin) in enumerate(zip(network.joins, aside, strict=True)):
        if scope:
            yield Group(
                id=numbered_id("join", number),
                look="faint" if gone.intersection(scope) else "",
                pick=True,
                tooltip=tooltip(in_symbols(words), f"joins {', '.join(dict.fromkeys(scope))}"),
                children=join_items(scope, words, places, twin, hue_of_join(number)),
            )


def _fill(
    network: JoinNetwork, done: Sequence[OutlineRow], places: Places, gone: set[str]
) -> Iterator[Group]:  # fmt: skip
    """Yield the edges that summing out has filled in."""
    order = list(network.variables)
    for one, other in list_fill_edges(network, done):
        (x1, y1), (x2, y2) = places[one], places[other]
        middle = (x1 + x2) / 2, (y1 + y2) / 2
        yield Group(
            id=numbered_id("fill", order.index(one), order.index(other)),
            look="faint" if gone & {one, other} else "",
            pick=True,
            tooltip=tooltip("fill edge", f"a table over {one} and {other} was made"),
            children=(
                Path(path=bow_curve((x1, y1), (x2, y2), 0.0, NODE), look="curve orange dashed thick"),
                label(middle[0], middle[1] + 4, "fill", 60, "label small"),
            ),
        )


def _variables(
    state: CountingState, network: JoinNetwork, done: Sequence[OutlineRow], places: Places
) -> Iterator[Group]:  # fmt: skip
    present = state.outline.rows[state.current] if state.done else None
    turns = {name: turn for turn, row in enumerate(done, 1) for name in row.eliminates}
    for number, name in enumerate(network.variables):
        now = present is not None and present in done and name in present.eliminates
        look = _NOW if now else _GONE if name in turns else _KEPT if name in network.kept else _LIVE
        words = f"out at {turns[name]}" if name in turns else "kept" if name in network.kept else ""
        said = words.replace("out at", "summed out, elimination number") or "not summed out yet"
        below = label(0, NODE + 15, words, 90, "label small")
        yield variable_item(number, name, places[name], look, tooltip(name, said), below)


def _variable_entries(network: JoinNetwork) -> list[Entry]:
    def ring(look: str) -> Circle:
        return Circle(x=0, y=0, radius=6, look=look)

    kept = [Entry(ring(_KEPT), "kept: counts are for each")] if network.kept else []
    fill = Path(path=polyline([(-8, 0), (8, 0)]), look="curve orange dashed thick")
    return [
        Entry(ring(_LIVE), "to be summed out"), Entry(ring(_NOW), "now"),
        Entry(ring(_GONE), "summed out"), *kept,
        Entry(fill, "fill edge: made by summing out"),
    ]  # fmt: skip


# --- the value ----------------------------------------------------------------------------------


def _value_panel(state: CountingState, x: float) -> tuple[tuple[Item, ...], float]:
    """Return the first rows of the last value as a small table, and where it ends."""
    value = state.value
    if value is None:
        return (Text(x=x, y=18, text="No table has been worked out yet.", look="quiet"),), 40.0
    words = in_symbols(shorten_text(state.words, 2 * _LONGEST))
    items: list[Item] = [
        Text(x=x, y=18, text=fit_text(words, WIDTH - x - 8, "words strong"), look="words strong")
    ]
    if not value.columns:
        items.append(Text(x=x, y=46, text=number_text(value.rows[0][1]), look="number large strong"))
        return tuple(items), 70.0
    columns = (*value.columns[:4], "number")
    step = min(110.0, (WIDTH - x - 8) / len(columns))
    rows = [columns, *((*names[:4], number_text(number)) for names, number in value.rows[:_MOST_SHOWN])]
    for line, cells in enumerate(rows):
        for place, text in enumerate(cells):
            last = place + 1 == len(columns)
            look = "quiet small" if not line else "number strong" if last else "words"
            items.append(
                Text(x=x + step * place, y=40 + ROW * line, text=fit_text(text, step - 8, look), look=look)
            )
    end = 40 + ROW * len(rows)
    items.append(Path(path=polyline([(x, 45), (x + step * len(columns) - 8, 45)]), look="frame"))
    if value.length > len(rows) - 1:
        rest = value.length - (len(rows) - 1)
        items.append(Text(x=x, y=end, text=f"and {count_of(rest, 'more row')}", look="quiet"))
    return tuple(items), end + 16
