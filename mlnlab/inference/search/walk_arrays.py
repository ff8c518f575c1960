"""Hold a MaxWalkSAT walk in the kernels' arrays: begin one, or restore one from a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from mlnlab.kernels.chains.modes import cost_of
from mlnlab.kernels.chains.world_arrays import Chain, scatter, settle
from mlnlab.kernels.search.walk_steps import (
    BEST,
    BROKEN,
    FLIPS,
    NOBODY,
    NOW,
    TRAIL,
    Members,
    Walk,
    find_broken,
    new_walk,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.inference.sampling.chains import Ground
    from mlnlab.inference.search.landscape import Landscape


class WalkState(Protocol):
    """The record of a walk in a state."""

    @property
    def flips(self) -> int:
        """The moves so far."""

    @property
    def chosen(self) -> NDArray[np.uint32]:
        """The option of each choice."""

    @property
    def broken(self) -> NDArray[np.uint32]:
        """The broken constraints, in the order of the list."""

    @property
    def recent(self) -> NDArray[np.uint32]:
        """The atoms of the last moves."""

    @property
    def last(self) -> NDArray[np.int64]:
        """The last move."""

    @property
    def random(self) -> NDArray[np.uint64]:
        """The state of the random numbers."""

    @property
    def total(self) -> float:
        """The cost now."""

    @property
    def best_total(self) -> float:
        """The cost of the best world."""

    @property
    def best(self) -> NDArray[np.uint32]:
        """The options of the best world."""

    @property
    def best_hard(self) -> int:
        """The number of hard constraints that the best world breaks."""

    @property
    def best_cost(self) -> float:
        """The cost of the soft constraints that the best world breaks."""


class Walker(NamedTuple):
    """A world, and the walk that came to it."""

    chain: Chain
    walk: Walk


def members_of(ground: Ground) -> Members:
    """Return the members of the constraints; a clause is simple without atoms of blocks or in tables."""
    clauses, network = ground.clauses, ground.network
    sizes = lengths(clauses.first_atoms)
    choices = np.repeat(np.arange(len(sizes), dtype=np.uint32), sizes)
    free = (clauses.options == 2) & (sizes == 1) & (lengths(network.choice_starts) == 0)
    owners = np.repeat(np.arange(clauses.number_of_clauses), lengths(clauses.starts))
    involved = np.bincount(owners, ~free[choices[clauses.literals >> 1]], clauses.number_of_clauses)
    simple = (involved == 0).astype(np.uint8)
    for array in (choices, simple):
        array.setflags(write=False)
    return Members(clauses.starts, clauses.literals, clauses.scope_starts, clauses.scope, choices, simple)


def first_walk(
    landscape: Landscape, random: NDArray[np.uint64], tabu: int, begin: NDArray[np.uint32] | None = None
) -> Walker:
    """Return a walk that begins in a world, in a random one where none is given."""
    network = landscape.network
    chain = landscape.chain(np.zeros(len(network.options), np.uint32) if begin is None else begin, random)
    if begin is None:
        scatter(network, chain)
        settle(network, chain)
    walk = new_walk(network, tabu)
    find_broken(network, chain, walk)
    walk.costs[NOW] = walk.costs[BEST] = cost_of(network, chain)
    walk.best[:] = chain.chosen
    return Walker(chain, walk)


def resumed_walk(landscape: Landscape, state: WalkState) -> Walker:
    """Return the walk that a state was taken from, to the bit."""
    chain = landscape.chain(state.chosen, state.random)
    walk = new_walk(landscape.network, len(state.recent) // 2)
    broken = len(state.broken)
    walk.broken[:broken] = state.broken
    walk.places[state.broken] = np.arange(1, broken + 1)
    walk.numbers[BROKEN], walk.numbers[FLIPS] = broken, state.flips
    walk.costs[NOW], walk.costs[BEST] = state.total, state.best_total
    for array, kept in ((walk.best, state.best), (walk.recent, state.recent), (walk.last, state.last)):
        array[:] = kept
    slots = len(state.recent) // 2
    for flip in range(max(0, state.flips - slots), state.flips):
        atoms = state.recent[2 * (flip % slots) : 2 * (flip % slots) + 2]
        walk.changed[atoms[atoms != NOBODY]] = flip
    return Walker(chain, walk)


def lengths(starts: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return how long the stretches are that begin at the starts."""
    wide = starts.astype(np.int64)
    return wide[1:] - wide[:-1]


def go_downhill(landscape: Landscape, walker: Walker) -> None:
    """Go from the walk's world to where no single change helps; if that is the best world, remember it."""
    chain = landscape.chain(walker.chain.chosen, walker.chain.random)
    cost = landscape.go_downhill(chain)
    if cost < walker.walk.costs[BEST] - 1e-12 * (1.0 + abs(walker.walk.costs[BEST])):
        walker.walk.costs[BEST] = cost
        walker.walk.best[:] = chain.chosen
        walker.walk.numbers[TRAIL] = len(walker.walk.trail)  # the best world is not where the trail began


def add_up(landscape: Landscape, walker: Walker) -> None:
    """Compute the cost anew: while a walk goes on, large strengths leave their rounding in the sum."""
    walker.walk.costs[NOW] = cost_of(landscape.network, walker.chain)


def keep_better(landscape: Landscape, walker: Walker, before: WalkState) -> None:
    """Go back to the best world there was before, unless the walk's is cheaper: counted, not added up."""
    walk = walker.walk
    if np.array_equal(walk.best, before.best):
        return
    hard, soft = landscape.cost(walk.best)
    walk.costs[BEST] = hard * landscape.penalty + soft
    if (hard, soft) > (before.best_hard, before.best_cost):
        walk.best[:], walk.costs[BEST] = before.best, before.best_total
        walk.numbers[TRAIL] = len(walk.trail)  # the best world is not where the trail began


def broken_in(landscape: Landscape, chosen: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the constraints that a world breaks: clauses by their numbers, tables behind them."""
    walk = new_walk(landscape.network, 0)
    find_broken(landscape.network, landscape.chain(chosen, np.zeros(4, np.uint64)), walk)
    return walk.broken[: walk.numbers[BROKEN]].copy()
