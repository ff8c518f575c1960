"""Draw decision trees: questions about parents, and a distribution in each leaf."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.display.inference.probabilities import probability_in_words
from mlnlab.display.nodelink.node_links import Link, Node, NodeLink, lay_out_rows
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Item, Rectangle, Text
from mlnlab.display.scene.look import HUES
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.factors.graphs.tree_network import DecisionTree, TreeLeaf, TreeSplit

if TYPE_CHECKING:
    from mlnlab.factors.graphs.random_variables import RandomVariable

MOST_TREE_NODES = 120
_WIDEST, _LEAST, _BAR, _MOST_VALUES = 120.0, 46.0, 7.0, 8


class TreeItems(NamedTuple):
    """A tree as items around its upper left corner, and its size."""

    items: tuple[Item, ...]
    width: float
    height: float


def tree_items(
    variables: Sequence[RandomVariable], variable: int, tree: DecisionTree, *, word: str = "branch",
    given: Mapping[int, int] | None = None, lit: Collection[int] = (),
) -> TreeItems:  # fmt: skip
    """Draw the tree of a variable; ``lit`` nodes are marked, and the way that ``given`` values take.

    ``word`` begins the ids, so that two trees can stand in one scene.
    """
    order = list_breadth_first(tree)
    numbers = order[:MOST_TREE_NODES]
    at = {number: place for place, number in enumerate(numbers)}
    links = [
        (at[number], at[child], value_words(variables[split.variable], split, child))
        for number in numbers
        if isinstance(split := tree.nodes[number], TreeSplit)
        for child in dict.fromkeys(split.children)
        if child in at
    ]
    names = [_line(variables, variable, tree.nodes[number]) for number in numbers]
    sizes = [(max(_LEAST, min(text_width(name[:200]), _WIDEST) + 16), 32.0) for name in names]
    pairs = [link[:2] for link in links]
    layout = lay_out_rows(
        sizes, find_rows(len(numbers), pairs), pairs, 34.0, across=26.0, least=0.0,
        words=[words for *_, words in links],
    )  # fmt: skip
    way = find_way(tree, given or {})
    drawing = NodeLink(
        title="",
        layout=layout,
        nodes=[
            _node(variables, variable, tree, number, name, size[0], word, lit=number in lit, on=number in way)
            for number, name, size in zip(numbers, names, sizes, strict=True)
        ],
        links=[
            _link(one, other, words, f"{word}-link-{place}", on={numbers[one], numbers[other]} <= way)
            for place, (one, other, words) in enumerate(links)
        ],
    )
    width, height = layout.size
    below = [*_value_legend(variables[variable], height + 12)]
    if left := len(order) - len(numbers):
        words = f"{left:,} nodes of the tree are not drawn."
        below.append(Text(x=8, y=height + 34, text=words, look="quiet small"))
    items = (*drawing.link_items(), *drawing.node_items(), *below)
    return TreeItems(items, max(width, 160.0), height + 24 + 20 * (left > 0))


def _link(one: int, other: int, words: str, name: str, *, on: bool) -> Link:
    look, head = ("curve orange thick", "bar orange") if on else ("link", "bar grey")
    return Link(ends=((one, other),), id=name, words=words, look=look, head=head)


def _value_legend(variable: RandomVariable, y: float) -> Iterator[Item]:
    """Yield the hue of each value."""
    x = 14.0
    for place, value in enumerate(variable.values[:_MOST_VALUES]):
        words = fit_text(value, 80, "small")
        sample = Rectangle(x=x - 6, y=y - 5, width=12, height=10, look=f"bar {HUES[place % len(HUES)]}")
        yield sample
        yield Text(x=x + 10, y=y + 4, text=words, look="words small")
        x += text_width(words, "small") + 34


def find_rows(number: int, links: Sequence[tuple[int, int]]) -> list[int]:
    """Return for each node the length of the longest way down to it."""
    rows, above = [0] * number, [0] * number
    below: list[list[int]] = [[] for _ in range(number)]
    for one, other in links:
        above[other] += 1
        below[one].append(other)
    waiting = [node for node in range(number) if not above[node]]
    for node in waiting:
        for child in below[node]:
            rows[child] = max(rows[child], rows[node] + 1)
            above[child] -= 1
            if not above[child]:
                waiting.append(child)
    return rows


def list_breadth_first(tree: DecisionTree) -> list[int]:
    """Return the numbers of the nodes, level by level, each once."""
    found = [0]
    for number in found:
        node = tree.nodes[number]
        if isinstance(node, TreeSplit):
            found += [child for child in dict.fromkeys(node.children) if child not in found]
    return found


def find_changed_nodes(before: DecisionTree, after: DecisionTree) -> tuple[set[int], set[int]]:
    """Return the leaves that a step has split or merged, and the nodes that stand there after it."""
    first, second = _list_conditions(before), _list_conditions(after)
    old = {first[place]: place for place, node in enumerate(before.nodes) if isinstance(node, TreeLeaf)}
    new = {second[place]: place for place, node in enumerate(after.nodes) if isinstance(node, TreeLeaf)}
    gone = old.keys() - new.keys()
    split = {place for place, own in enumerate(second) if own in gone}
    return {old[own] for own in gone}, split | {new[own] for own in new.keys() - old.keys()}


def _list_conditions(tree: DecisionTree) -> list[frozenset[tuple[tuple[int, int], ...]]]:
    """Return for each node the ways that lead to it, as values of variables; parents come first."""
    found: list[set[tuple[tuple[int, int], ...]]] = [set() for _ in tree.nodes]
    found[0].add(())
    for place, node in enumerate(tree.nodes):
        if isinstance(node, TreeSplit):
            for value, child in enumerate(node.children):
                found[child] |= {(*way, (node.variable, value)) for way in found[place]}
    return [frozenset(ways) for ways in found]


def find_way(tree: DecisionTree, given: Mapping[int, int]) -> set[int]:
    """Return the nodes from the root down, as far as given values lead."""
    number, found = 0, {0} if given else set()
    while isinstance(node := tree.nodes[number], TreeSplit) and node.variable in given:
        number = node.children[given[node.variable]]
        found.add(number)
    return found if len(found) > 1 else set()


def value_words(variable: RandomVariable, split: TreeSplit, child: int) -> str:
    """Return the values that lead to a child."""
    return ", ".join(
        value for value, target in zip(variable.values, split.children, strict=True) if target == child
    )


def _line(variables: Sequence[RandomVariable], variable: int, node: TreeSplit | TreeLeaf) -> str:
    """Return the line in a box: the variable asked for, or the last value's probability of two."""
    if isinstance(node, TreeSplit):
        return f"{variables[node.variable].name}?"
    shares = node.probabilities
    place = 1 if len(shares) == 2 else max(range(len(shares)), key=shares.__getitem__)
    return f"{variables[variable].values[place]}: {shares[place]:.3g}"


