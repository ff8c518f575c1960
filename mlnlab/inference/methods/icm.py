"""Iterated conditional modes: each choice in turn takes its best option given all others, until none changes.

From a random world every atom is set to its most likely value given the rest of the world, sweep after sweep,
until no single change makes the world more probable (Besag, On the statistical analysis of dirty pictures,
1986; Lowd's thesis, section 3.3). It ends in the nearest local maximum, so it is begun again in other random
worlds and the best end is kept.

Needs: every weight known; finite domains. Answers: a world that no single change improves. Not where hard
formulas or strong soft ones tie atoms together: then every way to a better world leads through worse ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from mlnlab.inference.costs.sampling_costs import search_cost
from mlnlab.inference.method import Method, RunLength
from mlnlab.inference.sampling.chains import ONE_CHOSEN, ONE_RANDOM
from mlnlab.inference.sat.satisfying import start_of
from mlnlab.inference.search.landscape import Cost, Landscape, landscape
from mlnlab.inference.search.world_search import Found, WorldReader, frozen_copies, run_search
from mlnlab.kernels.chains.modes import descend
from mlnlab.kernels.chains.world_arrays import Chain, new_chain, scatter, settle
from mlnlab.kernels.random_numbers import streams
from mlnlab.logic.checked_options import check_options
from mlnlab.steps.run_identity import OfRun, resume_run
from mlnlab.steps.state_layout import FLAG, Real, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from mlnlab.grounding.question.question import Question
    from mlnlab.steps.step import Observer


@dataclass(frozen=True, slots=True)
class Params:
    """How often to begin again."""

    tries: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        check_options(self, tries=1, seed=0)


@storable("icm.State")
@dataclass(frozen=True, slots=True, eq=False)
class ModeState(OfRun):
    """The world after a sweep over all choices, and the best one so far; arrays are read-only."""

    sweeps: int = field(metadata=holds(Whole()))  # of all tries
    walk: int = field(metadata=holds(Whole()))  # the number of the try, from 0 on
    changed: int = field(metadata=holds(Whole()))  # choices in the last sweep; 0 at a local maximum
    chosen: NDArray[np.uint32] = field(metadata=holds(ONE_CHOSEN))
    random: NDArray[np.uint64] = field(metadata=holds(ONE_RANDOM))
    best: NDArray[np.uint32] = field(metadata=holds(ONE_CHOSEN))
    cost: float = field(metadata=holds(Real()))  # of soft formulas
    best_cost: float = field(metadata=holds(Real()))
    best_hard: int = field(metadata=holds(Whole()))
    settled: bool = field(metadata=holds(FLAG))  # whether the last sweep changed nothing

    def metrics(self) -> Mapping[str, float]:
        """Return the costs, now and of the best world, and how many choices changed."""
        return {
            "cost": self.cost,
            "best_cost": self.best_cost,
            "hard_unsatisfied_in_best": float(self.best_hard),
            "changed": float(self.changed),
        }


def first_state(params: Params, landscape: Landscape) -> ModeState:
    """Return the first world: a random one, or one in which everything holds that must."""
    random = streams(params.seed, 1)[0]
    begin = start_of(landscape.clauses)
    if begin is None:
        return _state(landscape, _random_world(landscape, random), None, 0, -1)
    return _state(landscape, landscape.chain(begin, random), None, 0, -1)


def _random_world(landscape: Landscape, random: NDArray[np.uint64]) -> Chain:
    chain = new_chain(landscape.network, landscape.no_options(), random)
    scatter(landscape.network, chain)
    settle(landscape.network, chain)
    return chain


def advance_state(state: ModeState, landscape: Landscape) -> ModeState:
    """Return the state a sweep later; at a local maximum the next try begins."""
    chain, walk = landscape.chain(state.chosen, state.random), state.walk
    if state.settled:
        chain, walk = _random_world(landscape, state.random), walk + 1
        return _state(landscape, chain, state, walk, -1)
    before = landscape.cost_in(chain)
    changed = descend(landscape.network, chain)
    # A sweep that changes choices gains something, except by rounding; so the try ends in any case.
    gained = landscape.cost_in(chain) < before
    return _state(landscape, chain, state, walk, changed if gained else 0)


def _state(
    landscape: Landscape, chain: Chain, before: ModeState | None, walk: int, changed: int
) -> ModeState:
    now = landscape.cost_in(chain)
    chosen, random = frozen_copies(chain.chosen, chain.random)
    least, best = now, chosen
    if before is not None and Cost(before.best_hard, before.best_cost) <= now:
        least, best = Cost(before.best_hard, before.best_cost), before.best
    sweeps = 0 if before is None else before.sweeps + (changed >= 0)
    return ModeState(
        sweeps, walk, max(changed, 0), chosen, random, best,
        now.soft, least.soft, least.hard, settled=changed == 0,
    )  # fmt: skip


def steps(params: Params, question: Question, start: ModeState | None = None) -> Iterator[ModeState]:
    """Yield a state for each sweep until all tries are done, or those that follow ``start``."""
    return steps_on(params, landscape(question), start)


def steps_on(params: Params, landscape: Landscape, start: ModeState | None = None) -> Iterator[ModeState]:
    """Yield the states over clauses that are there already."""
    identity = METHOD.identity(params, landscape.clauses.question)
    return resume_run(
        identity, ModeState, start,
        partial(_states, params, landscape), lambda: landscape.sizes,
    )  # fmt: skip


def _states(params: Params, landscape: Landscape, state: ModeState | None) -> Iterator[ModeState]:
    if state is None:
        state = first_state(params, landscape)
        yield state
    while not (state.settled and state.walk + 1 >= params.tries) and (state.best_hard or state.best_cost > 0):
        state = advance_state(state, landscape)
        yield state


def most_probable(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Found:
    """Return the best world that was met."""
    ground = landscape(question)
    words = f"{METHOD.name}: {params.tries:,} tries, {{state.sweeps:,}} sweeps"
    return run_search(ground, steps_on(params, ground), observers, words)


def length(params: Params) -> RunLength:
    """Return how long a run is."""
    return RunLength(params.tries, "walk")


METHOD = Method(
    name="icm",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    params=Params,
    citation="Besag 1986; Lowd's thesis, section 3.3",
    most_probable=most_probable,
    steps=steps,
    state=ModeState,
    goes_on=("tries",),
    worlds=lambda params, question: WorldReader(landscape(question)),  # noqa: ARG005
    length=length,
    estimate_cost=search_cost,
)
