"""The chains of lazy sampling: what is ground for some slices, and where a chain is after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.inference.chains import prepared, refuse_impossible
from mlnlab.inference.loose_atoms import draw_loose, with_priors
from mlnlab.inference.satisfying import start_of
from mlnlab.inference.slices import constraints_of, room_for
from mlnlab.kernels.ground_network import new_chain
from mlnlab.kernels.hard_worlds import violations
from mlnlab.kernels.lazy_slices import sample_loose
from mlnlab.kernels.random_numbers import streams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from mlnlab.grounding.clauses import GroundClauses
    from mlnlab.grounding.lazy_grounding import LazyGround
    from mlnlab.grounding.lazy_priors import LazyModel
    from mlnlab.kernels.sample_sat_components import Effort
    from mlnlab.logic.ground_atoms import GroundAtom

EVENTS = 200.0  # atoms that get loose before clauses are ground anew, about


class ChainState(NamedTuple):
    """Where a chain is: options of what is listed, the lazy atoms that are true, and its random numbers."""

    listed: NDArray[np.uint32]
    true: frozenset[GroundAtom]
    random: NDArray[np.uint64]


class LazyChains:
    """What all chains share, and the steps that they take."""

    def __init__(self, model: LazyModel, effort: Effort, chains: int, seed: int) -> None:
        self.model, self.effort = model, effort
        self.listed = len(model.ground.eager.choices)
        # Atoms that other formulas want to be true keep their priors among the clauses, and are never idle.
        lazy = model.strengths.keys()
        self.kept = frozenset(
            a for a in (*model.ground.active, *_from_start(model.ground)) if a.predicate in lazy
        )
        self.streams = streams(seed, chains)
        self.generators = [np.random.default_rng([seed, chain]) for chain in range(chains)]

    @property
    def slices(self) -> int:
        """How many slices are drawn before clauses are ground anew."""
        return max(1, min(1_000, int(EVENTS / max(self.model.loose, 1e-9))))

    def first(self, number: int) -> ChainState:
        """Return a world in which what must hold does, with as few lazy atoms true as may be."""
        lazy, random = self.model.ground, self.streams[number]
        while True:
            refuse_impossible(lazy.clauses)
            chosen = np.ones(len(lazy.clauses.options), np.uint32)
            options = lazy.clauses.options[: self.listed]
            chosen[: self.listed] = self.generators[number].integers(options) if self.listed else 0
            network = prepared(lazy.clauses).network
            if violations(network, new_chain(network, chosen, random)):
                found = start_of(lazy.clauses)
                chosen = chosen if found is None else found.copy()
            new = lazy.idle(chosen)
            if not new:
                return ChainState(chosen[: self.listed].copy(), self._true(lazy, chosen), random)
            lazy = lazy.activated(new)

    def _true(self, lazy: LazyGround, chosen: NDArray[np.uint32]) -> frozenset[GroundAtom]:
        choices = lazy.clauses.question.choices[self.listed :]
        return frozenset(
            choice.atoms[0]
            for choice, option in zip(choices, chosen[self.listed :].tolist(), strict=True)
            if not option
        )

    def advanced(
        self, number: int, state: ChainState, slices: int
    ) -> tuple[ChainState, dict[GroundAtom, int], GroundClauses]:
        """Return where a chain is some slices later, how often which atoms were true, and what was ground."""
        model = self.model
        loose = draw_loose(model, self.kept, state.true, slices, self.generators[number])
        lazy = model.ground.activated((*loose.atoms, *state.true))
        atoms = lazy.atoms
        numbers = {atom: place for place, atom in enumerate(atoms)}
        own = [atom for atom in atoms if atom in self.kept]
        strengths = np.array([model.strengths[atom.predicate] for atom in own])
        clauses = with_priors(lazy.clauses, np.array([numbers[a] for a in own], np.int64), strengths)
        ground = prepared(clauses)
        chosen = np.ones(len(clauses.options), np.uint32)
        chosen[: self.listed] = state.listed
        true = [place for place, choice in enumerate(clauses.question.choices[self.listed :], self.listed)
                if choice.atoms[0] in state.true]  # fmt: skip
        chosen[true] = 0
        guarded_already = {*loose.atoms, *self.kept}
        idle = [a for a in atoms if a.predicate in model.strengths and a not in guarded_already]
        guarded = np.array([numbers[atom] for atom in (*loose.atoms, *idle)], np.uint32)
        rows = np.ascontiguousarray(np.hstack([loose.rows, np.zeros((slices, len(idle)), np.uint8)]))
        chain = new_chain(ground.network, chosen, state.random)
        sums = np.zeros(len(atoms), np.int64)
        sample_loose(
            ground.network,
            constraints_of(ground),
            chain,
            room_for(ground),
            self.effort,
            guarded,
            rows,
            sums,
        )
        counts = {atoms[place]: int(sums[place]) for place in np.flatnonzero(sums).tolist()}
        after = ChainState(
            chain.chosen[: self.listed].copy(), self._true(lazy, chain.chosen), chain.random.copy()
        )
        return after, counts, clauses


def _from_start(lazy: LazyGround) -> Iterator[GroundAtom]:
    return (atom for choice in lazy.eager.choices for atom in choice.atoms)
