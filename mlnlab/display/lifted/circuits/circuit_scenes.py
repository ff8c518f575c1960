"""A first-order circuit as a drawing: definitions in layers, shared ones dashed, unfinished ones faint.

A call of what is drawn above already, as domain recursion makes it, ends at a box that names the definition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from mlnlab.circuits.first_order.first_order_circuit import (
    Counting,
    InclusionExclusion,
    Power,
    Product,
    SizeCase,
    Sum,
    calls_of,
)
from mlnlab.display.card.cards import Card, Part, table_of
from mlnlab.display.card.markup import count_of, element, shorten_text
from mlnlab.display.lifted.circuits.circuit_boxes import Box, body_box, leaf_box
from mlnlab.display.lifted.circuits.circuit_nodes import (
    Joined,
    again_words,
    box_depths,
    joined_bodies,
    legend_lines,
    node_words,
    sign_lines,
)
from mlnlab.display.nodelink.node_links import SMALL_LINE, Layout, Link, Node, NodeLink, lay_out_rows
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Item, Layer, Scene, Text
from mlnlab.display.scene.text_fitting import fitted_lines
from mlnlab.lifted.theory.theory_text import clause_text

if TYPE_CHECKING:
    from mlnlab.circuits.first_order.first_order_circuit import Body
    from mlnlab.lifted.ask.lift import Lift, LiftedCircuit
    from mlnlab.lifted.circuit.arithmetic import LiftedValue
    from mlnlab.lifted.theory.shattering import Symbol

MOST_NODES = 120
LEGEND_WIDTH, _MOST_LEGEND = 420.0, 24
HUES: Mapping[type, str] = {
    Product: "blue", Sum: "orange", InclusionExclusion: "yellow", Power: "green", Counting: "purple",
    SizeCase: "grey",
}  # fmt: skip
_ACROSS, _LEANING, _NEAR = 30.0, 46.0, 30.0  # between boxes, and between rows
_LONGEST_THEORY = 600


class CircuitNode(NamedTuple):
    """A drawn box: of a definition, of a leaf, or of a call of a definition that is drawn above."""

    name: str  # its id
    number: int  # of its definition
    kind: Literal["definition", "leaf", "again"]
    depth: int
    box: Box


class Drawn(NamedTuple):
    """Boxes with their places, the lines between them as items, and the width and height of it all."""

    nodes: tuple[CircuitNode, ...]
    layout: Layout
    lines: tuple[Item, ...]

    def box_items(self, nodes: Sequence[Node]) -> tuple[Item, ...]:
        """Return the boxes at their places."""
        return NodeLink(title="", layout=self.layout, nodes=nodes).node_items()


def draw_calls(
    joined: Mapping[int, Joined], depth: Mapping[int, int], boxes: Mapping[int, Box],
    symbols: Sequence[Symbol], leaves: Mapping[int, Sequence[str]], folded: Collection[int] = (),
) -> Drawn:  # fmt: skip
    """Place definitions at their depths, their leaves below them, and draw a line for each call."""
    nodes: list[CircuitNode] = []
    lines: list[tuple[int, int, str]] = []
    at: dict[int, int] = {}
    for number in sorted(boxes, key=lambda n: (depth[n], n)):
        at[number] = len(nodes)
        name = numbered_id("definition", number)
        nodes.append(CircuitNode(name, number, "definition", depth[number], boxes[number]))
        for leaf, text in enumerate(leaves.get(number, ())):
            lines.append((at[number], len(nodes), ""))
            name = numbered_id("leaf", number, leaf)
            nodes.append(CircuitNode(name, number, "leaf", depth[number] + 1, leaf_box(text)))
    for number, place in at.items():
        body = joined[number].body
        if number in folded or body is None:
            continue
        for n, (call, words) in enumerate(zip(calls_of(body), node_words(body, symbols).edges, strict=True)):
            target = call.definition
            if depth[target] <= depth[number]:
                lines.append((place, len(nodes), words.strip()))
                name, box = numbered_id("again", number, n, target), leaf_box(again_words(target))
                nodes.append(CircuitNode(name, target, "again", depth[number] + 1, box))
            elif target in at:
                lines.append((place, at[target], words.strip()))
    layout = lay_out_rows(
        [(node.box.width, node.box.height) for node in nodes], [node.depth for node in nodes],
        [line[:2] for line in lines], _LEANING, straight=_NEAR, across=_ACROSS, least=0.0,
        words=[words for *_, words in lines],
    )  # fmt: skip
    links = [
        Link(
            ends=((one, other),), id=numbered_id("call", n), words=words,
            head=None if nodes[other].kind == "leaf" else "bar grey",
        )
        for n, (one, other, words) in enumerate(lines)
    ]  # fmt: skip
    drawn = NodeLink(title="", layout=layout, nodes=(), links=links).link_items()
    return Drawn(tuple(nodes), layout, drawn)


def box_node(node: CircuitNode, look: str, tip: str, parts: tuple[Item, ...] = ()) -> Node:
    """Return the box of a definition or a leaf; that of a call of a definition above is round and dashed."""
    first = "words small" if node.kind == "leaf" else "words small strong"
    again = node.kind == "again"
    return Node(
        id=node.name, lines=node.box.lines, looks=(first, *("words small",) * (len(node.box.lines) - 1)),
        look="wash grey dashed" if again else look, corner=node.box.height / 2 if again else 5.0,
        parts=parts, tooltip=tip, pick=node.kind != "leaf",
    )  # fmt: skip


def draw_bodies(joined: Mapping[int, Joined], symbols: Sequence[Symbol]) -> Drawn:
    """Place the first definitions, of which a body of ``None`` is not compiled yet."""
    depth = box_depths(joined)
    shown = sorted(depth, key=lambda n: (depth[n], n))[:MOST_NODES]
    return draw_calls(joined, depth, {n: body_box(joined[n], symbols) for n in shown}, symbols, {})


def circuit_items(
    drawn: Drawn, joined: Mapping[int, Joined], symbols: Sequence[Symbol], newest: int = -1
) -> tuple[Item, ...]:
    """Return the drawing's parts; the newest definition is lit."""
    called = Counter(
        call.definition for one in joined.values() if one.body is not None for call in calls_of(one.body)
    )
    nodes = [
        _describe_box(node, joined[node.number], symbols, called[node.number], newest) for node in drawn.nodes
    ]
    return *drawn.lines, *drawn.box_items(nodes)


