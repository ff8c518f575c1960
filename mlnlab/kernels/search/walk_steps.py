"""Hold a walk of MaxWalkSAT: broken constraints, last changes and the best world; and flip atoms.

A *constraint* is a clause, or behind the clauses a table; it is *broken* where it is false with a positive
strength or true with a negative one. The broken ones stand in a list without order, so that one is drawn,
added or taken away at once. The arrays come one by one: a tuple of them costs more than the work does.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.chains.world_arrays import Chain, Network, smallest
from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

_1 = np.uint32(1)
NOBODY = np.uint32(0xFFFFFFFF)  # where there is no atom
BROKEN, FLIPS, TRAIL = 0, 1, 2  # in Walk.numbers
NOW, BEST = 0, 1  # in Walk.costs
BY_NOISE, BY_COST = 1, 2  # why a choice was changed, in Walk.last


class Members(NamedTuple):
    """The literals or choices of each constraint, and the choice of each atom."""

    starts: NDArray[np.uint32]  # clause c: literals[starts[c] : starts[c + 1]]
    literals: NDArray[np.uint32]
    scope_starts: NDArray[np.uint32]  # table t: scope[scope_starts[t] : scope_starts[t + 1]]
    scope: NDArray[np.uint32]
    choices: NDArray[np.uint32]  # of each atom
    simple: NDArray[np.uint8]  # of each clause: whether none of its atoms is of a block or in a table


class Walk(NamedTuple):
    """The state of a walk besides its world: broken constraints, last changes, the best world so far."""

    broken: NDArray[np.uint32]  # the first numbers[BROKEN] constraints are broken
    places: NDArray[np.uint32]  # of each constraint: 1 + its place among the broken ones, or 0
    changed: NDArray[np.int64]  # of each atom: the move that flipped it last
    recent: NDArray[np.uint32]  # the atoms of the last moves, two for each, as a ring
    best: NDArray[np.uint32]  # the options of the best world
    trail: NDArray[np.uint32]  # the choices changed since then; full where they are too many
    numbers: NDArray[np.int64]
    costs: NDArray[np.float64]
    last: NDArray[np.int64]  # the last move: constraint, choice, its option before, why


def new_walk(network: Network, tabu: int) -> Walk:
    """Return a walk in which nothing is known to be broken yet, and no world the best."""
    atoms, choices = len(network.atom_starts) - 1, len(network.options)
    constraints = len(network.strengths) + len(network.table_strengths)
    return Walk(
        np.zeros(constraints, np.uint32), np.zeros(constraints, np.uint32),
        np.full(atoms, -(1 << 62), np.int64), np.full(2 * max(1, tabu), NOBODY, np.uint32),
        np.zeros(choices, np.uint32), np.zeros(choices, np.uint32),
        np.array([0, 0, choices], np.int64), np.full(2, inf), np.array([-1, -1, -1, 0], np.int64),
    )  # fmt: skip


@compiled
def pick_atom(
    values: NDArray[np.uint8], satisfied: NDArray[np.uint32], changed: NDArray[np.int64],
    strengths: NDArray[np.float64], occurrences: NDArray[np.uint32], atom_starts: NDArray[np.uint32],
    literals: NDArray[np.uint32], start: Number, end: Number, place: Number,
    unwanted: bool, by_noise: bool, since: Number,
) -> tuple[np.uint32, float]:  # fmt: skip
    """Return the atom of a clause to flip and the change of cost; of equal ones the first from a place on.

    An unwanted clause is broken because it is true: each of its true literals is one too many.
    """
    found, least = NOBODY, inf
    for _ in range(start, end):
        literal = literals[place]
        place = place + _1 if place + _1 < end else start
        atom = literal >> _1
        value = values[atom]
        if (unwanted and not value ^ (literal & _1)) or (changed[atom] >= since and not by_noise):
            continue
        change = 0.0
        for spot in range(atom_starts[atom], atom_starts[atom + _1]):
            clause, truth = occurrences[spot] >> _1, value ^ (occurrences[spot] & _1)
            gain = strengths[clause] if truth else -strengths[clause]
            change += gain if satisfied[clause] == truth else 0.0  # unless another literal satisfies it
        if change < least:
            found, least = atom, change
            if by_noise:
                break
    return found, least


@compiled
def turn_clauses(
    satisfied: NDArray[np.uint32], strengths: NDArray[np.float64], occurrences: NDArray[np.uint32],
    broken: NDArray[np.uint32], places: NDArray[np.uint32],
    number: Number, start: Number, end: Number, value: Number,
) -> Number:  # fmt: skip
    """Flip an atom of this value in the counts of its clauses; return how many are broken then."""
    # Written out: a call for each constraint costs more than all the rest.
    for spot in range(start, end):
        occurrence = occurrences[spot]
        clause = occurrence >> _1
        before = satisfied[clause]
        if value ^ (occurrence & _1):
            satisfied[clause] = before - _1
            if before != _1:
                continue
            worse = strengths[clause]
        else:
            satisfied[clause] = before + _1
            if before != 0:
                continue
            worse = -strengths[clause]
        if worse > 0.0:
            broken[number] = clause
            number += 1
            places[clause] = number
        elif worse < 0.0:
            number -= 1
            place, moved = places[clause] - _1, broken[number]
            broken[place] = moved
            places[moved] = place + _1
    return number


@compiled
def turn_constraint(
    broken: NDArray[np.uint32], places: NDArray[np.uint32], number: Number, constraint: Number, worse: float
) -> Number:  # fmt: skip
    """Put a constraint among the broken ones where it has become worse, take it from there where better."""
    if worse > 0.0:
        broken[number] = constraint
        places[constraint] = number + 1
        return number + 1
    if worse < 0.0:
        place, moved = places[constraint] - _1, broken[number - 1]
        broken[place] = moved
        places[moved] = place + _1
        return number - 1
    return number


@compiled
def is_better(costs: NDArray[np.float64]) -> bool:
    """Return whether this world is cheaper than the best; sums of floats drift, by so little none is."""
    return bool(costs[NOW] < costs[BEST] - 1e-12 * (1.0 + abs(costs[BEST])))


@compiled
def keep_best(
    chosen: NDArray[np.uint32], best: NDArray[np.uint32], trail: NDArray[np.uint32],
    numbers: NDArray[np.int64], costs: NDArray[np.float64],
) -> None:  # fmt: skip
    """Remember the world; where few choices have changed since the last best one, only these are copied."""
    costs[BEST] = costs[NOW]
    if numbers[TRAIL] < len(trail):
        for place in range(numbers[TRAIL]):
            best[trail[place]] = chosen[trail[place]]
    else:
        for place in range(len(best)):
            best[place] = chosen[place]
    numbers[TRAIL] = 0


@compiled
def find_broken(network: Network, chain: Chain, walk: Walk) -> None:
    """Put all that is broken into the walk, which has nothing broken yet."""
    number: Number = np.int64(0)
    for clause in range(len(network.strengths)):
        strength = network.strengths[clause]
        if strength != 0.0 and (strength > 0.0) != (chain.satisfied[clause] != 0):
            number = turn_constraint(walk.broken, walk.places, number, np.uint32(clause), 1.0)
    for table in range(len(network.table_strengths)):
        strength, place = network.table_strengths[table], network.table_starts[table] + chain.cells[table]
        if strength != 0.0 and (strength > 0.0) != (network.bits[place] != 0):
            constraint = np.uint32(len(network.strengths) + table)
            number = turn_constraint(walk.broken, walk.places, number, constraint, 1.0)
    walk.numbers[BROKEN] = number


def warm_up() -> None:
    """Compile every kernel of this file that is called from Python."""
    network, chain = smallest()
    find_broken(network, chain, new_walk(network, 1))
