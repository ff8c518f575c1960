"""Flips of MaxWalkSAT per second beside the same loop in C: same random numbers, same trajectory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.answers.memory import bytes_of
from mlnlab.inference.search.landscape import Landscape
from mlnlab.inference.search.walk_arrays import Walker, first_walk, members_of
from mlnlab.kernels.random_numbers import streams
from mlnlab.kernels.search.walk_sat import search
from mlnlab.kernels.search.walk_steps import Members
from tests.benchmarks.beside_c import gibbs_speed
from tests.benchmarks.beside_c.gibbs_speed import random_literals
from tests.benchmarks.beside_c.measurement import Effort, Measurement, by_turns, compared, same_arrays

if TYPE_CHECKING:
    from tests.benchmarks.beside_c.in_c import FunctionsInC

SIZES = (10_000, 100_000)  # atoms of the random formulas
NOISE, TABU = 0.2, 5


def three_sat(atoms: int, seed: int = 1) -> tuple[Landscape, Members]:
    """Return a weighted 3-SAT that is as random as it can be: every visit is a jump through memory."""
    ground = gibbs_speed.three_sat(atoms, seed)
    literals = random_literals(atoms, np.random.default_rng(seed))
    members = members_of(gibbs_speed.no_clauses(atoms))._replace(
        starts=np.arange(0, len(literals) + 1, 3, dtype=np.uint32), literals=literals.astype(np.uint32),
        simple=np.ones(len(literals) // 3, np.uint8),
    )  # fmt: skip
    for array in (members.starts, members.literals, members.simple):
        array.setflags(write=False)
    total = float(ground.network.strengths.sum())
    return Landscape(ground, ground.network, 1 + total, total), members


def flips_per_second(
    name: str, landscape: Landscape, members: Members, effort: Effort, in_c: FunctionsInC
) -> Measurement:
    """Let our kernel and the loop in C take turns from the same world with the same random numbers."""
    network = landscape.network
    ours, theirs = (first_walk(landscape, streams(1, 1)[0], TABU) for _ in range(2))
    flips = max(1, effort.updates // 4)

    def by_us() -> None:
        search(network, members, ours.chain, ours.walk, flips, NOISE, TABU, 0.0)

    def by_c() -> None:
        chain, walk = theirs
        in_c.walk(
            len(network.options), members.starts, members.literals, network.atom_starts,
            network.occurrences, network.strengths, chain.values, chain.satisfied, chain.chosen,
            chain.random, walk.broken, walk.places, walk.changed, walk.best, walk.trail, walk.numbers,
            walk.costs, flips, NOISE, TABU, 0.0,
        )  # fmt: skip

    rounds = by_turns(effort, by_us, by_c)
    memory = bytes_of(network, members, ours)
    return compared(name, "flips", flips, rounds, same_results=_agree(ours, theirs), memory=memory)


def _agree(ours: Walker, theirs: Walker) -> bool:
    """Return whether two walks are at the same place, with the same past."""
    return same_arrays(ours.chain, theirs.chain, ("values", "satisfied", "random")) and same_arrays(
        ours.walk, theirs.walk, ("broken", "changed", "best", "numbers", "costs")
    )
