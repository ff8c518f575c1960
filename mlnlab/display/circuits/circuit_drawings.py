"""Draw an arithmetic circuit, or the part below a node: sums, products and leaves in layers, with numbers.

Numbers are the values, derivatives and flows of one evidence. A shared node is drawn once, with a dashed
frame; leaves stand below each of their parents, or once, as the papers draw them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import exp, inf, isnan
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from mlnlab.circuits.propositional.arithmetic_circuit import (
    INDICATOR,
    PARAMETER,
    PRODUCT,
    SUM,
    ArithmeticCircuit,
)
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.nodelink.node_links import (
    Layout,
    Link,
    Node,
    NodeLink,
    fold_handle,
    lay_out_rows,
)
from mlnlab.display.scene.building import Entry, numbered_id, swatch, tooltip
from mlnlab.display.scene.items import Item, Path, Rectangle, Scene
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.factors.trees.network_answers import VariableMarginals

MOST_DRAWN, FIRST_DRAWN = 150, 26  # nodes at once, and before anything is opened
MOST_CHILDREN = 6  # of one node, until more are asked for
LOOKS: Mapping[int, str] = {SUM: "orange", PRODUCT: "blue", INDICATOR: "green", PARAMETER: "grey"}
NAMES: Mapping[int, str] = {
    SUM: "sum", PRODUCT: "product", INDICATOR: "indicator", PARAMETER: "parameter",
}  # fmt: skip
SIGNS: Mapping[int, str] = {SUM: "+", PRODUCT: "×"}
Quantity: TypeAlias = Literal["values", "derivatives", "flows"]
QUANTITIES: tuple[Quantity, ...] = ("values", "derivatives", "flows")
_WIDEST, _TERMS = 130.0, 6
_LEAST_LOG = -690.0  # below, e^x is no number any more


@dataclass(frozen=True, slots=True, eq=False)
class NodeNumbers:
    """The numbers of all nodes given evidence, and perhaps which of them make the most probable state.

    Where the evidence has probability zero no flow and no best node exists.
    """

    values: NDArray[np.float64]  # logarithms, as the derivatives
    derivatives: NDArray[np.float64]
    flows: NDArray[np.float64]
    marginals: VariableMarginals | None
    log_total: float = 0.0  # the root without evidence
    best: frozenset[int] = frozenset()

    @property
    def log_root(self) -> float:
        """The logarithm of the root's value."""
        return float(self.values[-1])

    @property
    def log_probability(self) -> float:
        """The logarithm of the probability of the evidence."""
        return self.log_root - self.log_total


@dataclass(frozen=True)
class CircuitShape:
    """The layers of a circuit, and how many parents each node has."""

    circuit: ArithmeticCircuit

    def children(self, node: int) -> NDArray[np.uint32]:
        """Return the children of a node."""
        first = self.circuit.first_child
        return self.circuit.children[first[node] : first[node + 1]]

    @cached_property
    def layers(self) -> NDArray[np.uint32]:
        """The longest way from each node down to a leaf."""
        from mlnlab.kernels.circuits.upward_passes import find_levels

        return find_levels(self.circuit.first_child, self.circuit.children)

    @cached_property
    def uses(self) -> NDArray[np.int64]:
        """The number of parents of each node."""
        return np.bincount(self.circuit.children, minlength=len(self.circuit))

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The parent at the upper end of each edge."""
        return np.repeat(np.arange(len(self.circuit)), np.diff(self.circuit.first_child))


@dataclass(frozen=True, slots=True, eq=False)
class ShownCircuit:
    """The view of a circuit: its numbers, its top, the nodes opened below, and how far a pass is.

    ``widened`` says of how many children more than usual are drawn, ``passed`` how many layers have their
    numbers: first upward, then downward; ``None`` is all of them. One that is not ``live`` answers no clicks.
    """

    shape: CircuitShape
    numbers: NodeNumbers
    top: int
    opened: frozenset[int] = frozenset()
    widened: Mapping[int, int] = field(default_factory=dict)
    selected: int | None = None
    quantity: Quantity = "values"
    best: bool = False
    passed: int | None = None
    leaves: bool = False
    live: bool = True

    @property
    def circuit(self) -> ArithmeticCircuit:
        """The circuit that is shown."""
        return self.shape.circuit

    def is_leaf(self, node: int) -> bool:
        """Tell whether a node is an indicator or a parameter."""
        return int(self.circuit.kinds[node]) in {INDICATOR, PARAMETER}

    def list_children(self, node: int) -> list[int]:
        """Return the drawn children of a node: of many those with the largest flows."""
        found = self.shape.children(node)
        most = self.widened.get(node, MOST_CHILDREN)
        if len(found) > most:
            found = found[np.sort(np.argsort(-self.numbers.flows[found], kind="stable")[:most])]
        return [int(child) for child in found]


class DrawnNode(NamedTuple):
    """A box of the drawing: its id, the node of the circuit, and its row; a ``more`` box is its parent's."""

    id: str
    node: int
    kind: Literal["node", "leaf", "more"]
    row: int


