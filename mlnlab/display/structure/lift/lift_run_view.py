"""Hold the shared view of LiftGraph's pictures: places and names of constants, merges of steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import combinations, product
from math import ceil
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.card.markup import shorten_text
from mlnlab.display.inference.samplers.samplers_view import Latest
from mlnlab.display.nodelink.layouts.boxes import Placed
from mlnlab.display.structure.lift.lifted_boxes import cluster_name
from mlnlab.display.structure.lift.lifted_places import MOST_NAMED, Slots, in_grid, slots_of
from mlnlab.errors import ArgumentError
from mlnlab.logic.checked_options import is_whole
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.display.structure.lift.lifted_places import Size
    from mlnlab.model.database.hypergraph import Hypergraph
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step
    from mlnlab.structure.lift.lift_graph import LiftGraph, LiftState, Merge

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]

MOST_DRAWN, MOST_LINES = 500, 2_000  # constants, and true atoms, that are drawn one by one
_LOOKED_AT, _MOST_LOOKED_AT = 60, 1_000  # steps in which that before a merge, or one by hand, is looked for
PANEL = 430.0
MOST_ROLES = 3  # blocks of one type; of more, the type is one block
_MOST_IN_COLUMN = 8
_MOST_IN_TWO = 8  # blocks on two sides
_ASIDE = 92.0  # pixels from a block to that below, for lines between them
_MOST_COMPARED = 200  # atoms over which constants are compared one by one
_MEMORY = 6  # constants before, with which the next one is compared


class Before(NamedTuple):
    """The step from which a merge was made, and the constants of the two clusters there."""

    step: int
    first: tuple[int, ...]
    second: tuple[int, ...]


class Told(NamedTuple):
    """A stepper's messages to its picture: clicked clusters, returns to steps, whether the step is newest."""

    chosen: tuple[int, ...] = ()
    returns: Mapping[int, int] = MappingProxyType({})  # of each step that is an earlier one again, which
    newest: bool = True


@dataclass(frozen=True, eq=False)
class LiftView:
    """A run of LiftGraph as its pictures need it."""

    source: LiftGraph
    slots: Slots | None  # none where there are too many constants to draw each
    ranks: Numbers
    lifted: Callable[[LiftState], LiftedHypergraph] = field(init=False)

    def __post_init__(self) -> None:
        """Cache the lifted hypergraph of the latest state."""
        object.__setattr__(self, "lifted", Latest(self.source.lifted))

    def before(self, step: Step[Any], trace: Trace[Any]) -> Before | None:
        """Return from which step constants were merged; none where there is none, or it is not recorded."""
        merge, index = step.state.merge, self.step_before(step, trace)
        if merge is None or index is None or not self.is_of_constants(merge):
            return None
        labels = trace.seek(index).state.labels
        first, second = (np.flatnonzero(labels == one) for one in (merge.first, merge.second))
        return Before(index, tuple(first.tolist()), tuple(second.tolist()))

    def step_before(self, step: Step[Any], trace: Trace[Any]) -> int | None:
        """Return from which step a merge was made, of constants or predicates, as far as it is recorded."""
        merge, reached = step.state.merge, self.source.labels(step.state)
        if merge is None:
            return None
        earlier = [index for index in trace.indices if index < step.index]
        for index in reversed(earlier[-(_MOST_LOOKED_AT if step.state.by_hand else _LOOKED_AT) :]):
            labels = self.source.labels(trace.seek(index).state)
            if labels[merge.second] == merge.second and (
                (np.where(labels == merge.second, merge.first, labels) == reached).all()
            ):
                return index
        return None

    def type_of(self, node: int) -> str:
        """Return the name of a node's type, of a constant or of a predicate."""
        return self.source.problem.name_type(node)

    @cached_property
    def picks(self) -> Mapping[str, str]:
        """The name of a click on each predicate; empty where predicates are not clustered."""
        problem = self.source.problem
        if not problem.cluster_predicates:
            return {}
        first = problem.number_of_constants
        return {name: f"predicate-{first + number}" for number, name in enumerate(problem.predicates)}

    def is_of_constants(self, merge: Merge) -> bool:
        """Tell whether constants are merged, and not predicates."""
        return merge.type in self.source.hypergraph.constants

    def together(self, state: LiftState) -> list[tuple[str, ...]]:
        """Return the clusters of two or more predicates."""
        names = np.array(self.source.problem.predicates, dtype=object)
        clusters = (tuple(names[state.predicates == label]) for label in np.unique(state.predicates))
        return [cluster for cluster in clusters if len(cluster) > 1]

    def list_merged_predicates(self, state: LiftState) -> frozenset[str]:
        """Return the predicates in the cluster that a merge of predicates made."""
        if state.merge is None or self.is_of_constants(state.merge):
            return frozenset()
        first = self.source.problem.name_of(state.merge.first)
        return frozenset(name for cluster in self.together(state) if first in cluster for name in cluster)

    def name(self, lifted: LiftedHypergraph, cluster: int) -> str:
        """Return a cluster in short; one that is no cluster here by the constant that named it."""
        graph = self.source.hypergraph
        if cluster >= graph.number_of_nodes:
            return self.source.problem.name_of(cluster)
        if not lifted.sizes[cluster]:
            return f"{shorten_text(graph.node(cluster).constant, 40)} …"
        return cluster_name(lifted, cluster)

    def before_merge(self, state: LiftState, before: Before | None) -> LiftedHypergraph:
        """Return the lifted hypergraph from which a merge was made, as far as that is known."""
        lifted = self.lifted(state)
        if before is None or state.merge is None:
            return lifted
        labels = state.labels.copy()
        labels[list(before.second)] = state.merge.second
        return LiftedHypergraph(lifted.hypergraph, labels)

    def with_merge(self, state: LiftState, merge: Merge) -> LiftedHypergraph:
        """Return the lifted hypergraph in which two clusters are merged."""
        labels = np.where(state.labels == merge.second, merge.first, state.labels)
        return LiftedHypergraph(self.source.hypergraph, labels)

    def predicates_in(self, state: LiftState, clusters: Sequence[int]) -> frozenset[str]:
        """Return the predicates in clusters; constants among them are left out."""
        problem = self.source.problem
        labels = self.source.labels(state)[problem.number_of_constants :]
        found = zip(problem.predicates, labels.tolist(), strict=True)
        return frozenset(name for name, label in found if label in clusters)

    def nodes_of(self, names: Sequence[str | int]) -> tuple[int, ...]:
        """Return the nodes that are named, of one type where names leave a choice."""
        problem = self.source.problem
        found: list[tuple[int, ...]] = []
        for name in names:
            if isinstance(name, str):
                found.append(problem.find_nodes(name))
            else:
                found.append((name,) if is_whole(name) and 0 <= name < len(problem.type_of) else ())
            if not found[-1]:
                also = " and no predicate" * self.source.params.cluster_predicates
                raise ArgumentError(f"There is no constant{also} {name!r:.60} in this hypergraph.")
        shared = set.intersection(*({problem.name_type(node) for node in nodes} for nodes in found))
        return tuple(
            next((node for node in nodes if problem.name_type(node) in shared), nodes[0]) for nodes in found
        )

    def clusters_of(self, state: LiftState, names: Sequence[str | int]) -> tuple[int, ...]:
        """Return the clusters in which constants, or predicates, that are named are at a step."""
        labels = self.source.labels(state)
        return tuple(int(labels[node]) for node in self.nodes_of(names))


