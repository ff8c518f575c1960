"""Read networks of decision trees from .xmod files, the XML of WinMine and of Libra.

    AnalysisNotebook
      Variables: a Variable for each, with its States
      Model > LocalModels: a LocalModel for each variable, with a DecisionTree of Vertex, Branch and Leaf,
        or a Table with a TableEntry for each assignment to its Inputs

Libra splits in two, one value against all others; such chains are read as the one split that they stand for.
A table is read as the tree that splits on each of its inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum, isfinite, prod
from pathlib import Path
from typing import NamedTuple

from mlnlab.errors import ArgumentError, InputError
from mlnlab.factors.files.xml_elements import Document, Element, load_document
from mlnlab.factors.graphs.random_variables import RandomVariable, show_name
from mlnlab.factors.graphs.tree_network import MOST_CELLS, DecisionTree, TreeLeaf, TreeNetwork, TreeSplit
from mlnlab.logic.suggestions import did_you_mean

MOST_OFF = 1e-3  # so far printed probabilities may miss 1; they are then divided by their sum
_EXACT = 1e-12


def load_xmod(path: str | Path) -> TreeNetwork:
    """Return the network of decision trees in a .xmod file.

    >>> import mlnlab as ml
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> net = ml.learn_network({"Rain": [0, 0, 0, 1, 1, 1] * 9, "Wet": [0, 0, 0, 1, 1, 0] * 9}).network
    >>> with TemporaryDirectory() as folder:
    ...     ml.save_xmod(net, Path(folder, "rain.xmod"))
    ...     ml.load_xmod(Path(folder, "rain.xmod"))
    <TreeNetwork of 2 variables and 3 leaves>
    """
    return _read_network(load_document(path))


def parse_xmod(text: str | bytes, name: str = "the text") -> TreeNetwork:
    """Return the network of decision trees in the text of a .xmod file."""
    return _read_network(Document(name, text.encode() if isinstance(text, str) else text))


def _read_network(document: Document) -> TreeNetwork:
    root = document.root
    if root.name != "AnalysisNotebook":
        raise document.error(root.line, f"a model begins with <AnalysisNotebook>, not with <{root.name}>")
    reader = _Reader(document, _read_variables(document, root))
    trees: dict[int, DecisionTree] = {}
    for local in document.only(document.only(root, "Model"), "LocalModels").all("LocalModel"):
        variable = reader.number(local, document.attribute(local, "variable"))
        if variable in trees:
            raise document.error(local.line, f"{reader.name(variable)} has a second <LocalModel>")
        trees[variable] = reader.read_local_model(local, variable)
    lacking = [reader.name(number) for number in range(len(reader.variables)) if number not in trees]
    if lacking:
        raise document.error(root.line, f"{lacking[0]} has no <LocalModel>")
    try:
        return TreeNetwork(reader.variables, tuple(trees[number] for number in range(len(trees))))
    except ArgumentError as problem:
        raise InputError(f"{document.name}: {problem}") from None


def _read_variables(document: Document, root: Element) -> tuple[RandomVariable, ...]:
    types: dict[str, tuple[str, ...]] = {}
    listed = document.only(root, "Variables")
    for group in listed.all("TypeVariables"):
        types |= {
            document.attribute(one, "name"): _states(document, one, {}) for one in group.all("Variable")
        }
    found = []
    for element in listed.all("Variable"):
        try:
            found.append(
                RandomVariable(document.attribute(element, "name"), _states(document, element, types))
            )
        except ArgumentError as problem:
            raise document.error(element.line, str(problem).removesuffix(".")) from None
    return tuple(found)


def _states(document: Document, element: Element, types: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    states: dict[int, str] = {}
    for state in element.all("State"):
        index = document.attribute(state, "index")
        if not (index.isascii() and index.isdigit() and len(index) <= 9) or int(index) in states:
            raise document.error(state.line, f"states are numbered 0, 1, ...; {index[:20]!r} is not the next")
        states[int(index)] = document.attribute(state, "name")
    if sorted(states) != list(range(len(states))):
        raise document.error(element.line, "states are numbered 0, 1, ..., and one of them is not there")
    if not states and "typeVariable" in element.attributes:
        return types.get(element.attributes["typeVariable"], ())
    return tuple(states[index] for index in range(len(states)))


class _Place(NamedTuple):
    """A vertex or leaf of the file, and the values that each variable can still have there."""

    element: Element
    possible: Mapping[int, frozenset[int]]


@dataclass(slots=True, eq=False)
class _Reader:
    document: Document
    variables: tuple[RandomVariable, ...]
    _numbers: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self._numbers = {variable.name: number for number, variable in enumerate(self.variables)}

    def name(self, variable: int) -> str:
        """Return a variable's name for a sentence."""
        return show_name(self.variables[variable].name)

    def number(self, element: Element, name: str) -> int:
        """Return the number of a variable that an element names."""
        if name not in self._numbers:
            hint = did_you_mean(name, self._numbers)
            raise self.document.error(element.line, f"there is no variable {show_name(name)}{hint}")
        return self._numbers[name]

    def read_local_model(self, local: Element, variable: int) -> DecisionTree:
        """Return the tree of a variable, or its table as a tree."""
        if any(local.all("Table")):
            return self._read_table(local, variable)
        tree = self.document.only(local, "DecisionTree")
        return self._read_tree(self._node(tree), variable)

    def _node(self, parent: Element) -> Element:
        """Return the vertex or leaf inside an element."""
        nodes = [element for element in parent.inside if element.name in {"Vertex", "Leaf"}]
        if len(nodes) != 1:
            raise self.document.error(
                parent.line, f"<{parent.name}> holds {len(nodes)} of <Vertex> and <Leaf>, and needs one"
            )
        return nodes[0]

    def _read_tree(self, root: Element, variable: int) -> DecisionTree:
        """Return the tree of a root, its nodes numbered as they are met."""
        places = [_Place(root, {})]
        nodes: list[TreeSplit | TreeLeaf] = []
        for place in places:  # which grows
            if place.element.name == "Leaf":
                nodes.append(self._leaf(self.document.only(place.element, "Multinomial"), variable))
                continue
            asked = self.number(place.element, self.document.attribute(place.element, "split"))
            targets = self._targets(place, asked)
            below: dict[int, int] = {}
            for element in targets.values():
                if id(element) not in below:
                    below[id(element)] = len(places)
                    values = frozenset(value for value, one in targets.items() if one is element)
                    places.append(_Place(element, {**place.possible, asked: values}))
            first = next(iter(below.values()))  # for values that the path excludes
            every = range(self.variables[asked].size)
            children = (below[id(targets[value])] if value in targets else first for value in every)
            nodes.append(TreeSplit(asked, tuple(children)))
        return DecisionTree(tuple(nodes))

    def _targets(self, place: _Place, asked: int) -> dict[int, Element]:
        """Return the element that each possible value leads to, past further vertices on its variable."""
        every = frozenset(range(self.variables[asked].size))
        waiting = [(place.element, place.possible.get(asked, every))]
        targets: dict[int, Element] = {}
        while waiting:
            vertex, possible = waiting.pop()
            left = set(possible)
            for branch in vertex.all("Branch"):
                listed = set(self.document.whole_numbers(self.document.only(branch, "Values")))
                node, values = self._node(branch), listed & left
                if not listed <= every:
                    raise self.document.error(
                        branch.line, f"{self.name(asked)} has no value {min(listed - every)}"
                    )
                left -= values
                if node.name == "Vertex" and node.attributes.get("split") == self.variables[asked].name:
                    waiting.append((node, frozenset(values)))
                else:
                    targets.update(dict.fromkeys(sorted(values), node))
            if left:
                raise self.document.error(
                    vertex.line, f"no branch of the vertex on {self.name(asked)} has the value {min(left)}"
                )
        return targets

    def _leaf(self, multinomial: Element, variable: int) -> TreeLeaf:
        """Return the distribution in an element."""
        element, size = self.document.only(multinomial, "Probs"), self.variables[variable].size
        try:
            known = [float(word) for word in element.text.split()]
        except ValueError:
            known = []
        total = fsum(known)
        if len(known) != size or not isfinite(total) or abs(total - 1) > MOST_OFF or min(known) < 0:
            raise self.document.error(
                element.line,
                f"<Probs> lists {size} probabilities for {self.name(variable)} that add up to 1, not "
                f"{element.text.strip()[:40]}",
            )
        return TreeLeaf(tuple(p / total for p in known) if abs(total - 1) > _EXACT else tuple(known))

    def _read_table(self, local: Element, variable: int) -> DecisionTree:
        """Return a table as the tree that splits on each of its inputs in turn."""
        inputs = [
            self.number(one, self.document.attribute(one, "variable"))
            for group in local.all("Inputs")
            for one in group.all("Input")
        ]
        sizes = [self.variables[one].size for one in inputs]
        if len(set(inputs)) < len(inputs) or prod(sizes) > MOST_CELLS:
            raise self.document.error(
                local.line, f"a table has different inputs and at most {MOST_CELLS:,} entries"
            )
        leaves: dict[tuple[int, ...], TreeLeaf] = {}
        for entry in self.document.only(local, "Table").all("TableEntry"):
            states = tuple(self.document.whole_numbers(self.document.only(entry, "InputStates")))
            leaves[states] = self._leaf(self.document.only(entry, "Multinomial"), variable)
        return _table_as_tree(self.document, local, inputs, sizes, leaves)


def _table_as_tree(
    document: Document, local: Element, inputs: Sequence[int], sizes: Sequence[int],
    leaves: Mapping[tuple[int, ...], TreeLeaf],
) -> DecisionTree:  # fmt: skip
    if len(leaves) < prod(sizes):  # before as many places are made
        raise document.error(local.line, f"the table has {len(leaves):,} of its {prod(sizes):,} entries")
    states: list[tuple[int, ...]] = [()]
    nodes: list[TreeSplit | TreeLeaf] = []
    for state in states:  # which grows
        if len(state) < len(inputs):
            size = sizes[len(state)]
            nodes.append(TreeSplit(inputs[len(state)], tuple(range(len(states), len(states) + size))))
            states += [(*state, value) for value in range(size)]
        elif state in leaves:
            nodes.append(leaves[state])
        else:
            raise document.error(local.line, f"the table has no entry for the inputs {state}")
    if len(leaves) != prod(sizes):
        raise document.error(local.line, "the table has an entry for inputs that there are not")
    return DecisionTree(tuple(nodes))