def _describe_box(
    node: CircuitNode, one: Joined, symbols: Sequence[Symbol], called: int, newest: int
) -> Node:
    if node.kind == "again":
        name = f"definition {node.number} again"
        return box_node(node, "", tooltip(name, "it is drawn above, called here with other sizes"))
    body = one.body
    hue = "grey" if body is None else HUES.get(type(body), "grey")
    lit = " thick" * (newest in one.numbers)
    look = f"wash {hue}{lit}{' dashed' * (called > 1)}{' faint' * (body is None)}"
    words = None if body is None else node_words(body, symbols)
    shared = f"called {called} times" if called > 1 else ""
    name = f"definition{'s' * (len(one.numbers) > 1)} {', '.join(map(str, one.numbers[:12]))}"
    if words is None:
        return box_node(node, look, tooltip(f"{name}: not compiled yet", shared))
    return box_node(node, look, tooltip(f"{name}: {words.name}", *words.atoms[:8], shared))


def legend_items(lines: Sequence[str], y: float, width: float) -> tuple[list[Item], float]:
    """Return a legend as small lines below a drawing, and where it ends."""
    items: list[Item] = []
    for line in lines[:_MOST_LEGEND]:
        for row in fitted_lines(line, width - 16, 2, "small"):
            items.append(Text(x=8, y=y, text=row, look="quiet small", tooltip=tooltip(line)))
            y += SMALL_LINE
    return items, y


def circuit_scene(
    bodies: Mapping[int, Body | None], symbols: Sequence[Symbol], legend: Sequence[str] = ()
) -> Scene:
    """Draw a circuit by itself, with the meanings of its signs, and its predicates (``legend``)."""
    joined = joined_bodies(bodies)
    drawn = draw_bodies(joined, symbols)
    left = len(joined) - sum(node.kind == "definition" for node in drawn.nodes)
    words = f"{len(bodies)} definitions" + (f", {left} of them not drawn" if left else "")
    width = max(drawn.layout.size[0], LEGEND_WIDTH)
    again = any(node.kind == "again" for node in drawn.nodes)
    said = (*sign_lines([one.body for one in joined.values()], recursive=again), *legend)
    explained, end = legend_items(said, drawn.layout.size[1] + 24, width)
    circuit = Layer("circuit", circuit_items(drawn, joined, symbols))
    layers = (circuit, Layer("legend", tuple(explained)))
    return Scene(width, max(end, 80.0), layers, "First-order circuit", f"{words}.")


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
