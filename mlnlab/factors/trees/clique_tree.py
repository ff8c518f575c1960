"""A tree of cliques of variables, checked to be one in which messages give right answers."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from mlnlab.errors import ArgumentError, count_of
from mlnlab.factors.graphs.factor_graph import FactorGraph
from mlnlab.factors.trees.running_intersection import Edge, violations
from mlnlab.factors.trees.table_limits import cells_in_words

if TYPE_CHECKING:
    import networkx as nx


@dataclass(frozen=True, slots=True, eq=False)
class CliqueTree:
    """Cliques (numbers of variables, sorted), the edges between them, and for each factor its home clique."""

    graph: FactorGraph
    cliques: tuple[tuple[int, ...], ...]
    edges: tuple[Edge, ...]
    homes: tuple[int, ...]
    method: str = "as given"

    def __post_init__(self) -> None:
        """Refuse cliques and edges that are not a junction tree: messages would give wrong answers."""
        scopes = [self.graph.scope(factor) for factor in self.graph.factors]
        wrong = violations(self.cliques, self.edges, scopes, self.homes)
        held = {variable for clique in self.cliques for variable in clique}
        wrong += tuple(
            f"No clique has {v.name}." for n, v in enumerate(self.graph.variables) if n not in held
        )
        if wrong:
            raise ArgumentError(f"These cliques and edges are not a junction tree. {' '.join(wrong[:3])}")

    @property
    def width(self) -> int:
        """The size of the largest clique, less one."""
        return max((len(clique) for clique in self.cliques), default=1) - 1

    def cells_of(self, clique: int) -> int:
        """Return how many cells the table of a clique has."""
        return prod(self.graph.variables[member].size for member in self.cliques[clique])

    @property
    def largest(self) -> int:
        """The cells of the largest clique's table."""
        return max(map(self.cells_of, range(len(self.cliques))), default=1)

    @property
    def cells(self) -> int:
        """The cells of all cliques' tables; one after the other they are work, never memory."""
        return sum(map(self.cells_of, range(len(self.cliques))))

    def names(self, clique: int) -> tuple[str, ...]:
        """Return the names of a clique's variables."""
        return tuple(self.graph.variables[member].name for member in self.cliques[clique])

    def separator(self, one: int, other: int) -> tuple[int, ...]:
        """Return the variables that two cliques share."""
        return tuple(sorted(set(self.cliques[one]) & set(self.cliques[other])))

    def neighbours(self) -> list[list[int]]:
        """Return the neighbours of each clique."""
        near: list[list[int]] = [[] for _ in self.cliques]
        for a, b in self.edges:
            near[a].append(b)
            near[b].append(a)
        return near

    def to_networkx(self) -> nx.Graph[Any]:
        """Return the tree: a node for each clique's number, separators on the edges."""
        import networkx as nx

        tree: nx.Graph[Any] = nx.Graph()
        for number in range(len(self.cliques)):
            tree.add_node(number, variables=self.names(number), cells=self.cells_of(number))
        for a, b in self.edges:
            names = tuple(self.graph.variables[member].name for member in self.separator(a, b))
            tree.add_edge(a, b, separator=names)
        return tree

    def __repr__(self) -> str:
        cliques, largest = count_of(len(self.cliques), "clique"), cells_in_words(self.largest)
        return f"<{type(self).__name__} of {cliques}: width {self.width}, largest table {largest}>"
