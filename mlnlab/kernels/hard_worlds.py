"""Worlds in which holds what must: counting what does not, and looking at one world after the other."""

from __future__ import annotations

from math import inf

import numpy as np

from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.ground_network import Chain, Network, choose, smallest, turn


@compiled
def violations(network: Network, chain: Chain) -> int:
    """Count what must hold and does not."""
    number = 0
    for clause in range(len(network.strengths)):
        number += network.strengths[clause] == inf and chain.satisfied[clause] == 0
    for table in range(len(network.table_strengths)):
        cell = network.table_starts[table] + chain.cells[table]
        number += network.table_strengths[table] == inf and network.bits[cell] == 0
    return number


@compiled
def next_world(network: Network, chain: Chain) -> bool:
    """Go to the next world as an odometer does; after the last one comes the first, and false is returned."""
    for choice in range(len(network.options)):
        first, end = network.first_atoms[choice], network.first_atoms[choice + 1]
        option = np.int64(chain.chosen[choice]) + 1
        if option == network.options[choice]:
            option = np.int64(0)
        if first + chain.chosen[choice] < end:
            turn(network, chain, first + chain.chosen[choice])
        if first + option < end:
            turn(network, chain, first + option)
        choose(network, chain, choice, option)
        if option:
            return True
    return False


@compiled
def walk(network: Network, chain: Chain, most: int) -> int:
    """Go on from world to world to one in which holds what must; 1 found, 0 none is left, -1 not yet."""
    for _ in range(most):
        if violations(network, chain) == 0:
            return 1
        if not next_world(network, chain):
            return 0
    return -1


def warm_up() -> None:
    """Compile every kernel of this file."""
    network, chain = smallest()
    violations(network, chain)
    walk(network, chain, 1)
