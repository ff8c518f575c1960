"""Junction trees: the cliques of an elimination, joined so that messages between them answer every query.

The maximal cliques become the nodes of a spanning tree whose separators (what two neighbours share) are as
large as possible; every such tree has the running intersection property (Jensen and Jensen, 1994), which is
checked all the same. Of equal separators the one with fewer cells is taken. Parts of a model that share no
variable are trees of their own. See also Lowd's thesis, section 2.1.1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

from mlnlab.factors.graphs.bayesian_network import BayesianNetwork
from mlnlab.factors.graphs.factor_graph import FactorGraph
from mlnlab.factors.graphs.random_variables import Assignment
from mlnlab.factors.trees.calibrated_tree import CalibratedTree, calibrate
from mlnlab.factors.trees.clique_tree import CliqueTree
from mlnlab.factors.trees.elimination_order import as_factor_graph, elimination_order
from mlnlab.factors.trees.elimination_rules import OrderMethod
from mlnlab.factors.trees.running_intersection import Edge, Groups
from mlnlab.factors.trees.table_limits import MOST_CELLS
from mlnlab.factors.trees.tree_messages import MessagePassing, MessageState, message_passing


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JunctionTree(CliqueTree):
    """A tree of cliques with the messages between them; ``ml.stepper(tree)`` shows them go.

    >>> import mlnlab as ml
    >>> tree = ml.junction_tree(ml.sample_network("lattice"))
    >>> tree.width, len(tree.cliques), round(tree.calibrated().log_z, 6)
    (5, 20, 46.538718)
    """

    def passing(self, evidence: Assignment | None = None, *, most_cells: int = MOST_CELLS) -> MessagePassing:
        """Return the passing of messages given evidence, step by step: ``ml.stepper(tree.passing())``."""
        return message_passing(self, evidence, most_cells=most_cells)

    def calibrated(
        self, evidence: Assignment | None = None, *, most_cells: int = MOST_CELLS
    ) -> CalibratedTree:
        """Return the tree after all messages given evidence, which answers all queries."""
        return calibrate(self.passing(evidence, most_cells=most_cells))

    def __iter__(self) -> Iterator[MessageState]:
        """Yield the messages without evidence, one by one."""
        return iter(self.passing())


def junction_tree(
    model: FactorGraph | BayesianNetwork,
    evidence: Assignment | None = None,
    *,
    method: OrderMethod | Sequence[str] = "min-fill",
    most_cells: int | None = None,
) -> JunctionTree:
    """Return the junction tree of an elimination order; it holds no tables, so that it is quick and small.

    ``evidence`` that is told here makes the tree smaller and is a part of it; further evidence goes to
    ``calibrated(...)`` or ``passing(...)``. Their ``most_cells=`` says how large a table may become; given
    here, it ends the search for an order as soon as a table would be larger.

    >>> import mlnlab as ml
    >>> tree = ml.junction_tree(ml.sample_network("greenhouse"))
    >>> tree
    <JunctionTree of 10 cliques: width 3, largest table 54 cells>
    >>> tree.names(0)
    ('Pump', 'Irrigation')
    >>> answers = tree.calibrated({"Wilting": "yes"})
    >>> round(answers["Soil"]["dry"], 4), round(answers.probability({"Soil": "dry", "Vents": "open"}), 4)
    (0.6378, 0.2416)
    """
    graph = as_factor_graph(model).given(evidence or {})
    order = elimination_order(graph, method, most_cells=most_cells)
    cliques = _maximal(order.cliques) or ((),)  # where nothing is open, there still are weights
    return JunctionTree(graph, cliques, _spanning_tree(graph, cliques), _homes(graph, cliques), order.method)


def _maximal(cliques: Sequence[frozenset[int]]) -> tuple[tuple[int, ...], ...]:
    """Return the cliques that are part of no other; an eliminated variable is in no later clique."""
    kept: list[frozenset[int]] = []
    containing: dict[int, list[int]] = {}
    for clique in cliques:
        # A clique that contains this one came before it, and holds its every variable.
        rarest = min((containing.get(member, []) for member in clique), key=len)
        if any(clique <= kept[place] for place in rarest):
            continue
        for member in clique:
            containing.setdefault(member, []).append(len(kept))
        kept.append(clique)
    return tuple(tuple(sorted(clique)) for clique in kept)


def _spanning_tree(graph: FactorGraph, cliques: Sequence[tuple[int, ...]]) -> tuple[Edge, ...]:
    """Return the edges of a spanning forest with the largest separators (Kruskal's rule)."""
    with_variable: dict[int, list[int]] = {}
    for number, clique in enumerate(cliques):
        for member in clique:
            with_variable.setdefault(member, []).append(number)
    shared: Counter[Edge] = Counter()
    for numbers in with_variable.values():
        shared.update(combinations(numbers, 2))

    def rank(edge: Edge) -> tuple[int, int, Edge]:
        between = set(cliques[edge[0]]) & set(cliques[edge[1]])
        return -shared[edge], prod(graph.variables[member].size for member in between), edge

    groups = Groups(len(cliques))
    return tuple(edge for edge in sorted(shared, key=rank) if groups.join(*edge))


def _homes(graph: FactorGraph, cliques: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return for each factor the smallest clique that holds its variables."""
    cells = [prod(graph.variables[member].size for member in clique) for clique in cliques]
    members = [set(clique) for clique in cliques]
    with_variable: dict[int, list[int]] = {}
    for number, clique in enumerate(cliques):
        for member in clique:
            with_variable.setdefault(member, []).append(number)
    homes = []
    for factor in graph.factors:
        scope = graph.scope(factor)
        candidates = min((with_variable[v] for v in scope), key=len) if scope else range(len(cliques))
        fitting = [number for number in candidates if members[number].issuperset(scope)]
        homes.append(min(fitting, key=lambda number: (cells[number], number)))
    return tuple(homes)
