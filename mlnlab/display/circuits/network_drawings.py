"""Draw a network of decision trees: its graph with distributions in the nodes, and one variable's tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card, scene_image, table_of
from mlnlab.display.card.markup import Element, count_of, shorten_text
from mlnlab.display.card.style import card, title
from mlnlab.display.circuits.tree_drawings import find_rows, tree_items
from mlnlab.display.circuits.value_cells import Beliefs, belief_rows, list_values, value_cell
from mlnlab.display.nodelink.node_links import (
    MOST_NODES,
    Layout,
    Link,
    Node,
    NodeLink,
    box_size,
    lay_out_rows,
    lay_out_springs,
    name_dots,
)
from mlnlab.display.scene.building import WIDTH, Entry, numbered_id, tooltip
from mlnlab.display.scene.chips import chip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Rectangle, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from mlnlab.factors.graphs.tree_network import TreeNetwork

MONITORED = 24  # up to so many variables have their distributions in the graph
_ENTRIES = (
    Entry(
        Path(path=segments([((-7, 0), (7, 0))]), look="curve blue thick"), "from a parent of the selected one"
    ),
    Entry(Path(path=segments([((-7, 0), (7, 0))]), look="curve purple thick dashed"), "to a child of it"),
)
_HEAD, _STRIDE, _DOWN = 22.0, 18.0, 34.0


@dataclass(frozen=True, slots=True, eq=False)
class ShownNetwork:
    """The view of a network: which variables are drawn, their distributions, and whose tree stands below.

    ``note`` says why there are no distributions, where there are none; ``bare`` nodes are names alone.
    """

    network: TreeNetwork
    beliefs: Beliefs
    drawn: tuple[int, ...]
    selected: int | None = None
    note: str = ""
    bare: bool = False

    @property
    def monitored(self) -> bool:
        """Whether the distributions stand in the graph."""
        return len(self.drawn) <= MONITORED and not self.bare


def choose_variables(network: TreeNetwork, around: int | None) -> tuple[int, ...]:
    """Return the drawn variables: all, or of very many those next to one."""
    number = len(network.variables)
    if number <= MOST_NODES:
        return tuple(range(number))
    parents = network.parents()
    if around is None:
        children = [sum(one in own for own in parents) for one in range(number)]
        around = max(range(number), key=children.__getitem__)
    below = [child for child, own in enumerate(parents) if around in own]
    near = dict.fromkeys((around, *parents[around], *below))
    return tuple(sorted(tuple(near)[:MONITORED]))


def list_edges(shown: ShownNetwork) -> list[tuple[int, int]]:
    """Return the drawn links from parents to children, by the places of the drawn variables."""
    at = {number: place for place, number in enumerate(shown.drawn)}
    parents = shown.network.parents()
    return [(at[one], at[child]) for child in shown.drawn for one in parents[child] if one in at]


def lay_out_network(shown: ShownNetwork) -> Layout:
    """Return the places of the drawn variables, which evidence does not change."""
    edges = list_edges(shown)
    if len(shown.drawn) > MONITORED:
        return lay_out_springs([shown.network.variables[number].name for number in shown.drawn], 0, edges)
    sizes = [_size(shown, number) for number in shown.drawn]
    return lay_out_rows(sizes, find_rows(len(sizes), edges), edges, _DOWN, across=22.0)


def _size(shown: ShownNetwork, number: int) -> tuple[float, float]:
    one = shown.network.variables[number]
    if not shown.monitored:
        return box_size([one.name])
    names = max(text_width(f"● ★ {value[:40]}", "small strong") for value in one.values)
    width = max(min(text_width(one.name[:200], "small strong"), 150.0) + 18, min(names, 110.0) + 66)
    return width, _HEAD + _STRIDE * min(one.size, len(list_values(shown.beliefs, number))) + 4


def graph_scene(shown: ShownNetwork, found: Layout | None = None) -> Scene:
    """Return the graph by itself, parents above their children."""
    layout = lay_out_network(shown) if found is None else found
    return NodeLink(
        title="Network of decision trees",
        layout=layout,
        nodes=[_node(shown, number, layout, place) for place, number in enumerate(shown.drawn)],
        links=_links(shown, list_edges(shown)),
        names=_names(shown, layout),
        legend=() if len(shown.drawn) <= MONITORED or shown.selected is None else _ENTRIES,
        words=network_words(shown.network),
        left_out=_left_out(shown),
    ).scene()


def _links(shown: ShownNetwork, edges: Sequence[tuple[int, int]]) -> list[Link]:
    """Return arrows from parents to children; of many, lines, the selected variable's told apart."""
    if len(shown.drawn) <= MONITORED:
        return [
            Link(ends=(pair,), id=numbered_id("edge", n), head="bar grey") for n, pair in enumerate(edges)
        ]
    own = shown.drawn.index(shown.selected) if shown.selected in shown.drawn else -1
    above, below = ([pair for pair in edges if pair[end] == own] for end in (1, 0))
    lines = Link(ends=edges, id="edges", look="link faint")
    found = ((above, "above", "curve blue thick"), (below, "below", "curve purple thick dashed"))
    return [lines, *(Link(ends=ends, id=name, look=look, over=True) for ends, name, look in found if ends)]


