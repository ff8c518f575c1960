"""Gibbs updates per second beside the same loop in C: same random numbers, same trajectory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.grounding.question.question import pose
from mlnlab.inference.answers.memory import bytes_of
from mlnlab.inference.methods import gibbs
from mlnlab.inference.sampling.chains import Ground, random_world
from mlnlab.kernels.chains.gibbs_sweeps import sweep
from mlnlab.kernels.chains.world_arrays import new_chain
from mlnlab.kernels.random_numbers import streams
from mlnlab.model.database.database import Database
from mlnlab.model.mln.mln import MLN
from sample_data import friends_smokers
from tests.benchmarks.beside_c.measurement import Effort, Measurement, by_turns, compared, same_arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.benchmarks.beside_c.in_c import FunctionsInC

PEOPLE = 1_000
SIZES = (10_000, 100_000)  # atoms of the random formulas
CLAUSES_PER_ATOM = 4.2  # there they are hardest to satisfy


def smokers() -> Ground:
    """Return the sample data at a size that is worth sampling: half of the habits are known."""
    texts = friends_smokers(PEOPLE)
    mln = MLN.from_text(texts.model)
    db = Database.from_text(texts.databases["friends_smokers"], mln)
    return gibbs.ground(pose(mln, db, ["Smokes", "Cancer"]))


def three_sat(atoms: int = SIZES[0], seed: int = 1) -> Ground:
    """Return a weighted 3-SAT that is as random as it can be: every visit is a jump through memory."""
    ground, rng = no_clauses(atoms), np.random.default_rng(seed)
    literals = random_literals(atoms, rng)
    order = np.argsort(literals >> 1, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(literals >> 1, minlength=atoms))]).astype(np.uint32)
    occurrences = (2 * (np.arange(len(literals)) // 3) + (literals & 1))[order].astype(np.uint32)
    strengths = rng.uniform(0.5, 2, len(literals) // 3)
    for array in (starts, occurrences, strengths):
        array.setflags(write=False)
    network = ground.network._replace(atom_starts=starts, occurrences=occurrences, strengths=strengths)
    return replace(ground, network=network)


def no_clauses(atoms: int) -> Ground:
    """Return the atoms of random clauses, before they have these."""
    names = ", ".join(f"A{number}" for number in range(atoms))
    return gibbs.ground(pose(MLN.from_text(f"atom = {{{names}}}\nT(atom)\n1 T(x)"), None, None))


def random_literals(atoms: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the literals of random clauses over three different atoms each."""
    clauses = np.sort(rng.integers(0, atoms - 2, (int(CLAUSES_PER_ATOM * atoms), 3)), axis=1) + np.arange(3)
    return (2 * clauses + rng.integers(0, 2, clauses.shape)).ravel()


def updates_per_second(name: str, ground: Ground, effort: Effort, in_c: FunctionsInC) -> Measurement:
    """Let our kernel and the loop in C take turns from the same world with the same random numbers."""
    network, atoms = ground.network, ground.clauses.number_of_atoms
    begin = random_world(ground, streams(1, 1)[0])
    ours, theirs = (new_chain(network, begin.chosen, begin.random) for _ in range(2))
    sweeps = max(1, effort.updates // atoms)

    def by_c() -> None:
        in_c.sweep(
            atoms, network.atom_starts, network.occurrences, network.strengths,
            theirs.values, theirs.satisfied, theirs.random, sweeps,
        )  # fmt: skip

    rounds = by_turns(effort, lambda: sweep(network, ours, sweeps), by_c)
    same = same_arrays(ours, theirs, ("values", "satisfied", "random"))
    memory = bytes_of(network, ours)
    return compared(name, "updates", sweeps * atoms, rounds, same_results=same, memory=memory)
