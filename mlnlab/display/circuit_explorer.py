"""A compiled model as a drawing to explore: definitions in layers with their values, folded where asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.circuits.first_order import calls_of
from mlnlab.display.circuit_boxes import (
    CHART,
    LINE,
    Box,
    callers,
    chart_path,
    definition_box,
    leaf_box,
    leaf_texts,
    value_line,
)
from mlnlab.display.circuit_folds import below, drawn_depths
from mlnlab.display.circuit_nodes import node_words
from mlnlab.display.circuit_scenes import HUES
from mlnlab.display.layouts.layered import layered_layout
from mlnlab.display.markup import count_of
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import arrow_head, polyline, smooth_downward
from mlnlab.display.scene.text_fitting import fitted, text_width

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.circuit_numbers import CircuitNumbers
    from mlnlab.lifted.lift import LiftedCircuit

    Reals = NDArray[np.float64]

MOST_SHOWN = 150  # definitions and leaves that are drawn at once
_GAP, _LABEL = 30.0, 110.0


@dataclass(frozen=True, slots=True, eq=False)
class ExploredCircuit:
    """What is shown of a circuit: its numbers, what is folded, and whether leaves are nodes of their own."""

    circuit: LiftedCircuit
    numbers: CircuitNumbers | None = None
    folded: frozenset[int] = frozenset()
    selected: int | None = None
    leaves: bool = False


class _Node(NamedTuple):
    name: str  # its id
    number: int  # of its definition
    leaf: int  # its place among the leaves; -1 for a definition
    depth: int
    box: Box
    under: int = 0  # definitions that it calls, directly or through others


class Layout(NamedTuple):
    """What of a drawing does not depend on numbers: while a slider moves, it stays."""

    nodes: tuple[_Node, ...]
    places: tuple[tuple[float, float], ...]
    edges: tuple[Item, ...]
    size: tuple[float, float]
    words: str


def explorer_scene(shown: ExploredCircuit, layout: Layout | None = None) -> Scene:
    """Return what is shown of a circuit as a drawing; ``layout`` is that of the same folds."""
    found = laid_out(shown) if layout is None else layout
    boxes = [_item(node, place, shown) for node, place in zip(found.nodes, found.places, strict=True)]
    return Scene(*found.size, (Layer("circuit", (*found.edges, *boxes)),), "First-order circuit", found.words)


def laid_out(shown: ExploredCircuit) -> Layout:
    """Return what is drawn of a circuit, and where."""
    circuit = shown.circuit
    depth = drawn_depths(circuit, shown.folded)
    nodes, edges = _nodes(shown, depth)
    places, routes, size = _places(nodes, edges)
    drawn = tuple(
        _edge(number, nodes[source], nodes[target], words, route)
        for number, ((source, target, words), route) in enumerate(zip(edges, routes, strict=True))
    )
    hidden = len(circuit.definitions) - len(depth)
    told = f"{count_of(len(circuit.definitions), 'definition')}{f', {hidden} of them folded' * (hidden > 0)}."
    return Layout(tuple(nodes), tuple(places), drawn, size, told)


def _nodes(
    shown: ExploredCircuit, depth: Mapping[int, int]
) -> tuple[list[_Node], list[tuple[int, int, str]]]:
    """Return what is drawn, and the edges between with their words."""
    symbols = shown.circuit.weighted.shattered.symbols
    shared = {number: len(sources) for number, sources in callers(shown.circuit).items()}
    nodes: list[_Node] = []
    place: dict[int, int] = {}
    edges: list[tuple[int, int, str]] = []
    for number in sorted(depth, key=lambda n: (depth[n], n)):
        one = shown.circuit.definitions[number]
        texts = leaf_texts(one, symbols) if shown.leaves else ()
        valued = shown.numbers is not None
        box = definition_box(one, symbols, shared[number], valued=valued, leaves=not texts)
        place[number] = len(nodes)
        name, under = numbered_id("definition", number), len(below(shown.circuit, number))
        nodes.append(_Node(name, number, -1, depth[number], box, under))
        for leaf, text in enumerate(texts if number not in shown.folded else ()):
            edges.append((place[number], len(nodes), ""))
            name = numbered_id("leaf", number, leaf)
            nodes.append(_Node(name, number, leaf, depth[number] + 1, leaf_box(text)))
    for number, at in place.items():
        if number in shown.folded:
            continue
        body = shown.circuit.definitions[number].body
        for call, words in zip(calls_of(body), node_words(body, symbols).edges, strict=True):
            if depth[call.definition] > depth[number]:
                edges.append((at, place[call.definition], words))
    return nodes, edges


def _places(
    nodes: Sequence[_Node], edges: Sequence[tuple[int, int, str]]
) -> tuple[list[tuple[float, float]], list[Reals], tuple[float, float]]:
    """Return the middles of boxes, the edges' points, and the size of the drawing."""
    widths = np.array([node.box.width for node in nodes])
    layout = layered_layout(
        [node.depth for node in nodes], [(a, b) for a, b, _ in edges], across=widths + _GAP, down=100.0
    )
    tops, heights = _rows(nodes)
    left = float((layout.places[:, 0] - widths / 2).min(initial=0.0))
    places = [
        (float(x) - left + 14, tops[node.depth] + heights[node.depth] / 2)
        for (x, _), node in zip(layout.places, nodes, strict=True)
    ]
    routes = []
    for route in layout.routes:
        levels = np.round((route[:, 1] - layout.places[:, 1].min()) / 100.0).astype(int)
        across = route[:, 0] - left + 14
        middles = [tops[level] + heights[level] / 2 for level in levels]
        routes.append(np.stack([across, middles], axis=1))
    right = max((x + node.box.width / 2 for (x, _), node in zip(places, nodes, strict=True)), default=0.0)
    said = [
        float(route[-1, 0]) + 10 + min(_LABEL, text_width(words, "small"))
        for (_, _, words), route in zip(edges, routes, strict=True)
    ]
    last = max(tops, default=0)
    return places, routes, (max(right, 260.0, *said, 0.0) + 14, tops[last] + heights[last] + 20)


