"""Run the chains of lazy sampling: ground the model for some slices, and keep the chains' states."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from math import exp
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.grounding.clauses.merging import merge_clauses
from mlnlab.inference.lazy.seen_times import Seen, SeenTimes
from mlnlab.inference.sampling.chains import Ground, prepare_chains, refuse_impossible, visits_of
from mlnlab.inference.sampling.slices import constraints_of, room_for
from mlnlab.inference.sat.satisfying import start_of
from mlnlab.kernels.chains.gibbs_sweeps import count
from mlnlab.kernels.chains.hard_worlds import violations
from mlnlab.kernels.chains.lazy_slices import sample_loose
from mlnlab.kernels.chains.world_arrays import Chain, new_chain
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.steps.run_identity import OfRun
from mlnlab.steps.state_layout import ArrayOf, Of, Part, Several, Sizes, Whole, holds, tuple_holds
from mlnlab.steps.values.encoding import REGISTRY, storable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.grounding.clauses.ground_clauses import GroundClauses
    from mlnlab.grounding.lazy.lazy_grounding import LazyGround
    from mlnlab.grounding.lazy.lazy_priors import LazyModel
    from mlnlab.kernels.chains.sample_sat_components import Effort
    from mlnlab.kernels.chains.sample_sat_constraints import Constraints
    from mlnlab.logic.formulas.formulas import Formula

BATCHES = 16  # of samples, for standard errors: at least so many
VISITS_PER_STATE = 200_000  # of clauses by atoms, in all chains: some 10 ms
EVENTS = 200.0  # atoms that get loose before clauses are ground anew, about

REGISTRY.add("logic.GroundAtom", GroundAtom)


@storable("lazy_mc_sat.Chain")
class ChainState(NamedTuple):
    """The state of a chain: options of the listed choices, true lazy atoms, and random numbers."""

    listed: NDArray[np.uint32]
    true: tuple[GroundAtom, ...]  # sorted
    random: NDArray[np.uint64]


tuple_holds(
    ChainState,
    listed=ArrayOf(np.uint32, ("listed",), below="options"),
    true=Several(Of((GroundAtom,))),
    random=ArrayOf(np.uint64, (4,), no_empty_rows=True),
)


@storable("lazy_mc_sat.State")
@dataclass(frozen=True, slots=True, eq=False)
class LazyState(OfRun):
    """The states of all chains after a batch, the size of its ground model, and counts of true atoms."""

    sweeps: int = field(metadata=holds(Whole()))  # slices of each chain, those of the burn-in included
    chains: tuple[ChainState, ...] = field(metadata=holds(Several(Part(ChainState), "chains")))
    atoms: int = field(metadata=holds(Whole()))
    clauses: int = field(metadata=holds(Whole()))
    times: SeenTimes = field(metadata=holds(Part(SeenTimes)))

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
    """Advance the chains, by a model, effort and formulas that all of them share; it never changes."""

    def __init__(self, model: LazyModel, effort: Effort, formulas: tuple[tuple[str, Formula], ...]) -> None:
        self.model, self.effort, self.formulas = model, effort, formulas
        self.listed = len(model.ground.eager.choices)
        # Atoms that other formulas want to be true keep their priors among the clauses, and are never idle.
        lazy = model.strengths.keys()
        self.kept = frozenset(
            a for a in (*model.ground.active, *_from_start(model.ground)) if a.predicate in lazy
        )

    def sizes(self, chains: int) -> Sizes:
        """Return the sizes that a state from outside must fit."""
        options = self.model.ground.clauses.options[: self.listed]
        return {"chains": chains, "listed": self.listed, "options": options}

    def flaw(self, state: LazyState) -> str:
        """Say which atoms of a state from outside are not open here."""
        lazy = self.model.ground
        listed = set(_from_start(lazy))
        for chain in state.chains:
            if chain.true != tuple(sorted(set(chain.true))) or any(
                atom in listed or not lazy.is_open(atom) for atom in chain.true
            ):
                return "an atom is true that is not open, or true twice"
        if any(not lazy.is_open(atom) and atom not in listed for atom in state.times.atoms()):
            return "an atom was true that is not open"
        return ""

    def first(self, random: NDArray[np.uint64], generator: np.random.Generator) -> ChainState:
        """Return a world that satisfies all hard constraints, with few lazy atoms true."""
        lazy = self.model.ground
        while True:
            refuse_impossible(lazy.clauses)
            chosen = np.ones(len(lazy.clauses.options), np.uint32)
            options = lazy.clauses.options[: self.listed]
            chosen[: self.listed] = generator.integers(options) if self.listed else 0
            network = prepare_chains(lazy.clauses).network
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

    def advance_chain(
        self, state: ChainState, sweeps: int, slices: int
    ) -> tuple[ChainState, Mapping[Seen, int], GroundClauses]:
        """Return a chain some slices later, counts of true atoms and formulas, and its ground clauses."""
        # A batch has numbers of its own, that follow from where the chain is and how far it has come: so a
        # state is all that is needed to go on.
        generator = np.random.default_rng([*state.random.tolist(), sweeps])
        loose = draw_loose(self.model, self.kept, state.true, slices, generator)
        lazy = self.model.ground.activated((*loose.atoms, *state.true))
        own = [(place, atom) for place, atom in enumerate(lazy.atoms) if atom in self.kept]
        strengths = np.array([self.model.strengths[atom.predicate] for _, atom in own])
        if self.model.strengths:
            clauses = with_priors(lazy.clauses, np.array([place for place, _ in own], np.int64), strengths)
            ground = prepare_chains(clauses)
            constraints = constraints_of(ground)
        else:
            ground, constraints = self._whole
        clauses, true = ground.clauses, set(state.true)
        chosen = np.ones(len(clauses.options), np.uint32)
        chosen[: self.listed] = state.listed
        for place, choice in enumerate(clauses.question.choices[self.listed :], self.listed):
            chosen[place] = choice.atoms[0] not in true
        chain = new_chain(ground.network, chosen, state.random)
        counts = self._sample_slices(lazy, ground, constraints, chain, loose)
        return self._state(lazy, chain.chosen, chain.random), counts, clauses

    @cached_property
    def _whole(self) -> tuple[Ground, Constraints]:
        """The ground model where all atoms are listed: the same for all slices."""
        ground = prepare_chains(merge_clauses(self.model.ground.clauses))
        return ground, constraints_of(ground)

    def _sample_slices(
        self, lazy: LazyGround, ground: Ground, constraints: Constraints, chain: Chain, loose: Loose
    ) -> Mapping[Seen, int]:
        """Let a chain go through some slices, and count how often each atom and formula was true."""
        guarded, rows = self._guard_atoms(lazy, loose)
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

    def _guard_atoms(self, lazy: LazyGround, loose: Loose) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
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
        self._ground = prepare_chains(ground_clauses(question, formulas))
        self._sums = np.zeros(len(formulas), np.int64)
        self._counts = np.zeros(len(formulas), np.int64)

    def look_at(self, chosen: NDArray[np.uint32]) -> None:
        """Count the true groundings of the asked formulas in a world."""
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


# --- loose atoms: draw them, and compute the priors that keep others false ----------------------


class Loose(NamedTuple):
    """The atoms that some slice leaves loose, and a row for each slice that tells which."""

    atoms: tuple[GroundAtom, ...]
    rows: NDArray[np.uint8]


def draw_loose(
    model: LazyModel, kept: frozenset[GroundAtom], true: Collection[GroundAtom], slices: int,
    random: np.random.Generator,
) -> Loose:  # fmt: skip
    """Draw for some slices which of the false atoms' priors they do not ask for, each with exp(-s).

    ``kept`` atoms have their priors among the clauses; those that are ``true`` now may get false in between.
    """
    now = frozenset(true)
    decided = model.ground.decided
    events: set[tuple[int, GroundAtom]] = set()
    for name, strength in model.strengths.items():
        own = {atom for atom in kept | now if atom.predicate == name}
        idle = model.open_atoms.get(name, 0) - len(own)
        number = int(random.binomial(slices * idle, exp(-strength))) if idle > 0 else 0
        domains = [decided.vocabulary.domain(type_) for type_ in decided.vocabulary[name].types]
        found: set[tuple[int, GroundAtom]] = set()
        while len(found) < number:  # drawn again where an atom is none of these, or was drawn already
            numbers = [int(random.integers(len(domain))) for domain in domains]
            atom = GroundAtom(name, tuple(d[n] for d, n in zip(domains, numbers, strict=True)))
            if atom not in own and not decided.holds_row(name, numbers):
                found.add((int(random.integers(slices)), atom))
        events |= found
    atoms = tuple(sorted(now - kept | {atom for _, atom in events}))
    places = {atom: place for place, atom in enumerate(atoms)}
    rows = np.zeros((slices, len(atoms)), np.uint8)
    for row, atom in events:
        rows[row, places[atom]] = 1
    for atom in sorted(now - kept):  # each takes a number, so their order must not be that of a set
        rows[:, places[atom]] = random.random(slices) < exp(-model.strengths[atom.predicate])
    return Loose(atoms, rows)


def with_priors(
    clauses: GroundClauses, atoms: NDArray[np.int64], strengths: NDArray[np.float64]
) -> GroundClauses:
    """Return the clauses with a prior for each of some atoms, those on the same literals made one."""
    number = len(atoms)
    none, last = np.zeros(number, np.bool_), max(0, len(clauses.sources) - 1)
    joined = replace(
        clauses,
        starts=np.concatenate([clauses.starts, clauses.starts[-1] + np.arange(1, number + 1)]).astype(
            np.uint32
        ),
        literals=np.concatenate([clauses.literals, 2 * atoms + 1]).astype(np.uint32),
        weights=np.concatenate([clauses.weights, strengths]),
        hard=np.concatenate([clauses.hard, none]),
        negated=np.concatenate([clauses.negated, none]),
        clause_sources=np.concatenate([clauses.clause_sources, np.full(number, last)]).astype(np.uint32),
    )
    return merge_clauses(joined)
