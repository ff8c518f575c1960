"""Bayesian networks whose conditional distributions are decision trees (Lowd's thesis, section 5.3).

An inner node of the tree for X splits on a parent of X, with an edge for each of its values; a leaf is the
distribution of X given the values on its path. Several values may lead to one node: then a split is on
subsets of values, and leaves are merged (decision graphs; Chickering, Heckerman and Meek, 1997).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import fsum, log, prod
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError, count_of
from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
from mlnlab.factors.graphs.conditional_table import ConditionalTable
from mlnlab.factors.graphs.factor import place_in
from mlnlab.factors.graphs.factor_graph import FactorGraph, large_number
from mlnlab.factors.graphs.parent_order import order_parents_first
from mlnlab.factors.graphs.random_variables import Assignment, RandomVariable, show_name, shown_names
from mlnlab.logic.checked_options import checked_seed, whole_number
from mlnlab.logic.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    import networkx as nx
    from numpy.typing import NDArray

    from mlnlab.kernels.trees.tree_walks import Trees

MOST_CELLS = 1 << 24  # of the tables that trees are written out as
MOST_OFF = 1e-6  # so far the probabilities of a leaf may miss 1


class Rows(Protocol):
    """A table of data that can be numbered as a network's variables: a ``DataTable``."""

    @property
    def rows(self) -> NDArray[np.int32]:
        """The cells."""
        ...

    def over(self, variables: Sequence[RandomVariable], /) -> Rows:
        """Return the table with the columns and values of some variables."""
        ...


class TreeSplit(NamedTuple):
    """An inner node: the number of the variable asked for, and the node that each of its values leads to."""

    variable: int
    children: tuple[int, ...]


class TreeLeaf(NamedTuple):
    """A leaf: the probability of each value of the tree's variable."""

    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class DecisionTree:
    """The distribution of a variable given its parents: nodes, each before those that it leads to."""

    nodes: tuple[TreeSplit | TreeLeaf, ...]

    def leaves(self) -> tuple[TreeLeaf, ...]:
        """Return the leaves, in the order of the nodes."""
        return tuple(node for node in self.nodes if isinstance(node, TreeLeaf))

    def parents(self) -> tuple[int, ...]:
        """Return the numbers of the variables that the tree asks for, ascending."""
        return tuple(sorted({node.variable for node in self.nodes if isinstance(node, TreeSplit)}))

    def leaf_of(self, values: Sequence[int]) -> TreeLeaf:
        """Return the leaf that an assignment leads to, given the number of each variable's value."""
        node = self.nodes[0]
        while isinstance(node, TreeSplit):
            node = self.nodes[node.children[values[node.variable]]]
        return node


