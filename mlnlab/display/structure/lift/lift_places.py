"""Place the constants of a run of LiftGraph, where they stay from its first step to its last.

Constants of one type that occur in the same arguments of the same predicates make a block. In it those lie
side by side that occur in similar atoms, which the run is likely to merge. The database alone says so: a
picture can be drawn before the run begins, and each step finds the constants in place.
"""

from __future__ import annotations

from functools import partial
from itertools import combinations, product
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.nodelink.layouts.boxes import Placed
from mlnlab.display.structure.lift.lifted_places import MOST_NAMED, in_grid, slots_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.display.structure.lift.lifted_places import Size, Slots
    from mlnlab.model.database.hypergraph import Hypergraph

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]

PANEL = 430.0
MOST_ROLES = 3  # blocks of one type; of more, the type is one block
_MOST_IN_COLUMN = 8
_MOST_IN_TWO = 8  # blocks on two sides
_ASIDE = 92.0  # pixels from a block to that below, for lines between them
_MOST_COMPARED = 200  # atoms over which constants are compared one by one
_MEMORY = 6  # constants before, with which the next one is compared


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