class CircuitLayout(NamedTuple):
    """The boxes of a drawing with their places, and the lines between them, whatever the numbers are."""

    nodes: tuple[DrawnNode, ...]
    links: tuple[tuple[int, int], ...]
    layout: Layout


# --- which nodes are drawn ------------------------------------------------------------------------


def choose_open_nodes(shown: ShownCircuit, most: int = FIRST_DRAWN) -> frozenset[int]:
    """Return the nodes that are opened at first, from the top, so that at most ``most`` boxes are drawn."""
    opened: set[int] = set()
    seen, waiting, drawn = {shown.top}, [shown.top], 1
    for node in waiting:
        children = shown.list_children(node)
        new = [child for child in dict.fromkeys(children) if child not in seen or shown.is_leaf(child)]
        if not children or (opened and drawn + len(new) > most):
            continue
        opened.add(node)
        drawn += len(new)
        inner = [child for child in new if not shown.is_leaf(child)]
        seen.update(inner)
        waiting += inner
    return frozenset(opened)


def list_drawn_nodes(shown: ShownCircuit) -> tuple[list[DrawnNode], list[tuple[int, int]]]:
    """Return the boxes below the top, and the links between them by the boxes' places."""
    found: list[tuple[str, int, Literal["node", "leaf", "more"]]] = []
    links: list[tuple[int, int]] = []
    at: dict[int, int] = {}

    def add(name: str, node: int, kind: Literal["node", "leaf", "more"]) -> int:
        found.append((name, node, kind))
        return len(found) - 1

    at[shown.top] = add(numbered_id("node", shown.top), shown.top, "node")
    waiting = [shown.top]
    for node in waiting:
        if node not in shown.opened:
            continue
        children = shown.list_children(node)
        for child in dict.fromkeys(children):
            if shown.is_leaf(child) and not shown.leaves:
                links.append((at[node], add(numbered_id("leaf", node, child), child, "leaf")))
                continue
            if child not in at:
                at[child] = add(numbered_id("node", child), child, "node")
                waiting.append(child)
            links.append((at[node], at[child]))
        if len(children) < len(shown.shape.children(node)):
            links.append((at[node], add(numbered_id("more", node), node, "more")))
    rows = [0] * len(found)  # the longest way from the top; a parent has a higher number than its children
    for one, other in sorted(links, key=lambda link: -found[link[0]][1]):
        rows[other] = max(rows[other], rows[one] + 1)
    return [DrawnNode(*one, row) for one, row in zip(found, rows, strict=True)], links


def lay_out_circuit(shown: ShownCircuit) -> CircuitLayout:
    """Return the drawn boxes with their places."""
    nodes, links = list_drawn_nodes(shown)
    sizes = [_box_size(shown, one) for one in nodes]
    layout = lay_out_rows(sizes, [one.row for one in nodes], links, 38.0, straight=24.0, across=14.0)
    return CircuitLayout(tuple(nodes), tuple(links), layout)


def _box_size(shown: ShownCircuit, one: DrawnNode) -> tuple[float, float]:
    if one.kind == "more":
        return text_width(_more_words(shown, one.node), "small") + 18, 22.0
    return max(70.0, min(text_width(f"★ {name_node(shown, one.node)}", "small strong"), _WIDEST) + 16), 38.0


def _more_words(shown: ShownCircuit, node: int) -> str:
    return f"{len(shown.shape.children(node)) - len(shown.list_children(node)):,} more"


# --- what stands in them --------------------------------------------------------------------------


