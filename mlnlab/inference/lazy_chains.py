"""The chains of lazy sampling: what is ground for some slices, and where a chain is after them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.grounding.clause_making import ground_clauses
from mlnlab.grounding.merging import merged
from mlnlab.inference.chains import Ground, prepared, refuse_impossible, visits_of
from mlnlab.inference.loose_atoms import draw_loose, with_priors
from mlnlab.inference.satisfying import start_of
from mlnlab.inference.slices import constraints_of, room_for
from mlnlab.kernels.gibbs import count
from mlnlab.kernels.ground_network import new_chain
from mlnlab.kernels.hard_worlds import violations
from mlnlab.kernels.lazy_slices import sample_loose
from mlnlab.logic.ground_atoms import GroundAtom
from mlnlab.steps.encoding import REGISTRY, storable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.grounding.clauses import GroundClauses
    from mlnlab.grounding.lazy_grounding import LazyGround
    from mlnlab.grounding.lazy_priors import LazyModel
    from mlnlab.inference.loose_atoms import Loose
    from mlnlab.inference.seen_times import Seen, SeenTimes
    from mlnlab.kernels.ground_network import Chain
    from mlnlab.kernels.sample_sat_components import Effort
    from mlnlab.kernels.sample_sat_constraints import Constraints
    from mlnlab.logic.formulas import Formula

BATCHES = 16  # of samples, for standard errors: at least so many
VISITS_PER_STATE = 200_000  # of clauses by atoms, in all chains: some 10 ms
EVENTS = 200.0  # atoms that get loose before clauses are ground anew, about

REGISTRY.add("logic.GroundAtom", GroundAtom)


@storable("lazy_mc_sat.Chain")
class ChainState(NamedTuple):
    """Where a chain is: options of what is listed, the lazy atoms that are true, and its random numbers."""

    listed: NDArray[np.uint32]
    true: tuple[GroundAtom, ...]  # sorted
    random: NDArray[np.uint64]


@storable("lazy_mc_sat.State")
@dataclass(frozen=True, slots=True, eq=False)
class LazyState:
    """Where all chains are after a batch, what was ground for the last one, and how often atoms were true."""

    sweeps: int  # slices of each chain, those of the burn-in included
    chains: tuple[ChainState, ...]
    atoms: int
    clauses: int
    times: SeenTimes

    @property
    def samples(self) -> int:
        """The number of samples kept from each chain."""
        return self.times.samples

    def metrics(self) -> Mapping[str, float]:
        """Return how much was sampled, and how much was ground for it."""
        true = sum(len(chain.true) for chain in self.chains) / len(self.chains)
        found = {"samples": self.samples, "atoms": self.atoms, "clauses": self.clauses, "true": true}
        return {name: float(value) for name, value in found.items()}


def slices_of(model: LazyModel, samples: int, chains: int) -> int:
    """Return how many slices lead from one state to the next, and are ground for: at most a batch of samples.

    Where all atoms are listed nothing is ground anew, and a state takes some milliseconds as in MC-SAT.
    """
    visits = max(1, visits_of(model.ground.clauses))
    few = EVENTS / model.loose if model.loose else VISITS_PER_STATE // (chains * visits)
    return max(1, int(min(1_000, few, samples // BATCHES)))


class LazyChains:
    """What all chains share, and the steps that they take; nothing in it ever changes."""

    def __init__(self, model: LazyModel, effort: Effort, formulas: tuple[tuple[str, Formula], ...]) -> None:
        self.model, self.effort, self.formulas = model, effort, formulas
        self.listed = len(model.ground.eager.choices)
        # Atoms that other formulas want to be true keep their priors among the clauses, and are never idle.
        lazy = model.strengths.keys()
        self.kept = frozenset(
            a for a in (*model.ground.active, *_from_start(model.ground)) if a.predicate in lazy
        )

    def first(self, random: NDArray[np.uint64], generator: np.random.Generator) -> ChainState:
        """Return a world in which what must hold does, with as few lazy atoms true as may be."""
        lazy = self.model.ground
        while True:
            refuse_impossible(lazy.clauses)
            chosen = np.ones(len(lazy.clauses.options), np.uint32)
            options = lazy.clauses.options[: self.listed]
            chosen[: self.listed] = generator.integers(options) if self.listed else 0
            network = prepared(lazy.clauses).network
            if violations(network, new_chain(network, chosen, random)):
                found = start_of(lazy.clauses)
                chosen = chosen if found is None else found.copy()
            new = lazy.idle(chosen)
            if not new:
                return self._state(lazy, chosen, random)
            lazy = lazy.activated(new)

    def _state(self, lazy: LazyGround, chosen: NDArray[np.uint32], random: NDArray[np.uint64]) -> ChainState:
        listed, numbers = chosen[: self.listed].copy(), random.copy()
        for array in (listed, numbers):
            array.setflags(write=False)
        choices = lazy.clauses.question.choices[self.listed :]
        pairs = zip(choices, chosen[self.listed :].tolist(), strict=True)
        return ChainState(listed, tuple(sorted(c.atoms[0] for c, option in pairs if not option)), numbers)

    def advanced(
        self, state: ChainState, sweeps: int, slices: int
    ) -> tuple[ChainState, Mapping[Seen, int], GroundClauses]:
        """Return where a chain is some slices later, how often what was true, and what was ground."""
        # A batch has numbers of its own, that follow from where the chain is and how far it has come: so a
        # state is all that is needed to go on.
        generator = np.random.default_rng([*state.random.tolist(), sweeps])
        loose = draw_loose(self.model, self.kept, state.true, slices, generator)
        lazy = self.model.ground.activated((*loose.atoms, *state.true))
        own = [(place, atom) for place, atom in enumerate(lazy.atoms) if atom in self.kept]
        strengths = np.array([self.model.strengths[atom.predicate] for _, atom in own])
        if self.model.strengths:
            clauses = with_priors(lazy.clauses, np.array([place for place, _ in own], np.int64), strengths)
            ground = prepared(clauses)
            constraints = constraints_of(ground)
        else:
            ground, constraints = self._whole
        clauses, true = ground.clauses, set(state.true)
        chosen = np.ones(len(clauses.options), np.uint32)
        chosen[: self.listed] = state.listed
        for place, choice in enumerate(clauses.question.choices[self.listed :], self.listed):
            chosen[place] = choice.atoms[0] not in true
        chain = new_chain(ground.network, chosen, state.random)
        counts = self._sampled(lazy, ground, constraints, chain, loose)
        return self._state(lazy, chain.chosen, chain.random), counts, clauses

    @cached_property
    def _whole(self) -> tuple[Ground, Constraints]:
        """What is ground where all atoms are listed: the same for all slices."""
        ground = prepared(merged(self.model.ground.clauses))
        return ground, constraints_of(ground)

    def _sampled(
        self, lazy: LazyGround, ground: Ground, constraints: Constraints, chain: Chain, loose: Loose
    ) -> Mapping[Seen, int]:
        """Let a chain go through some slices, and return how often what was true in them."""
        guarded, rows = self._guarded(lazy, loose)
        sums = np.zeros(len(lazy.atoms), np.int64)
        shared = ground.network, constraints, chain, room_for(ground), self.effort
        times: dict[Seen, int] = {}
        if not self.formulas:
            sample_loose(*shared, guarded, rows, sums)
        else:
            asked = _AskedFormulas(lazy, self.formulas)
            for row in range(len(rows)):
                sample_loose(*shared, guarded, rows[row : row + 1], sums)
                asked.look_at(chain.chosen)
            times.update(asked.times(len(rows)))
        atoms = lazy.atoms
        return {**{atoms[place]: int(sums[place]) for place in np.flatnonzero(sums).tolist()}, **times}

    def _guarded(self, lazy: LazyGround, loose: Loose) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Return the numbers of the atoms that slices may keep false; for each slice, who is loose."""
        guarded_already = {*loose.atoms, *self.kept}
        numbers = {atom: place for place, atom in enumerate(lazy.atoms)}
        lazy_names = self.model.strengths.keys()
        idle = [a for a in lazy.atoms if a.predicate in lazy_names and a not in guarded_already]
        guarded = np.array([numbers[atom] for atom in (*loose.atoms, *idle)], np.uint32)
        rows = np.hstack([loose.rows, np.zeros((len(loose.rows), len(idle)), np.uint8)])
        return guarded, np.ascontiguousarray(rows)


