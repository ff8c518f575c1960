"""Hold the problem of LiftGraph as rows of nodes: a hyperedge is the nodes of its predicate and arguments.

A predicate is a node like a constant, so that predicates of equal types can be clustered by the same search;
where they are not, each stays alone. Hyperedges of equal *signature*, the types of the arguments, have rows
of one shape. A *slot* is a place in the rows of a signature: 0 is the predicate, from 1 on the arguments.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, TooLargeError, count_of
from mlnlab.logic.suggestions import did_you_mean
from mlnlab.model.database.database import Database
from mlnlab.model.database.hypergraph import Hypergraph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

MOST_ATOMS = 5_000_000  # log-likelihoods of more could leave what 64 bits hold in units of 2^-36


@dataclass(frozen=True, eq=False)
class LiftProblem:
    """The nodes and hyperedges of a hypergraph; the predicates' nodes stand behind those of the constants."""

    hypergraph: Hypergraph
    cluster_predicates: bool = False

    @cached_property
    def predicates(self) -> tuple[str, ...]:
        """The predicates with true atoms and arguments."""
        members = self.hypergraph.members
        return tuple(name for name, rows in members.items() if rows.shape[1])

    @cached_property
    def signatures(self) -> tuple[tuple[str, ...], ...]:
        """The types of the arguments of each signature."""
        return tuple(dict.fromkeys(self._types_of(name) for name in self.predicates))

    def _types_of(self, predicate: str) -> tuple[str, ...]:
        return self.hypergraph.vocabulary.predicates[predicate].types

    @cached_property
    def types(self) -> tuple[str, ...]:
        """T: the types of constants, then for each signature that of its predicates."""
        return (*self.hypergraph.constants, *map(predicates_type, self.signatures))

    @cached_property
    def clustered_types(self) -> tuple[str, ...]:
        """The types whose nodes may be merged, in the order in which each round takes them."""
        return self.types if self.cluster_predicates else tuple(self.hypergraph.constants)

    @cached_property
    def number_of_constants(self) -> int:
        """How many nodes are constants; the first predicate's node has this number."""
        return self.hypergraph.number_of_nodes

    @cached_property
    def type_of(self) -> Numbers:
        """The number of each node's type."""
        sizes = [len(numbers) for numbers in self.hypergraph.constants.values()]
        of_constants = np.repeat(np.arange(len(sizes)), sizes)
        signatures = [self.signatures.index(self._types_of(name)) for name in self.predicates]
        return np.concatenate([of_constants, np.asarray(signatures, np.int64) + len(sizes)])

    @cached_property
    def rows(self) -> tuple[Numbers, ...]:
        """For each signature the hyperedges of its predicates: a row of nodes for each."""
        found: list[list[Numbers]] = [[] for _ in self.signatures]
        for number, name in enumerate(self.predicates):
            table = self.hypergraph.members[name].astype(np.int64)
            first = np.full((len(table), 1), self.number_of_constants + number)
            found[self.signatures.index(self._types_of(name))].append(np.hstack([first, table]))
        return tuple(np.concatenate(tables) for tables in found)

    @cached_property
    def atoms_of_signature(self) -> tuple[int, ...]:
        """How many ground atoms a predicate of each signature has, over the constants that are nodes."""
        found = []
        for types in self.signatures:
            atoms = 1
            for type_ in types:
                atoms *= len(self.hypergraph.constants[type_])
            found.append(atoms)
        return tuple(found)

    def find_node(self, name: str, type: str | None = None) -> int:  # noqa: A002 - the paper's word
        """Return the node of a constant, or of a predicate where these are clustered."""
        named = [node for node in self._nodes_named.get(name, ()) if type in (None, self.name_type(node))]
        if len(named) == 1:
            return named[0]
        if named:
            types = " and ".join(self.name_type(node) for node in named)
            raise ArgumentError(f"{name} is a constant of the types {types}: say which one by type=.")
        where = f" of type {type}" if type is not None else ""
        raise ArgumentError(
            f"There is no {name!s:.60}{where} to cluster{did_you_mean(str(name), self._nodes_named) or '.'}"
        )

    def find_nodes(self, name: str) -> tuple[int, ...]:
        """Return the nodes of a name: constants of any type, and the predicate where these are clustered."""
        return tuple(self._nodes_named.get(name, ()))

    @cached_property
    def _nodes_named(self) -> dict[str, list[int]]:
        names = [node.constant for node in self.hypergraph.nodes()]
        found: dict[str, list[int]] = {}
        for number, name in enumerate([*names, *(self.predicates if self.cluster_predicates else ())]):
            found.setdefault(name, []).append(number)
        return found

    def name_type(self, node: int) -> str:
        """Return the name of a node's type."""
        return str(self.types[self.type_of[node]])

    def checked_type(self, type: str) -> str:  # noqa: A002 - the paper's word
        """Return the name of a type that is clustered, or raise an error that names those which are."""
        if type not in self.clustered_types:
            raise ArgumentError(
                f"There is no type {type!s:.60} to cluster, but {', '.join(self.clustered_types)}."
            )
        return type

    def name_of(self, node: int) -> str:
        """Return the constant or the predicate of a node."""
        if node >= self.number_of_constants:
            return self.predicates[node - self.number_of_constants]
        return self.hypergraph.node(node).constant


def predicates_type(signature: tuple[str, ...]) -> str:
    """Return the name of the type of a signature's predicates."""
    return f"predicate({', '.join(signature)})"


def lift_problem(db: Database | Hypergraph, *, cluster_predicates: bool = False) -> LiftProblem:
    """Return the clustering problem of a database or hypergraph, after a check that it can be solved."""
    if isinstance(db, Database):
        _refuse_open_atoms(db)
        graph = Hypergraph.from_database(db)
    elif isinstance(db, Hypergraph):
        graph = db
    else:
        raise ArgumentError(
            "LiftGraph lifts one database, from ml.Database.from_text or ml.load_db, or an ml.Hypergraph; "
            f"not {db!r:.60}. Several databases are lifted one by one."
        )
    problem = LiftProblem(graph, cluster_predicates)
    if not problem.predicates:
        raise ArgumentError(
            "There is nothing to lift: no atom with an argument is true. LiftGraph clusters the constants of "
            "true atoms, so the database needs facts such as Friends(Anna, Bob)."
        )
    refuse_many_atoms(problem)
    return problem


def refuse_many_atoms(problem: LiftProblem) -> None:
    """Refuse more true atoms than sums of log-likelihoods are exact for."""
    atoms = problem.hypergraph.number_of_edges
    if atoms > MOST_ATOMS:
        raise TooLargeError(
            f"There are {atoms:,} true atoms; LiftGraph takes up to {MOST_ATOMS:,}.",
            atoms,
            ["Lift parts of the database one by one, as folds are."],
        )


def _refuse_open_atoms(db: Database) -> None:
    for name, relation in db.relations.items():
        undecided = len(relation.unknown) + len(relation.soft)
        if undecided:
            raise ArgumentError(
                f"The database marks {count_of(undecided, 'atom')} of {name} as unknown or soft; LiftGraph "
                "goes by the closed world, in which every atom is true or false. Remove the marks: what is "
                "not listed is false."
            )