def _names(shown: ShownNetwork, layout: Layout) -> list[Text]:
    """Return the names of the best connected variables, where all are dots."""
    names = [shown.network.variables[number].name for number in shown.drawn]
    degrees = np.bincount(np.array(list_edges(shown), np.int64).ravel(), minlength=len(names))
    return name_dots(layout, names, degrees, 110.0)


def network_scene(shown: ShownNetwork, found: Layout | None = None) -> Scene:
    """Return the graph with distributions, and below it the tree of the selected variable."""
    graph = graph_scene(shown, found)
    items, top = _panel(shown)
    layers = [_lower(layer, top) for layer in graph.layers]
    width, height = max(WIDTH, graph.width), top + graph.height
    if shown.selected is not None:
        tree, tree_width, height = _tree_layer(shown, height + 8)
        layers.append(tree)
        width = max(width, tree_width)
    plate = Rectangle(x=0, y=0, width=width, height=max(top - 2, 0), look="plate")
    return Scene(
        width, height, (*layers, Layer("panel", (plate, *items), zooms=False)), graph.title, graph.description
    )


def _panel(shown: ShownNetwork) -> tuple[list[Item], float]:
    """Return the evidence in words, and the distributions that have no room in the graph."""
    given = shown.beliefs.evidence_words()
    words = shown.note or (f"Given {given}" if given else "Click a value to give it as evidence.")
    room = WIDTH - 150 if given else WIDTH - 16
    items: list[Item] = [Text(id="given", x=8, y=15, text=fit_text(words, room), look="quiet")]
    if given:
        made, _ = chip("forget", WIDTH - 132, 2, "forget the evidence", "take all of it back")
        items.append(made)
    if shown.monitored:
        return items, 28.0
    near = _near(shown)
    rows, top = belief_rows(shown.beliefs, near, 28.0)
    return [*items, *rows], top + 6


def _near(shown: ShownNetwork) -> list[int]:
    """Return the variables whose distributions stand above a large graph."""
    if shown.selected is None:
        return list(shown.drawn[:8])
    parents = shown.network.parents()
    children = [child for child in shown.drawn if shown.selected in parents[child]]
    return list(dict.fromkeys((shown.selected, *parents[shown.selected], *children)))[:10]