@dataclass(frozen=True, slots=True, eq=False)
class TreeNetwork:
    """A decision tree for each variable; splits name variables by their numbers, and make no cycle.

    >>> import mlnlab as ml
    >>> from mlnlab.factors.graphs.tree_network import DecisionTree, TreeLeaf, TreeNetwork, TreeSplit
    >>> rain, wet = (ml.RandomVariable(name, ("no", "yes")) for name in ("Rain", "Wet"))
    >>> network = TreeNetwork((rain, wet), (
    ...     DecisionTree((TreeLeaf((0.8, 0.2)),)),
    ...     DecisionTree((TreeSplit(0, (1, 2)), TreeLeaf((0.9, 0.1)), TreeLeaf((0.2, 0.8)))),
    ... ))
    >>> network
    <TreeNetwork of 2 variables and 3 leaves>
    >>> round(network.log_probability({"Rain": "yes", "Wet": "yes"}), 4), network.to_tables()["Wet"]
    (-1.8326, <ConditionalTable P(Wet | Rain): 4 cells>)
    """

    variables: tuple[RandomVariable, ...]
    trees: tuple[DecisionTree, ...]
    _numbers: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check that every variable has one tree that fits it, and that the splits make no cycle."""
        if len(self.variables) != len(self.trees):
            raise ArgumentError(
                f"A network of trees has one for each variable, and here are "
                f"{count_of(len(self.variables), 'variable')} and {count_of(len(self.trees), 'tree')}."
            )
        numbers = {variable.name: number for number, variable in enumerate(self.variables)}
        if len(numbers) < len(self.variables):
            names = [variable.name for variable in self.variables]
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            raise ArgumentError(f"Two variables are called {show_name(twice)}.")
        for number, tree in enumerate(self.trees):
            _check_tree(self.variables, number, tree)
        object.__setattr__(self, "_numbers", numbers)
        self.topological_order()

    def number(self, name: str) -> int:
        """Return the number of a variable."""
        if name not in self._numbers:
            raise ArgumentError(
                f"There is no variable {show_name(str(name))}{did_you_mean(str(name), self._numbers)}."
            )
        return self._numbers[name]

    def __getitem__(self, name: str) -> DecisionTree:
        return self.trees[self.number(name)]

    def __contains__(self, name: object) -> bool:
        return name in self._numbers

    def parents(self) -> tuple[tuple[int, ...], ...]:
        """Return the numbers of each variable's parents."""
        return tuple(tree.parents() for tree in self.trees)

    def topological_order(self) -> tuple[int, ...]:
        """Return the numbers of the variables, parents before their children."""
        return order_parents_first(self.parents(), [variable.name for variable in self.variables])

    # --- probabilities ----------------------------------------------------------------------------

    def log_probability(self, assignment: Assignment) -> float:
        """Return the logarithm of the probability of an assignment to all variables."""
        values = [place_in(variable, assignment) for variable in self.variables]
        found = [tree.leaf_of(values).probabilities[x] for tree, x in zip(self.trees, values, strict=True)]
        return fsum(map(log, found)) if all(found) else -float("inf")

    def log_likelihoods(self, table: Rows | NDArray[Any]) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each row of a table, or of rows of numbers of values."""
        from mlnlab.kernels.trees.tree_walks import add_log_probabilities

        rows = self._rows_of(table)
        logs = np.zeros(len(rows))
        add_log_probabilities(tree_arrays(self), rows, logs)
        return logs

    def log_likelihood(self, table: Rows | NDArray[Any]) -> float:
        """Return the mean logarithm of the probability of a table's rows, in nats."""
        logs = self.log_likelihoods(table)
        if not len(logs):
            raise ArgumentError("The table has no rows, so that there is no mean over them.")
        return float(logs.mean())

    def _rows_of(self, table: Rows | NDArray[Any]) -> NDArray[np.uint32]:
        if isinstance(table, np.ndarray):
            rows = table
        elif hasattr(table, "over"):
            rows = table.over(self.variables).rows
        else:
            raise ArgumentError(
                f"A network's likelihood is that of a DataTable, not of a {type(table).__name__}; "
                "DataTable.of(source, network.variables) makes one."
            )
        sizes = [variable.size for variable in self.variables]
        if rows.ndim != 2 or rows.shape[1] != len(sizes) or rows.dtype.kind not in "iu":
            raise ArgumentError(f"Rows hold the numbers of {count_of(len(sizes), 'value')} each.")
        if (rows < 0).any():
            row = int(np.argwhere(rows < 0)[0][0])
            raise ArgumentError(
                f"Row {row + 1:,} has a missing cell, over whose values a network would have to sum: "
                "compile it (ml.compile_circuit), and ask the circuit."
            )
        if (rows >= sizes).any():
            row, column = np.argwhere(rows >= sizes)[0].tolist()
            raise ArgumentError(
                f"Row {row + 1:,} has {rows[row, column]} for {show_name(self.variables[column].name)}; its "
                f"values are numbered from 0 to {sizes[column] - 1}."
            )
        return rows.astype(np.uint32)

    def sample(self, n: int, seed: int = 0) -> NDArray[np.int32]:
        """Return rows drawn from the network, as numbers of values: parents first (forward sampling)."""
        from mlnlab.kernels.random_numbers import streams
        from mlnlab.kernels.trees.tree_walks import draw_rows

        rows = np.zeros((whole_number(n, "n"), len(self.variables)), np.uint32)
        order = np.array(self.topological_order(), np.uint32)
        scores = np.zeros(max((variable.size for variable in self.variables), default=1))
        draw_rows(tree_arrays(self), order, streams(checked_seed(seed), 1)[0], scores, rows)
        return rows.astype(np.int32)

    # --- other forms ------------------------------------------------------------------------------

    def to_tables(self) -> BayesianNetwork:
        """Return the network with each tree written out as a table over all parents; refused where large."""
        for variable, parents in zip(self.variables, self.parents(), strict=True):
            cells = variable.size * prod(self.variables[parent].size for parent in parents)
            if cells > MOST_CELLS:
                names = shown_names(self.variables[parent].name for parent in parents)
                raise TooLargeError(
                    f"The table of {show_name(variable.name)} given {count_of(len(parents), 'parent')} "
                    f"({names}) would have {large_number(cells)} cells, more than {MOST_CELLS:,}.",
                    float(min(cells, 10**300)),
                    ("compile the trees themselves (ml.compile_circuit)", "learn with a higher penalty"),
                )
        return BayesianNetwork(tuple(self._table(number) for number in range(len(self.variables))))

    def _table(self, number: int) -> ConditionalTable:
        tree, parents = self.trees[number], self.trees[number].parents()
        scope = tuple(self.variables[parent] for parent in parents)
        sizes = [variable.size for variable in scope]
        probabilities = np.zeros((*sizes, self.variables[number].size))
        waiting: list[tuple[int, tuple[int | slice, ...]]] = [(0, (slice(None),) * len(parents))]
        while waiting:
            place, known = waiting.pop()
            node = tree.nodes[place]
            if isinstance(node, TreeLeaf):
                probabilities[known] = node.probabilities
                continue
            axis = parents.index(node.variable)
            for value, child in enumerate(node.children):
                if isinstance(known[axis], slice) or known[axis] == value:
                    waiting.append((child, (*known[:axis], value, *known[axis + 1 :])))
        return ConditionalTable(self.variables[number], scope, probabilities)

    def to_factor_graph(self) -> FactorGraph:
        """Return the product of the conditional tables; refused where they would be large."""
        return self.to_tables().to_factor_graph()

    def to_networkx(self) -> nx.DiGraph[Any]:
        """Return the directed graph of the variables' names, an edge from each parent to its child."""
        import networkx as nx

        graph: nx.DiGraph[Any] = nx.DiGraph()
        for variable, tree in zip(self.variables, self.trees, strict=True):
            graph.add_node(variable.name, values=variable.values, leaves=len(tree.leaves()))
        for variable, parents in zip(self.variables, self.parents(), strict=True):
            graph.add_edges_from((self.variables[parent].name, variable.name) for parent in parents)
        return graph

    def __repr__(self) -> str:
        leaves = sum(len(tree.leaves()) for tree in self.trees)
        size = f"{count_of(len(self.variables), 'variable')} and {count_of(leaves, 'leaf', 'leaves')}"
        return f"<TreeNetwork of {size}>"


