"""MaxWalkSAT over ground clauses, tables and blocks: repair a broken constraint, again and again.

The arrays are those of :mod:`mlnlab.kernels.chains.world_arrays`, with finite strengths: what must hold has
one that outweighs all the rest. A *move* changes one choice: it flips an atom, or gives a block another
option. Where nothing but plain clauses is broken, the loop is
``tests/benchmarks/beside_c/walk_sat.c``.
"""

from __future__ import annotations

import numpy as np

from mlnlab.kernels.chains.world_arrays import Chain, Network, smallest
from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.random_numbers import next_below, next_uniform
from mlnlab.kernels.search.walk_blocks import repair
from mlnlab.kernels.search.walk_steps import (
    BEST,
    BROKEN,
    BY_COST,
    BY_NOISE,
    FLIPS,
    NOBODY,
    NOW,
    TRAIL,
    Members,
    Walk,
    find_broken,
    is_better,
    keep_best,
    new_walk,
    pick_atom,
    turn_clauses,
)

_1 = np.uint32(1)


@compiled
def search(
    network: Network, members: Members, chain: Chain, walk: Walk,
    most: int, noise: float, tabu: int, target: float,
) -> None:  # fmt: skip
    """Make ``most`` moves; stop early where nothing is broken or the target cost is reached."""
    # Tuples cost much in the innermost loop, so the way of plain clauses goes over local names.
    values, satisfied, chosen, random = chain.values, chain.satisfied, chain.chosen, chain.random
    strengths, occurrences, atom_starts = network.strengths, network.occurrences, network.atom_starts
    broken, places, changed, numbers = walk.broken, walk.places, walk.changed, walk.numbers
    starts, literals, choices, simple = members.starts, members.literals, members.choices, members.simple
    costs, trail, recent, last = walk.costs, walk.trail, walk.recent, walk.last
    slots = np.int64(len(recent) >> 1)
    for _ in range(most):
        if numbers[BROKEN] == 0 or costs[BEST] <= target:
            return
        constraint = broken[next_below(random, numbers[BROKEN])]
        by_noise, moves = next_uniform(random) < noise, numbers[FLIPS]
        numbers[FLIPS] = moves + 1
        slot = 2 * (moves % slots)
        recent[slot] = recent[slot + 1] = NOBODY
        last[0], last[1], last[3] = constraint, -1, BY_NOISE if by_noise else BY_COST
        if constraint >= len(simple) or not simple[constraint]:
            repair(network, members, chain, walk, constraint, by_noise, moves - tabu)
            continue
        start, end = starts[constraint], starts[constraint + 1]
        atom, change = pick_atom(
            values, satisfied, changed, strengths, occurrences, atom_starts, literals,
            start, end, start + np.uint32(next_below(random, end - start)),
            strengths[constraint] < 0, by_noise, moves - tabu,
        )  # fmt: skip
        if atom == NOBODY:
            continue
        value, choice = values[atom], choices[atom]
        numbers[BROKEN] = turn_clauses(
            satisfied, strengths, occurrences, broken, places,
            numbers[BROKEN], atom_starts[atom], atom_starts[atom + _1], value,
        )  # fmt: skip
        values[atom], changed[atom], recent[slot], chosen[choice] = 1 - value, moves, atom, value
        last[1], last[2] = choice, 1 - value  # option 0 makes an atom true, option 1 false
        costs[NOW] += change
        if numbers[TRAIL] < len(trail):
            trail[numbers[TRAIL]] = choice
            numbers[TRAIL] += 1
        if is_better(costs):
            keep_best(chosen, walk.best, trail, numbers, costs)


def warm_up() -> None:
    """Compile every kernel of this file."""
    network, chain = smallest()
    starts, empty = network.atom_starts, network.occurrences
    members = Members(starts, empty, starts, empty, starts, network.bits)
    walk = new_walk(network, 1)
    find_broken(network, chain, walk)
    search(network, members, chain, walk, 1, 0.5, 1, 0.0)