def name_node(shown: ShownCircuit, node: int) -> str:
    """Return the sign of a sum or product, or the meaning of a leaf."""
    circuit = shown.circuit
    kind, variable = int(circuit.kinds[node]), int(circuit.variable[node])
    if kind in SIGNS:
        return SIGNS[kind]
    if variable < 0:
        return "θ"
    one, value = circuit.variables[variable], int(circuit.value[node])
    name = shorten_text(one.name)
    named = f"{name} = {shorten_text(one.values[value])}" if value >= 0 else name
    return named if kind == INDICATOR else f"θ: {named}"


def number_words(log: float) -> str:
    """Return a number, known by its logarithm, in few letters."""
    if log == -inf or isnan(log):
        return "0" if log == -inf else ""
    return f"e^{log:.4g}".replace("-", "−") if log < _LEAST_LOG else f"{exp(log):.4g}"


def last_pass(shown: ShownCircuit) -> int:
    """Return the number of the last layer of both passes: up from the leaves, and down from the root."""
    return 2 * int(shown.shape.layers[-1]) + 1


def quantity_of(shown: ShownCircuit) -> Quantity:
    """Return the quantity that stands in the boxes: that of the pass, while one is watched."""
    if shown.passed is None:
        return shown.quantity
    return "values" if shown.passed <= int(shown.shape.layers[-1]) else "derivatives"


def is_reached(shown: ShownCircuit, node: int) -> bool:
    """Tell whether the pass has reached a node."""
    if shown.passed is None:
        return True
    layer, highest = int(shown.shape.layers[node]), int(shown.shape.layers[-1])
    return layer <= shown.passed if shown.passed <= highest else layer >= 2 * highest + 1 - shown.passed


def is_current(shown: ShownCircuit, node: int) -> bool:
    """Tell whether the pass is at the layer of a node."""
    if shown.passed is None:
        return False
    highest = int(shown.shape.layers[-1])
    return int(shown.shape.layers[node]) == min(shown.passed, 2 * highest + 1 - shown.passed)


def node_number(shown: ShownCircuit, node: int, quantity: Quantity | None = None) -> str:
    """Return a node's number as it stands in its box; a dot before the pass has reached it."""
    wanted = quantity or quantity_of(shown)
    if quantity is None and not is_reached(shown, node):
        return "·"
    if wanted == "flows":
        return f"{float(shown.numbers.flows[node]):.4g}"
    logs = shown.numbers.values if wanted == "values" else shown.numbers.derivatives
    return number_words(float(logs[node]))


def describe_node(shown: ShownCircuit, node: int) -> str:
    """Return the words about a node: its place, how its value comes about, its derivative and flow."""
    circuit, kind = shown.circuit, int(shown.circuit.kinds[node])
    name = f": {name_node(shown, node)}" if kind not in SIGNS else ""
    if not shown.live:
        return f"{NAMES[kind]}, node {node:,}{name}"
    layers, parents = shown.shape.layers, count_of(int(shown.shape.uses[node]), "parent")
    lines = [f"{NAMES[kind]}, node {node:,}{name}; layer {layers[node]} of {layers[-1]}, {parents}"]
    children = shown.shape.children(node)
    if kind in SIGNS:
        terms = [number_words(float(shown.numbers.values[child])) for child in children[:_TERMS]]
        more = [f"({len(children) - _TERMS:,} more)"] * (len(children) > _TERMS)
        terms_in_words = f" {SIGNS[kind]} ".join([*terms, *more])
        lines.append(f"value {node_number(shown, node, 'values')} = {terms_in_words}")
    elif kind == PARAMETER:
        lines.append(f"value {float(circuit.parameters[node]):.6g}")
    else:
        given = "agrees with the evidence" if shown.numbers.values[node] == 0 else "contradicts the evidence"
        lines.append(f"value {node_number(shown, node, 'values')}: it {given}")
    lines.append(
        f"derivative {node_number(shown, node, 'derivatives')}, flow {node_number(shown, node, 'flows')}: "
        "the share of the evidence's probability that passes here"
    )
    return "\n".join(lines)


# --- the drawing ----------------------------------------------------------------------------------