def _rows(nodes: Sequence[_Node]) -> tuple[dict[int, float], dict[int, float]]:
    """Return where each layer begins, and how high it is."""
    heights: dict[int, float] = {}
    for node in nodes:
        heights[node.depth] = max(heights.get(node.depth, 0.0), node.box.height)
    tops, y = {}, 14.0
    for depth in range(max(heights) + 1):
        heights.setdefault(depth, 20.0)
        tops[depth] = y
        y += heights[depth] + 46
    return tops, heights


def _edge(number: int, source: _Node, target: _Node, words: str, route: Reals) -> Item:
    points = [(float(x), float(y)) for x, y in route]
    points[0] = (points[0][0], points[0][1] + source.box.height / 2)
    points[-1] = (points[-1][0], points[-1][1] - target.box.height / 2 - 1)
    parts: list[Item] = [Path(path=smooth_downward(points), look="link")]
    if target.leaf < 0:
        behind = (points[-1][0], points[-1][1] - 10)
        parts.append(Path(path=arrow_head(points[-1], behind), look="bar grey"))
    if words.strip():
        x, y = points[-1]
        parts.append(Text(x=x + 6, y=y - 9, text=fitted(words.strip(), _LABEL, "small"), look="quiet small"))
    return Group(id=numbered_id("call", number), children=tuple(parts))


def _item(node: _Node, place: tuple[float, float], shown: ExploredCircuit) -> Item:
    """Return a box at the origin of a group, so that it moves as a whole."""
    box, (x, y) = node.box, place
    if node.leaf >= 0:
        free = box.lines[0].startswith("free")
        look = "wash grey dashed" if free else "wash grey"
        return Group(id=node.name, x=x, y=y, children=(_frame(box, look), *_lines(box, leaf=True)))
    one = shown.circuit.definitions[node.number]
    value = None if shown.numbers is None else shown.numbers.nodes.get(node.number)
    shared = "shared by" in box.lines[0]
    look = f"wash {HUES.get(type(one.body), 'grey')}{' dashed' * shared}"
    parts: list[Item] = [_frame(box, look + " thick" * (node.number == shown.selected)), *_lines(box)]
    end = -box.height / 2 + 14 + LINE * len(box.lines)
    if box.has_chart:
        left = -box.width / 2 + 12
        width = box.width - 24
        chosen = None if value is None else value.chosen
        chart = chart_path(chosen, left, end - 11, width)
        parts.append(Path(id=numbered_id("chart", node.number), path=chart, look="curve purple"))
        base = end - 11 + CHART - 8
        line = polyline([(left, base), (left + width, base)])
        parts.append(Path(id=numbered_id("base", node.number), path=line, look="frame"))
        end += CHART
    if box.has_value:
        name, line = numbered_id("value", node.number), value_line(value)
        parts.append(Text(id=name, x=0, y=end, text=line, anchor="middle", look="number small"))
    if node.under:
        parts.append(_handle(node, shown))
    words = node_words(one.body, shown.circuit.weighted.shattered.symbols)
    tip = tooltip(
        f"definition {one.number}: {words.name}", f"by {one.rule}", "click for its theory and value"
    )
    return Group(id=node.name, x=x, y=y, children=tuple(parts), pick=True, tooltip=tip)


def _frame(box: Box, look: str) -> Item:
    return Rectangle(
        x=-box.width / 2, y=-box.height / 2, width=box.width, height=box.height, corner=5, look=look
    )


def _lines(box: Box, *, leaf: bool = False) -> list[Item]:
    top = -box.height / 2 + 15
    return [
        Text(
            x=0, y=top + LINE * row, text=fitted(line, box.width - 12, "small"), anchor="middle",
            look=f"words small{' strong' * (row == 0 and not leaf)}",
        )
        for row, line in enumerate(box.lines)
    ]  # fmt: skip


def _handle(node: _Node, shown: ExploredCircuit) -> Item:
    """Return what folds and unfolds: a small circle at the box's lower edge."""
    is_folded = node.number in shown.folded
    words = f"unfold {count_of(node.under, 'definition')}" if is_folded else "fold what is below"
    sign = "+" if is_folded else "−"
    y = node.box.height / 2
    return Group(
        id=numbered_id("fold", node.number), expands="closed" if is_folded else "open", tooltip=words,
        children=(
            Circle(x=0, y=y, radius=7.5, look="ring grey"),
            Text(x=0, y=y + 4, text=sign, anchor="middle", look="words small strong"),
        ),
    )  # fmt: skip
