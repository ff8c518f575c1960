"""A first-order circuit as a drawing: definitions in layers, shared ones dashed, unfinished ones faint.

A call of what is drawn above already, as domain recursion makes it, ends at a box that names the definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.circuits.first_order import Counting, InclusionExclusion, Power, Product, SizeCase, Sum, calls_of
from mlnlab.display.card.cards import Card, Part, table_of
from mlnlab.display.card.markup import count_of, element, shorten_text
from mlnlab.display.lifted.circuits.circuit_nodes import (
    Joined,
    joined_bodies,
    legend_lines,
    node_words,
    sign_lines,
)
from mlnlab.display.nodelink.layouts.layered import layered_layout
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import arrow_head, smooth_downward
from mlnlab.display.scene.text_fitting import fit_text, fitted_lines, text_width
from mlnlab.lifted.theory.theory_text import clause_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.circuits.first_order import Body, Call
    from mlnlab.lifted.ask.lift import Lift, LiftedCircuit
    from mlnlab.lifted.circuit.arithmetic import LiftedValue
    from mlnlab.lifted.theory.shattering import Symbol

    Reals = NDArray[np.float64]

MOST_NODES = 120
LINE = 15.0
_WIDEST, _NARROWEST = 210.0, 64.0
_MOST_ATOMS = 3
_LEGEND_WIDTH, _MOST_LEGEND = 420.0, 24
HUES: Mapping[type, str] = {
    Product: "blue", Sum: "orange", InclusionExclusion: "yellow", Power: "green", Counting: "purple",
    SizeCase: "grey",
}  # fmt: skip
_MARGIN, _ACROSS, _DOWN = 14.0, 30.0, 100.0
_NEAR, _USUAL, _LOW = 30.0, 46.0, 20.0  # between rows; the height of a row without boxes
_STRAIGHT = 6.0  # pixels that a line may lean
_LABEL = 130.0
_ASIDE = 44.0  # between lines that end at one box
_LONGEST_THEORY = 600


class Box(NamedTuple):
    """A drawn box: a definition, or, where ``again`` is not negative, a call of one that stands above."""

    number: int
    lines: tuple[str, ...]
    row: int
    again: int = -1  # of which definition; ``number`` is the caller's
    place: int = 0  # among the caller's calls


class Drawn(NamedTuple):
    """Boxes, the lines between them, and where all of it stands."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]
    placed: Placed


def drawn_circuit(joined: Mapping[int, Joined], symbols: Sequence[Symbol]) -> Drawn:
    """Return where definitions stand; a body of ``None`` is not compiled yet."""
    bodies = {number: one.body for number, one in joined.items()}
    depth = depths(bodies)
    numbers = sorted(depth, key=lambda n: (depth[n], n))[:MOST_NODES]
    boxes = [Box(n, _lines(joined[n], symbols), depth[n]) for n in numbers]
    at, lines = {number: place for place, number in enumerate(numbers)}, []
    for number in numbers:
        for place, (call, words) in enumerate(_calls(bodies[number], symbols)):
            target = call.definition
            if depth[target] <= depth[number]:
                lines.append(Line(at[number], len(boxes), words.strip()))
                boxes.append(Box(number, (again_words(target),), depth[number] + 1, target, place))
            elif target in at:
                lines.append(Line(at[number], at[target], words.strip()))
    placed = in_rows([Standing(_width(box.lines), _height(box.lines), box.row) for box in boxes], lines)
    return Drawn(tuple(boxes), tuple(lines), placed)


def again_words(number: int) -> str:
    """Return the words of a call of a definition that is drawn above."""
    return f"↺ {number}"


def numbers_words(numbers: Sequence[int]) -> str:
    """Return the numbers of definitions in one box."""
    return ", ".join(map(str, numbers[:3])) + (" …" if len(numbers) > 3 else "")


def depths(bodies: Mapping[int, Body | None]) -> dict[int, int]:
    """Return each definition's depth below the root; calls back to a definition above are ignored."""
    depth: dict[int, int] = {0: 0}
    path: list[int] = []

    def visit(number: int) -> None:
        path.append(number)
        body = bodies.get(number)
        for call in () if body is None else calls_of(body):
            below = call.definition
            if below not in path and depth.get(below, -1) < depth[number] + 1:
                depth[below] = depth[number] + 1
                visit(below)
        path.pop()

    visit(0)
    return depth


def _calls(body: Body | None, symbols: Sequence[Symbol]) -> Iterable[tuple[Call, str]]:
    return () if body is None else zip(calls_of(body), node_words(body, symbols).edges, strict=True)


