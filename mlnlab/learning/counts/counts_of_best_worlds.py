"""Expected counts replaced by those of a most probable world: the voted perceptron's (thesis, 4.2.1).

The world is sought by MaxWalkSAT. Weights change little from one evaluation to the next, so the search begins
in the best world of the one before: it goes downhill from there, walks, and goes downhill from where the walk
has led. It ends when nothing is broken any more, which proves that no world is better; when ``patience``
moves in a row have found nothing better; or after ``flips`` moves. Nothing but weights is prepared anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from mlnlab.inference.sampling.chains import random_world
from mlnlab.inference.search.walk_arrays import Walker, first_walk, go_downhill
from mlnlab.inference.search.walked_worlds import walk_on
from mlnlab.kernels.random_numbers import streams
from mlnlab.learning.counts.sampled_counts import Chains
from mlnlab.logic.checked_options import check_options, real

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.inference.search.landscape import Landscape
    from mlnlab.kernels.search.walk_steps import Members
    from mlnlab.learning.problems.ground_example import GroundExample

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BestWorldCounts:
    """How a most probable world is sought in each evaluation."""

    name: Literal["max-walk-sat"] = "max-walk-sat"
    flips: int = 100_000  # at most
    patience: int = 5_000  # moves without gain after which the search ends
    noise: float = 0.05
    tabu: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        check_options(self, flips=1, patience=1, tabu=0, seed=0, noise=real(0, 1))

    def first(self, example: GroundExample, number: int) -> Chains:
        """Return a random world to begin with: at weights of 0 the data's own would be as good as any."""
        random = streams(self.seed + 7919 * number, 1)[0]
        chain = random_world(example.ground, random)
        return _frozen(chain.chosen[None, :].copy(), chain.random[None, :].copy())

    def draw_counts(self, example: GroundExample, weights: Numbers, before: Chains) -> tuple[Numbers, Chains]:
        """Return the counts of the best world that was met, as a single row."""
        searched = example.searched
        found = searched.landscape(example.reweigh_clauses(weights))
        begin = found.chain(before.chosen[0], np.zeros(4, np.uint64))
        found.go_downhill(begin)
        walker = first_walk(found, before.random[0].copy(), self.tabu, begin.chosen)
        self.walk_until_mended(found, searched.members, walker)
        go_downhill(found, walker)
        best = walker.walk.best.copy()
        counts = example.counts_in(example.chain(best, np.zeros(4, np.uint64)))
        return counts[None, :], _frozen(best[None, :], walker.chain.random[None, :].copy())

    def walk_until_mended(self, landscape: Landscape, members: Members, walker: Walker) -> int:
        """Walk until nothing is broken, or patience or moves are at their end; return the number of moves."""
        return walk_on(landscape, members, walker, self.flips, self.patience, self.noise, self.tabu)


def _frozen(chosen: NDArray[np.uint32], random: NDArray[np.uint64]) -> Chains:
    chosen.setflags(write=False)
    random.setflags(write=False)
    return Chains(chosen, random)
