"""SplitAC: an arithmetic circuit that is split in place, and frozen on request (Lowd's thesis, 5.5.2).

The circuit begins as the product of marginals. A split S(D, V) replaces leaf distribution D by one for each
value of V; D keeps its number for the first value, the others are numbered as they come. Edges are counted
as in Table 5.2; ``collapsed_edges`` counts those that are left where a node with one child gives way to it.
Loops are those of ``kernels/splits``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.circuits.propositional.arithmetic_circuit import PARAMETER, PRODUCT, SUM, ArithmeticCircuit
from mlnlab.factors.graphs.tree_network import DecisionTree, TreeLeaf, TreeNetwork, TreeSplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from mlnlab.factors.graphs.random_variables import RandomVariable
    from mlnlab.kernels.splits.work_circuit import WorkCircuit

NO_LIMIT = 1 << 40
_OF_NODES = (
    "kind", "variable", "value", "first", "n_children", "room", "head", "parents", "below", "held", "mark",
    "mask", "copy", "dropped", "stack", "upper", "mutual", "lower", "order",
)  # fmt: skip
_OF_EDGES = ("child", "owner", "later", "earlier")
_OF_LEAVES = ("leaf_variable", "first_parameter")


class SplitCircuit:
    """A circuit on work arrays: :meth:`edge_cost` tells the price of a split, :meth:`split` applies it.

    >>> from mlnlab.factors.graphs.random_variables import RandomVariable
    >>> from mlnlab.learning.circuits.split_ac import SplitCircuit
    >>> circuit = SplitCircuit([RandomVariable.numbered(name, 2) for name in "AB"])
    >>> circuit.edges, circuit.edge_cost(leaf=1, variable=0)  # Figure 5.1; P(B) split on A
    (14, 11)
    >>> circuit.split(1, 0)
    >>> circuit.edges, circuit.collapsed_edges
    (25, 20)
    """

    def __init__(
        self, variables: Sequence[RandomVariable], *, held: bool = False, collapses: bool = False
    ) -> None:
        """Begin with the product of marginals.

        ``held``: keep which leaves lie below each node; ``collapses``: a node with one child gives way to it.
        """
        from mlnlab.kernels.splits import circuit_splitting, split_regions, work_circuit

        self._kernels = work_circuit, split_regions, circuit_splitting
        self.variables = tuple(variables)
        self.sizes = np.array([variable.size for variable in variables], np.int32)
        total, number = int(self.sizes.sum()), len(self.sizes)
        self.work: WorkCircuit = work_circuit.allocate(
            self.sizes,
            3 * total + number + 1,
            3 * total + number,
            number,
            total,
            held=held,
            collapses=collapses,
        )
        work_circuit.build_marginals(self.work)

    @property
    def edges(self) -> int:
        """The number of edges, as in Table 5.2."""
        return int(self.work.totals[self._kernels[0].LIVE_EDGES])

    @property
    def collapsed_edges(self) -> int:
        """The number of edges where a node with a single child gives way to it."""
        return self.edges - int(self.work.totals[self._kernels[0].SINGLES])

    @property
    def leaves(self) -> int:
        """The number of leaf distributions."""
        return int(self.work.totals[self._kernels[0].LEAVES])

    @property
    def leaf_variables(self) -> NDArray[np.int32]:
        """The variable of each leaf distribution."""
        return self.work.leaf_variable[: self.leaves]

    def edge_cost(self, leaf: int, variable: int, limit: int = NO_LIMIT) -> int:
        """Return the edges that a split would add; where they are more than ``limit``, some number above."""
        return int(self._kernels[1].edge_cost(self.work, leaf, variable, limit))

    def split(self, leaf: int, variable: int) -> None:
        """Apply a split, which has to be valid (Definition 2)."""
        self.edge_cost(leaf, variable)
        self.apply(leaf, variable)

    def apply(self, leaf: int, variable: int) -> None:
        """Apply the split whose edge cost was counted just before, without a limit."""
        work_circuit, regions, splitting = self._kernels
        nodes, edges = regions.measure_space(self.work, variable)
        new = int(self.sizes[variable]) - 1
        own = int(self.sizes[self.work.leaf_variable[leaf]])
        last = self.leaves - 1
        used = int(self.work.first_parameter[last] + self.sizes[self.work.leaf_variable[last]])
        totals = self.work.totals
        self._grow(
            int(totals[work_circuit.NODES]) + nodes, int(totals[work_circuit.EDGES]) + edges,
            self.leaves + new, used + new * own,
        )  # fmt: skip
        splitting.apply_split(self.work, leaf, variable)

    def _grow(self, nodes: int, edges: int, leaves: int, parameters: int) -> None:
        """Make room, at least half as much again where there is too little."""
        work = self.work
        changed: dict[str, NDArray[np.generic]] = {}

        def lengthen(names: Iterable[str], needed: int) -> None:
            for name in names:
                array = getattr(work, name)
                if len(array) < needed:
                    longer = np.zeros((max(needed, len(array) * 3 // 2 + 64), *array.shape[1:]), array.dtype)
                    longer[: len(array)] = array
                    changed[name] = longer

        lengthen(_OF_NODES, nodes)
        lengthen(_OF_EDGES, edges)
        lengthen(_OF_LEAVES, leaves)
        lengthen(("parameter",), parameters)
        held = changed.get("held", work.held)
        if work.held.shape[1] and leaves > 64 * work.held.shape[1]:
            wider = np.zeros((len(held), (3 * leaves // 2 + 63) // 64), np.uint64)
            wider[:, : held.shape[1]] = held
            changed["held"] = wider
        if changed:
            self.work = work._replace(**changed)  # type: ignore[arg-type] # by name

    def freeze(
        self, distributions: Sequence[Sequence[float]], *, collapsed: bool = False
    ) -> ArithmeticCircuit:
        """Return the circuit as a value, with these distributions at its leaves."""
        work_circuit, work = self._kernels[0], self.work
        number = work_circuit.sort_nodes(work)
        first = np.zeros(number + 1, np.uint32)
        children = np.zeros(self.edges, np.uint32)
        kept = np.zeros(number, np.uint32)
        number = work_circuit.write_children(work, number, collapsed, first, children, kept)
        first, kept = first[: number + 1], kept[:number]
        kinds, values = work.kind[kept], work.value[kept]
        parameters = np.zeros(number)
        sizes = self.sizes[self.leaf_variables]
        nodes = work.parameter[np.arange(sizes.sum()) + np.repeat(
            work.first_parameter[: self.leaves] - np.cumsum(sizes) + sizes, sizes
        )]  # fmt: skip
        by_node = np.zeros(len(work.kind))
        by_node[nodes] = np.concatenate([np.asarray(row, float) for row in distributions])
        is_parameter = kinds == PARAMETER
        parameters[is_parameter] = by_node[kept[is_parameter]]
        inner = (kinds == SUM) | (kinds == PRODUCT)
        arrays = (
            kinds, first, children[: first[-1]], np.where(inner, -1, work.variable[kept]).astype(np.int32),
            np.where(inner, -1, values).astype(np.int32), parameters,
        )  # fmt: skip
        for array in arrays:
            array.flags.writeable = False
        return ArithmeticCircuit(self.variables, *arrays)


# --- the equivalent network -------------------------------------------------------------------------


def grow_network(
    variables: Sequence[RandomVariable], splits: Iterable[tuple[int, int]],
    distributions: Sequence[Sequence[float]],
) -> TreeNetwork:  # fmt: skip
    """Return the network with decision trees that has the same splits and leaves."""
    places: list[tuple[int, int]] = [(variable, 0) for variable in range(len(variables))]  # tree, node
    trees: list[list[tuple[int, tuple[int, ...]] | int]] = [[leaf] for leaf in range(len(variables))]
    for leaf, variable in splits:
        tree, node = places[leaf]
        nodes = trees[tree]
        children = tuple(range(len(nodes), len(nodes) + variables[variable].size))
        nodes[node] = (variable, children)
        for value, child in enumerate(children):
            number = leaf if value == 0 else len(places)
            nodes.append(number)
            if value == 0:
                places[leaf] = (tree, child)
            else:
                places.append((tree, child))
    rows = [TreeLeaf(tuple(map(float, row))) for row in distributions]
    return TreeNetwork(
        tuple(variables),
        tuple(
            DecisionTree(tuple(rows[node] if isinstance(node, int) else TreeSplit(*node) for node in nodes))
            for nodes in trees
        ),
    )
