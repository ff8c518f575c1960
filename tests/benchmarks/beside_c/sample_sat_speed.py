"""SampleSAT moves per second beside the same loop in C: same random numbers, same trajectory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.grounding.question.question import pose
from mlnlab.inference.answers.memory import bytes_of
from mlnlab.inference.sampling.chains import Ground, random_world
from mlnlab.inference.sampling.sampled_worlds import ground_question
from mlnlab.inference.sampling.slices import constraints_of
from mlnlab.kernels.chains.sample_sat import search
from mlnlab.kernels.chains.sample_sat_constraints import (
    BROKEN,
    FIRST,
    HAND,
    MEMBERS,
    Constraints,
    Slice,
    new_slice,
)
from mlnlab.kernels.chains.world_arrays import Chain, new_chain
from mlnlab.kernels.random_numbers import streams
from mlnlab.model.mln.mln import MLN
from tests.benchmarks.beside_c.gibbs_speed import random_literals, smokers
from tests.benchmarks.beside_c.measurement import Effort, Measurement, by_turns, compared, same_arrays

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.benchmarks.beside_c.in_c import FunctionsInC

SIZES = (10_000, 100_000)  # atoms of the random formulas
WALKING, ACCEPTANCE = 0.5, 1e-3


def smokers_torn() -> tuple[Ground, Constraints]:
    """Return the clauses of friends and smokers, all asked for, and every tenth atom both true and false.

    The clauses alone are soon satisfied; these never are, so that a search does not end.
    """
    ground = smokers()
    clauses, atoms = ground.clauses, ground.clauses.number_of_atoms
    torn = np.repeat(2 * np.arange(0, atoms, 10), 2)
    torn[1::2] += 1
    literals = np.concatenate([clauses.literals.astype(np.int64), torn])
    ends = len(clauses.literals) + np.arange(1, len(torn) + 1)
    return of_clauses(ground, literals, np.concatenate([clauses.starts.astype(np.int64), ends]))


def three_sat(atoms: int, seed: int = 1) -> tuple[Ground, Constraints]:
    """Return random 3-SAT, as hard as it can be: a search does not end, each visit jumps through memory."""
    names = ", ".join(f"A{number}" for number in range(atoms))
    ground = ground_question(pose(MLN.from_text(f"atom = {{{names}}}\nT(atom)\n1 T(x)"), None, None))
    literals = random_literals(atoms, np.random.default_rng(seed))
    return of_clauses(ground, literals, np.arange(0, len(literals) + 1, 3))


def of_clauses(
    ground: Ground, literals: NDArray[np.int64], starts: NDArray[np.int64]
) -> tuple[Ground, Constraints]:
    """Return the atoms of a ground model with other clauses."""
    number, atoms = len(starts) - 1, ground.clauses.number_of_atoms
    owners = np.repeat(np.arange(number), starts[1:] - starts[:-1])
    order = np.argsort(literals >> 1, kind="stable")
    firsts = _words(np.concatenate([[0], np.cumsum(np.bincount(literals >> 1, minlength=atoms))]))
    strengths, simple = np.ones(number), np.ones(number, np.uint8)
    strengths.setflags(write=False)
    simple.setflags(write=False)
    occurrences = _words((2 * owners + (literals & 1))[order])
    network = ground.network._replace(atom_starts=firsts, occurrences=occurrences, strengths=strengths)
    constraints = constraints_of(ground)._replace(
        starts=_words(starts), literals=_words(literals), odds=strengths, simple=simple
    )
    return replace(ground, network=network), constraints


def _words(numbers: NDArray[Any]) -> NDArray[np.uint32]:
    array = np.ascontiguousarray(numbers, np.uint32)
    array.setflags(write=False)
    return array


def in_hand(ground: Ground, chain: Chain) -> Slice:
    """Return room in which every clause is asked for, and all of them are one component."""
    atoms = ground.clauses.number_of_atoms
    work = new_slice(atoms, len(ground.network.strengths), atoms, 0)
    work.asked[:] = HAND
    work.members[:] = np.arange(atoms)
    work.sizes[FIRST], work.sizes[MEMBERS] = 0, atoms
    broken = np.flatnonzero(chain.satisfied == 0)
    work.broken[: len(broken)], work.sizes[BROKEN] = broken, len(broken)
    work.places[broken] = np.arange(1, len(broken) + 1)
    return work


def moves_per_second(
    name: str, ground: Ground, constraints: Constraints, effort: Effort, in_c: FunctionsInC
) -> Measurement:
    """Let our kernel and the loop in C take turns from the same world with the same random numbers."""
    network = ground.network
    begin = random_world(ground, streams(1, 1)[0])
    ours, theirs = (new_chain(network, begin.chosen, begin.random) for _ in range(2))
    work, other = in_hand(ground, ours), in_hand(ground, theirs)
    moves, atoms = effort.updates // 4, ground.clauses.number_of_atoms

    def by_c() -> None:
        other.sizes[BROKEN] = in_c.search(
            atoms, network.atom_starts, network.occurrences, constraints.starts, constraints.literals,
            other.asked, other.frozen, other.members, theirs.values, theirs.satisfied, other.broken,
            other.places, theirs.random, int(other.sizes[BROKEN]), WALKING, ACCEPTANCE, moves,
        )  # fmt: skip

    def by_us() -> None:
        search(network, constraints, ours, work, WALKING, ACCEPTANCE, moves)

    rounds = by_turns(effort, by_us, by_c)
    same = same_arrays(ours, theirs, ("values", "satisfied", "random"))
    memory = bytes_of(network, constraints, ours, work)
    return compared(name, "moves", moves, rounds, same_results=same, memory=memory)