def lift_view(source: LiftGraph) -> LiftView:
    """Return the view of a run; its constants find their places here."""
    graph = source.hypergraph
    small = graph.number_of_nodes <= MOST_DRAWN and graph.number_of_edges <= MOST_LINES
    if not small:
        return LiftView(source, None, np.arange(graph.number_of_nodes))
    return LiftView(source, run_slots(graph), _ranks(blocks_of(graph)))


def _ranks(blocks: Numbers) -> Numbers:
    """Return a rank for each constant's colour; the first ones of blocks have different colours."""
    names, inverse = np.unique(blocks, return_inverse=True)
    places = np.arange(len(blocks)) - names[inverse]
    return np.asarray(inverse + places)


# --- places ---------------------------------------------------------------------------------------
# Constants of one type that occur in the same arguments of the same predicates make a block. In it those lie
# side by side that occur in similar atoms, which the run is likely to merge. The database alone says so: a
# picture can be drawn before the run begins, and each step finds the constants in place.


def run_slots(graph: Hypergraph) -> Slots:
    """Return where the constants of a hypergraph stand while it is lifted."""
    small = graph.number_of_nodes <= MOST_NAMED and graph.number_of_edges <= _MOST_COMPARED
    order = _similarity_order(graph) if small else _neighbour_order(graph)
    blocks = blocks_of(graph)
    inner = _with_inner_atoms(graph, blocks)

    def arrange_members(inside: Numbers, cell: Size) -> Reals:
        if small and int(blocks[inside[0]]) in inner and len(inside) > 2:
            return _in_ring(len(inside), cell)
        return _in_columns(len(inside), cell) if small else in_grid(len(inside), cell)

    few = small and 1 < len(np.unique(blocks)) <= _MOST_IN_TWO
    placed = partial(_two_sides, _atoms_between(graph, blocks)) if few else None
    return slots_of(graph, blocks, order, PANEL, arranged=arrange_members, placed=placed)


def _atoms_between(graph: Hypergraph, blocks: Numbers) -> Numbers:
    """Return how many atoms hold constants of two blocks, for each two."""
    names, inverse = np.unique(blocks, return_inverse=True)
    found = np.zeros((len(names), len(names)), np.int64)
    for rows in graph.members.values():
        for row in inverse[rows.astype(np.int64)].tolist():
            for one, other in combinations(sorted(set(row)), 2):
                found[one, other] += 1
    return found + found.T