def _lines(joined: Joined, symbols: Sequence[Symbol]) -> tuple[str, ...]:
    if joined.body is None:
        return (f"{numbers_words(joined.numbers)}  ?",)
    words = node_words(joined.body, symbols)
    more = len(words.atoms) - _MOST_ATOMS
    atoms = words.atoms[: _MOST_ATOMS - (more > 0)] if more > 0 else words.atoms
    said = (f"and {more + 1} more",) if more > 0 else ()
    return (f"{numbers_words(joined.numbers)}  {words.sign}", *atoms, *said)


def _width(lines: Sequence[str]) -> float:
    widths = [text_width(line, "small strong" if n == 0 else "small") for n, line in enumerate(lines)]
    return min(_WIDEST, max(_NARROWEST if len(lines) > 1 or "↺" not in lines[0] else 40.0, 16 + max(widths)))


def _height(lines: Sequence[str]) -> float:
    return 8 + LINE * len(lines)


def circuit_items(
    drawn: Drawn, joined: Mapping[int, Joined], symbols: Sequence[Symbol], newest: int = -1
) -> list[Item]:
    """Return the drawing's parts; the newest definition is lit."""
    called: dict[int, int] = {}
    for one in joined.values():
        for call in () if one.body is None else calls_of(one.body):
            called[call.definition] = called.get(call.definition, 0) + 1
    items = [
        line_item(number, line, route)
        for number, (line, route) in enumerate(zip(drawn.lines, drawn.placed.routes, strict=True))
    ]
    for box, (x, y) in zip(drawn.boxes, drawn.placed.places, strict=True):
        if box.again >= 0:
            items.append(_reference(box, x, y))
        else:
            one, times = joined[box.number], called.get(box.number, 0)
            items.append(_box(box, x, y, one, symbols, times, newest in one.numbers))
    return items


def _reference(box: Box, x: float, y: float) -> Item:
    """Return the box of a call of a definition that stands above: its number, round, and dashed."""
    width, height = _width(box.lines), _height(box.lines)
    return Group(
        id=numbered_id("again", box.number, box.place, box.again), pick=True,
        tooltip=tooltip(f"definition {box.again} again", "it is drawn above, called here with other sizes"),
        children=(
            Rectangle(
                x=x - width / 2, y=y - height / 2, width=width, height=height, corner=height / 2,
                look="wash grey dashed",
            ),
            Text(x=x, y=y + 4, text=box.lines[0], anchor="middle", look="words small strong"),
        ),
    )  # fmt: skip


def _box(
    box: Box, x: float, y: float, one: Joined, symbols: Sequence[Symbol], called: int, newest: bool
) -> Item:
    lines, body = box.lines, one.body
    width, height = _width(lines), _height(lines)
    hue = "grey" if body is None else HUES.get(type(body), "grey")
    look = f"wash {hue}{' thick' * newest}{' dashed' * (called > 1)}{' faint' * (body is None)}"
    parts: list[Item] = [
        Rectangle(x=x - width / 2, y=y - height / 2, width=width, height=height, corner=5, look=look)
    ]
    for row, line in enumerate(lines):
        words = f"words small{' strong' * (row == 0)}"
        text = fit_text(line, width - 12, "small strong" if row == 0 else "small")
        parts.append(Text(x=x, y=y - height / 2 + 14 + LINE * row, text=text, anchor="middle", look=words))
    what = "not compiled yet" if body is None else node_words(body, symbols).name
    atoms = () if body is None else node_words(body, symbols).atoms
    shared = f"called {called} times" if called > 1 else ""
    name = f"definition{'s' * (len(one.numbers) > 1)} {', '.join(map(str, one.numbers[:12]))}"
    return Group(
        id=numbered_id("definition", box.number), children=tuple(parts), pick=True,
        tooltip=tooltip(f"{name}: {what}", *atoms[:8], shared),
    )  # fmt: skip


def legend_items(lines: Sequence[str], y: float, width: float) -> tuple[list[Item], float]:
    """Return a legend as small lines below a drawing, and where it ends."""
    items: list[Item] = []
    for line in lines[:_MOST_LEGEND]:
        for row in fitted_lines(line, width - 16, 2, "small"):
            items.append(Text(x=8, y=y, text=row, look="quiet small", tooltip=tooltip(line)))
            y += LINE
    return items, y