def _node(shown: ShownNetwork, number: int, layout: Layout, place: int) -> Node:
    one, tree = shown.network.variables[number], shown.network.trees[number]
    selected, given = number == shown.selected, number in shown.beliefs.evidence
    leaves = count_of(len(tree.leaves()), "leaf", "leaves")
    tip = tooltip(one.name, f"{count_of(len(tree.parents()), 'parent')}, {leaves}", "click for its tree")
    look = f"ring {'orange' if given else 'blue'}{' thick' * selected}{' dashed' * given}"
    name = numbered_id("variable", number)
    if not shown.monitored:
        return Node(id=name, lines=(one.name,), look=look, dot=look, tooltip=tip)
    width, height = layout.sizes[place]
    cells = tuple(
        value_cell(
            shown.beliefs, number, value, 5 - width / 2, _HEAD - height / 2 + row * _STRIDE, width - 10
        )
        for row, value in enumerate(list_values(shown.beliefs, number))
    )
    return Node(
        id=name, lines=(one.name,), looks=("words small strong",), look=look, corner=5.0, parts=cells,
        tooltip=tip,
    )  # fmt: skip


def _tree_layer(shown: ShownNetwork, top: float) -> tuple[Layer, float, float]:
    """Return the tree of the selected variable below the graph, its width, and where it ends."""
    assert shown.selected is not None  # noqa: S101 - whoever calls has looked
    one, tree = shown.network.variables[shown.selected], shown.network.trees[shown.selected]
    parents = ", ".join(shown.network.variables[number].name for number in tree.parents())
    drawn = tree_items(shown.network.variables, shown.selected, tree, given=shown.beliefs.evidence)
    words = f"P({one.name} | {parents}): a tree of" if parents else f"P({one.name}): a tree of"
    head = fit_text(f"{words} {count_of(len(tree.leaves()), 'leaf', 'leaves')}", WIDTH - 16, "words strong")
    label = Text(id="tree-name", x=8, y=top + 12, text=head, look="words strong")
    below = Group(id="tree", y=top + 20, children=drawn.items)
    return Layer("tree-layer", (label, below)), drawn.width, top + 20 + drawn.height


def _lower(layer: Layer, by: float) -> Layer:
    return Layer(layer.id, (Group(y=by, children=layer.children),), layer.zooms)


def network_words(network: TreeNetwork) -> str:
    """Return the sizes of a network in words."""
    edges = sum(map(len, network.parents()))
    leaves = sum(len(tree.leaves()) for tree in network.trees)
    sizes = (count_of(len(network.variables), "variable"), count_of(edges, "edge"))
    return f"{', '.join(sizes)}, {count_of(leaves, 'leaf', 'leaves')}."


def _left_out(shown: ShownNetwork) -> str:
    left = len(shown.network.variables) - len(shown.drawn)
    return f"{left:,} variables are not drawn: those next to the selected one are." * (left > 0)


def network_markup(drawn: Scene) -> Element:
    """Return the view for a saved notebook."""
    words = "A graph of variables with their distributions, and the decision tree of one of them."
    return card(title("Network", drawn.description), scene_image(drawn, words))


def graph_of(network: TreeNetwork) -> Scene | None:
    """Return the graph of a network, of names alone; none where there is nothing."""
    shown = ShownNetwork(network, Beliefs(network.variables), choose_variables(network, None), bare=True)
    return graph_scene(shown) if network.variables else None


def tree_network_card(network: TreeNetwork) -> Card:
    """Return the card of a network: its graph, and parents and leaves of each variable."""
    rows = (
        (
            shorten_text(one.name), f"{one.size:,}", f"{len(tree.leaves()):,}",
            shorten_text(", ".join(network.variables[number].name for number in own), 200),
        )
        for one, tree, own in zip(network.variables, network.trees, network.parents(), strict=True)
    )  # fmt: skip
    return Card(
        "Network of decision trees",
        network_words(network).removesuffix("."),
        picture=graph_of(network),
        undrawn="There are no variables.",
        table=table_of(
            ("variable", "values", "leaves", "parents"), rows, len(network.variables), "variables",
            numbers=(1, 2),
        ),
        remarks=("ml.network_view(...) shows the trees, and distributions given evidence.",),
    )  # fmt: skip
