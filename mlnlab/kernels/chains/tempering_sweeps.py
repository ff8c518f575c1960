"""Gibbs sweeps at changing temperatures, and the moves between them.

The arrays are those of :mod:`mlnlab.kernels.chains.world_arrays`. To sweep at inverse temperature b, all
strengths but those of what must hold are multiplied by b, once and for all.
"""

from __future__ import annotations

from math import exp
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.kernels.chains.gibbs_sweeps import Groups, count, sweep
from mlnlab.kernels.chains.world_arrays import Chain, Network, smallest
from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.random_numbers import next_uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIRST_STEP, LAST_STEP = 1.0, 0.01  # by how much g of a visited rung falls, at the start and end of learning


class Ladder(NamedTuple):
    """The rungs of one chain: inverse temperatures, the chain's place, and the learned offsets."""

    inverse: NDArray[np.float64]
    strengths: NDArray[np.float64]  # of all clauses, a row for each rung; read-only
    table_strengths: NDArray[np.float64]
    rung: NDArray[np.int64]  # one number
    offsets: NDArray[np.float64]  # g of each rung
    visits: NDArray[np.int64]
    weights: NDArray[np.float64]  # of each formula
    counts: NDArray[np.int64]  # room for how many groundings of each hold


@compiled
def on_rung(network: Network, ladder: Ladder, rung: int) -> Network:
    """Return the network with the strengths of a rung."""
    return Network(
        network.first_atoms, network.options, network.atom_starts, network.occurrences,
        ladder.strengths[rung], network.choice_starts, network.choice_tables, network.choice_strides,
        network.table_starts, ladder.table_strengths[rung], network.bits,
        network.table_parents, network.table_steps, network.gated,
    )  # fmt: skip


@compiled
def climb(network: Network, groups: Groups, chain: Chain, ladder: Ladder) -> None:
    """Sweep on the chain's rung, then try the rung above or below (Marinari and Parisi 1992)."""
    rung = int(ladder.rung[0])
    sweep(on_rung(network, ladder, rung), chain, 1)
    other = rung + (1 if next_uniform(chain.random) < 0.5 else -1)
    if 0 <= other < len(ladder.inverse):
        count(network, groups, chain, ladder.counts)
        log_weight = 0.0
        for formula in range(len(ladder.counts)):
            log_weight += ladder.weights[formula] * ladder.counts[formula]
        gain = (ladder.inverse[other] - ladder.inverse[rung]) * log_weight
        gain += ladder.offsets[other] - ladder.offsets[rung]
        if gain >= 0.0 or next_uniform(chain.random) < exp(gain):
            ladder.rung[0] = other
    ladder.visits[ladder.rung[0]] += 1


@compiled
def temper(
    network: Network, groups: Groups, chain: Chain, ladder: Ladder, number: int, done: int, burn_in: int
) -> None:
    """Climb so often, and learn: the g of a rung falls with each visit, less and less."""
    for move in range(number):
        climb(network, groups, chain, ladder)
        step = max(FIRST_STEP * (1.0 - 2.0 * (done + move) / burn_in), LAST_STEP)
        ladder.offsets[ladder.rung[0]] -= step


@compiled
def sample_cold(
    network: Network, groups: Groups, chain: Chain, ladder: Ladder, samples: int,
    sums: NDArray[np.int64], counts: NDArray[np.int64],
) -> None:  # fmt: skip
    """Draw samples, one whenever the chain is on the first rung; sum its true atoms and formula counts."""
    atoms = len(chain.values)
    for _ in range(samples):
        climb(network, groups, chain, ladder)
        while ladder.rung[0] != 0:
            climb(network, groups, chain, ladder)
        for atom in range(atoms):
            sums[atom] += chain.values[atom]
        count(network, groups, chain, counts)
        for formula in range(len(counts)):
            sums[atoms + formula] += counts[formula]


def warm_up() -> None:
    """Compile every kernel of this file."""
    network, chain = smallest()
    starts, empty, bits = network.atom_starts, network.occurrences, network.bits
    groups = Groups(starts[:1], empty, bits, empty, starts[:1], empty)
    none = np.zeros(0, np.int64)
    strengths, tables = np.zeros((1, 0)), np.zeros((1, 0))
    strengths.setflags(write=False)
    tables.setflags(write=False)
    rung, visits = np.zeros(1, np.int64), np.zeros(1, np.int64)
    ladder = Ladder(np.ones(1), strengths, tables, rung, np.zeros(1), visits, np.zeros(0), none)
    temper(network, groups, chain, ladder, 1, 0, 1)
    sample_cold(network, groups, chain, ladder, 1, np.zeros(1, np.int64), none)
