"""MaxWalkSAT: a local search for a most probable world that repairs broken formulas.

In each step one of the ground formulas that the world breaks is drawn at random; with probability ``noise`` a
random atom of it is flipped, otherwise the one whose flip costs the least (Kautz, Selman and Jiang, A general
stochastic approach to solving problems with hard and soft constraints, 1997; for Markov logic: Lowd's thesis,
section 4.2.1). An atom that was just flipped is *tabu* for some steps. A table is repaired by changing one of
its choices, and a block of exclusive atoms by taking another option of it, so that worlds stay possible.

The walk keeps flipping, so where much is broken in every world it never comes to rest; therefore each state
also goes downhill from the world that the walk has come to, until no single change helps.

Needs: every weight known; finite domains. Answers: a world, the best that was met. Where formulas must hold,
the first walk begins in a world in which they do, found by a SAT solver. Not for a proof that no world is
better.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.costs.sampling_costs import search_cost
from mlnlab.inference.method import Method, RunLength
from mlnlab.inference.sampling.chains import ONE_CHOSEN, ONE_RANDOM
from mlnlab.inference.sat.satisfying import start_of
from mlnlab.inference.search.landscape import Landscape, landscape
from mlnlab.inference.search.walk_arrays import (
    Walker,
    add_up,
    broken_in,
    first_walk,
    go_downhill,
    keep_better,
    members_of,
    resumed_walk,
)
from mlnlab.inference.search.world_search import Found, WorldReader, run_search
from mlnlab.kernels.random_numbers import streams
from mlnlab.kernels.search.walk_sat import search
from mlnlab.kernels.search.walk_steps import BEST, BROKEN, FLIPS, NOBODY, NOW, Members
from mlnlab.logic.checked_options import check_options, real, whole
from mlnlab.steps.run_identity import OfRun, resume_run
from mlnlab.steps.state_layout import ArrayOf, Real, Sizes, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.grounding.question.question import Question
    from mlnlab.steps.step import Observer

VISITS_PER_STATE = 1_000_000  # of clauses by flips: some 10 ms
STATES = 40  # at least so many in a run, so that there is something to see


@dataclass(frozen=True, slots=True)
class Params:
    """How long to search, and how greedily."""

    flips: int = 1_000_000  # of each walk
    tries: int = 1  # walks; all but the first begin in random worlds
    noise: float = 0.05  # how often a random atom is flipped instead of the cheapest
    tabu: int = 1  # flips for which an atom stays as it is
    downhill: bool = True  # go downhill from the world of each state
    target: float = 0.0  # of the cost; reaching it ends the search
    seed: int = 0
    flips_per_state: int | None = None  # None: so many that a state takes some milliseconds

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        check_options(self, flips=1, tries=1, tabu=0, seed=0, noise=real(0, 1))
        check_options(self, target=real(0, endless=True), flips_per_state=whole(1).or_none())


@storable("max_walk_sat.State")
@dataclass(frozen=True, slots=True, eq=False)
class WalkState(OfRun):
    """Where the walk is after some flips, and the best world so far; arrays are read-only."""

    flips: int = field(metadata=holds(Whole()))  # of all walks
    walk: int = field(metadata=holds(Whole()))  # its number, from 0 on
    chosen: NDArray[np.uint32] = field(metadata=holds(ONE_CHOSEN))  # the option of each choice
    # Constraints, in the order of the kernel's list.
    broken: NDArray[np.uint32] = field(metadata=holds(ArrayOf(np.uint32, (None,), below="constraints")))
    # The atoms of the last moves.
    recent: NDArray[np.uint32] = field(metadata=holds(ArrayOf(np.uint32, ("slots",))))
    # The last move: constraint, choice, its option before, why.
    last: NDArray[np.int64] = field(metadata=holds(ArrayOf(np.int64, (4,), least=-1, below="moves")))
    random: NDArray[np.uint64] = field(metadata=holds(ONE_RANDOM))
    total: float = field(metadata=holds(Real(finite=True)))  # the cost, with the penalty of what must hold
    best_total: float = field(metadata=holds(Real(finite=True)))
    best: NDArray[np.uint32] = field(metadata=holds(ONE_CHOSEN))  # the options of the best world
    cost: float = field(metadata=holds(Real()))  # of soft formulas
    best_cost: float = field(metadata=holds(Real()))
    best_hard: int = field(metadata=holds(Whole()))  # of what must hold, how much is broken in the best world

    def metrics(self) -> Mapping[str, float]:
        """Return the costs, now and of the best world, and how much is broken now."""
        return {
            "cost": self.cost,
            "best_cost": self.best_cost,
            "unsatisfied": float(len(self.broken)),
            "hard_unsatisfied_in_best": float(self.best_hard),
            "flips": float(self.flips),
        }


def flips_of(params: Params, landscape: Landscape) -> int:
    """Return how many flips lead from one state to the next."""
    if params.flips_per_state is not None:
        return params.flips_per_state
    clauses, choices = landscape.clauses, len(landscape.clauses.options)
    degree = landscape.ground.visits / max(1, clauses.number_of_atoms)
    width = (len(clauses.literals) + len(clauses.scope)) / max(1, landscape.constraints)
    options = int(clauses.options.sum()) / max(1, 2 * choices)
    affordable = int(VISITS_PER_STATE / max(1.0, degree * width * options))
    return max(1, min(affordable, params.flips * params.tries // STATES))


def first_state(params: Params, landscape: Landscape) -> WalkState:
    """Return the first walk in its first world: a random one, or one in which everything holds that must."""
    walker = first_walk(landscape, streams(params.seed, 1)[0], params.tabu, start_of(landscape.clauses))
    return _state(0, walker, landscape, None)


def advance_state(
    state: WalkState, walker: Walker, members: Members, params: Params, landscape: Landscape
) -> tuple[WalkState, Walker]:
    """Return the state some flips later, and its walker; a walk at its end is followed by another."""
    number = state.walk
    left = max(0, params.flips * (number + 1) - state.flips)  # fewer may be asked for than were made
    if not left:
        number, left = number + 1, params.flips
        walker = _next_walk(walker, params, landscape)
    chain, walk = walker
    flips = min(left, flips_of(params, landscape))
    add_up(landscape, walker)
    search(landscape.network, members, chain, walk, flips, params.noise, params.tabu, params.target)
    if params.downhill:
        go_downhill(landscape, walker)
    keep_better(landscape, walker, state)
    return _state(number, walker, landscape, state), walker


def _next_walk(before: Walker, params: Params, landscape: Landscape) -> Walker:
    """Begin in another random world; the best world stays known."""
    walker = first_walk(landscape, before.chain.random, params.tabu)
    walker.walk.numbers[FLIPS] = before.walk.numbers[FLIPS]
    if before.walk.costs[BEST] <= walker.walk.costs[NOW]:
        walker.walk.costs[BEST] = before.walk.costs[BEST]
        walker.walk.best[:] = before.walk.best
    return walker


def _state(number: int, walker: Walker, landscape: Landscape, before: WalkState | None) -> WalkState:
    chain, walk = walker
    now = landscape.cost_in(chain)
    kept = before.best if before is not None and np.array_equal(before.best, walk.best) else None
    best = landscape.cost(walk.best)
    arrays = (
        chain.chosen.copy(), walk.broken[: walk.numbers[BROKEN]].copy(), walk.recent.copy(), walk.last.copy(),
        chain.random.copy(), walk.best.copy() if kept is None else kept,
    )  # fmt: skip
    for array in arrays:
        array.setflags(write=False)
    chosen, broken, recent, last, random, best_world = arrays
    return WalkState(
        int(walk.numbers[FLIPS]), number, chosen, broken, recent, last, random,
        float(walk.costs[NOW]), float(walk.costs[BEST]), best_world, now.soft, best.soft, best.hard,
    )  # fmt: skip


def is_finished(state: WalkState, params: Params) -> bool:
    """Return whether all walks are done, or nothing better is wanted."""
    return (
        state.flips >= params.flips * params.tries
        or not len(state.broken)
        or state.best_total <= params.target
    )


def steps(params: Params, question: Question, start: WalkState | None = None) -> Iterator[WalkState]:
    """Yield a state every few milliseconds until the search ends, or those that follow ``start``."""
    return steps_on(params, landscape(question), start)


def steps_on(params: Params, landscape: Landscape, start: WalkState | None = None) -> Iterator[WalkState]:
    """Yield the states over clauses that are there already."""
    identity = METHOD.identity(params, landscape.clauses.question)
    return resume_run(
        identity, WalkState, start, partial(_states, params, landscape), partial(_sizes, params, landscape),
        partial(_flaw, landscape),
    )  # fmt: skip


def _sizes(params: Params, landscape: Landscape) -> Sizes:
    options = landscape.network.options
    most = (landscape.constraints, len(options), options.max(initial=0), 3)
    slots = 2 * max(1, params.tabu)
    return {**landscape.sizes, "constraints": landscape.constraints, "slots": slots, "moves": np.array(most)}


def _flaw(landscape: Landscape, state: WalkState) -> str:
    """Name a flaw in a walk's state: its kernel relies on lists that it never checks."""
    if not np.array_equal(np.sort(state.broken), np.sort(broken_in(landscape, state.chosen))):
        return "its list of what is broken is not that of its world"
    known = state.recent != NOBODY
    if (state.recent[known] >= landscape.clauses.number_of_atoms).any():
        return "an atom that it changed does not exist"
    return ""


def _states(params: Params, landscape: Landscape, state: WalkState | None) -> Iterator[WalkState]:
    if state is None:
        state = first_state(params, landscape)
        yield state
    members = members_of(landscape.ground)
    walker = resumed_walk(landscape, state)
    while not is_finished(state, params):
        state, walker = advance_state(state, walker, members, params, landscape)
        yield state


def most_probable(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Found:
    """Return the best world that was met."""
    ground = landscape(question)
    words = f"{METHOD.name}: {{state.flips:,}} flips"
    return run_search(ground, steps_on(params, ground), observers, words)


def length(params: Params) -> RunLength:
    """Return how long a run is."""
    return RunLength(params.flips * params.tries, "flips")


METHOD = Method(
    name="max-walk-sat",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    params=Params,
    citation="Kautz, Selman and Jiang 1997",
    most_probable=most_probable,
    steps=steps,
    state=WalkState,
    goes_on=("flips", "tries", "target", "flips_per_state"),
    worlds=lambda params, question: WorldReader(landscape(question)),  # noqa: ARG005
    length=length,
    estimate_cost=search_cost,
)
