"""A compiled model as a drawing to explore: definitions in layers with their values, folded where asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.circuits.first_order.first_order_circuit import calls_of
from mlnlab.display.card.markup import count_of
from mlnlab.display.lifted.circuits.circuit_boxes import (
    CHART,
    callers,
    chart_path,
    definition_box,
    leaf_texts,
    missing_value,
    value_line,
)
from mlnlab.display.lifted.circuits.circuit_nodes import (
    PRIMES,
    ROOT,
    box_depths,
    called_from,
    joined_bodies,
    legend_lines,
    node_words,
    sign_lines,
    value_lines,
)
from mlnlab.display.lifted.circuits.circuit_scenes import (
    HUES,
    LEGEND_WIDTH,
    CircuitNode,
    Drawn,
    box_node,
    draw_calls,
    legend_items,
)
from mlnlab.display.nodelink.node_links import SMALL_LINE, Node, fold_handle
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Item, Layer, Path, Scene, Text
from mlnlab.display.scene.paths import polyline

if TYPE_CHECKING:
    from mlnlab.display.lifted.circuits.circuit_nodes import Joined
    from mlnlab.lifted.ask.circuit_numbers import CircuitNumbers
    from mlnlab.lifted.ask.lift import LiftedCircuit

MOST_SHOWN = 150  # definitions and leaves that are drawn at once
FIRST_SHOWN = 30  # drawn before anything is unfolded


@dataclass(frozen=True, slots=True, eq=False)
class ExploredCircuit:
    """The view of a circuit: its numbers, its folded definitions, and whether leaves are separate nodes."""

    circuit: LiftedCircuit
    numbers: CircuitNumbers | None = None
    folded: frozenset[int] = frozenset()
    selected: int | None = None
    leaves: bool = False


class Layout(NamedTuple):
    """The parts of a drawing that do not depend on numbers: they stay while a slider moves."""

    drawn: Drawn
    legend: tuple[Item, ...]
    joined: Mapping[int, Joined]
    size: tuple[float, float]
    words: str


def explorer_scene(shown: ExploredCircuit, layout: Layout | None = None) -> Scene:
    """Return a circuit as explored as a drawing; ``layout`` is that of the same folds."""
    found = laid_out(shown) if layout is None else layout
    boxes = found.drawn.box_items([_describe_node(node, shown, found) for node in found.drawn.nodes])
    layers = Layer("circuit", (*found.drawn.lines, *boxes)), Layer("legend", found.legend)
    return Scene(*found.size, layers, "First-order circuit", found.words)


def laid_out(shown: ExploredCircuit) -> Layout:
    """Return the nodes, lines and legend of an explored circuit, with their places."""
    circuit, symbols = shown.circuit, shown.circuit.weighted.shattered.symbols
    joined = joined_when(circuit, shown.folded, leaves=shown.leaves)
    depth = box_depths(joined, shown.folded)
    shared = {number: len(sources) for number, sources in callers(circuit).items()}
    texts = {n: leaf_texts(circuit.definitions[n], symbols) if shown.leaves else () for n in depth}
    boxes = {
        number: definition_box(
            circuit.definitions[number], symbols, shared[number], joined[number],
            valued=shown.numbers is not None, leaves=not texts[number],
        )
        for number in depth
    }  # fmt: skip
    leaves = {number: own for number, own in texts.items() if number not in shown.folded}
    drawn = draw_calls(joined, depth, boxes, symbols, leaves, shown.folded)
    width = max(drawn.layout.size[0], LEGEND_WIDTH)
    legend, end = legend_items(_legend(shown, drawn.nodes, joined), drawn.layout.size[1] + 24, width)
    hidden = len(circuit.definitions) - sum(len(joined[number].numbers) for number in depth)
    told = f"{count_of(len(circuit.definitions), 'definition')}{f', {hidden} of them folded' * (hidden > 0)}."
    return Layout(drawn, tuple(legend), joined, (width, end), told)


def _legend(
    shown: ExploredCircuit, nodes: Sequence[CircuitNode], joined: Mapping[int, Joined]
) -> tuple[str, ...]:
    """Return the meanings of all signs in the drawing."""
    bodies = [joined[node.number].body for node in nodes if node.kind == "definition"]
    again = any(node.kind == "again" for node in nodes)
    values = value_lines(shown.circuit) if shown.numbers is not None else ()
    primes = (PRIMES,) if any("′" in line for node in nodes for line in node.box.lines) else ()
    return (*sign_lines(bodies, recursive=again), *primes, *values, *legend_lines(shown.circuit.weighted))


def _describe_node(node: CircuitNode, shown: ExploredCircuit, layout: Layout) -> Node:
    """Return a box: of a definition with its value, and with the button that folds the boxes below."""
    box = node.box
    if node.kind == "leaf":
        return box_node(node, "wash grey dashed" if box.lines[0].startswith("free") else "wash grey", "")
    if node.kind == "again":
        name = f"definition {node.number} again"
        return box_node(node, "", tooltip(name, "it is drawn above; click to look at it"))
    one, joined = shown.circuit.definitions[node.number], layout.joined[node.number]
    shared = " dashed" * ("shared by" in box.lines[0])
    look = f"wash {HUES.get(type(one.body), 'grey')}{shared}{' thick' * (shown.selected in joined.numbers)}"
    under = len(below(shown.circuit, node.number))
    handle = (_handle(node, shown, under),) if under else ()
    words = node_words(one.body, shown.circuit.weighted.shattered.symbols)
    inside = ", ".join(map(str, joined.numbers[1:]))
    tip = tooltip(
        f"definition {one.number}: {words.name}", f"by {one.rule}",
        f"together with {inside}, which it calls" if inside else "", "click for its theory and value",
    )  # fmt: skip
    return box_node(node, look, tip, (*_value_items(node, shown), *handle))


def _value_items(node: CircuitNode, shown: ExploredCircuit) -> Iterator[Item]:
    """Yield the sizes of a subset as a chart, and the value of a definition, below its lines."""
    box = node.box
    value = None if shown.numbers is None else shown.numbers.nodes.get(node.number)
    end = -box.height / 2 + 14 + SMALL_LINE * len(box.lines)
    if box.has_chart:
        left, width = -box.width / 2 + 12, box.width - 24
        chart = chart_path(None if value is None else value.chosen, left, end - 11, width)
        yield Path(id=numbered_id("chart", node.number), path=chart, look="curve purple")
        base = end - 11 + CHART - 8
        line = polyline([(left, base), (left + width, base)])
        yield Path(id=numbered_id("base", node.number), path=line, look="frame")
        end += CHART
    if box.has_value:
        name, text = numbered_id("value", node.number), value_line(value, missing_value(shown.circuit))
        yield Text(id=name, x=0, y=end, text=text, anchor="middle", look="number small")


def _handle(node: CircuitNode, shown: ExploredCircuit, under: int) -> Item:
    """Return the button that folds and unfolds a box."""
    is_folded = node.number in shown.folded
    words = f"unfold {count_of(under, 'definition')}" if is_folded else "fold what is below"
    return fold_handle(numbered_id("fold", node.number), node.box.height / 2, words, folded=is_folded)


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


def drawn_depths(circuit: LiftedCircuit, folded: frozenset[int]) -> dict[int, int]:
    """Return the depth of each definition that is drawn, where every one has a box of its own."""
    return box_depths(joined_when(circuit, folded, leaves=True), folded)


def choose_folded_definitions(circuit: LiftedCircuit, most: int = FIRST_SHOWN) -> frozenset[int]:
    """Return the definitions folded at first, so that at most ``most`` are drawn."""
    seen, waiting, folded = {ROOT}, [ROOT], set()
    boxes = joined_when(circuit, frozenset(), leaves=True)
    for number in waiting:
        new = [t for t in called_from(boxes, number) if t not in seen]
        if len(seen) + len(new) > most:
            folded.add(number)
            continue
        seen.update(new)
        waiting += new
    return frozenset(folded)