def _two_sides(between: Numbers, rooms: Reals) -> Placed:
    """Return places of blocks on two sides, so that most atoms cross from one side to the other."""
    number = len(rooms)
    sides = np.array([(0, *side) for side in product((0, 1), repeat=number - 1)][1:])
    crossing = ((sides[:, :, None] != sides[:, None, :]) * between).sum((1, 2))
    uneven = np.abs(((2 * sides - 1) * rooms[:, 1]).sum(1))
    side = sides[np.lexsort((uneven, -crossing))[0]]
    places = np.zeros((number, 2))
    high = max(rooms[side == one, 1].sum() for one in (0, 1))
    for one, middle in ((0, 0.25), (1, 0.8)):
        chosen = np.flatnonzero(side == one)
        tops = np.cumsum(rooms[chosen, 1]) - rooms[chosen, 1] / 2 + (high - rooms[chosen, 1].sum()) / 2
        aside = _ASIDE * (np.arange(len(chosen)) - (len(chosen) - 1) / 2) * (1 - 2 * one)
        places[chosen] = np.column_stack([middle * PANEL + aside, tops])
    return Placed(places, (PANEL, float(high)))


def _with_inner_atoms(graph: Hypergraph, blocks: Numbers) -> set[int]:
    """Return the blocks in which there are atoms of two constants."""
    found: set[int] = set()
    for rows in graph.members.values():
        of = blocks[rows.astype(np.int64)]
        for second in range(rows.shape[1]):
            for first in range(second):
                same = (of[:, first] == of[:, second]) & (rows[:, first] != rows[:, second])
                found |= set(of[same, first].tolist())
    return found


def _in_ring(number: int, cell: Size) -> Reals:
    """Return places on an ellipse, clockwise from the top, so that lines between them can be seen."""
    turns = 2 * np.pi * np.arange(number) / number
    reach = max(62.0, number * (cell[1] + 16) / (2 * np.pi))
    wide = min(max(1.35 * reach, cell[0] * 1.3), (PANEL - cell[0]) / 2 - 12)
    return np.column_stack([wide * np.sin(turns), -reach * np.cos(turns)])


def _in_columns(number: int, cell: Size) -> Reals:
    """Return places in columns with room for lines between them."""
    columns = ceil(number / _MOST_IN_COLUMN)
    rows = ceil(number / columns)
    across, down = np.divmod(np.arange(number), rows)
    pitch = cell[0] + 16, cell[1] + 9
    return np.column_stack([(across - (columns - 1) / 2) * pitch[0], (down - (rows - 1) / 2) * pitch[1]])


def blocks_of(graph: Hypergraph) -> Numbers:
    """Return for each constant its block: its type, and its roles where those of the type are few."""
    roles: list[set[tuple[int, int]]] = [set() for _ in range(graph.number_of_nodes)]
    for predicate, rows in enumerate(graph.members.values()):
        for place in range(rows.shape[1]):
            for node in np.unique(rows[:, place]).tolist():
                roles[node].add((predicate, place))
    blocks = np.zeros(graph.number_of_nodes, np.int64)
    for type_, first in graph.offsets.items():
        last = first + len(graph.constants[type_])
        kinds: dict[frozenset[tuple[int, int]], int] = {}
        for node in range(first, last):
            blocks[node] = kinds.setdefault(frozenset(roles[node]), node)
        if len(kinds) > MOST_ROLES:
            blocks[first:last] = first
    return blocks


def _similarity_order(graph: Hypergraph) -> Numbers:
    """Return places in an order in which each constant follows those whose atoms resemble its own most."""
    atoms = [set(found) for found in _neighbours(graph)]
    order: list[int] = []
    for type_, first in graph.offsets.items():
        left = list(range(first, first + len(graph.constants[type_])))
        last: list[int] = []
        while left:
            following = max(left, key=lambda node: (_resemblance(atoms, node, last), -node))
            left.remove(following)
            last = [following, *last[: _MEMORY - 1]]
            order.append(following)
    return _places(order)


def _resemblance(atoms: list[set[tuple[int, ...]]], node: int, last: list[int]) -> float:
    """Return the shares of the atoms that a constant has in common with the last ones, the nearest most."""
    shares = [(atoms[node] & atoms[other], atoms[node] | atoms[other]) for other in last]
    return sum(len(both) / max(len(all_), 1) * 0.5**behind for behind, (both, all_) in enumerate(shares))


def _neighbour_order(graph: Hypergraph) -> Numbers:
    """Return places in an order in which constants with equal neighbours lie side by side."""
    neighbours = _neighbours(graph)
    return _places(sorted(range(len(neighbours)), key=lambda node: sorted(neighbours[node])))


def _neighbours(graph: Hypergraph) -> list[list[tuple[int, ...]]]:
    """Return for each constant its atoms: the predicate, its place, the other constants."""
    neighbours: list[list[tuple[int, ...]]] = [[] for _ in range(graph.number_of_nodes)]
    for predicate, rows in enumerate(graph.members.values()):
        for row in rows.tolist():
            for place, node in enumerate(row):
                neighbours[node].append((predicate, place, *row[:place], *row[place + 1 :]))
    return neighbours


def _places(nodes: list[int]) -> Numbers:
    places = np.empty(len(nodes), np.int64)
    places[nodes] = np.arange(len(nodes))
    return places
