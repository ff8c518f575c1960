"""Seek a most probable world by counts alone: the MaxWalkSAT of scalable voted perceptron.

Sarkhel, Venugopal, Pham, Singla and Gogate (AAAI 2016) leave it out "for lack of space": like the sampler of
Algorithm 1 it needs nothing but M_j(ω). MaxWalkSAT draws a broken ground clause and flips one of its atoms.
Here nobody lists these, so each move draws an atom, and flips it where sum_j θ_j M_j does not fall, or by
chance: with a probability that goes from ``noise`` down to 0, so that the walk ends downhill. It begins in
the best world of the evaluation before, at first in the data; worlds that are equally good replace each
other, so that weights of zero hold nothing back. The worlds on the way tell how counts vary, which diagonal
Newton divides by.

Voted perceptron climbs sum_j θ_j M_j(ω) - max_ω' sum_j θ_j M_j(ω'), which is never above 0, its value at
weights of zero. Where the walk sees the best world, as on random smokers whose 400 atoms are fewer than its
moves, the gradient points back to zero whichever way a step went and however short it was; diagonal Newton
then takes back every step, and rightly. Weights leave zero where data are a best world themselves, or flips
are few.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from mlnlab.kernels.random_numbers import next_uniform
from mlnlab.learning.counts.counted_chains import CountedSamples, DrawnCounts, Responses, WorkingWorld
from mlnlab.learning.counts.open_atoms import FlippedWorld
from mlnlab.logic.checked_options import check_options, real

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.counts.counted_worlds import CountedExample

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CountedWalk:
    """The parameters of the search."""

    name: Literal["max-walk-sat"] = "max-walk-sat"
    flips: int = 1000  # moves, N
    noise: float = 0.1  # of the first move
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        check_options(self, flips=1, seed=0, noise=real(0, 1))

    @property
    def steps(self) -> int:
        """The number of atoms that are looked at in an evaluation."""
        return self.flips

    def shorter(self, steps: int) -> CountedWalk:
        """Return the same for so few moves that their time can be measured."""
        return replace(self, flips=steps)

    def first(self, example: CountedExample, number: int) -> FlippedWorld:
        """Return the data's world with the random numbers of a database."""
        return CountedSamples(seed=self.seed).first(example, number)

    def draw_counts(self, example: CountedExample, weights: Numbers, before: FlippedWorld) -> DrawnCounts:
        """Return the counts of the best world that was met, and those of some worlds on the way."""
        world = WorkingWorld(example, before)
        soft = np.where(example.hard, 0.0, weights)
        best, counts, score = world.frozen(0), world.numbers, float(soft @ world.numbers)
        responses = Responses()
        for move in range(1, self.flips + 1):
            noise = self.noise * (1 - move / self.flips)
            if example.atoms.choices and _move(world, weights, noise, responses):
                reached = float(soft @ world.numbers)
                if reached >= score:
                    best, counts, score = world.frozen(0), world.numbers, reached
        found = [np.where(example.hard, 0.0, one) for one in (counts, responses.rows(len(weights)))]
        return DrawnCounts(found[0], found[1], FlippedWorld(best.flipped, world.frozen(0).random))

    def effective_samples(self, example: CountedExample) -> int:  # noqa: ARG002 - as a sampler
        """Return 1: the counts are those of a single world."""
        return 1


def _move(world: WorkingWorld, weights: Numbers, noise: float, responses: Responses) -> bool:
    """Draw an atom or a block, and set it to its best other value; return whether that was done."""
    options = world.weigh_options(weights)
    responses.note(options, 1.0)
    by_chance = next_uniform(world.random) < noise
    scores, now = options.scores, options.now
    others = [option for option, score in enumerate(scores) if option != now and score > -np.inf]
    option = max(others, key=lambda other: float(scores[other]), default=now)
    if scores[option] < scores[now] and not by_chance:
        option = now
    world.choose(options, option)
    return option != now
