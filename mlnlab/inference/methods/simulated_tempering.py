"""Simulated tempering: a Gibbs sampler whose temperature goes up and down, so that it gets away.

Beside its world each chain has a temperature, one of a ladder; at inverse temperature b a world counts with
exp(b sum_i w_i n_i(x)). After each sweep the chain tries the next rung up or down and takes it with
probability min(1, exp((b' - b) log-weight + g' - g)) (Marinari and Parisi, Simulated tempering: a new Monte
Carlo scheme, 1992). The numbers g, one for each rung, make all rungs equally frequent; they are learned in
the burn-in (Wang and Landau, Efficient, multiple-range random walk algorithm to calculate the density of
states, 2001) and fixed after it. Samples are kept where b = 1 alone, once for each visit there.

Needs: every weight known; finite domains. Answers: marginals of atoms and formulas, expected counts. For
strong soft formulas, which are weak at high temperatures; hard ones are hard at every temperature.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.costs.sampling_costs import sampling_cost
from mlnlab.inference.method import Method, RunLength
from mlnlab.inference.sampling.batches import Batches
from mlnlab.inference.sampling.chains import CHOSEN, RANDOM, Ground, random_world
from mlnlab.inference.sampling.estimates import estimate_marginals
from mlnlab.inference.sampling.sampled_worlds import (
    STATES,
    empty_sums,
    frozen_rows,
    ground_question,
    log_weights,
    room_for_sums,
    sizes_of_states,
)
from mlnlab.inference.sampling.state_reading import ChainsReader, chains_reader
from mlnlab.kernels.chains.tempering_sweeps import FIRST_STEP, LAST_STEP, Ladder, sample_cold, temper
from mlnlab.kernels.chains.world_arrays import Chain, new_chain
from mlnlab.kernels.random_numbers import streams
from mlnlab.logic.checked_options import check_options, real, whole
from mlnlab.steps import budget
from mlnlab.steps.run_identity import OfRun, resume_run
from mlnlab.steps.state_layout import ArrayOf, Part, Whole, holds
from mlnlab.steps.step import Observer, run
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.grounding.question.question import Question
    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.inference.costs.inference_problem import Cost, Problem

VISITS_PER_STATE = 200_000  # of clauses by atoms, in all chains: some 10 ms


@dataclass(frozen=True, slots=True)
class Params:
    """How long to sample, from how many chains, and the ladder; samples and moves count for each chain."""

    samples: int = 3_000
    burn_in: int = 2_000  # sweeps, each with a move on the ladder; the weights of the rungs are learned here
    chains: int = 4
    seed: int = 0
    rungs: int = 6
    hottest: float = 0.1  # the inverse temperature of the last rung; the first has 1
    sweeps_per_state: int | None = None  # None: so many that a state takes some milliseconds

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        check_options(self, samples=1, burn_in=0, chains=1, seed=0, rungs=1)
        check_options(self, hottest=real(0, 1), sweeps_per_state=whole(1).or_none())

    @property
    def ladder(self) -> NDArray[np.float64]:
        """The inverse temperatures from 1 down, evenly."""
        return np.linspace(1.0, self.hottest, self.rungs) if self.rungs > 1 else np.ones(1)


@storable("simulated_tempering.State")
@dataclass(frozen=True, slots=True, eq=False)
class TemperingState(OfRun):
    """Where all chains are, on which rung, the weights of the rungs, and sums over the samples kept."""

    sweeps: int = field(metadata=holds(Whole()))  # of the burn-in; after it, samples of each chain besides
    # The option of each choice, a row for each chain.
    chosen: NDArray[np.uint32] = field(metadata=holds(CHOSEN))
    random: NDArray[np.uint64] = field(metadata=holds(RANDOM))  # the state of each chain's random numbers
    # Of each chain's world.
    log_weights: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, ("chains",))))
    # Of each chain.
    rungs: NDArray[np.int64] = field(metadata=holds(ArrayOf(np.int64, ("chains",), least=0, below="rungs")))
    # G of each rung, a row for each chain.
    offsets: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, ("chains", "rungs"))))
    # Of each rung, a row for each chain.
    visits: NDArray[np.int64] = field(metadata=holds(ArrayOf(np.int64, ("chains", "rungs"), least=0)))
    batches: Batches = field(metadata=holds(Part(Batches)))

    @property
    def samples(self) -> int:
        """The number of samples kept from each chain."""
        return self.batches.samples

    def metrics(self) -> Mapping[str, float]:
        """Return the mean log-weight, how evenly the rungs are visited, and how the samples agree."""
        visits = self.visits.sum(axis=0)
        even = float(visits.min() * len(visits) / max(1, visits.sum()))
        found = {"log_weight": float(self.log_weights.mean()), "samples": float(self.samples)}
        return {**found, "evenness_of_rungs": even, **self.batches.metrics()}


def ladders(params: Params, ground: Ground, state: TemperingState | None = None) -> list[Ladder]:
    """Return room for the ladder of each chain, as it is in a state."""
    weights = np.array([source.weight for source in ground.clauses.sources])
    strengths = _scale_strengths(ground.network.strengths, params.ladder)
    table_strengths = _scale_strengths(ground.network.table_strengths, params.ladder)
    found = []
    for number in range(params.chains):
        ladder = Ladder(
            params.ladder, strengths, table_strengths, np.zeros(1, np.int64), np.zeros(params.rungs),
            np.zeros(params.rungs, np.int64), weights, np.zeros(len(weights), np.int64),
        )  # fmt: skip
        if state is not None:
            ladder.rung[0] = state.rungs[number]
            ladder.offsets[:], ladder.visits[:] = state.offsets[number], state.visits[number]
        found.append(ladder)
    return found


def _scale_strengths(strengths: NDArray[np.float64], inverse: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the strengths on each rung; hard ones stay hard on all."""
    soft = np.where(np.isinf(strengths), 0.0, strengths)
    rows = np.where(np.isinf(strengths), strengths, soft * inverse[:, None])
    rows.setflags(write=False)
    return rows


