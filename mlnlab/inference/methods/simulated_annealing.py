"""Simulated annealing: Gibbs sampling at a temperature that falls, so that it settles in a deep valley.

At temperature T a world has a probability in proportion to exp(-cost / T): hot, the sampler goes everywhere;
cold, only downhill (Kirkpatrick, Gelatt and Vecchi, Optimization by simulated annealing, 1983). From the last
world of each state it goes downhill for good, and the best world of all is kept.

Needs: every weight known; finite domains. Answers: a world. Slower than MaxWalkSAT where few formulas are
broken, better where many are. Not for a proof that no world is better.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError
from mlnlab.inference.costs.sampling_costs import search_cost
from mlnlab.inference.method import Method, RunLength
from mlnlab.inference.sampling.chains import ONE_CHOSEN, ONE_RANDOM
from mlnlab.inference.sat.satisfying import start_of
from mlnlab.inference.search.landscape import Cost, Landscape, landscape
from mlnlab.inference.search.world_search import Found, WorldReader, frozen_copies, run_search
from mlnlab.kernels.chains.gibbs_sweeps import sweep
from mlnlab.kernels.chains.world_arrays import Chain, Network, scatter, settle
from mlnlab.kernels.random_numbers import streams
from mlnlab.logic.checked_options import above, check_options, whole
from mlnlab.steps.run_identity import OfRun, resume_run
from mlnlab.steps.state_layout import Real, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import numpy as np
    from numpy.typing import NDArray

    from mlnlab.grounding.question.question import Question
    from mlnlab.steps.step import Observer

VISITS_PER_STATE = 500_000  # of clauses by choices: some 10 ms
STATES = 100  # at least so many in a run, so that there is something to see


@dataclass(frozen=True, slots=True)
class Params:
    """The schedule: ``sweeps`` sweeps of each try, each a little colder than the one before."""

    sweeps: int = 1_000  # of each try
    tries: int = 1
    hottest: float = 5.0  # temperatures, in units of log-weight
    coldest: float = 0.02
    seed: int = 0
    sweeps_per_state: int | None = None  # None: a hundredth of a try, at most some milliseconds

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        check_options(self, sweeps=1, tries=1, seed=0, hottest=above(0), coldest=above(0))
        check_options(self, sweeps_per_state=whole(1).or_none())
        if self.coldest > self.hottest:
            raise ArgumentError("hottest must not be below coldest: they are temperatures.")


@storable("simulated_annealing.State")
@dataclass(frozen=True, slots=True, eq=False)
class AnnealingState(OfRun):
    """The world after some sweeps, and the best one so far; arrays are read-only."""

    sweeps: int = field(metadata=holds(Whole()))  # of all tries
    walk: int = field(metadata=holds(Whole()))  # the number of the try, from 0 on
    temperature: float = field(metadata=holds(Real(least=0.0)))
    chosen: NDArray[np.uint32] = field(metadata=holds(ONE_CHOSEN))
    random: NDArray[np.uint64] = field(metadata=holds(ONE_RANDOM))
    best: NDArray[np.uint32] = field(metadata=holds(ONE_CHOSEN))
    cost: float = field(metadata=holds(Real()))
    best_cost: float = field(metadata=holds(Real()))
    best_hard: int = field(metadata=holds(Whole()))

    def metrics(self) -> Mapping[str, float]:
        """Return the costs, now and of the best world, and the temperature."""
        return {
            "cost": self.cost,
            "best_cost": self.best_cost,
            "hard_unsatisfied_in_best": float(self.best_hard),
            "temperature": self.temperature,
        }


def temperature(params: Params, sweep_of_try: int) -> float:
    """Return the temperature of a sweep: from the hottest to the coldest, each the same factor colder."""
    share = sweep_of_try / max(1, params.sweeps - 1)
    return float(params.hottest * (params.coldest / params.hottest) ** share)


def first_state(params: Params, landscape: Landscape) -> AnnealingState:
    """Return the first world: a random one, or one in which everything holds that must."""
    random, begin = streams(params.seed, 1)[0], start_of(landscape.clauses)
    chain = landscape.chain(landscape.no_options() if begin is None else begin, random)
    if begin is None:
        scatter(landscape.network, chain)
        settle(landscape.network, chain)
    return _state(landscape, chain, None, 0, 0, params.hottest)


def sweeps_of(params: Params, landscape: Landscape) -> int:
    """Return how many sweeps lead from one state to the next, however many there are in all."""
    if params.sweeps_per_state is not None:
        return params.sweeps_per_state
    affordable = VISITS_PER_STATE // max(1, landscape.ground.visits)
    return max(1, min(affordable, params.sweeps // STATES))


def advance_state(state: AnnealingState, params: Params, landscape: Landscape) -> AnnealingState:
    """Return the state some sweeps later; a new try is hot again, from where the last one ended."""
    sweeps = sweeps_of(params, landscape)
    done = state.sweeps % params.sweeps
    sweeps = min(sweeps, params.sweeps - done)
    chain, now = landscape.chain(state.chosen, state.random), state.temperature
    for number in range(done, done + sweeps):
        now = temperature(params, number)
        sweep(_cool_network(landscape.network, now), chain, 1)
    total = state.sweeps + sweeps
    return _state(landscape, chain, state, total, (total - 1) // params.sweeps, now)


def _cool_network(network: Network, temperature: float) -> Network:
    """Return the network in which every strength is divided by the temperature."""
    strengths, tables = network.strengths / temperature, network.table_strengths / temperature
    for array in (strengths, tables):
        array.setflags(write=False)
    return network._replace(strengths=strengths, table_strengths=tables)


def _state(
    landscape: Landscape, chain: Chain, before: AnnealingState | None, sweeps: int, walk: int, now: float
) -> AnnealingState:
    cost = landscape.cost_in(chain)
    chosen, random = frozen_copies(chain.chosen, chain.random)
    lowest = landscape.chain(chosen, random)
    landscape.go_downhill(lowest)
    least, (best,) = landscape.cost_in(lowest), frozen_copies(lowest.chosen)
    if before is not None and Cost(before.best_hard, before.best_cost) <= least:
        least, best = Cost(before.best_hard, before.best_cost), before.best
    return AnnealingState(sweeps, walk, now, chosen, random, best, cost.soft, least.soft, least.hard)


def steps(
    params: Params, question: Question, start: AnnealingState | None = None
) -> Iterator[AnnealingState]:
    """Yield a state every few sweeps until all tries are done, or those that follow ``start``."""
    return steps_on(params, landscape(question), start)


def steps_on(
    params: Params, landscape: Landscape, start: AnnealingState | None = None
) -> Iterator[AnnealingState]:
    """Yield the states over clauses that are there already."""
    identity = METHOD.identity(params, landscape.clauses.question)
    return resume_run(
        identity, AnnealingState, start,
        partial(_states, params, landscape), lambda: landscape.sizes,
    )  # fmt: skip


def _states(params: Params, landscape: Landscape, state: AnnealingState | None) -> Iterator[AnnealingState]:
    if state is None:
        state = first_state(params, landscape)
        yield state
    while state.sweeps < params.sweeps * params.tries and (state.best_hard or state.best_cost > 0):
        state = advance_state(state, params, landscape)
        yield state


def most_probable(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Found:
    """Return the best world that was met."""
    ground = landscape(question)
    words = (
        f"{METHOD.name}: {{state.sweeps:,}} sweeps from temperature {params.hottest:g} to {params.coldest:g}"
    )
    return run_search(ground, steps_on(params, ground), observers, words)


def length(params: Params) -> RunLength:
    """Return how long a run is."""
    return RunLength(params.sweeps * params.tries)


METHOD = Method(
    name="simulated-annealing",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    params=Params,
    citation="Kirkpatrick, Gelatt and Vecchi 1983",
    most_probable=most_probable,
    steps=steps,
    state=AnnealingState,
    goes_on=("tries", "sweeps_per_state"),
    worlds=lambda params, question: WorldReader(landscape(question)),  # noqa: ARG005
    length=length,
    estimate_cost=search_cost,
)
