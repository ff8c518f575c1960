"""Slices of MC-SAT over the atoms of a model that are loose; all others of it are known to stay false.

What keeps an atom false in a slice was drawn before, so the kernel is told which of these atoms are *loose*
in which slice; one that is false and not loose is frozen. Everything else is as in
:mod:`mlnlab.kernels.chains.sample_sat_slices`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.kernels.chains.sample_sat_components import Effort, draw_components
from mlnlab.kernels.chains.sample_sat_constraints import Constraints, Slice, smallest_slice
from mlnlab.kernels.chains.sample_sat_slices import freeze, propagate, select
from mlnlab.kernels.chains.world_arrays import Chain, Network
from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def sample_loose(
    network: Network, constraints: Constraints, chain: Chain, work: Slice, effort: Effort,
    guarded: NDArray[np.uint32], loose: NDArray[np.uint8], sums: NDArray[np.int64],
) -> None:  # fmt: skip
    """Go through a slice for each row of ``loose``, and add up the truth of each atom after each of them."""
    for row in range(len(loose)):
        for atom in range(len(work.frozen)):
            work.frozen[atom] = 0
        for choice in range(len(work.fixed)):
            work.fixed[choice] = network.options[choice] == 1
            work.drawn[choice] = chain.chosen[choice]
        waiting = select(network, constraints, chain, work)
        for place in range(len(guarded)):
            if chain.values[guarded[place]] == 0 and loose[row, place] == 0:
                waiting = freeze(work.frozen, work.stack, waiting, guarded[place])
        propagate(network, constraints, chain, work, waiting)
        for choice in range(len(work.fixed)):
            work.seen[choice] = work.fixed[choice]
        draw_components(network, constraints, chain, work, effort)
        for atom in range(len(sums)):
            sums[atom] += chain.values[atom]


def warm_up() -> None:
    """Compile every kernel of this file."""
    network, chain, constraints, work = smallest_slice()
    guarded, loose, sums = np.zeros(1, np.uint32), np.zeros((1, 1), np.uint8), np.zeros(1, np.int64)
    sample_loose(network, constraints, chain, work, Effort(1, 0.5, 0.5, 0.0, 1, 1), guarded, loose, sums)