def circuit_scene(
    bodies: Mapping[int, Body | None], symbols: Sequence[Symbol], legend: Sequence[str] = ()
) -> Scene:
    """Draw a circuit by itself, with the meanings of its signs, and its predicates (``legend``)."""
    joined = joined_bodies(bodies)
    drawn = drawn_circuit(joined, symbols)
    left = len(joined) - sum(box.again < 0 for box in drawn.boxes)
    words = f"{len(bodies)} definitions" + (f", {left} of them not drawn" if left else "")
    width = max(drawn.placed.size[0], _LEGEND_WIDTH)
    again = any(box.again >= 0 for box in drawn.boxes)
    said = (*sign_lines([one.body for one in joined.values()], recursive=again), *legend)
    explained, end = legend_items(said, drawn.placed.size[1] + 12, width)
    circuit = Layer("circuit", tuple(circuit_items(drawn, joined, symbols)))
    layers = (circuit, Layer("legend", tuple(explained)))
    return Scene(width, max(end, 80.0), layers, "First-order circuit", f"{words}.")


# --- rows -----------------------------------------------------------------------------------------


class Standing(NamedTuple):
    """A box: its size, and in which row."""

    width: float
    height: float
    row: int


class Line(NamedTuple):
    """A call between two boxes, by their places, with its words."""

    source: int
    target: int
    words: str


class Placed(NamedTuple):
    """The middles of boxes, the points of lines from box to box, and the size of it all."""

    places: tuple[tuple[float, float], ...]
    routes: tuple[Reals, ...]
    size: tuple[float, float]


def in_rows(boxes: Sequence[Standing], lines: Sequence[Line]) -> Placed:
    """Return where boxes stand whose rows are known, and how lines run between them."""
    widths = np.array([box.width for box in boxes])
    layout = layered_layout(
        [box.row for box in boxes], [line[:2] for line in lines], across=widths + _ACROSS, down=_DOWN
    )
    level = [
        np.round((route[:, 1] - layout.places[:, 1].min()) / _DOWN).astype(int) for route in layout.routes
    ]
    tops, heights = _rows(boxes, layout.routes, level)
    ends = [
        (route[-1, 0] - _room(line), route[-1, 0])
        if _from_right(route)
        else (0.0, route[-1, 0] + _room(line))
        for line, route in zip(lines, layout.routes, strict=True)
    ]
    left = min([*(layout.places[:, 0] - widths / 2), *(low for low, _ in ends)], default=0.0)
    shift = _MARGIN - float(left)
    middle = [top + height / 2 for top, height in zip(tops, heights, strict=True)]
    places = tuple(
        (float(x) + shift, middle[box.row]) for (x, _), box in zip(layout.places, boxes, strict=True)
    )
    routes = []
    beside = _beside_each_other(lines, layout.routes)
    for line, route, rows, aside in zip(lines, layout.routes, level, beside, strict=True):
        points = np.column_stack([route[:, 0] + shift, [middle[row] for row in rows]])
        points[-1, 0] += aside * min(_ASIDE, boxes[line.target].width / 3)
        points[0, 1] += boxes[line.source].height / 2
        points[-1, 1] -= boxes[line.target].height / 2 + 1
        routes.append(points)
    right = [x + box.width / 2 for (x, _), box in zip(places, boxes, strict=True)]
    width = max([*right, *(high + shift for _, high in ends)], default=0.0) + _MARGIN
    return Placed(places, tuple(routes), (width, tops[-1] + heights[-1] + 20.0 if tops else 0.0))


def _rows(
    boxes: Sequence[Standing], routes: Sequence[Reals], level: Sequence[NDArray[np.int64]]
) -> tuple[list[float], list[float]]:
    """Return where each row begins, and how high it is."""
    heights = [_LOW] * (1 + max((box.row for box in boxes), default=-1))
    for row in range(len(heights)):
        heights[row] = max([box.height for box in boxes if box.row == row], default=_LOW)
    leaning = {
        int(rows[n])
        for route, rows in zip(routes, level, strict=True)
        for n in np.flatnonzero(np.abs(np.diff(route[:, 0])) > _STRAIGHT)
    }
    tops, y = [], _MARGIN
    for row, height in enumerate(heights):
        tops.append(y)
        y += height + (_USUAL if row in leaning else _NEAR)
    return tops, heights


def _beside_each_other(lines: Sequence[Line], routes: Sequence[Reals]) -> list[float]:
    """Return how far from the middle of their box lines end: those of one box side by side, as they come."""
    found = [0.0] * len(lines)
    for target in {line.target for line in lines}:
        own = [n for n, line in enumerate(lines) if line.target == target]
        own.sort(key=lambda n: float(routes[n][-2, 0]))
        for place, n in enumerate(own):
            found[n] = place - (len(own) - 1) / 2 if len(own) > 1 else 0.0
    return found