def _node(
    variables: Sequence[RandomVariable], variable: int, tree: DecisionTree, number: int, name: str,
    width: float, word: str, *, lit: bool, on: bool,
) -> Node:  # fmt: skip
    node, thick = tree.nodes[number], " thick" * (lit or on)
    look = f"{'ring' if isinstance(node, TreeLeaf) else 'wash'} {'orange' if lit else 'grey'}{thick}"
    if isinstance(node, TreeSplit):
        tip = tooltip(f"{variables[node.variable].name}?", "the tree asks for this parent")
        return Node(id=numbered_id(word, number), lines=(name,), corner=4.0, look=look, tooltip=tip)
    values = zip(variables[variable].values, node.probabilities, strict=True)
    rows = [f"{value}: {probability_in_words(share)}" for value, share in values]
    return Node(
        id=numbered_id(word, number), lines=(name,), looks=("words small",), corner=4.0, look=look,
        parts=tuple(_stretches(node.probabilities, width - 12)),
        tooltip=tooltip(f"leaf of {variables[variable].name}", *rows[:_MOST_VALUES]),
    )  # fmt: skip


def _stretches(shares: Sequence[float], width: float) -> list[Item]:
    """Return a bar inside a leaf: a stretch for each value."""
    found: list[Item] = []
    x = -width / 2
    for place, share in enumerate(shares[:_MOST_VALUES]):
        look = f"bar {HUES[place % len(HUES)]}"
        found.append(Rectangle(x=x, y=4, width=width * share, height=_BAR, look=look))
        x += width * share
    return found
