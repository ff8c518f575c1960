"""SampleSAT: worlds that satisfy a set of constraints, by moves that mend and moves that wander.

Wei, Erenrich and Selman, Towards efficient sampling: exploiting random walk strategies (AAAI 2004). The
constraints are ground clauses and tables that a slice asks for
(:mod:`mlnlab.kernels.chains.sample_sat_slices`); a
*component* of them shares no open choice with the others. A move gives one choice another option. Two kinds:

    walk     takes a broken constraint and mends it, with the move that breaks the fewest others (WalkSAT)
    wander   takes any choice; breaks a constraint with probability exp(-1 / temperature) (annealing)

Wandering alone is a Metropolis walk: watched only where nothing is broken, it visits all worlds of the
slice equally often, and leaves the uniform distribution as it is. Walking is not, but it gets far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.chains.sample_sat_constraints import (
    BROKEN,
    FIRST,
    HAND,
    MEMBERS,
    NOBODY,
    Constraints,
    Slice,
    flip,
    look_up_atoms,
    move,
    other_option,
    smallest_slice,
    write_options,
)
from mlnlab.kernels.chains.world_arrays import Chain, Network
from mlnlab.kernels.compiled import borrowing, inlined
from mlnlab.kernels.random_numbers import next_below, next_uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

_1 = np.uint32(1)
NOISE = 0.5  # share of the walking moves that take any literal, as in Wei, Erenrich and Selman (2004)


@inlined
def broken_by_flip(
    atom_starts: NDArray[np.uint32], occurrences: NDArray[np.uint32], satisfied: NDArray[np.uint32],
    asked: NDArray[np.uint8], value: Number, atom: np.uint32,
) -> int:  # fmt: skip
    """Count the clauses in hand that only this atom's literal satisfies."""
    number = 0
    for place in range(atom_starts[atom], atom_starts[atom + _1]):
        occurrence = occurrences[place]
        if value ^ (occurrence & _1):
            clause = occurrence >> _1
            number += satisfied[clause] == 1 and asked[clause] == HAND
    return number


@inlined
def change_by_flip(
    atom_starts: NDArray[np.uint32], occurrences: NDArray[np.uint32], satisfied: NDArray[np.uint32],
    asked: NDArray[np.uint8], value: Number, atom: np.uint32,
) -> int:  # fmt: skip
    """Count the clauses in hand that break by this atom's flip, less those that it mends."""
    number = 0
    for place in range(atom_starts[atom], atom_starts[atom + _1]):
        occurrence = occurrences[place]
        clause, is_true = occurrence >> _1, value ^ (occurrence & _1)
        if satisfied[clause] == is_true and asked[clause] == HAND:
            number += 1 if is_true else -1
    return number


# --- moves of any choice --------------------------------------------------------------------------


@borrowing
def wander_block(
    network: Network, constraints: Constraints, chain: Chain, work: Slice, choice: Number, acceptance: float
) -> None:
    """Try another option of a block, or of an atom in tables; undo a rejected move."""
    before, old = work.sizes[BROKEN], np.int64(chain.chosen[choice])
    move(network, constraints, chain, work, choice, other_option(network, chain, work, choice))
    change = work.sizes[BROKEN] - before
    if change > 0 and next_uniform(chain.random) >= acceptance**change:
        move(network, constraints, chain, work, choice, old)


@borrowing
def walk(network: Network, constraints: Constraints, chain: Chain, work: Slice, constraint: Number) -> None:
    """Change a choice of a broken constraint: any, or the one that breaks the fewest others."""
    clauses = len(constraints.odds)
    in_table = bool(constraint >= clauses)
    if in_table:
        start = np.int64(constraints.scope_starts[constraint - clauses])
        end = np.int64(constraints.scope_starts[constraint - clauses + 1])
    else:
        start, end = np.int64(constraints.starts[constraint]), np.int64(constraints.starts[constraint + 1])
    at_random = next_uniform(chain.random) < NOISE
    fewest: Number = np.int64(1 << 40)
    best: Number = np.int64(-1)
    ties = 0
    for place in range(start, end):
        if in_table:
            choice = np.int64(constraints.scope[place])
        else:
            choice = np.int64(constraints.owners[constraints.literals[place] >> _1])
        if work.fixed[choice] or (not in_table and work.frozen[constraints.literals[place] >> _1]):
            continue
        number = np.int64(0) if at_random else breaks(network, constraints, chain, work, place, in_table)
        if number < fewest:
            fewest, best, ties = number, place, 1
        elif number == fewest:
            ties += 1
            if next_below(chain.random, ties) == 0:
                best = place
    mend(network, constraints, chain, work, best, in_table)


