"""A database as a hypergraph: constants are nodes, true atoms are hyperedges that hold their arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.errors import count_of
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.relations import frozen
from mlnlab.logic.vocabulary import FrozenMapping, NamedDomain, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator

    import networkx as nx
    from numpy.typing import NDArray

    from mlnlab.model.database.database import Database

    Numbers = NDArray[np.uint32]


class Node(NamedTuple):
    """A constant with its type: two types may have a constant of one name."""

    type: str
    constant: str


@dataclass(frozen=True, slots=True, eq=False)
class Hypergraph:
    r"""The true atoms of a database over its constants; arrays, so that a million atoms are no burden.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)")
    >>> ml.Hypergraph.from_database(ml.Database.from_text("Friends(Anna, Bob)\nSmokes(Bob)", mln))
    <Hypergraph: 2 nodes, 2 hyperedges>

    ``constants[type]`` holds the numbers of a type's constants that are nodes, ``offsets[type]`` the number
    of the first of these nodes, and ``members[predicate]`` a row of nodes for each true atom.
    """

    vocabulary: Vocabulary
    constants: FrozenMapping[Numbers]
    offsets: FrozenMapping[int]
    members: FrozenMapping[Numbers]

    @classmethod
    def from_database(cls, db: Database) -> Hypergraph:
        """View a database; of ranges and sized domains only the constants in use are nodes."""
        constants = {type_: _drawn_constants(db, type_) for type_ in db.vocabulary.types}
        offsets: dict[str, int] = {}
        total = 0
        for type_, numbers in constants.items():
            offsets[type_] = total
            total += len(numbers)
        members = {}
        for name, predicate in db.vocabulary.predicates.items():
            rows = db.relation(name).true
            columns = [
                offsets[type_] + np.searchsorted(constants[type_], rows[:, place])
                for place, type_ in enumerate(predicate.types)
            ]
            if len(rows):
                table = np.column_stack(columns) if columns else np.zeros((len(rows), 0))
                members[name] = frozen(table.astype(np.uint32))
        parts = (FrozenMapping(constants), FrozenMapping(offsets), FrozenMapping(members))
        return cls(db.vocabulary, *parts)

    @property
    def number_of_nodes(self) -> int:
        """The number of constants."""
        return sum(len(numbers) for numbers in self.constants.values())

    @property
    def number_of_edges(self) -> int:
        """The number of true atoms."""
        return sum(len(rows) for rows in self.members.values())

    def node(self, number: int) -> Node:
        """Return a node by its number."""
        for type_, first in self.offsets.items():
            if number < first + len(self.constants[type_]):
                return Node(type_, self.vocabulary.domain(type_)[int(self.constants[type_][number - first])])
        raise IndexError(number)

    def nodes(self) -> Iterator[Node]:
        """Yield all nodes in the order of their numbers."""
        for type_, numbers in self.constants.items():
            domain = self.vocabulary.domain(type_)
            for number in numbers.tolist():
                yield Node(type_, domain[number])

    def edges(self) -> Iterator[GroundAtom]:
        """Yield all hyperedges as ground atoms, predicate by predicate."""
        names = [node.constant for node in self.nodes()]
        for predicate, rows in self.members.items():
            for row in rows.tolist():
                yield GroundAtom(predicate, tuple(names[node] for node in row))

    def incidence(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return nodes and hyperedges that belong together: each pair once, hyperedges numbered as listed."""
        nodes, edges = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        first = 0
        for rows in self.members.values():
            ordered = np.sort(rows.astype(np.int64), axis=1)
            different = np.ones(ordered.shape, np.bool_)
            different[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
            nodes.append(ordered[different])
            edges.append(first + np.repeat(np.arange(len(rows)), different.sum(axis=1)))
            first += len(rows)
        return np.concatenate(nodes), np.concatenate(edges)

    def degrees(self) -> NDArray[np.int64]:
        """Return in how many hyperedges each node is."""
        return np.bincount(self.incidence()[0], minlength=self.number_of_nodes)

    def to_networkx(self) -> nx.Graph[Any]:
        """Return the bipartite graph: nodes with ``bipartite=0``, atoms with ``bipartite=1``.

        An edge's ``positions`` tell at which arguments (from 1) the constant stands in the atom.
        """
        import networkx as nx

        graph: nx.Graph[Any] = nx.Graph()
        nodes = list(self.nodes())
        for node in nodes:
            graph.add_node(node, bipartite=0, type=node.type, constant=node.constant)
        rows = (row for table in self.members.values() for row in table.tolist())
        for atom, row in zip(self.edges(), rows, strict=True):
            graph.add_node(atom, bipartite=1, predicate=atom.predicate)
            for number in dict.fromkeys(row):
                positions = tuple(place for place, other in enumerate(row, 1) if other == number)
                graph.add_edge(nodes[number], atom, positions=positions)
        return graph

    def __repr__(self) -> str:
        nodes = count_of(self.number_of_nodes, "node")
        return f"<Hypergraph: {nodes}, {count_of(self.number_of_edges, 'hyperedge')}>"


def _drawn_constants(db: Database, type_: str) -> Numbers:
    """Return the numbers of the constants of a type that are nodes, in order."""
    domain = db.vocabulary.domain(type_)
    if isinstance(domain, NamedDomain):
        return frozen(np.arange(len(domain), dtype=np.uint32))
    used = [
        db.relation(name).true[:, place]
        for name, predicate in db.vocabulary.predicates.items()
        for place, argument in enumerate(predicate.types)
        if argument == type_
    ]
    return frozen(np.unique(np.concatenate([np.zeros(0, np.uint32), *used])))
