"""SampleSAT: worlds that satisfy a set of constraints, by moves that mend and moves that wander.

Wei, Erenrich and Selman, Towards efficient sampling: exploiting random walk strategies (AAAI 2004). The
constraints are ground clauses and tables that a slice asks for (:mod:`mlnlab.kernels.sample_sat_slices`); a
*component* of them shares no open choice with the others. A move gives one choice another option. Two kinds:

    walk     takes a broken constraint and mends it, with the move that breaks the fewest others (WalkSAT)
    wander   takes any choice; breaks a constraint with probability exp(-1 / temperature) (annealing)

Wandering alone is a Metropolis walk: watched only where nothing is broken, it visits all worlds of the
slice equally often, and leaves the uniform distribution as it is. Walking is not, but it gets far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.ground_network import Chain, Network
from mlnlab.kernels.random_numbers import next_below, next_uniform
from mlnlab.kernels.sample_sat_constraints import (
    BROKEN,
    FIRST,
    HAND,
    MEMBERS,
    Constraints,
    Slice,
    flip,
    is_plain,
    move,
    other_option,
    smallest_slice,
)

if TYPE_CHECKING:
    from typing import Any

    Number = int | np.integer[Any]

_1 = np.uint32(1)
NOISE = 0.5  # share of the walking moves that take any literal, as in Wei, Erenrich and Selman (2004)


@compiled
def broken_by_flip(network: Network, chain: Chain, work: Slice, atom: Number) -> int:
    """Count the clauses in hand that only this atom's literal satisfies."""
    value, number = chain.values[atom], 0
    for place in range(network.atom_starts[atom], network.atom_starts[atom + 1]):
        occurrence = network.occurrences[place]
        clause = occurrence >> _1
        if work.asked[clause] == HAND and (value ^ (occurrence & _1)):
            number += chain.satisfied[clause] == 1
    return number


@compiled
def mended_by_flip(network: Network, chain: Chain, work: Slice, atom: Number) -> int:
    """Count the broken clauses in hand that this atom's flip satisfies."""
    value, number = chain.values[atom], 0
    for place in range(network.atom_starts[atom], network.atom_starts[atom + 1]):
        occurrence = network.occurrences[place]
        clause = occurrence >> _1
        if work.asked[clause] == HAND and not (value ^ (occurrence & _1)):
            number += chain.satisfied[clause] == 0
    return number


# --- moves ----------------------------------------------------------------------------------------


@compiled
def wander(network: Network, constraints: Constraints, chain: Chain, work: Slice, acceptance: float) -> None:
    """Try another option of any member; each constraint it breaks on balance is accepted so probably."""
    choice = work.members[work.sizes[FIRST] + next_below(chain.random, work.sizes[MEMBERS])]
    if is_plain(network, choice):
        atom = network.first_atoms[choice]
        change = broken_by_flip(network, chain, work, atom)
        if work.sizes[BROKEN]:
            change -= mended_by_flip(network, chain, work, atom)
        if change <= 0 or next_uniform(chain.random) < acceptance**change:
            flip(network, chain, work, atom)
            chain.chosen[choice] = _1 - chain.chosen[choice]
            work.drawn[choice] = chain.chosen[choice]
        return
    before, old = work.sizes[BROKEN], np.int64(chain.chosen[choice])
    move(network, constraints, chain, work, choice, other_option(network, chain, work, choice))
    change = work.sizes[BROKEN] - before
    if change > 0 and next_uniform(chain.random) >= acceptance**change:
        move(network, constraints, chain, work, choice, old)


@compiled
def walk(network: Network, constraints: Constraints, chain: Chain, work: Slice) -> None:
    """Take a broken constraint and change a choice of it: any, or the one that breaks the fewest others."""
    constraint = np.int64(work.broken[next_below(chain.random, work.sizes[BROKEN])])
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


@compiled
def breaks(
    network: Network, constraints: Constraints, chain: Chain, work: Slice, place: Number, in_table: bool
) -> Number:
    """Count what a walking move at a literal, or at a place in a table, would break on balance."""
    if in_table:
        return np.int64(
            0
        )  # of tables any place will do: which option would mend them is not known beforehand
    atom = constraints.literals[place] >> _1
    choice = constraints.owners[atom]
    if is_plain(network, choice):
        return np.int64(broken_by_flip(network, chain, work, atom))
    before, old = work.sizes[BROKEN], np.int64(chain.chosen[choice])
    mend(network, constraints, chain, work, place, in_table)
    number: Number = work.sizes[BROKEN] - before + 1
    move(network, constraints, chain, work, choice, old)
    return number


@compiled
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


@compiled
def search(
    network: Network, constraints: Constraints, chain: Chain, work: Slice,
    walking: float, acceptance: float, most: int,
) -> int:  # fmt: skip
    """Move until nothing in hand is broken, at most so often; return the number of moves."""
    for number in range(most):
        if work.sizes[BROKEN] == 0:
            return number
        if next_uniform(chain.random) < walking:
            walk(network, constraints, chain, work)
        else:
            wander(network, constraints, chain, work, acceptance)
    return most


@compiled
def visit(
    network: Network, constraints: Constraints, chain: Chain, work: Slice,
    visits: int, acceptance: float, most: int,
) -> int:  # fmt: skip
    """Wander until nothing was broken after so many moves, at most so long; return the number of moves."""
    for number in range(most):
        if visits == 0:
            return number
        wander(network, constraints, chain, work, acceptance)
        visits -= work.sizes[BROKEN] == 0
    return most


def warm_up() -> None:
    """Compile every kernel of this file."""
    network, chain, constraints, work = smallest_slice()
    work.sizes[MEMBERS] = 1
    search(network, constraints, chain, work, 0.5, 0.5, 2)
    visit(network, constraints, chain, work, 1, 0.5, 2)
