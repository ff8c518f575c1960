"""Flips of MaxWalkSAT per second beside the same loop in C: same random numbers, same trajectory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.experiments.bench.gibbs_speed import PEOPLE, smokers
from mlnlab.experiments.bench.measurement import Effort, Measurement, compared, own_seconds
from mlnlab.grounding.question import pose
from mlnlab.inference import gibbs
from mlnlab.inference.landscape import Landscape, landscape_of
from mlnlab.inference.memory import bytes_of
from mlnlab.inference.walk_arrays import Walker, first_walk, members_of
from mlnlab.kernels.random_numbers import streams
from mlnlab.kernels.walk_sat import search
from mlnlab.kernels.walk_steps import Members
from mlnlab.model.mln import MLN

if TYPE_CHECKING:
    from mlnlab.experiments.bench.in_c import FunctionsInC

SIZES = (10_000, 100_000)  # atoms of the random formulas
CLAUSES_PER_ATOM = 4.2
NOISE, TABU = 0.2, 5


def measured(effort: Effort, in_c: FunctionsInC | None) -> Iterator[Measurement]:
    """Yield the speeds on a model with few neighbours and on ones with scattered ones."""
    name = f"MaxWalkSAT, {PEOPLE:,} friends and smokers"
    landscape = landscape_of(smokers())
    yield flips_per_second(name, landscape, members_of(landscape.ground), effort, in_c)
    for atoms in SIZES:
        name = f"MaxWalkSAT, random 3-SAT of {atoms:,} atoms"
        yield flips_per_second(name, *three_sat(atoms), effort, in_c)


def three_sat(atoms: int, seed: int = 1) -> tuple[Landscape, Members]:
    """Return a weighted 3-SAT that is as random as it can be: every visit is a jump through memory."""
    from dataclasses import replace

    rng = np.random.default_rng(seed)
    names = ", ".join(f"A{number}" for number in range(atoms))
    ground = gibbs.ground(pose(MLN.from_text(f"atom = {{{names}}}\nT(atom)\n1 T(x)"), None, None))
    number = int(CLAUSES_PER_ATOM * atoms)
    chosen = rng.integers(0, atoms - 2, (number, 3))
    chosen.sort(axis=1)
    chosen += np.arange(3)  # three different ones
    literals = (2 * chosen + rng.integers(0, 2, chosen.shape)).ravel()
    order = np.argsort(literals >> 1, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(literals >> 1, minlength=atoms))]).astype(np.uint32)
    occurrences = (2 * (np.arange(len(literals)) // 3) + (literals & 1))[order].astype(np.uint32)
    strengths = rng.uniform(0.5, 2, number)
    members = members_of(ground)._replace(
        starts=np.arange(0, len(literals) + 1, 3, dtype=np.uint32), literals=literals.astype(np.uint32),
        simple=np.ones(number, np.uint8),
    )  # fmt: skip
    for array in (starts, occurrences, strengths, members.starts, members.literals, members.simple):
        array.setflags(write=False)
    network = ground.network._replace(atom_starts=starts, occurrences=occurrences, strengths=strengths)
    changed = replace(ground, network=network)
    return Landscape(changed, network, 1 + float(strengths.sum()), float(strengths.sum())), members


def flips_per_second(
    name: str, landscape: Landscape, members: Members, effort: Effort, in_c: FunctionsInC | None
) -> Measurement:
    """Let our kernel and the loop in C take turns from the same world with the same random numbers."""
    network = landscape.network
    ours, theirs = (first_walk(landscape, streams(1, 1)[0], TABU) for _ in range(2))
    flips = max(1, effort.updates // 4)

    def by_us() -> None:
        search(network, members, ours.chain, ours.walk, flips, NOISE, TABU, 0.0)

    def by_c() -> None:
        if in_c is not None:
            chain, walk = theirs
            in_c.walk(
                len(network.options), members.starts, members.literals, network.atom_starts,
                network.occurrences, network.strengths, chain.values, chain.satisfied, chain.chosen,
                chain.random, walk.broken, walk.places, walk.changed, walk.best, walk.trail, walk.numbers,
                walk.costs, flips, NOISE, TABU, 0.0,
            )  # fmt: skip

    rounds: list[tuple[float, float | None]] = []
    for _ in range(effort.rounds + 1):
        own = own_seconds(by_us)
        rounds.append((own, None if in_c is None else own_seconds(by_c)))
    # The first round also compiles, and fetches everything into the caches.
    memory = bytes_of(network, members, ours)
    return compared(name, "flips", flips, rounds[1:], same_results=_agree(ours, theirs), memory=memory)


def _agree(ours: Walker, theirs: Walker) -> bool:
    """Return whether two walks are at the same place, with the same past."""
    parts = [(getattr(ours.chain, n), getattr(theirs.chain, n)) for n in ("values", "satisfied", "random")]
    names = ("broken", "changed", "best", "numbers", "costs")
    parts += [(getattr(ours.walk, n), getattr(theirs.walk, n)) for n in names]
    return all(np.array_equal(one, other) for one, other in parts)