def circuit_scene(shown: ShownCircuit, found: CircuitLayout | None = None) -> Scene:
    """Return the drawing of a circuit; ``found`` is the layout of the same boxes."""
    laid = lay_out_circuit(shown) if found is None else found
    best = shown.numbers.best
    lit = [
        (one, other) for one, other in laid.links
        if shown.best and laid.nodes[other].kind != "more"
        and {laid.nodes[one].node, laid.nodes[other].node} <= best
    ]  # fmt: skip
    drawn = len({one.node for one in laid.nodes if one.kind != "more"})
    total, more = len(shown.circuit), "; + opens a node" * shown.live
    return NodeLink(
        title="Arithmetic circuit",
        layout=laid.layout,
        nodes=[_box(shown, one) for one in laid.nodes],
        links=(
            *((Link(ends=laid.links),) if laid.links else ()),
            *((Link(ends=lit, id="best-links", look="curve purple thick", over=True),) if lit else ()),
        ),
        legend=_entries(shown, laid),
        words=f"{count_of(len(shown.circuit), 'node')}, {count_of(shown.circuit.edges, 'edge')}.",
        left_out=f"{drawn:,} of {total:,} nodes are drawn{more}." * (drawn < total),
    ).scene()


def _box(shown: ShownCircuit, one: DrawnNode) -> Node:
    if one.kind == "more":
        words = _more_words(shown, one.node)
        return Node(
            id=one.id, lines=(words,), looks=("quiet small",), look="ring grey dotted", corner=11.0,
            press=shown.live, pick=False, tooltip=tooltip(words, f"children of node {one.node:,}"),
        )  # fmt: skip
    node, kind = one.node, int(shown.circuit.kinds[one.node])
    on_best = shown.best and node in shown.numbers.best
    shared = one.kind == "node" and int(shown.shape.uses[node]) > 1
    zero = is_reached(shown, node) and shown.numbers.values[node] == -inf
    thick = is_current(shown, node) or node == shown.selected or on_best
    look = f"wash {LOOKS[kind]}{' thick' * thick}{' dashed' * shared}{' faint' * bool(zero)}"
    flow = _flow_bar(shown, one) if quantity_of(shown) == "flows" else ()
    handle = _handle(shown, node) if kind in SIGNS and shown.live else ()
    hint = "click for its numbers" if kind != INDICATOR else "click to give or take back this evidence"
    name = fit_text(f"{'★ ' * on_best}{name_node(shown, node)}", _WIDEST, "small strong")
    return Node(
        id=one.id, lines=(name, node_number(shown, node)), looks=("words small strong", "number small"),
        look=look, corner=19.0 if kind == SUM else 3.0, parts=(*flow, *handle),
        press=kind == INDICATOR and shown.live, pick=shown.live,
        tooltip=tooltip(*describe_node(shown, node).splitlines(), hint * shown.live),
    )  # fmt: skip


def _flow_bar(shown: ShownCircuit, one: DrawnNode) -> tuple[Item, ...]:
    """Return a thin bar above the sign of a node, as long as its flow says."""
    room = _box_size(shown, one)[0] - 28
    width = room * float(shown.numbers.flows[one.node])
    track = Rectangle(x=-room / 2, y=-17, width=room, height=3.5, look="shaded")
    return track, Rectangle(x=-room / 2, y=-17, width=width, height=3.5, look="bar purple")


def _handle(shown: ShownCircuit, node: int) -> tuple[Item, ...]:
    folded = node not in shown.opened
    words = f"open {count_of(len(shown.shape.children(node)), 'child', 'children')}" if folded else "close"
    return (fold_handle(numbered_id("fold", node), 19.0, words, folded=folded),)


def _entries(shown: ShownCircuit, laid: CircuitLayout) -> list[Entry]:
    """Return the legend of the drawn kinds of nodes."""
    kinds = {int(shown.circuit.kinds[one.node]) for one in laid.nodes}
    found = [Entry(swatch(f"wash {LOOKS[kind]}"), NAMES[kind]) for kind in LOOKS if kind in kinds]
    if any(one.kind == "node" and shown.shape.uses[one.node] > 1 for one in laid.nodes):
        found.append(Entry(swatch("ring grey dashed"), "shared by several parents"))
    if shown.best:
        line = Path(path=segments([((-7, 0), (7, 0))]), look="curve purple thick")
        found.append(Entry(line, "★ in the most probable state"))
    return found