def moves_per_state(params: Params, ground: Ground) -> int:
    """Return how many sweeps of the burn-in, or samples, lead from one state to the next."""
    if params.sweeps_per_state is not None:
        return params.sweeps_per_state
    affordable = VISITS_PER_STATE // (params.chains * params.rungs * max(1, ground.visits))
    return max(1, min(affordable, (params.burn_in + params.samples) // STATES))


def advance_state(
    state: TemperingState, chains: list[Chain], rooms: list[Ladder], params: Params, ground: Ground
) -> TemperingState:
    """Return the state some moves later; the chains, which stand where the state says, go there."""
    number = moves_per_state(params, ground)
    if state.sweeps < params.burn_in:
        number = min(number, params.burn_in - state.sweeps)
        for chain, ladder in zip(chains, rooms, strict=True):
            temper(ground.network, ground.groups, chain, ladder, number, state.sweeps, params.burn_in)
        return _state(state.sweeps + number, ground, chains, rooms, state.batches)
    samples = min(number, params.samples - state.samples, state.batches.room or number)
    sums, counts = room_for_sums(ground, len(chains))
    for chain, ladder, row in zip(chains, rooms, sums, strict=True):
        sample_cold(ground.network, ground.groups, chain, ladder, samples, row, counts)
    return _state(state.sweeps + samples, ground, chains, rooms, state.batches.add_samples(sums, samples))


def _state(
    sweeps: int, ground: Ground, chains: list[Chain], rooms: list[Ladder], batches: Batches
) -> TemperingState:
    rungs = frozen_rows([ladder.rung for ladder in rooms]).ravel()
    return TemperingState(
        sweeps,
        frozen_rows([chain.chosen for chain in chains]),
        frozen_rows([chain.random for chain in chains]),
        log_weights(ground, chains),
        rungs,
        frozen_rows([ladder.offsets for ladder in rooms]),
        frozen_rows([ladder.visits for ladder in rooms]),
        batches,
    )


def steps(
    params: Params, question: Question, start: TemperingState | None = None
) -> Iterator[TemperingState]:
    """Yield a state every few milliseconds until all samples are drawn, or those that follow ``start``."""
    return steps_on(params, ground_question(question), start)


def steps_on(params: Params, ground: Ground, start: TemperingState | None = None) -> Iterator[TemperingState]:
    """Yield the states over clauses that are there already."""
    identity = METHOD.identity(params, ground.clauses.question)
    return resume_run(
        identity, TemperingState, start, partial(_states, params, ground),
        lambda: {**sizes_of_states(ground, params.chains), "rungs": params.rungs}, partial(_flaw, params),
    )  # fmt: skip


def _flaw(params: Params, state: TemperingState) -> str:
    """Say whether offsets were not learned: a chain that one keeps off the first rung never samples."""
    moves = np.arange(min(state.sweeps, params.burn_in))
    learned = np.maximum(FIRST_STEP * (1.0 - 2.0 * moves / max(1, params.burn_in)), LAST_STEP).sum()
    fits = np.allclose(state.offsets.sum(axis=1), -learned, rtol=1e-6, atol=1e-6)
    return "" if fits and (state.offsets <= 0).all() else "its offsets are not those of this number of sweeps"


def _states(params: Params, ground: Ground, state: TemperingState | None) -> Iterator[TemperingState]:
    if state is None:
        chains = [random_world(ground, row) for row in streams(params.seed, params.chains)]
        state = _state(0, ground, chains, ladders(params, ground), empty_sums(ground, params.chains))
        yield state
    pairs = zip(state.chosen, state.random, strict=True)
    chains = [new_chain(ground.network, chosen, random) for chosen, random in pairs]
    rooms = ladders(params, ground, state)
    while state.samples < params.samples:
        state = advance_state(state, chains, rooms, params, ground)
        yield state


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:
    """Return the fractions of samples in which the queried atoms and formulas hold."""
    began = time.perf_counter()
    ground = ground_question(question)
    last = run(steps_on(params, ground), observers=observers).state
    return estimate_marginals(METHOD.name, ground, last.batches, time.perf_counter() - began)


def estimate(params: Params, question: Question, state: TemperingState) -> Marginals:  # noqa: ARG001
    """Return the marginals of a state."""
    return estimate_marginals(METHOD.name, ground_question(question), state.batches, 0.0)


def reader(params: Params, question: Question) -> ChainsReader:
    """Return a reader of a run's states; the model is grounded once."""
    sweeps = params.burn_in + params.samples
    return chains_reader(METHOD.name, ground_question(question), params.burn_in, sweeps)


def length(params: Params) -> RunLength:
    """Return how long a run is."""
    return RunLength(params.burn_in + params.samples, chains=params.chains)


def estimate_cost(params: Params, problem: Problem) -> Cost:
    """Estimate the cost by that of the sweeps of all rungs."""
    cost = sampling_cost(params, problem, budget.GIBBS)
    return cost._replace(seconds=cost.seconds * budget.RUNGS)


METHOD = Method(
    name="simulated-tempering",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    params=Params,
    citation="Marinari and Parisi 1992; Wang and Landau 2001",
    marginals=marginals,
    steps=steps,
    state=TemperingState,
    goes_on=("samples", "sweeps_per_state"),
    estimate=estimate,
    reader=reader,
    length=length,
    estimate_cost=estimate_cost,
)
