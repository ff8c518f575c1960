"""A first-order circuit as a drawing: definitions in layers, shared ones dashed, unfinished ones faint.

A call of what is drawn above already, as domain recursion makes it, ends at a box that names the definition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mlnlab.circuits.first_order import Counting, InclusionExclusion, Power, Product, SizeCase, Sum, calls_of
from mlnlab.display.lifted.circuits.circuit_joined import Joined, joined_bodies
from mlnlab.display.lifted.circuits.circuit_legend import sign_lines
from mlnlab.display.lifted.circuits.circuit_nodes import node_words
from mlnlab.display.lifted.circuits.circuit_rows import Line, Placed, Standing, in_rows, line_item
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Rectangle, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text, fitted_lines, text_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mlnlab.circuits.first_order import Body, Call
    from mlnlab.lifted.theory.shattering import Symbol

MOST_NODES = 120
LINE = 15.0
_WIDEST, _NARROWEST = 210.0, 64.0
_MOST_ATOMS = 3
_LEGEND_WIDTH, _MOST_LEGEND = 420.0, 24
HUES: Mapping[type, str] = {
    Product: "blue", Sum: "orange", InclusionExclusion: "yellow", Power: "green", Counting: "purple",
    SizeCase: "grey",
}  # fmt: skip


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
