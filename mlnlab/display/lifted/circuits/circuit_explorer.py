"""A compiled model as a drawing to explore: definitions in layers with their values, folded where asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from mlnlab.circuits.first_order import calls_of
from mlnlab.display.card.markup import count_of
from mlnlab.display.lifted.circuits.circuit_boxes import (
    CHART,
    LINE,
    Box,
    callers,
    chart_path,
    definition_box,
    leaf_box,
    leaf_texts,
    missing_value,
    value_line,
)
from mlnlab.display.lifted.circuits.circuit_nodes import (
    PRIMES,
    joined_bodies,
    legend_lines,
    node_words,
    sign_lines,
    value_lines,
)
from mlnlab.display.lifted.circuits.circuit_scenes import (
    HUES,
    Line,
    Standing,
    again_words,
    in_rows,
    legend_items,
    line_item,
)
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import polyline
from mlnlab.display.scene.text_fitting import fit_text

if TYPE_CHECKING:
    from mlnlab.display.lifted.circuits.circuit_nodes import Joined
    from mlnlab.lifted.ask.circuit_numbers import CircuitNumbers
    from mlnlab.lifted.ask.lift import LiftedCircuit

MOST_SHOWN = 150  # definitions and leaves that are drawn at once
_LEGEND_WIDTH = 420.0
FIRST_SHOWN = 30  # drawn before anything is unfolded
_ROOT = 0


@dataclass(frozen=True, slots=True, eq=False)
class ExploredCircuit:
    """The view of a circuit: its numbers, its folded definitions, and whether leaves are separate nodes."""

    circuit: LiftedCircuit
    numbers: CircuitNumbers | None = None
    folded: frozenset[int] = frozenset()
    selected: int | None = None
    leaves: bool = False


class _Node(NamedTuple):
    name: str  # its id
    number: int  # of its definition
    kind: Literal["definition", "leaf", "again"]  # again: a call of a definition that is drawn above
    depth: int
    box: Box
    under: int = 0  # definitions that it calls, directly or through others


class Layout(NamedTuple):
    """The parts of a drawing that do not depend on numbers: they stay while a slider moves."""

    nodes: tuple[_Node, ...]
    places: tuple[tuple[float, float], ...]
    edges: tuple[Item, ...]
    legend: tuple[Item, ...]
    joined: Mapping[int, Joined]
    size: tuple[float, float]
    words: str


def explorer_scene(shown: ExploredCircuit, layout: Layout | None = None) -> Scene:
    """Return a circuit as explored as a drawing; ``layout`` is that of the same folds."""
    found = laid_out(shown) if layout is None else layout
    boxes = [_item(node, place, shown, found) for node, place in zip(found.nodes, found.places, strict=True)]
    layers = Layer("circuit", (*found.edges, *boxes)), Layer("legend", found.legend)
    return Scene(*found.size, layers, "First-order circuit", found.words)


def laid_out(shown: ExploredCircuit) -> Layout:
    """Return the nodes, lines and legend of an explored circuit, with their places."""
    circuit = shown.circuit
    joined = joined_when(circuit, shown.folded, leaves=shown.leaves)
    depth = drawn_depths(circuit, shown.folded, joined)
    nodes, lines = _nodes(shown, depth, joined)
    placed = in_rows([Standing(node.box.width, node.box.height, node.depth) for node in nodes], lines)
    drawn = tuple(
        line_item(number, line, route, arrow=nodes[line.target].kind != "leaf")
        for number, (line, route) in enumerate(zip(lines, placed.routes, strict=True))
    )
    width = max(placed.size[0], _LEGEND_WIDTH)
    legend, end = legend_items(_legend(shown, nodes, joined), placed.size[1] + 12, width)
    hidden = len(circuit.definitions) - sum(len(joined[number].numbers) for number in depth)
    told = f"{count_of(len(circuit.definitions), 'definition')}{f', {hidden} of them folded' * (hidden > 0)}."
    return Layout(tuple(nodes), placed.places, drawn, tuple(legend), joined, (width, end), told)


def _legend(shown: ExploredCircuit, nodes: list[_Node], joined: Mapping[int, Joined]) -> tuple[str, ...]:
    """Return the meanings of all signs in the drawing."""
    bodies = [joined[node.number].body for node in nodes if node.kind == "definition"]
    again = any(node.kind == "again" for node in nodes)
    values = value_lines(shown.circuit) if shown.numbers is not None else ()
    primes = (PRIMES,) if any("′" in line for node in nodes for line in node.box.lines) else ()
    return (*sign_lines(bodies, recursive=again), *primes, *values, *legend_lines(shown.circuit.weighted))


def _nodes(
    shown: ExploredCircuit, depth: Mapping[int, int], joined: Mapping[int, Joined]
) -> tuple[list[_Node], list[Line]]:
    """Return the drawn nodes, and the lines between them with their words."""
    symbols = shown.circuit.weighted.shattered.symbols
    shared = {number: len(sources) for number, sources in callers(shown.circuit).items()}
    nodes: list[_Node] = []
    place: dict[int, int] = {}
    lines: list[Line] = []
    for number in sorted(depth, key=lambda n: (depth[n], n)):
        one = shown.circuit.definitions[number]
        texts = leaf_texts(one, symbols) if shown.leaves else ()
        valued = shown.numbers is not None
        box = definition_box(one, symbols, shared[number], joined[number], valued=valued, leaves=not texts)
        place[number] = len(nodes)
        name, under = numbered_id("definition", number), len(below(shown.circuit, number))
        nodes.append(_Node(name, number, "definition", depth[number], box, under))
        for leaf, text in enumerate(texts if number not in shown.folded else ()):
            lines.append(Line(place[number], len(nodes), ""))
            name = numbered_id("leaf", number, leaf)
            nodes.append(_Node(name, number, "leaf", depth[number] + 1, leaf_box(text)))
    for number, at in place.items():
        body = joined[number].body
        if number in shown.folded or body is None:
            continue
        for n, (call, words) in enumerate(zip(calls_of(body), node_words(body, symbols).edges, strict=True)):
            if depth[call.definition] > depth[number]:
                lines.append(Line(at, place[call.definition], words.strip()))
                continue
            lines.append(Line(at, len(nodes), words.strip()))
            name, box = (
                numbered_id("again", number, n, call.definition),
                leaf_box(again_words(call.definition)),
            )
            nodes.append(_Node(name, call.definition, "again", depth[number] + 1, box))
    return nodes, lines


def _item(node: _Node, place: tuple[float, float], shown: ExploredCircuit, layout: Layout) -> Item:
    """Return a box at the origin of a group, so that it moves as a whole."""
    box, (x, y) = node.box, place
    if node.kind == "leaf":
        free = box.lines[0].startswith("free")
        look = "wash grey dashed" if free else "wash grey"
        return Group(id=node.name, x=x, y=y, children=(_frame(box, look), *_lines(box, leaf=True)))
    if node.kind == "again":
        return _reference(node, x, y)
    one, joined = shown.circuit.definitions[node.number], layout.joined[node.number]
    value = None if shown.numbers is None else shown.numbers.nodes.get(node.number)
    shared = "shared by" in box.lines[0]
    look = f"wash {HUES.get(type(one.body), 'grey')}{' dashed' * shared}"
    parts: list[Item] = [_frame(box, look + " thick" * (shown.selected in joined.numbers)), *_lines(box)]
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
        name, line = numbered_id("value", node.number), value_line(value, missing_value(shown.circuit))
        parts.append(Text(id=name, x=0, y=end, text=line, anchor="middle", look="number small"))
    if node.under:
        parts.append(_handle(node, shown))
    words = node_words(one.body, shown.circuit.weighted.shattered.symbols)
    inside = ", ".join(map(str, joined.numbers[1:]))
    tip = tooltip(
        f"definition {one.number}: {words.name}", f"by {one.rule}",
        f"together with {inside}, which it calls" if inside else "", "click for its theory and value",
    )  # fmt: skip
    return Group(id=node.name, x=x, y=y, children=tuple(parts), pick=True, tooltip=tip)


def _reference(node: _Node, x: float, y: float) -> Item:
    """Return the box of a call of a definition above: round and dashed; a click selects the definition."""
    tip = tooltip(f"definition {node.number} again", "it is drawn above; click to look at it")
    frame = Rectangle(
        x=-node.box.width / 2, y=-node.box.height / 2, width=node.box.width, height=node.box.height,
        corner=node.box.height / 2, look="wash grey dashed",
    )  # fmt: skip
    return Group(id=node.name, x=x, y=y, children=(frame, *_lines(node.box)), pick=True, tooltip=tip)


def _frame(box: Box, look: str) -> Item:
    return Rectangle(
        x=-box.width / 2, y=-box.height / 2, width=box.width, height=box.height, corner=5, look=look
    )


def _lines(box: Box, *, leaf: bool = False) -> list[Item]:
    top = -box.height / 2 + 15
    return [
        Text(
            x=0, y=top + LINE * row, text=fit_text(line, box.width - 12, "small"), anchor="middle",
            look=f"words small{' strong' * (row == 0 and not leaf)}",
        )
        for row, line in enumerate(box.lines)
    ]  # fmt: skip


def _handle(node: _Node, shown: ExploredCircuit) -> Item:
    """Return the button that folds and unfolds a box: a small circle at its lower edge."""
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


# --- folds ----------------------------------------------------------------------------------------


def below(circuit: LiftedCircuit, number: int) -> frozenset[int]:
    """Return the definitions that a definition calls, directly or through others."""
    seen: set[int] = set()
    waiting = [number]
    while waiting:
        for call in calls_of(circuit.definitions[waiting.pop()].body):
            if call.definition not in seen:
                seen.add(call.definition)
                waiting.append(call.definition)
    return frozenset(seen)


def joined_when(circuit: LiftedCircuit, folded: frozenset[int], *, leaves: bool) -> dict[int, Joined]:
    """Join the definitions of each box: conjunctions in a row, unless folded or leaves are drawn."""
    bodies = {one.number: one.body for one in circuit.definitions}
    return joined_bodies(bodies, range(len(bodies)) if leaves else folded)


def drawn_depths(
    circuit: LiftedCircuit, folded: frozenset[int], joined: Mapping[int, Joined] | None = None
) -> dict[int, int]:
    """Return the depth of each box: below all its callers, except those that call back to a box above.

    Without ``joined``, every definition has a box of its own.
    """
    boxes = joined_when(circuit, folded, leaves=True) if joined is None else joined
    order: list[int] = []
    ended: set[int] = set()
    stack = [(_ROOT, False)]
    began: set[int] = set()
    backward: set[tuple[int, int]] = set()
    while stack:
        number, leaving = stack.pop()
        if leaving:
            ended.add(number)
            order.append(number)
            continue
        if number in began:
            continue
        began.add(number)
        stack.append((number, True))
        for target in _targets(boxes, number, folded):
            if target in began and target not in ended:
                backward.add((number, target))
            elif target not in began:
                stack.append((target, False))
    depth = {_ROOT: 0}
    for number in reversed(order):
        for target in _targets(boxes, number, folded):
            if (number, target) not in backward:
                depth[target] = max(depth.get(target, 0), depth[number] + 1)
    return depth


def _targets(joined: Mapping[int, Joined], number: int, folded: frozenset[int]) -> list[int]:
    body = joined[number].body
    if number in folded or body is None:
        return []
    return list(dict.fromkeys(call.definition for call in calls_of(body)))


def choose_folded_definitions(circuit: LiftedCircuit, most: int = FIRST_SHOWN) -> frozenset[int]:
    """Return the definitions folded at first, so that at most ``most`` are drawn."""
    seen, waiting, folded = {_ROOT}, [_ROOT], set()
    boxes = joined_when(circuit, frozenset(), leaves=True)
    for number in waiting:
        new = [t for t in _targets(boxes, number, frozenset()) if t not in seen]
        if len(seen) + len(new) > most:
            folded.add(number)
            continue
        seen.update(new)
        waiting += new
    return frozenset(folded)
