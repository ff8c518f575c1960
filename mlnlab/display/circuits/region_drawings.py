"""Draw the part of a circuit that a split copies, before and after, as in Figure 5.2 of Lowd's thesis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mlnlab.circuits.propositional.arithmetic_circuit import INDICATOR, PARAMETER, SUM, ArithmeticCircuit
from mlnlab.display.card.markup import count_of
from mlnlab.display.circuits.tree_drawings import TreeItems, find_rows
from mlnlab.display.nodelink.node_links import Link, Node, NodeLink, lay_out_rows
from mlnlab.display.scene.building import Entry, numbered_id, swatch, tooltip
from mlnlab.display.scene.look import DASHES
from mlnlab.display.scene.text_fitting import text_width
from mlnlab.learning.circuits.copied_region import CopiedRegion, Part, Role

if TYPE_CHECKING:
    from mlnlab.factors.graphs.random_variables import RandomVariable

MOST_BOXES = 60  # of one of the two pictures
HUES: Mapping[Role, str] = {
    "mutual": "purple", "toward D": "blue", "toward V": "green", "sum": "orange", "product": "orange",
}  # fmt: skip
WORDS: Mapping[Role, str] = {
    "mutual": "mutual ancestor", "toward D": "between it and D", "toward V": "between it and V",
    "sum": "new sum over V", "product": "new product",
}  # fmt: skip
_HEIGHT, _LEAST = 24.0, 30.0


def region_entries(asked: RandomVariable) -> list[Entry]:
    """Return the legend of both pictures."""
    found = [
        Entry(swatch("wash purple"), "mutual ancestor of D and V"),
        Entry(swatch("wash blue"), "between it and D: copied"),
        Entry(swatch("wash green"), "between it and V: copied"),
        Entry(swatch("wash orange"), "new: a sum over V, its products"),
        Entry(swatch("ring grey"), "not copied"),
    ]
    for place, value in enumerate(asked.values[: len(DASHES)]):
        words = f"copy for {asked.name} = {value}"
        found.append(Entry(swatch(f"wash blue {DASHES[place]}".strip()), words))
    return found


def region_words(region: CopiedRegion) -> str:
    """Say how much a split copied."""
    copied = sum(part.role in {"toward D", "toward V"} for part in region.parts_before.values())
    added = region.after.edges - region.before.edges
    mutual = count_of(region.mutual, "mutual ancestor")
    return f"{mutual}, {count_of(copied, 'node')} between: {added:+,} edges, counted as in Table 5.2"


def region_items(circuit: ArithmeticCircuit, parts: Mapping[int, Part], word: str) -> TreeItems:
    """Draw the nodes that a split is about, and their other children in grey; ``word`` begins the ids."""
    order = sorted(parts, reverse=True)  # parents have higher numbers
    nodes = order[:MOST_BOXES]
    for node in list(nodes):
        if len(nodes) < MOST_BOXES:
            others = (
                child for child in _children(circuit, node) if child not in nodes and child not in parts
            )
            nodes += list(dict.fromkeys(others))[: MOST_BOXES - len(nodes)]
    at = {node: place for place, node in enumerate(nodes)}
    links = [
        (at[node], at[child])
        for node in nodes if node in parts
        for child in dict.fromkeys(_children(circuit, node)) if child in at
    ]  # fmt: skip
    names = [_name(circuit, node) for node in nodes]
    sizes = [(max(_LEAST, text_width(name, "small") + 14), _HEIGHT) for name in names]
    layout = lay_out_rows(sizes, find_rows(len(nodes), links), links, 26.0, across=10.0, least=0.0)
    drawing = NodeLink(
        title="",
        layout=layout,
        nodes=[
            _node(circuit, node, parts.get(node), name, numbered_id(word, node))
            for node, name in zip(nodes, names, strict=True)
        ],
        links=[Link(ends=links, id=f"{word}-links")] if links else [],
    )
    return TreeItems((*drawing.link_items(), *drawing.node_items()), layout.size[0], layout.size[1])


def _children(circuit: ArithmeticCircuit, node: int) -> list[int]:
    first = circuit.first_child
    return [int(child) for child in circuit.children[first[node] : first[node + 1]]]


def _name(circuit: ArithmeticCircuit, node: int) -> str:
    """Return the line in a box: a sign, an indicator's value, a parameter's number."""
    kind = int(circuit.kinds[node])
    if kind == INDICATOR:
        variable = circuit.variables[circuit.variable[node]]
        return f"{variable.name[:20]} = {variable.values[circuit.value[node]][:12]}"
    if kind == PARAMETER:
        return f"{circuit.parameters[node]:.2g}"
    return "+" if kind == SUM else "×"


def _node(circuit: ArithmeticCircuit, node: int, part: Part | None, name: str, id_: str) -> Node:
    kind = int(circuit.kinds[node])
    corner = _HEIGHT / 2 if kind == SUM else 3.0
    if part is None:
        more = ", shown without what is below it" if kind >= SUM else ""
        tip = tooltip(name, f"not copied{more}")
        return Node(id=id_, lines=(name,), corner=corner, look="ring grey faint", tooltip=tip)
    dash = DASHES[part.value % len(DASHES)] if part.value >= 0 else ""
    look = f"wash {HUES[part.role]} {dash}".strip()
    copy = f"for value {part.value}" if part.value >= 0 else ""
    tip = tooltip(f"{name}: {WORDS[part.role]}", copy)
    return Node(id=id_, lines=(name,), corner=corner, look=look, tooltip=tip)


def left_out(parts: Sequence[Mapping[int, Part]]) -> str:
    """Say how many nodes of the copied region are not drawn."""
    hidden = max(len(own) - MOST_BOXES for own in parts)
    return f"{count_of(hidden, 'more node')} of the region are not drawn." * (hidden > 0)
