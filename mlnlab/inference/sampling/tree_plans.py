"""Whether a junction tree of the ground model is small: its elimination is tried on choices alone.

Nothing is summed and no table is made. The trial ends with the first clique that would be too large, so that
a dense model costs a moment only.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.errors import MlnlabError
from mlnlab.factors.trees.elimination_rules import eliminated_by_rule
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.networks.network_size import open_atoms_of, size_of
from mlnlab.grounding.question.question import Opening, list_atoms
from mlnlab.inference.answers.query_instances import all_instances

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses

    Numbers = NDArray[np.int64]

MOST_GROUND = 200_000  # open groundings, and open atoms: to ground them takes a second or so
LARGEST = 1 << 20  # cells of one table
MOST_CELLS = 1 << 25  # of all tables together: a second or two
_WIDEST = 16  # choices of a clause; wider ones are left to samplers


class TreePlan(NamedTuple):
    """The cliques that an elimination makes: how many, over how many variables, and their cells together.

    ``products`` counts a clique's cells once for each factor that is multiplied into it, ``passed`` once for
    each neighbour below it but the first.
    """

    cliques: int
    variables: int
    cells: int
    factors: int
    products: int
    passed: int


class TiedChoices(NamedTuple):
    """The choices that clauses and tables tie, as sets and as neighbours, and how many values each has."""

    scopes: list[Numbers]
    near: list[set[int]]
    sizes: list[int]


def tree_plan(asked: Opening, largest: int = LARGEST, most_cells: int = MOST_CELLS) -> TreePlan | None:
    """Return the size of a question's junction tree where it is small; ``None`` where it is not.

    ``largest`` bounds the cells of one table, ``most_cells`` those of all together.
    """
    return plan_of_ties(tied_choices(asked), largest, most_cells)


def tied_choices(asked: Opening, clauses: GroundClauses | None = None) -> TiedChoices | None:
    """Return the choices that are tied in a question that takes a moment to ground, or is ground by now."""
    try:
        # Atoms first: groundings take longer to be counted.
        if sum(open_atoms_of(asked).values()) > MOST_GROUND or size_of(asked).most_open > MOST_GROUND:
            return None
        if clauses is None:
            question = list_atoms(asked)
            clauses = ground_clauses(question, all_instances(question))
    except MlnlabError:
        return None
    scopes = scopes_of(clauses)
    if scopes is None:
        return None
    sizes = np.maximum(1, clauses.options).tolist()
    return TiedChoices(scopes, neighbours_of(scopes, len(sizes)), sizes)


def plan_of_ties(ties: TiedChoices | None, largest: int, most_cells: int) -> TreePlan | None:
    """Return the size of the junction tree over tied choices, by a trial of an elimination."""
    if ties is None or dense_part(ties.near, ties.sizes, largest):
        return None
    scopes, sizes, near = ties.scopes, ties.sizes, [set(others) for others in ties.near]
    costs: list[int] = []
    cells, variables, turns = 0, 0, np.zeros(len(sizes), np.int64)
    messages: list[tuple[int, ...]] = []
    for found in eliminated_by_rule(near, sizes, "min-fill", (range(len(near)),)):
        cost = sizes[found.variable] * prod(sizes[other] for other in found.others)
        turns[found.variable] = len(costs)
        costs.append(cost)
        messages.append(tuple(found.others))
        cells, variables = cells + cost, max(variables, len(found.others) + 1)
        if cost > largest or cells > most_cells:
            return None
    homes = [turns[rows].min(axis=1) for rows in scopes]  # a factor goes with its first variable
    products = sum(int(np.array(costs)[home].sum()) for home in homes)
    above = [int(turns[list(others)].min()) if others else -1 for others in messages]
    # A clique that is contained in the one below it is the same clique of the tree.
    below = Counter(
        parent
        for others, parent in zip(messages, above, strict=True)
        if parent >= 0 and len(messages[parent]) >= len(others)
    )
    passed = sum(costs[parent] * (children - 1) for parent, children in below.items())
    return TreePlan(len(costs), variables, cells, sum(map(len, homes)), products, passed)


def dense_part(near: list[set[int]], sizes: list[int], largest: int) -> set[int]:
    """Return variables of which the first to go makes too large a table, found by a walk along the edges.

    Where all variables of a part have many neighbours within it, the first of them to go makes the table.
    """
    fewest = largest.bit_length() - 1  # neighbours of two values or more
    left = {number for number, size in enumerate(sizes) if size > 1}
    degrees = {number: len(near[number] & left) for number in left}
    few = [number for number in left if degrees[number] < fewest]
    left.difference_update(few)
    while few:
        for other in near[few.pop()] & left:
            degrees[other] -= 1
            if degrees[other] < fewest:
                left.remove(other)
                few.append(other)
    return left


def scopes_of(clauses: GroundClauses) -> list[Numbers] | None:
    """Return the sets of choices that clauses and tables tie, each a sorted row, by their widths.

    ``None`` where one holds too many choices. A row of a set with fewer choices repeats one of them.
    """
    if len(clauses.gates.roots):
        return None
    number, firsts = len(clauses.options), clauses.first_atoms.astype(np.int64)
    owners = np.repeat(np.arange(number), firsts[1:] - firsts[:-1])
    rows_of: dict[int, list[Numbers]] = {}
    for members, starts in (
        (owners[clauses.literals.astype(np.int64) >> 1], clauses.starts.astype(np.int64)),
        (clauses.scope.astype(np.int64), clauses.scope_starts.astype(np.int64)),
    ):
        widths = starts[1:] - starts[:-1]
        for width in np.unique(widths[widths > 0]).tolist():
            rows = np.sort(members[starts[:-1][widths == width][:, None] + np.arange(width)], axis=1)
            if ((rows[:, 1:] != rows[:, :-1]).sum(axis=1) >= _WIDEST).any():
                return None
            rows_of.setdefault(width, []).append(rows)
    return [_distinct(np.concatenate(rows), number) for rows in rows_of.values()]


def _distinct(rows: Numbers, number: int) -> Numbers:
    """Return each row of choices once; short rows are told apart by one number each, which is faster."""
    if number ** rows.shape[1] >= 1 << 62:
        found: Numbers = np.unique(rows, axis=0)
        return found
    places = number ** np.arange(rows.shape[1])
    return rows[np.unique(rows @ places, return_index=True)[1]]


def neighbours_of(scopes: Sequence[Numbers], number: int) -> list[set[int]]:
    """Return the choices beside each choice in some scope."""
    keys = [
        rows[:, one] * number + rows[:, other]
        for rows in scopes
        for one, other in combinations(range(rows.shape[1]), 2)
    ]
    pairs = np.unique(np.concatenate(keys)) if keys else np.zeros(0, np.int64)
    near: list[set[int]] = [set() for _ in range(number)]
    for one, other in zip((pairs // number).tolist(), (pairs % number).tolist(), strict=True):
        if one != other:
            near[one].add(other)
            near[other].add(one)
    return near
