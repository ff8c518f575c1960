"""Count the violated hard constraints of a world."""

from __future__ import annotations

from math import inf

from mlnlab.kernels.chains.world_arrays import Chain, Network, smallest
from mlnlab.kernels.compiled import compiled


@compiled
def violations(network: Network, chain: Chain) -> int:
    """Count the violated hard constraints."""
    number = 0
    for clause in range(len(network.strengths)):
        number += network.strengths[clause] == inf and chain.satisfied[clause] == 0
    for table in range(len(network.table_strengths)):
        cell = network.table_starts[table] + chain.cells[table]
        number += network.table_strengths[table] == inf and network.bits[cell] == 0
    return number


def warm_up() -> None:
    """Compile every kernel of this file."""
    network, chain = smallest()
    violations(network, chain)
