"""Score the options of a choice, compute a world's cost, and descend to where no change helps.

The strengths are finite here: that of a hard constraint, the *penalty*, outweighs all the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.chains.gibbs_sweeps import score_by_trial
from mlnlab.kernels.chains.world_arrays import Chain, Network, choose, smallest, turn
from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    Number = int | np.integer[Any]

_1 = np.uint32(1)


@compiled
def score_options(network: Network, chain: Chain, choice: Number) -> None:
    """Write the log-weight that each option of a choice adds into the chain's scores."""
    first, end = np.int64(network.first_atoms[choice]), np.int64(network.first_atoms[choice + 1])
    chosen = np.int64(chain.chosen[choice])
    if first + chosen < end:
        turn(network, chain, first + chosen)  # now all of its atoms are false
    for option in range(np.int64(network.options[choice])):
        score = 0.0
        if first + option < end:
            for place in range(network.atom_starts[first + option], network.atom_starts[first + option + 1]):
                clause, negated = network.occurrences[place] >> _1, network.occurrences[place] & _1
                if chain.satisfied[clause] == negated:  # no literal satisfies it, or this negated one alone
                    score += -network.strengths[clause] if negated else network.strengths[clause]
        chain.scores[option] = score
    if first + chosen < end:
        turn(network, chain, first + chosen)
    if network.gated[choice]:
        score_by_trial(network, chain, choice, chosen)
        return
    for place in range(network.choice_starts[choice], network.choice_starts[choice + 1]):
        table, stride = network.choice_tables[place], np.int64(network.choice_strides[place])
        cell = np.int64(network.table_starts[table]) + np.int64(chain.cells[table]) - chosen * stride
        for option in range(np.int64(network.options[choice])):
            if network.bits[cell + option * stride]:
                chain.scores[option] += network.table_strengths[table]


@compiled
def cost_of(network: Network, chain: Chain) -> float:
    """Return the cost of a settled world: the absolute strengths of the broken constraints, summed."""
    total = 0.0
    for clause in range(len(network.strengths)):
        strength = network.strengths[clause]
        if (strength > 0.0) != (chain.satisfied[clause] != 0):
            total += abs(strength)
    for table in range(len(network.table_strengths)):
        strength = network.table_strengths[table]
        if (strength > 0.0) != (network.bits[network.table_starts[table] + chain.cells[table]] != 0):
            total += abs(strength)
    return total


@compiled
def costs_apart(network: Network, chain: Chain, penalty: float) -> tuple[int, float]:
    """Return how many hard constraints a settled world breaks, and the cost of the broken soft ones."""
    hard, soft = 0, 0.0
    for clause in range(len(network.strengths)):
        strength = network.strengths[clause]
        if (strength > 0.0) != (chain.satisfied[clause] != 0):
            if strength >= penalty:
                hard += 1
            else:
                soft += abs(strength)
    for table in range(len(network.table_strengths)):
        strength = network.table_strengths[table]
        if (strength > 0.0) != (network.bits[network.table_starts[table] + chain.cells[table]] != 0):
            if strength >= penalty:
                hard += 1
            else:
                soft += abs(strength)
    return hard, soft


@compiled
def descend(network: Network, chain: Chain) -> int:
    """Set each choice in turn to its best option given all others; return how many changed."""
    number = 0
    for choice in range(len(network.options)):
        chosen, options = np.int64(chain.chosen[choice]), np.int64(network.options[choice])
        score_options(network, chain, choice)
        best = chosen
        for option in range(options):
            if chain.scores[option] > chain.scores[best] + 1e-12 * (1.0 + abs(chain.scores[best])):
                best = np.int64(option)
        if best != chosen:
            number += 1
            settle_option(network, chain, choice, best)
    return number


@compiled
def settle_option(network: Network, chain: Chain, choice: Number, option: Number) -> None:
    """Set a choice in all counts and cells."""
    first, end = np.int64(network.first_atoms[choice]), np.int64(network.first_atoms[choice + 1])
    chosen = np.int64(chain.chosen[choice])
    if first + chosen < end:
        turn(network, chain, first + chosen)
    if first + option < end:
        turn(network, chain, first + option)
    choose(network, chain, choice, option)


def warm_up() -> None:
    """Compile every kernel of this file."""
    network, chain = smallest()
    cost_of(network, chain)
    costs_apart(network, chain, 1.0)
    descend(network, chain)
