"""Expected counts replaced by those of a most probable world: the voted perceptron's (thesis, 4.2.1).

The world is sought by MaxWalkSAT, or found exactly by python-sat's RC2; from one evaluation to the next the
search goes on with other random numbers, and begins in the best world of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.inference.chains import random_world
from mlnlab.inference.landscape import landscape_of
from mlnlab.inference.walk_arrays import first_walk, go_downhill, members_of
from mlnlab.kernels.random_numbers import streams
from mlnlab.kernels.walk_sat import search
from mlnlab.learning.sampled_counts import Chains

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.ground_example import GroundExample

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BestWorldCounts:
    """How a most probable world is sought in each evaluation."""

    name: Literal["max-walk-sat"] = "max-walk-sat"
    flips: int = 100_000
    noise: float = 0.05
    tabu: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for name, least in (("flips", 1), ("tabu", 0), ("seed", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or value < least:
                raise ArgumentError(f"{name} is a whole number from {least} on, not {value!r}.")
        if not 0 <= self.noise <= 1:
            raise ArgumentError(f"noise is a probability, between 0 and 1, not {self.noise!r}.")

    def first(self, example: GroundExample, number: int) -> Chains:
        """Return a random world to begin with: at weights of 0 the data's own would be as good as any."""
        random = streams(self.seed + 7919 * number, 1)[0]
        chain = random_world(example.ground, random)
        return _frozen(chain.chosen[None, :].copy(), chain.random[None, :].copy())

    def drawn(self, example: GroundExample, weights: Numbers, before: Chains) -> tuple[Numbers, Chains]:
        """Return the counts of the best world that was met, as a single row."""
        found = landscape_of(example.reweighted(weights))
        members = members_of(found.ground)
        walker = first_walk(found, before.random[0].copy(), self.tabu, before.chosen[0])
        search(found.network, members, walker.chain, walker.walk, self.flips, self.noise, self.tabu, 0.0)
        go_downhill(found, walker)
        best = walker.walk.best.copy()
        counts = example.counts_in(found.chain(best, np.zeros(4, np.uint64)))
        return counts[None, :], _frozen(best[None, :], walker.chain.random[None, :].copy())


def _frozen(chosen: NDArray[np.uint32], random: NDArray[np.uint64]) -> Chains:
    chosen.setflags(write=False)
    random.setflags(write=False)
    return Chains(chosen, random)
