"""One step of MC-SAT: choose constraints that hold, then draw a world in which they all still hold.

Poon and Domingos, Sound and efficient inference with probabilistic and deterministic dependencies (AAAI
2006). What a slice asks for is satisfied by the current world, so unit propagation only ever
*freezes* atoms where they are. What is left falls into components without a common open choice, drawn one by
one: uniformly by rejection where a few tries succeed, by SampleSAT where they do not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.chains.gibbs_sweeps import Groups, count
from mlnlab.kernels.chains.sample_sat_components import ASKED, FROZEN, Effort, draw_components
from mlnlab.kernels.chains.sample_sat_constraints import Constraints, Slice, smallest_slice
from mlnlab.kernels.chains.world_arrays import Chain, Network
from mlnlab.kernels.compiled import borrowing, inlined
from mlnlab.kernels.random_numbers import next_uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

_1 = np.uint32(1)

# --- choosing constraints -------------------------------------------------------------------------


@inlined
def freeze(frozen: NDArray[np.uint8], stack: NDArray[np.uint32], waiting: int, atom: Number) -> int:
    """Let an atom keep its truth; return how many atoms wait for their consequences."""
    if frozen[atom]:
        return waiting
    frozen[atom] = 1
    stack[waiting] = atom
    return waiting + 1


@borrowing
def select(network: Network, constraints: Constraints, chain: Chain, work: Slice) -> int:
    """Choose among the clauses and tables that hold (or, of negative weight, do not) those to keep so.

    Return how many atoms this freezes at once.
    """
    starts, literals, odds, favours = (
        constraints.starts,
        constraints.literals,
        constraints.odds,
        constraints.favours,
    )
    asked, joined, free, satisfied = work.asked, work.joined, work.free, chain.satisfied
    frozen, stack, random, kept = work.frozen, work.stack, chain.random, work.collected
    # Whether a clause holds, and whether it joins, is chance: where branches followed it, the processor would
    # guess wrongly every other time. So all are written to a list, and those that do not stay overwritten.
    holding = number = waiting = 0
    for clause in range(len(odds)):
        asked[clause] = joined[clause] = 0
        kept[holding] = clause
        holding += ((satisfied[clause] != 0) == (favours[clause] != 0)) & (odds[clause] > 0.0)
    for place in range(holding):
        probability = odds[kept[place]]
        kept[number] = kept[place]
        number += probability >= 1.0 or next_uniform(random) < probability
    for place in range(number):
        clause = kept[place]
        joined[clause] = 1
        start, end = starts[clause], starts[clause + _1]
        if favours[clause] and end - start > 1:
            asked[clause] = 1
            free[clause] = end - start
        else:  # all literals have to stay false, or the only one true
            for position in range(start, end):
                waiting = freeze(frozen, stack, waiting, literals[position] >> _1)
    for table in range(len(constraints.table_odds)):
        bit = network.bits[network.table_starts[table] + chain.cells[table]]
        joins = bit == constraints.table_favours[table] and constraints.table_odds[table] > 0.0
        joins = joins and next_uniform(random) < constraints.table_odds[table]
        work.tables_asked[table] = joined[len(odds) + table] = joins
        number += joins
    work.tallies[ASKED] = number
    return waiting


# --- unit propagation -----------------------------------------------------------------------------


@borrowing
def propagate(network: Network, constraints: Constraints, chain: Chain, work: Slice, waiting: int) -> None:
    """Draw the consequences of frozen atoms until there are no more."""
    first_atoms, atom_starts, occurrences = network.first_atoms, network.atom_starts, network.occurrences
    owners, starts, literals = constraints.owners, constraints.starts, constraints.literals
    frozen, stack, asked, free, values = work.frozen, work.stack, work.asked, work.free, chain.values
    number = 0
    while waiting:
        waiting -= 1
        number += 1
        atom = stack[waiting]
        choice, value = owners[atom], values[atom]
        if first_atoms[choice + _1] - first_atoms[choice] == 1:
            work.fixed[choice] = 1
        else:
            waiting = fix_block(network, chain, work, waiting, choice, atom)
        for place in range(atom_starts[atom], atom_starts[atom + _1]):
            occurrence = occurrences[place]
            clause = occurrence >> _1
            # A true literal makes its clause hold for good; a false one leaves it a literal less. Which of
            # them it is, is chance: again no branches.
            left = np.uint8(asked[clause] & (value ^ (occurrence & _1) ^ _1))
            asked[clause] = left
            free[clause] -= left
            if left and free[clause] == 1:  # the one literal that is left has to stay true
                for position in range(starts[clause], starts[clause + _1]):
                    waiting = freeze(frozen, stack, waiting, literals[position] >> _1)
    work.tallies[FROZEN] = number


@borrowing
def fix_block(network: Network, chain: Chain, work: Slice, waiting: int, choice: Number, atom: Number) -> int:
    """Fix a block where a frozen atom leaves it one option; then its other atoms are frozen too."""
    first, end = np.int64(network.first_atoms[choice]), np.int64(network.first_atoms[np.int64(choice) + 1])
    if work.fixed[choice]:
        return waiting
    left = np.int64(network.options[choice]) - (end - first)  # an option that makes no atom true
    for other in range(first, end):
        left += work.frozen[other] == 0
    if chain.values[atom] or left == 1:
        work.fixed[choice] = 1
        for other in range(first, end):
            waiting = freeze(work.frozen, work.stack, waiting, other)
    return waiting


# --- a step ---------------------------------------------------------------------------------------


@borrowing
def next_sample(
    network: Network, constraints: Constraints, chain: Chain, work: Slice, effort: Effort
) -> None:
    """Go from a world to the next one of MC-SAT."""
    for atom in range(len(work.frozen)):
        work.frozen[atom] = 0
    for choice in range(len(work.fixed)):
        work.fixed[choice] = network.options[choice] == 1
        work.drawn[choice] = chain.chosen[choice]
    waiting = select(network, constraints, chain, work)
    propagate(network, constraints, chain, work, waiting)
    for choice in range(len(work.fixed)):
        work.seen[choice] = work.fixed[choice]
    draw_components(network, constraints, chain, work, effort)


@borrowing
def sample_slices(
    network: Network, constraints: Constraints, groups: Groups, chain: Chain, work: Slice, effort: Effort,
    samples: int, thin: int, sums: NDArray[np.int64], counts: NDArray[np.int64],
) -> None:  # fmt: skip
    """Draw samples, ``thin`` steps apart; add to ``sums`` each atom's truth and each formula's count."""
    atoms = len(chain.values)
    for _ in range(samples):
        for _ in range(thin):
            next_sample(network, constraints, chain, work, effort)
        for atom in range(atoms):
            sums[atom] += chain.values[atom]
        count(network, groups, chain, counts)
        for formula in range(len(counts)):
            sums[atoms + formula] += counts[formula]


def warm_up() -> None:
    """Compile every kernel of this file."""
    network, chain, constraints, work = smallest_slice()
    starts, empty, bits = network.atom_starts, network.occurrences, network.bits
    groups = Groups(starts[:1], empty, bits, empty, starts[:1], empty)
    effort = Effort(1, 0.5, 0.5, 0.0, 1, 1)
    next_sample(network, constraints, chain, work, effort)
    sums, counts = np.zeros(1, np.int64), np.zeros(0, np.int64)
    sample_slices(network, constraints, groups, chain, work, effort, 1, 1, sums, counts)