@borrowing
def breaks(
    network: Network, constraints: Constraints, chain: Chain, work: Slice, place: Number, in_table: bool
) -> Number:
    """Count the constraints that a walking move at a literal or table place would break on balance."""
    if in_table:
        return np.int64(0)  # any place will do: which option would mend a table is not known beforehand
    atom = constraints.literals[place] >> _1
    choice = constraints.owners[atom]
    if constraints.plain[choice]:
        value = chain.values[atom]
        return np.int64(
            broken_by_flip(network.atom_starts, network.occurrences, chain.satisfied, work.asked, value, atom)
        )
    before, old = work.sizes[BROKEN], np.int64(chain.chosen[choice])
    mend(network, constraints, chain, work, place, in_table)
    number: Number = work.sizes[BROKEN] - before + 1
    move(network, constraints, chain, work, choice, old)
    return number


@borrowing
def mend(
    network: Network, constraints: Constraints, chain: Chain, work: Slice, place: Number, in_table: bool
) -> None:
    """Make a literal true; in a table give the choice at a place any other option."""
    if in_table:
        choice = np.int64(constraints.scope[place])
        option = other_option(network, chain, work, choice)
    else:
        literal = constraints.literals[place]
        atom = np.int64(literal >> _1)
        choice = np.int64(constraints.owners[atom])
        option = atom - np.int64(network.first_atoms[choice])
        if literal & _1:
            option = other_option(network, chain, work, choice)
    move(network, constraints, chain, work, choice, option)


# --- searching and wandering ----------------------------------------------------------------------


@inlined
def wander_atom(
    atom_starts: NDArray[np.uint32], occurrences: NDArray[np.uint32], satisfied: NDArray[np.uint32],
    values: NDArray[np.uint8], asked: NDArray[np.uint8], broken: NDArray[np.uint32],
    places: NDArray[np.uint32], number: np.uint64, random: NDArray[np.uint64],
    atom: np.uint32, acceptance: float,
) -> np.uint64:  # fmt: skip
    """Flip an atom without tables, where that breaks too little to be refused; return how many are broken."""
    value = values[atom]
    change = change_by_flip(atom_starts, occurrences, satisfied, asked, value, atom)
    probability = 1.0
    for _ in range(change):
        probability *= acceptance
    if change <= 0 or next_uniform(random) < probability:
        number = flip(atom_starts, occurrences, satisfied, values, asked, broken, places, number, atom)
    return number


@inlined
def pick_atom(
    starts: NDArray[np.uint32], literals: NDArray[np.uint32], frozen: NDArray[np.uint8],
    atom_starts: NDArray[np.uint32], occurrences: NDArray[np.uint32], satisfied: NDArray[np.uint32],
    values: NDArray[np.uint8], asked: NDArray[np.uint8], random: NDArray[np.uint64], clause: np.uint32,
) -> np.uint32:  # fmt: skip
    """Return the atom of a broken clause to flip: any, or the one that breaks the fewest others."""
    at_random = next_uniform(random) < NOISE
    fewest, best, ties = 1 << 40, np.uint32(0), 0
    for place in range(starts[clause], starts[clause + _1]):
        atom = literals[place] >> _1
        if frozen[atom]:
            continue
        number = 0
        if not at_random:
            number = broken_by_flip(atom_starts, occurrences, satisfied, asked, values[atom], atom)
        if number < fewest:
            fewest, best, ties = number, atom, 1
        elif number == fewest:
            ties += 1
            if next_below(random, ties) == 0:
                best = atom
    return best


