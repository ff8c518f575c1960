"""Worlds in which chains may begin: the best that a walk of MaxWalkSAT meets, a walk for each chain.

Alchemy's Gibbs sampling begins its chains so (``GibbsSampler::init`` in its infer/gibbssampler.h, with
``agibbsWalksatType = 1`` in infer/inferenceargs.h): each walks from a random world, up to a million flips
(``amwsMaxSteps``), and begins in the best world that it met. Here a walk ends as well when 100,000 flips in a
row have found nothing better, and it goes downhill from where it has led.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.inference.sampling.chains import Ground, lawful
from mlnlab.inference.sat.satisfying import start_of
from mlnlab.inference.search.landscape import Landscape, landscape
from mlnlab.inference.search.walk_arrays import Walker, first_walk, go_downhill, members_of
from mlnlab.kernels.chains.world_arrays import Chain, new_chain
from mlnlab.kernels.search.walk_sat import search
from mlnlab.kernels.search.walk_steps import BEST, BROKEN, Members

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


FLIPS = 1_000_000
PATIENCE = 100_000
_NOISE, _TABU = 0.05, 10


def walk_chains(ground: Ground, streams: Sequence[NDArray[np.uint64]]) -> list[Chain]:
    """Return a chain for each stream of random numbers, in the best world that its walk met."""
    found = landscape(ground.clauses.question)  # what is merely asked costs nothing, and is left out
    members = members_of(found.ground)
    return [_walk_chain(ground, found, members, random) for random in streams]


def _walk_chain(ground: Ground, found: Landscape, members: Members, random: NDArray[np.uint64]) -> Chain:
    walker = first_walk(found, random, _TABU)
    walk_on(found, members, walker, FLIPS, PATIENCE, _NOISE, _TABU)
    if found.cost(walker.walk.best).hard:  # it never met a possible world: let it begin in one
        walker = first_walk(found, walker.chain.random, _TABU, start_of(found.clauses))
        walk_on(found, members, walker, FLIPS, PATIENCE, _NOISE, _TABU)
    go_downhill(found, walker)
    return lawful(ground, new_chain(ground.network, walker.walk.best, walker.chain.random))


def walk_on(
    landscape: Landscape, members: Members, walker: Walker, flips: int, patience: int, noise: float, tabu: int
) -> int:
    """Walk until nothing is broken, or patience or flips are at their end; return the number of flips."""
    chain, walk = walker
    left = flips
    while left > 0 and walk.numbers[BROKEN]:
        best, moves = walk.costs[BEST], min(left, patience)
        search(landscape.network, members, chain, walk, moves, noise, tabu, 0.0)
        left -= moves
        if not walk.costs[BEST] < best:
            break
    return flips - left