def _from_right(route: Reals) -> bool:
    """Tell whether a line comes in from the right, where its words would stand."""
    return bool(route[-2, 0] > route[-1, 0] + _STRAIGHT)


def _room(line: Line) -> float:
    return 10 + min(_LABEL, text_width(line.words, "small"))


def line_item(number: int, line: Line, points: Reals, *, arrow: bool = True) -> Item:
    """Return a call as a line with an arrow head, and its words beside that."""
    corners = [(float(x), float(y)) for x, y in points]
    x, y = corners[-1]
    parts: list[Item] = [Path(path=smooth_downward(corners), look="link")]
    if arrow:
        parts.append(Path(path=arrow_head((x, y), (x, y - 10)), look="bar grey"))
    if line.words:
        text = fit_text(line.words, _LABEL, "small")
        if _from_right(points):
            parts.append(Text(x=x - 6, y=y - 9, text=text, anchor="end", look="quiet small"))
        else:
            parts.append(Text(x=x + 6, y=y - 9, text=text, look="quiet small"))
    return Group(id=numbered_id("call", number), children=tuple(parts))


# --- cards ----------------------------------------------------------------------------------------


def lift_card(source: Lift) -> Card:
    """Return the card of a theory that is not compiled yet."""
    theory, symbols = source.compilation.theory, source.weighted.shattered.symbols
    rows = ((clause_text(clause, theory, symbols),) for clause in theory.clauses)
    return Card(
        "Lifted model",
        lift_question(source),
        table=table_of(("clause",), rows, len(theory.clauses), "clauses"),
        remarks=(
            *(shorten_text(text, 200) for text in legend_lines(source.weighted)[:12]),
            "Different variables stand for different constants.",
            element("div", "Compile it at once, ", element("code", ".compile()"), ", or watch: ",
                    element("code", "ml.stepper(...)"), kind="quiet"),
            "From: Van den Broeck et al. (2011), first-order knowledge compilation.",
        ),
    )  # fmt: skip


def lift_question(source: Lift) -> str:
    """Say how large a theory is."""
    theory = source.compilation.theory
    kinds = f"{count_of(len(theory.pieces), 'kind')} of equiprobable atoms"
    return f"{count_of(len(theory.clauses), 'clause')}, {kinds}, {count_of(theory.subdomains, 'subdomain')}"


def circuit_card(found: LiftedCircuit) -> Card:
    """Return the card of a compiled model: drawn, and its definitions as a table."""
    rows = (
        (str(one.number), one.rule, shorten_text(found.lift.text(one.theory), 200))
        for one in found.definitions
    )
    order = found.circuit.nesting()
    cost = "no sum over sizes" if not order else f"about n^{order} terms for domains of n"
    if not found.circuit.is_complete:
        cost = "partly grounded when sizes are known"
    left = ((shorten_text(text, _LONGEST_THEORY),) for text in found.unlifted)
    theories = table_of(("theory",), left, len(found.unlifted), "theories")
    return Card(
        "First-order circuit",
        f"{count_of(len(found.circuit), 'definition')}, {cost}",
        lead=tuple(_write_unlifted(found)),
        picture=scene_of(found),
        table=table_of(
            ("", "rule", "theory"), rows, len(found.definitions), "definitions",
            numbers=(0,), name="definitions",
        ),
        remarks=(
            element("div", "Ask it: ", element("code", ".log_z({...})"), " · ",
                    element("code", ".expected_counts({...})"), " · ",
                    element("code", ".marginal(atom, {...})"), kind="quiet"),
        ),
        folds=(("the theories that are left, in clauses", theories),) if found.unlifted else (),
    )  # fmt: skip


def _write_unlifted(found: LiftedCircuit) -> Iterator[Part]:
    """Yield the user's formulas that no rule lifts, and the ways out."""
    for one in found.unlifted_formulas:
        yield element("div", element("strong", one.sentence))
        yield f"Ways out: {'; '.join(one.remedies)}."


def scene_of(found: LiftedCircuit) -> Scene:
    """Return a compiled model's circuit as a drawing."""
    bodies = {one.number: one.body for one in found.definitions}
    return circuit_scene(bodies, found.weighted.shattered.symbols, legend_lines(found.weighted))


def lifted_value_card(found: LiftedValue) -> Card:
    """Return the card of a value of log Z."""
    value = element("div", element("strong", f"{found.value:.15g}"), f" ± {found.error:.0e}")
    return Card("log Z", found.arithmetic, lead=(value,))
