"""The variables of a count at work: which are summed out, which edges that fills in, and the last value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import ROW, WIDTH
from mlnlab.display.counting.constraint_network_parts import (
    NODE,
    Places,
    hue_of_join,
    join_items,
    places_around,
    twins,
)
from mlnlab.display.counting.count_bars import number_text
from mlnlab.display.scene.building import Entry, label, legend, numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Scene, Text
from mlnlab.display.scene.paths import bow_curve, polyline
from mlnlab.display.scene.text_fitting import fit_text

if TYPE_CHECKING:
    from mlnlab.counting.steps.counting_states import CountingState, JoinNetwork, OutlineRow

MOST_VARIABLES = 24
_MOST_SHOWN = 12  # rows of the value
_TOP = 96.0
_LONGEST = 160
_PANEL = 340.0  # where the value stands
_LIVE, _NOW, _GONE, _KEPT = "ring blue", "wash orange thick", "ring grey dashed", "ring green thick"


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
        note = Text(x=8, y=_TOP, text=words, look="quiet")
        return Scene(WIDTH, max(height, _TOP + 20), (Layer("note", (note,)), Layer("value", panel)),
                     "Variables summed out")  # fmt: skip
    done = eliminations(state, number)
    places = places_around(network.variables, _TOP)
    bottom = max(y for _, y in places.values()) + 66
    entries = _entries(network)
    explained, deep = legend(entries, 8, max(bottom, height), WIDTH - 16)
    gone = {name for row in done for name in row.eliminates}
    layers = (
        Layer("joins", (*_joins(network, places, gone), *_fill(network, done, places, gone))),
        Layer("variables", tuple(_variables(state, network, done, places))),
        Layer("value", (*_headline(network), *panel)),
        Layer("explained", (explained,), zooms=False),
    )
    summary = f"{len(gone)} of {count_of(len(network.variables), 'variable')} summed out; {_width(done)}."
    return Scene(WIDTH, max(bottom, height) + deep + 12, layers, "Variables summed out", summary)


def _width(done: Sequence[OutlineRow]) -> str:
    wide = max((len(row.scope) for row in done), default=0)
    return f"the widest table made has {count_of(wide, 'variable')}"


def _headline(network: JoinNetwork) -> tuple[Item, ...]:
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
        x, y = places[name]
        now = present is not None and present in done and name in present.eliminates
        look = _NOW if now else _GONE if name in turns else _KEPT if name in network.kept else _LIVE
        words = f"out at {turns[name]}" if name in turns else "kept" if name in network.kept else ""
        said = words.replace("out at", "summed out, elimination number") or "not summed out yet"
        yield Group(
            id=numbered_id("variable", number), x=x, y=y, pick=True, tooltip=tooltip(name, said),
            children=(
                Circle(x=0, y=0, radius=NODE, look=look),
                label(0, 5, name, 2 * NODE - 4, "words large slanted"),
                label(0, NODE + 15, words, 90, "label small"),
            ),
        )  # fmt: skip


def _entries(network: JoinNetwork) -> list[Entry]:
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
