r"""Template nodes (Mihalkova and Mooney 2007, section 3.1): conjunctions of true atoms beside a head.

    Teaches(Pete, Logic)  beside  Advises(Pete, Sam), TAs(Sam, Logic)
    head Teaches(v0, v1), node Advises(v0, v2) ^ TAs(v2, v1)

A node is a path of true atoms that shares constants with a true grounding of the head, with a variable for
each constant; so the nodes are the paths of FindPaths on the hypergraph as it is, less an atom that is the
head. A node *holds* for a grounding of the head where it lies there in the same way, a constant of its own
for each variable: then no node holds because of the head's own ground atom. Groundings of the head with one
constant in two places are no rows of the table, because the head would have other variables there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.facts.tables import row_keys
from mlnlab.model.database.hypergraph import Hypergraph
from mlnlab.steps.state_layout import TEXT, Part, Several, Whole, holds
from mlnlab.steps.values.encoding import storable
from mlnlab.structure.lift.lifted_hypergraph import separate_constants
from mlnlab.structure.paths.path_places import Places
from mlnlab.structure.paths.remembered_paths import remembered_paths
from mlnlab.structure.paths.variabilized import PathAtom, VariabilizedPath

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from mlnlab.logic.vocabulary import Predicate
    from mlnlab.model.database.database import Database

    Numbers = NDArray[np.int64]
    Table = NDArray[np.bool_]


@storable("template_nodes.TemplateNode")
@dataclass(frozen=True, slots=True)
class TemplateNode:
    """A conjunction of atoms whose first variables are those of the head: a column of the table."""

    atoms: tuple[PathAtom, ...] = field(metadata=holds(Several(Part(PathAtom))))
    held: int = field(metadata=holds(Whole()))  # for how many groundings of the head it holds
    dropped: str = field(default="", metadata=holds(TEXT))  # why it is left out of the network

    def __str__(self) -> str:
        return str(VariabilizedPath(self.atoms)).replace("x", "v")


def list_nodes(
    paths: Iterable[VariabilizedPath], head: Predicate, longest: int
) -> tuple[tuple[PathAtom, ...], ...]:
    """Return the atoms of each template node of a head, shorter ones first.

    >>> from mlnlab.logic.vocabulary import Predicate
    >>> from mlnlab.structure.paths.variabilized import canonical_path
    >>> path = canonical_path([("Smokes", (0,)), ("Friends", (0, 1)), ("Smokes", (1,))])
    >>> for atoms in list_nodes([path], Predicate("Smokes", ("person",)), 2):
    ...     print(TemplateNode(atoms, 0))
    Friends(v0, v1) ^ Smokes(v1)
    Friends(v1, v0) ^ Smokes(v1)
    """
    found = set()
    for path in paths:
        for place, atom in enumerate(path.atoms):
            rest = path.atoms[:place] + path.atoms[place + 1 :]
            fits = atom.predicate == head.name and len(set(atom.variables)) == head.arity
            if fits and 0 < len(rest) <= longest and VariabilizedPath(rest).is_connected:
                found.add(name_after(atom, rest))
    return tuple(sorted(found, key=lambda atoms: (len(atoms), atoms)))


def name_after(head: PathAtom, atoms: Sequence[PathAtom]) -> tuple[PathAtom, ...]:
    """Return atoms with the head's variables numbered first, in the order that comes first."""

    def name_in_order(order: Sequence[PathAtom]) -> tuple[PathAtom, ...]:
        names = {variable: number for number, variable in enumerate(head.variables)}
        return tuple(
            PathAtom(name, tuple(names.setdefault(v, len(names)) for v in variables))
            for name, variables in order
        )

    return min(map(name_in_order, permutations(atoms)))


# --- the table ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Groundings:
    """Groundings of a head: their constants by number, -1 for one in no true atom, and their truth."""

    constants: Numbers  # a row for each grounding
    truths: Table


