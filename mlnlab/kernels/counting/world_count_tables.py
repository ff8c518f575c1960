"""All worlds of a few choices, and how many groundings of each formula hold in each of them.

The arrays are those of :mod:`mlnlab.kernels.chains.world_arrays`. The choices go through their options like
the wheels of a counter, so that two neighbouring worlds differ little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.chains.modes import settle_option
from mlnlab.kernels.chains.world_arrays import Chain, Network, smallest
from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]


@compiled
def tabulate(
    network: Network, chain: Chain, choices: NDArray[np.int64],
    clauses: NDArray[np.int64], clause_columns: NDArray[np.int64], negated: NDArray[np.uint8],
    tables: NDArray[np.int64], table_columns: NDArray[np.int64],
    counts: NDArray[np.int32], possible: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Fill a row of counts for each world of some choices; column -1 means a hard constraint.

    The chain stands with option 0 in each of the choices, and stands so again afterwards.
    """
    for world in range(len(counts)):
        possible[world] = 1
        for place in range(len(clauses)):
            holds = (chain.satisfied[clauses[place]] != 0) != (negated[place] != 0)
            if clause_columns[place] < 0:
                possible[world] &= holds
            elif holds:
                counts[world, clause_columns[place]] += 1
        for place in range(len(tables)):
            table = tables[place]
            holds = network.bits[network.table_starts[table] + chain.cells[table]] != 0
            if table_columns[place] < 0:
                possible[world] &= holds
            elif holds:
                counts[world, table_columns[place]] += 1
        for choice in choices:
            option = np.int64(chain.chosen[choice]) + 1
            if option < np.int64(network.options[choice]):
                settle_option(network, chain, choice, option)
                break
            settle_option(network, chain, choice, 0)


def warm_up() -> None:
    """Compile every kernel of this file."""
    network, chain = smallest()
    settle_option(network, chain, 0, 0)
    some, none = np.zeros(1, np.int64), np.zeros(0, np.int64)
    counts, possible = np.zeros((2, 1), np.int32), np.zeros(2, np.uint8)
    tabulate(network, chain, some, none, none, np.zeros(0, np.uint8), none, none, counts, possible)
