"""Gibbs updates per second beside the same loop in C: same random numbers, same trajectory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.experiments.bench.measurement import Effort, Measurement, compared, own_seconds
from mlnlab.experiments.samples.friends_smokers import friends_smokers
from mlnlab.grounding.question import pose
from mlnlab.inference import gibbs
from mlnlab.inference.chains import Ground, random_world
from mlnlab.inference.memory import bytes_of
from mlnlab.kernels.gibbs import sweep
from mlnlab.kernels.ground_network import new_chain
from mlnlab.kernels.random_numbers import streams
from mlnlab.model.database import Database
from mlnlab.model.mln import MLN

if TYPE_CHECKING:
    from mlnlab.experiments.bench.in_c import FunctionsInC

PEOPLE = 1_000
SIZES = (10_000, 100_000)  # atoms of the random formulas
CLAUSES_PER_ATOM = 4.2  # there they are hardest to satisfy


def measured(effort: Effort, in_c: FunctionsInC | None) -> Iterator[Measurement]:
    """Yield the speeds on a model with few neighbours and on two with scattered ones."""
    yield updates_per_second(f"Gibbs, {PEOPLE:,} friends and smokers", smokers(), effort, in_c)
    for atoms in SIZES:
        yield updates_per_second(f"Gibbs, random 3-SAT of {atoms:,} atoms", three_sat(atoms), effort, in_c)


def smokers() -> Ground:
    """Return the sample data at a size that is worth sampling: half of the habits are known."""
    texts = friends_smokers(PEOPLE)
    mln = MLN.from_text(texts.model)
    db = Database.from_text(texts.databases["friends_smokers"], mln)
    return gibbs.ground(pose(mln, db, ["Smokes", "Cancer"]))


def three_sat(atoms: int = SIZES[0], seed: int = 1) -> Ground:
    """Return a weighted 3-SAT that is as random as it can be: every visit is a jump through memory."""
    rng = np.random.default_rng(seed)
    names = ", ".join(f"A{number}" for number in range(atoms))
    ground = gibbs.ground(pose(MLN.from_text(f"atom = {{{names}}}\nT(atom)\n1 T(x)"), None, None))
    number = int(CLAUSES_PER_ATOM * atoms)
    clauses = np.sort(rng.integers(0, atoms - 2, (number, 3)), axis=1) + np.arange(3)  # three different ones
    literals = (2 * clauses + rng.integers(0, 2, clauses.shape)).ravel()
    order = np.argsort(literals >> 1, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(literals >> 1, minlength=atoms))]).astype(np.uint32)
    occurrences = (2 * (np.arange(len(literals)) // 3) + (literals & 1))[order].astype(np.uint32)
    strengths = rng.uniform(0.5, 2, number)
    for array in (starts, occurrences, strengths):
        array.setflags(write=False)
    network = ground.network._replace(atom_starts=starts, occurrences=occurrences, strengths=strengths)
    return replace(ground, network=network)


def updates_per_second(name: str, ground: Ground, effort: Effort, in_c: FunctionsInC | None) -> Measurement:
    """Let our kernel and the loop in C take turns from the same world with the same random numbers."""
    network, atoms = ground.network, ground.clauses.number_of_atoms
    begin = random_world(ground, streams(1, 1)[0])
    ours, theirs = (new_chain(network, begin.chosen, begin.random) for _ in range(2))
    sweeps = max(1, effort.updates // atoms)

    def by_c() -> None:
        if in_c is not None:
            in_c.sweep(
                atoms, network.atom_starts, network.occurrences, network.strengths,
                theirs.values, theirs.satisfied, theirs.random, sweeps,
            )  # fmt: skip

    rounds: list[tuple[float, float | None]] = []
    for _ in range(effort.rounds + 1):
        own = own_seconds(lambda: sweep(network, ours, sweeps))
        rounds.append((own, None if in_c is None else own_seconds(by_c)))
    parts = ((ours.values, theirs.values), (ours.satisfied, theirs.satisfied), (ours.random, theirs.random))
    same = all(np.array_equal(one, other) for one, other in parts)
    # The first round also compiles, and fetches everything into the caches.
    memory = bytes_of(network, ours)
    return compared(name, "updates", sweeps * atoms, rounds[1:], same_results=same, memory=memory)