def _check_tree(variables: Sequence[RandomVariable], number: int, tree: DecisionTree) -> None:
    """Refuse a tree that does not fit its variable."""
    name, size = show_name(variables[number].name), variables[number].size
    if not tree.nodes:
        raise ArgumentError(f"The tree for {name} has no nodes; it has at least one leaf.")
    for place, node in enumerate(tree.nodes):
        if isinstance(node, TreeLeaf):
            total = fsum(node.probabilities)
            if len(node.probabilities) != size:
                raise ArgumentError(
                    f"A leaf of the tree for {name} has a probability for each of its "
                    f"{count_of(size, 'value')}, and here are {len(node.probabilities)}."
                )
            if not abs(total - 1) <= MOST_OFF or min(node.probabilities) < 0:
                raise ArgumentError(
                    f"The probabilities of a leaf of the tree for {name} are at least 0 and add up to 1, and "
                    f"here they add up to {total:.6g}."
                )
        elif not 0 <= node.variable < len(variables) or node.variable == number:
            raise ArgumentError(
                f"The tree for {name} splits on variable {node.variable}, which is not another one of the "
                f"{len(variables)}."
            )
        elif len(node.children) != variables[node.variable].size:
            asked = variables[node.variable]
            raise ArgumentError(
                f"A split of the tree for {name} on {show_name(asked.name)} needs an edge for each of its "
                f"{count_of(asked.size, 'value')}, and has {len(node.children)}."
            )
        elif not all(place < child < len(tree.nodes) for child in node.children):
            raise ArgumentError(
                f"Node {place} of the tree for {name} leads to {', '.join(map(str, node.children))}; a node "
                f"leads to nodes after it, up to {len(tree.nodes) - 1}."
            )


def tree_arrays(network: TreeNetwork) -> Trees:
    """Return the trees of a network as flat arrays, for the kernels that walk down them."""
    from mlnlab.kernels.trees.tree_walks import Trees

    roots: list[int] = []
    asked: list[int] = []
    first: list[int] = []
    branches: list[int] = []
    logs: list[float] = []
    for tree in network.trees:
        root = len(asked)
        roots.append(root)
        for node in tree.nodes:
            if isinstance(node, TreeSplit):
                asked.append(node.variable)
                first.append(len(branches))
                branches += [root + child for child in node.children]
            else:
                asked.append(-1)
                first.append(len(logs))
                logs += [log(p) if p > 0 else -np.inf for p in node.probabilities]
    asking: list[list[int]] = [[] for _ in network.variables]
    for child, above in enumerate(network.parents()):
        for parent in above:
            asking[parent].append(child)
    starts = np.concatenate([[0], np.cumsum([len(children) for children in asking])])
    arrays = Trees(
        np.array([variable.size for variable in network.variables], np.uint32), np.array(roots, np.uint32),
        starts.astype(np.uint32), np.array([child for children in asking for child in children], np.uint32),
        np.array(asked, np.int32), np.array(first, np.uint32), np.array(branches, np.uint32), np.array(logs),
    )  # fmt: skip
    for array in arrays:
        array.flags.writeable = False
    return arrays