class TemplateTables:
    """The true atoms of several databases, in which template nodes are found and looked up."""

    def __init__(self, databases: Sequence[Database]) -> None:
        """View the databases as one; a constant of two of them counts as two."""
        self.databases = tuple(databases)
        self.graphs = tuple(separate_constants(Hypergraph.from_database(db)) for db in databases)
        self._places = Places(self.graphs)

    def nodes(self, head: Predicate, longest: int) -> tuple[tuple[PathAtom, ...], ...]:
        """Return the atoms of each template node of a head, of up to ``longest`` atoms."""
        return list_nodes((one.path for one in remembered_paths(self.graphs, longest + 1)), head, longest)

    def draw_groundings(self, head: Predicate, most_false: int, rng: np.random.Generator) -> Groundings:
        """Return all true groundings of a head, and all false ones or a sample, true ones first."""
        sizes = [tuple(len(db.domain(type_)) for type_ in head.types) for db in self.databases]
        true = [db.relation(head.name).true.astype(np.int64) for db in self.databases]
        false = [prod(own) - len(rows) for own, rows in zip(sizes, true, strict=True)]
        ends = np.cumsum([0, *false])
        drawn = np.arange(ends[-1])
        if ends[-1] > most_false:
            drawn = np.sort(rng.choice(int(ends[-1]), most_false, replace=False))
        parts = [(number, rows, True) for number, rows in enumerate(true)]
        for number, rows in enumerate(true):
            own = drawn[(drawn >= ends[number]) & (drawn < ends[number + 1])] - ends[number]
            parts.append((number, _false_rows(own, rows, sizes[number]), False))
        kept = [(number, rows[_all_differ(rows, head.types)], held) for number, rows, held in parts]
        constants = [self._constants(number, rows, head) for number, rows, _ in kept]
        truths = [np.full(len(rows), held) for _, rows, held in kept]
        return Groundings(np.concatenate(constants), np.concatenate(truths))

    def _constants(self, number: int, rows: Numbers, head: Predicate) -> Numbers:
        """Return the rows with the numbers that constants have among those of all databases."""
        graph = self.graphs[number].hypergraph
        numbers = np.full(graph.number_of_nodes + 1, -1, np.int64)
        for (owner, node), found in self._places.clusters.items():
            if owner == number:
                numbers[node] = found
        columns = np.full(rows.shape, -1, np.int64)
        for place, type_ in enumerate(head.types):
            own = graph.constants[type_]
            nodes = np.searchsorted(own, rows[:, place])
            known = np.isin(rows[:, place], own)
            columns[known, place] = numbers[graph.offsets[type_] + nodes[known]]
        return columns

    def find_column(self, atoms: tuple[PathAtom, ...], groundings: Groundings) -> Table:
        """Return for which groundings of the head a node holds."""
        from mlnlab.kernels.lift.path_embeddings import lie_beside, new_search

        graph, path = self._places.graph, VariabilizedPath(atoms)
        variables = max(path.number_of_variables, groundings.constants.shape[1])
        lies = np.zeros(len(groundings.truths), np.uint8)
        lie_beside(
            self._places.rows_of(path), groundings.constants, graph, graph.number,
            new_search(len(atoms), variables, graph.number), lies,
        )  # fmt: skip
        return lies.astype(np.bool_)


def _false_rows(ranks: Numbers, true: Numbers, sizes: tuple[int, ...]) -> Numbers:
    """Return false groundings by their ranks among the false ones, in the order of all groundings."""
    (keys,) = row_keys([true.astype(np.uint32)], sizes)
    before = np.sort(keys.astype(np.int64)) - np.arange(len(keys))  # false ones before each true one
    rest = ranks + np.searchsorted(before, ranks, side="right")
    rows = np.zeros((len(ranks), len(sizes)), np.int64)
    for place in range(len(sizes) - 1, -1, -1):
        rest, rows[:, place] = np.divmod(rest, max(1, sizes[place]))
    return rows


def _all_differ(rows: Numbers, types: Sequence[str]) -> Table:
    """Return which rows have a different constant in each place of a type."""
    differ = np.ones(len(rows), bool)
    for place, type_ in enumerate(types):
        for other in range(place):
            if types[other] == type_:
                differ &= rows[:, place] != rows[:, other]
    return differ


def explain_drop(held: int, rows: int, frequency: float) -> str:
    """Return why a node is left out of the network; empty if it is not."""
    if held == rows:
        return "it holds for every grounding of the head"
    if held < frequency * rows:
        return f"it holds for {held:,} of {rows:,} groundings, less than {frequency:.2g} of them"
    return "" if held else "it holds for no grounding of the head"
