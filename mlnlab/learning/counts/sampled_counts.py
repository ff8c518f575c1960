"""Expected counts from a few samples: contrastive divergence (thesis, section 4.2.2).

Each evaluation draws ``samples`` samples by MC-SAT or Gibbs sampling. There is no burn-in: a chain goes on
from the last sample of the evaluation before, at other weights. The first one begins in the data, whose world
is possible, unless ``begin="random"``.

Where formulas reinforce each other, as classes of linked pages do, a chain may stay among worlds like the
data while the model, whose weights grow, has come to prefer others: gaps are then small and predictions bad,
which ``ml.HeldOut`` shows, and at the end chains that begin afresh (diagnostics.py). On WebKB the
models of second-order methods are best after some twenty steps and useless after a hundred, unless chains get
time to follow: with ``burn_in=20`` they stay good, and with shorter steps (``largest_step=``) for longer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from mlnlab.inference.methods.mc_sat import Params as SliceParams
from mlnlab.inference.sampling.chains import CHOSEN, RANDOM, Ground, random_world
from mlnlab.inference.sampling.slices import reweigh_constraints, room_for
from mlnlab.kernels.chains.gibbs_sweeps import sweep
from mlnlab.kernels.chains.sample_sat_slices import next_sample
from mlnlab.kernels.chains.world_arrays import Chain, new_chain
from mlnlab.kernels.random_numbers import streams
from mlnlab.logic.checked_options import check_options, one_of
from mlnlab.steps.state_layout import holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problems.ground_example import GroundExample

    Numbers = NDArray[np.float64]

Sampling = Literal["mc-sat", "gibbs"]


@storable("learning.Chains")
@dataclass(frozen=True, slots=True, eq=False)
class Chains:
    """Where the chains of one database are; arrays are read-only."""

    # The option of each choice, a row for each chain.
    chosen: NDArray[np.uint32] = field(metadata=holds(CHOSEN))
    random: NDArray[np.uint64] = field(metadata=holds(RANDOM))


@dataclass(frozen=True, slots=True)
class SampledCounts:
    """Parameters of sampled counts: sampler, chains, samples of each chain per evaluation, and burn-in."""

    name: Sampling = "mc-sat"
    samples: int = 5
    chains: int = 1
    burn_in: int = 0  # steps before the first sample of each evaluation
    begin: Literal["data", "random"] = "data"  # the first world of a chain
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        check_options(self, samples=1, chains=1, burn_in=0, seed=0, begin=one_of(("data", "random")))

    def first(self, example: GroundExample, number: int) -> Chains:
        """Return the chains of a database before the first evaluation."""
        rows = streams(self.seed + 7919 * number, self.chains)
        chosen = [
            random_world(example.ground, row.copy()).chosen if self.begin == "random" else example.data
            for row in rows
        ]
        return _frozen(np.array(chosen, np.uint32), np.array(rows, np.uint64))

    def draw_counts(self, example: GroundExample, weights: Numbers, before: Chains) -> tuple[Numbers, Chains]:
        """Return a row of counts of the open groundings for each sample, and where the chains are then."""
        ground = example.reweigh_clauses(weights)
        rows, chosen, random = [], [], []
        for own, state in zip(before.chosen, before.random, strict=True):
            chain = new_chain(ground.network, own, state)
            rows += self._samples(example, ground, chain)
            chosen.append(chain.chosen)
            random.append(chain.random)
        return np.array(rows), _frozen(np.array(chosen, np.uint32), np.array(random, np.uint64))

    def _samples(self, example: GroundExample, ground: Ground, chain: Chain) -> list[Numbers]:
        found = []
        if self.name == "gibbs":
            for number in range(self.burn_in + self.samples):
                sweep(ground.network, chain, 1)
                if number >= self.burn_in:
                    found.append(example.counts_in(chain))
            return found
        constraints, room, effort = (
            reweigh_constraints(example.constraints, ground, example.equal),
            room_for(ground),
            SliceParams().effort,
        )
        for number in range(self.burn_in + self.samples):
            next_sample(ground.network, constraints, chain, room, effort)
            if number >= self.burn_in:
                found.append(example.counts_in(chain))
        return found


def _frozen(chosen: NDArray[np.uint32], random: NDArray[np.uint64]) -> Chains:
    chosen.setflags(write=False)
    random.setflags(write=False)
    return Chains(chosen, random)