@borrowing
def wander(
    network: Network, constraints: Constraints, chain: Chain, work: Slice, acceptance: float, visits: int,
    most: int,
) -> int:  # fmt: skip
    """Try other options of any members; each constraint that breaks on balance is accepted so probably.

    Until nothing was broken after so many moves, at most so long; return the number of moves.
    """
    # Calls with all arrays cost more than a move itself, so those of plain atoms get what they need.
    atom_starts, occurrences, satisfied = network.atom_starts, network.occurrences, chain.satisfied
    values, asked, members, sizes, random = chain.values, work.asked, work.members, work.sizes, chain.random
    broken, places, movable, moves = work.broken, work.places, work.movable, 0
    first, number = sizes[FIRST], sizes[MEMBERS]
    look_up_atoms(members, movable, first, number, constraints.plain, network.first_atoms)
    unmet = np.uint64(sizes[BROKEN])
    while visits and moves < most:
        place = np.uint64(first + next_below(random, number))
        atom = movable[place]
        if atom != NOBODY:
            unmet = wander_atom(
                atom_starts, occurrences, satisfied, values, asked, broken, places, unmet, random,
                atom, acceptance,
            )  # fmt: skip
        else:
            sizes[BROKEN] = unmet
            wander_block(network, constraints, chain, work, members[place], acceptance)
            unmet = np.uint64(sizes[BROKEN])
        visits -= unmet == 0
        moves += 1
    sizes[BROKEN] = unmet
    write_options(members, movable, first, number, values, chain.chosen, work.drawn)
    return moves


@borrowing
def search(
    network: Network, constraints: Constraints, chain: Chain, work: Slice, walking: float, acceptance: float,
    most: int,
) -> int:  # fmt: skip
    """Move until nothing in hand is broken, at most so often; return the number of moves."""
    atom_starts, occurrences, satisfied = network.atom_starts, network.occurrences, chain.satisfied
    values, asked, members, sizes, random = chain.values, work.asked, work.members, work.sizes, chain.random
    broken, places, movable, moves = work.broken, work.places, work.movable, 0
    first, number = sizes[FIRST], sizes[MEMBERS]
    starts, literals, simple = constraints.starts, constraints.literals, constraints.simple
    frozen = work.frozen
    look_up_atoms(members, movable, first, number, constraints.plain, network.first_atoms)
    unmet = np.uint64(sizes[BROKEN])
    while unmet and moves < most:
        moves += 1
        if next_uniform(random) < walking:
            constraint = broken[np.uint64(next_below(random, np.int64(unmet)))]  # type: ignore[arg-type]
            if not simple[constraint]:
                sizes[BROKEN] = unmet
                walk(network, constraints, chain, work, constraint)
                unmet = np.uint64(sizes[BROKEN])
                continue
            atom = pick_atom(
                starts, literals, frozen, atom_starts, occurrences, satisfied, values, asked, random,
                constraint,
            )  # fmt: skip
            unmet = flip(atom_starts, occurrences, satisfied, values, asked, broken, places, unmet, atom)
            continue
        place = np.uint64(first + next_below(random, number))
        atom = movable[place]
        if atom != NOBODY:
            unmet = wander_atom(
                atom_starts, occurrences, satisfied, values, asked, broken, places, unmet, random,
                atom, acceptance,
            )  # fmt: skip
        else:
            sizes[BROKEN] = unmet
            wander_block(network, constraints, chain, work, members[place], acceptance)
            unmet = np.uint64(sizes[BROKEN])
    sizes[BROKEN] = unmet
    write_options(members, movable, first, number, values, chain.chosen, work.drawn)
    return moves


def warm_up() -> None:
    """Compile every kernel of this file."""
    network, chain, constraints, work = smallest_slice()
    work.sizes[MEMBERS] = 1
    search(network, constraints, chain, work, 0.5, 0.5, 2)
    wander(network, constraints, chain, work, 0.5, 1, 2)
