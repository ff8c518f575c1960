"""Moves of MaxWalkSAT that have to do with blocks of exclusive atoms and with tables.

Such a move gives a choice another option. In a block it flips two atoms at once, so all of its options are
scored in one go, with none of its atoms true.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.chains.modes import score_options
from mlnlab.kernels.chains.world_arrays import Chain, Network, pass_on, smallest
from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.random_numbers import next_below
from mlnlab.kernels.search.walk_steps import (
    BROKEN,
    FLIPS,
    NOW,
    TRAIL,
    Members,
    Walk,
    is_better,
    keep_best,
    turn_clauses,
    turn_constraint,
)

if TYPE_CHECKING:
    Number = int | np.integer[Any]

_1 = np.uint32(1)
MOST_LOOKED_AT = 16  # choices of a table; one that counts may have thousands


@compiled
def repair(
    network: Network, members: Members, chain: Chain, walk: Walk,
    constraint: Number, by_noise: bool, since: Number,
) -> None:  # fmt: skip
    """Make a move for a constraint that a block or a table has to do with."""
    clauses = len(network.strengths)
    if constraint < clauses:
        choice, option, change = pick_in_clause(network, members, chain, walk, constraint, by_noise, since)
    else:
        choice, option, change = pick_in_table(
            network, members, chain, walk, constraint - clauses, by_noise, since
        )
    if choice < 0:
        return
    walk.last[1], walk.last[2] = choice, chain.chosen[choice]
    move(network, chain, walk, choice, option)
    walk.costs[NOW] += change
    if walk.numbers[TRAIL] < len(walk.trail):
        walk.trail[walk.numbers[TRAIL]] = choice
        walk.numbers[TRAIL] += 1
    if is_better(walk.costs):
        keep_best(chain.chosen, walk.best, walk.trail, walk.numbers, walk.costs)


@compiled
def pick_in_clause(
    network: Network, members: Members, chain: Chain, walk: Walk,
    clause: Number, by_noise: bool, since: Number,
) -> tuple[Number, Number, float]:  # fmt: skip
    """Return the choice, the option and the change of cost of a move that repairs a clause; -1 for none."""
    start, end = np.int64(members.starts[clause]), np.int64(members.starts[clause + 1])
    unwanted = network.strengths[clause] < 0
    place = start + next_below(chain.random, int(end - start))
    found, option, least = np.int64(-1), np.int64(0), inf
    for _ in range(end - start):
        literal = members.literals[place]
        place = place + 1 if place + 1 < end else start
        atom = literal >> _1
        if unwanted and not chain.values[atom] ^ (literal & _1):
            continue
        if walk.changed[atom] >= since and not by_noise:
            continue
        to, change = pick_option(network, members, chain, atom, by_noise)
        if change < least:
            found, option, least = np.int64(members.choices[atom]), to, change
            if by_noise:
                break
    return found, option, least


@compiled
def pick_option(
    network: Network, members: Members, chain: Chain, atom: Number, by_noise: bool
) -> tuple[np.int64, float]:
    """Return the option that flips an atom, and the change of cost; infinite where there is none."""
    choice = members.choices[atom]
    options, first = np.int64(network.options[choice]), np.int64(network.first_atoms[choice])
    if options == 1:
        return np.int64(0), inf
    score_options(network, chain, choice)
    chosen = np.int64(chain.chosen[choice])
    option = np.int64(atom) - first
    if chain.values[atom]:
        option = other_option(chain, chosen, options, by_noise)
    return option, chain.scores[chosen] - chain.scores[option]


@compiled
def other_option(chain: Chain, chosen: np.int64, options: np.int64, by_noise: bool) -> np.int64:
    """Return another option than the chosen one: any, or the one with the highest score."""
    if by_noise:
        drawn = np.int64(next_below(chain.random, int(options - 1)))
        return drawn + 1 if drawn >= chosen else drawn
    found = np.int64(1 if chosen == 0 else 0)
    for option in range(found + 1, options):
        if option != chosen and chain.scores[option] > chain.scores[found]:
            found = np.int64(option)
    return found


@compiled
def pick_in_table(
    network: Network, members: Members, chain: Chain, walk: Walk,
    table: Number, by_noise: bool, since: Number,
) -> tuple[Number, Number, float]:  # fmt: skip
    """Return the choice, the option and the change of cost of a move that may repair a table; -1 for none."""
    start, end = np.int64(members.scope_starts[table]), np.int64(members.scope_starts[table + 1])
    place = start + next_below(chain.random, int(end - start))
    found, option, least = np.int64(-1), np.int64(0), inf
    for _ in range(min(int(end - start), MOST_LOOKED_AT)):
        choice = np.int64(members.scope[place])
        place = place + 1 if place + 1 < end else start
        options, chosen = np.int64(network.options[choice]), np.int64(chain.chosen[choice])
        if options == 1:
            continue
        atom = min(network.first_atoms[choice] + chosen, np.int64(network.first_atoms[choice + 1]) - 1)
        if walk.changed[atom] >= since and not by_noise:
            continue
        score_options(network, chain, choice)
        to = other_option(chain, chosen, options, by_noise)
        change = chain.scores[chosen] - chain.scores[to]
        if change < least:
            found, option, least = choice, to, change
        if by_noise:
            break
    return found, option, least


@compiled
def move(network: Network, chain: Chain, walk: Walk, choice: Number, option: Number) -> None:
    """Change a choice, and update the broken constraints."""
    first, end = np.int64(network.first_atoms[choice]), np.int64(network.first_atoms[choice + 1])
    chosen, clauses = np.int64(chain.chosen[choice]), len(network.strengths)
    moves = walk.numbers[FLIPS] - 1
    slot = 2 * (moves % np.int64(len(walk.recent) >> 1))
    for atom in (first + chosen, first + option):
        if atom < end:
            start, beyond = np.int64(network.atom_starts[atom]), np.int64(network.atom_starts[atom + 1])
            value = np.int64(chain.values[atom])
            walk.numbers[BROKEN] = turn_clauses(
                chain.satisfied, network.strengths, network.occurrences, walk.broken, walk.places,
                walk.numbers[BROKEN], start, beyond, value,
            )  # fmt: skip
            chain.values[atom] = 1 - value
            walk.changed[atom] = moves
            walk.recent[slot] = atom
            slot += 1
    for place in range(network.choice_starts[choice], network.choice_starts[choice + 1]):
        table: Number = np.int64(network.choice_tables[place])
        stride = np.int64(network.choice_strides[place])
        before = np.int64(network.table_starts[table]) + np.int64(chain.cells[table])
        after = before + (option - chosen) * stride
        chain.cells[table] = after - np.int64(network.table_starts[table])
        if network.gated[choice]:
            table, cell = pass_on(
                network.table_parents, network.table_steps, network.table_starts, network.bits, chain.cells,
                table, before - np.int64(network.table_starts[table]),
            )  # fmt: skip
            before = np.int64(network.table_starts[table]) + np.int64(cell)
            after = np.int64(network.table_starts[table]) + np.int64(chain.cells[table])
        if network.bits[before] != network.bits[after]:
            strength = network.table_strengths[table]
            worse = -strength if network.bits[after] else strength
            walk.numbers[BROKEN] = turn_constraint(
                walk.broken, walk.places, walk.numbers[BROKEN], np.uint32(clauses + table), worse
            )
    chain.chosen[choice] = option


def warm_up() -> None:
    """Compile the parts of these moves; the moves themselves are compiled with the search."""
    network, chain = smallest()
    score_options(network, chain, np.int64(0))
