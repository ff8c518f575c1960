"""A first-order circuit as a drawing: definitions in layers, shared ones dashed, unfinished ones faint."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.circuits.first_order import Counting, InclusionExclusion, Power, Product, SizeCase, Sum, calls_of
from mlnlab.display.circuit_nodes import node_words
from mlnlab.display.layouts.layered import layered_layout
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import arrow_head, smooth_downward
from mlnlab.display.scene.text_fitting import fitted, text_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.circuits.first_order import Body, Call
    from mlnlab.lifted.shattering import Symbol

    Reals = NDArray[np.float64]

MOST_NODES = 120
LINE = 15.0
_WIDEST, _NARROWEST, _DOWN = 210.0, 64.0, 92.0
_MOST_ATOMS = 3
_LABEL = 130.0
HUES: Mapping[type, str] = {
    Product: "blue", Sum: "orange", InclusionExclusion: "yellow", Power: "green", Counting: "purple",
    SizeCase: "grey",
}  # fmt: skip


class Drawn(NamedTuple):
    """Which definitions are drawn where: the place of the middle of each box, and its lines."""

    places: Mapping[int, tuple[float, float]]
    lines: Mapping[int, tuple[str, ...]]
    routes: tuple[tuple[int, int, str, Reals], ...]
    width: float
    height: float


def drawn_circuit(bodies: Mapping[int, Body | None], symbols: Sequence[Symbol]) -> Drawn:
    """Return where definitions stand; a body of ``None`` is not compiled yet."""
    depth = depths(bodies)
    numbers = sorted(depth, key=lambda n: (depth[n], n))[:MOST_NODES]
    place = {number: row for row, number in enumerate(numbers)}
    lines = {n: _lines(bodies[n], symbols, n) for n in numbers}
    widths = [_width(lines[n]) for n in numbers]
    edges = [
        (n, call.definition, words)
        for n in numbers
        for call, words in _calls(bodies[n], symbols)
        if call.definition in place and depth[call.definition] > depth[n]
    ]
    layout = layered_layout(
        [depth[n] for n in numbers], [(place[a], place[b]) for a, b, _ in edges],
        across=np.array(widths) + 26.0, down=_DOWN,
    )  # fmt: skip
    least = layout.places[:, 0] - np.array(widths) / 2
    shift = 12.0 - float(least.min(initial=0.0))
    at = zip(numbers, layout.places, strict=True)
    places = {n: (float(x) + shift, float(y) + 34.0) for n, (x, y) in at}
    routes = tuple(
        (a, b, words, route + np.array([shift, 34.0]))
        for (a, b, words), route in zip(edges, layout.routes, strict=True)
    )
    right = max((places[n][0] + w / 2 for n, w in zip(numbers, widths, strict=True)), default=0.0)
    said = (
        float(route[-1, 0]) + 10 + min(_LABEL, text_width(words, "small")) for _, _, words, route in routes
    )
    right = max(right, *said, 0.0)
    bottom = max((y for _, y in places.values()), default=0.0)
    return Drawn(places, lines, routes, right + 12.0, bottom + 46.0)


def depths(bodies: Mapping[int, Body | None]) -> dict[int, int]:
    """Return how deep each definition stands below the root; calls of what is above count for nothing."""
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


def _lines(body: Body | None, symbols: Sequence[Symbol], number: int) -> tuple[str, ...]:
    if body is None:
        return (f"{number}  ?",)
    words = node_words(body, symbols)
    more = len(words.atoms) - _MOST_ATOMS
    atoms = words.atoms[: _MOST_ATOMS - (more > 0)] if more > 0 else words.atoms
    said = (f"and {more + 1} more",) if more > 0 else ()
    return (f"{number}  {words.sign}", *atoms, *said)


def _width(lines: Sequence[str]) -> float:
    return min(_WIDEST, max(_NARROWEST, 16 + max(text_width(line, "small") for line in lines)))


def circuit_items(
    drawn: Drawn, bodies: Mapping[int, Body | None], symbols: Sequence[Symbol], newest: int = -1
) -> list[Item]:
    """Return the drawing's parts; the newest definition is lit."""
    called: dict[int, int] = {}
    for body in bodies.values():
        for call in () if body is None else calls_of(body):
            called[call.definition] = called.get(call.definition, 0) + 1
    items: list[Item] = []
    for number, (source, target, words, route) in enumerate(drawn.routes):
        items.append(_edge(number, drawn, source, target, words, route))
    for number, (x, y) in drawn.places.items():
        items.append(_box(number, drawn, x, y, bodies, symbols, called.get(number, 0), number == newest))
    return items


def _edge(number: int, drawn: Drawn, source: int, target: int, words: str, route: Reals) -> Item:
    points = [(float(x), float(y)) for x, y in route]
    points[0] = (points[0][0], points[0][1] + _height(drawn.lines[source]) / 2)
    points[-1] = (points[-1][0], points[-1][1] - _height(drawn.lines[target]) / 2 - 1)
    parts: list[Item] = [
        Path(path=smooth_downward(points), look="link"),
        Path(path=arrow_head(points[-1], (points[-1][0], points[-1][1] - 10)), look="bar grey"),
    ]
    if words.strip():
        x, y = points[-1]
        parts.append(Text(x=x + 5, y=y - 9, text=fitted(words.strip(), _LABEL, "small"), look="quiet small"))
    return Group(id=numbered_id("call", number), children=tuple(parts))


def _height(lines: Sequence[str]) -> float:
    return 8 + LINE * len(lines)


def _box(
    number: int, drawn: Drawn, x: float, y: float, bodies: Mapping[int, Body | None],
    symbols: Sequence[Symbol], called: int, newest: bool,
) -> Item:  # fmt: skip
    lines, body = drawn.lines[number], bodies[number]
    width, height = _width(lines), _height(lines)
    hue = "grey" if body is None else HUES.get(type(body), "grey")
    look = f"wash {hue}{' thick' * newest}{' dashed' * (called > 1)}{' faint' * (body is None)}"
    parts: list[Item] = [
        Rectangle(x=x - width / 2, y=y - height / 2, width=width, height=height, corner=5, look=look)
    ]
    for row, line in enumerate(lines):
        text = fitted(line, width - 12, "small")
        words = f"words small{' strong' * (row == 0)}"
        parts.append(Text(x=x, y=y - height / 2 + 14 + LINE * row, text=text, anchor="middle", look=words))
    what = "not compiled yet" if body is None else node_words(body, symbols).name
    atoms = () if body is None else node_words(body, symbols).atoms
    shared = f"called {called} times" if called > 1 else ""
    return Group(
        id=numbered_id("definition", number), children=tuple(parts), pick=True,
        tooltip=tooltip(f"definition {number}: {what}", *atoms[:8], shared),
    )  # fmt: skip


def circuit_scene(bodies: Mapping[int, Body | None], symbols: Sequence[Symbol]) -> Scene:
    """Return a circuit as a drawing by itself."""
    drawn = drawn_circuit(bodies, symbols)
    left = len(bodies) - len(drawn.places)
    words = f"{len(bodies)} definitions" + (f", {left} of them not drawn" if left else "")
    layer = Layer("circuit", tuple(circuit_items(drawn, bodies, symbols)))
    return Scene(
        max(drawn.width, 200.0), max(drawn.height, 80.0), (layer,), "First-order circuit", f"{words}."
    )