class _AskedFormulas:
    """How often the formulas that are asked for hold, over the atoms that may be true in some slices."""

    def __init__(self, lazy: LazyGround, formulas: tuple[tuple[str, Formula], ...]) -> None:
        # What is not ground is false in these slices, as if evidence said so.
        nothing = replace(lazy.asked.mln, formulas=())
        question = replace(lazy.clauses.question, mln=nothing, soft=(), given=())
        self._ground = prepared(ground_clauses(question, formulas))
        self._sums = np.zeros(len(formulas), np.int64)
        self._counts = np.zeros(len(formulas), np.int64)

    def look_at(self, chosen: NDArray[np.uint32]) -> None:
        """Count what holds in a world."""
        network = self._ground.network
        count(network, self._ground.groups, new_chain(network, chosen, np.zeros(4, np.uint64)), self._counts)
        self._sums += self._counts

    def times(self, slices: int) -> Iterator[tuple[str, int]]:
        """Yield in how many of some slices each formula held."""
        clauses, sums = self._ground.clauses, self._sums.tolist()
        for source, tally, held in zip(clauses.sources, clauses.tallies, sums, strict=True):
            yield source.text, slices if tally.true else held


def _from_start(lazy: LazyGround) -> Iterator[GroundAtom]:
    return (atom for choice in lazy.eager.choices for atom in choice.atoms)
