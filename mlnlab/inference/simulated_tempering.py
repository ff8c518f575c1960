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
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.inference.batches import Batches
from mlnlab.inference.chains import Ground, random_world
from mlnlab.inference.estimates import estimated
from mlnlab.inference.method import Method
from mlnlab.inference.sampled_worlds import (
    STATES,
    empty_sums,
    frozen_rows,
    grounded,
    log_weights,
    room_for_sums,
)
from mlnlab.inference.state_reading import ChainsReader, chains_reader
from mlnlab.kernels.ground_network import Chain, new_chain
from mlnlab.kernels.random_numbers import streams
from mlnlab.kernels.simulated_tempering import Ladder, sample_cold, temper
from mlnlab.steps.encoding import storable
from mlnlab.steps.step import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.grounding.question import Question
    from mlnlab.inference.marginals import Marginals
    from mlnlab.steps.step import Observer

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
        """Refuse what makes no sense."""
        least = {"samples": 1, "burn_in": 0, "chains": 1, "seed": 0, "rungs": 1}
        for name, lowest in least.items():
            value = getattr(self, name)
            if type(value) is not int or value < lowest:
                raise ArgumentError(f"{name} is a whole number from {lowest} on, not {value!r}.")
        if not 0 <= self.hottest <= 1:
            raise ArgumentError(f"hottest is an inverse temperature from 0 to 1, not {self.hottest!r}.")
        if self.sweeps_per_state is not None and self.sweeps_per_state < 1:
            raise ArgumentError("sweeps_per_state is a whole number from 1 on, or None.")

    @property
    def ladder(self) -> NDArray[np.float64]:
        """The inverse temperatures from 1 down, evenly."""
        return np.linspace(1.0, self.hottest, self.rungs) if self.rungs > 1 else np.ones(1)


@storable("simulated_tempering.State")
@dataclass(frozen=True, slots=True, eq=False)
class TemperingState:
    """Where all chains are, on which rung, the weights of the rungs, and sums over the samples kept."""

    sweeps: int  # of the burn-in; after it, samples of each chain besides
    chosen: NDArray[np.uint32]  # the option of each choice, a row for each chain
    random: NDArray[np.uint64]  # the state of each chain's random numbers
    log_weights: NDArray[np.float64]  # of each chain's world
    rungs: NDArray[np.int64]  # of each chain
    offsets: NDArray[np.float64]  # g of each rung, a row for each chain
    visits: NDArray[np.int64]  # of each rung, a row for each chain
    batches: Batches

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
    strengths = _scaled(ground.network.strengths, params.ladder)
    table_strengths = _scaled(ground.network.table_strengths, params.ladder)
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


def _scaled(strengths: NDArray[np.float64], inverse: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return strengths on each rung; what must hold does so on all."""
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


def advanced(
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
    return _state(state.sweeps + samples, ground, chains, rooms, state.batches.extended(sums, samples))


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
    return steps_on(params, grounded(question), start)


def steps_on(params: Params, ground: Ground, start: TemperingState | None = None) -> Iterator[TemperingState]:
    """Yield the states over clauses that are there already."""
    state = start
    if state is None:
        chains = [random_world(ground, row) for row in streams(params.seed, params.chains)]
        state = _state(0, ground, chains, ladders(params, ground), empty_sums(ground, params.chains))
        yield state
    pairs = zip(state.chosen, state.random, strict=True)
    chains = [new_chain(ground.network, chosen, random) for chosen, random in pairs]
    rooms = ladders(params, ground, state)
    while state.samples < params.samples:
        state = advanced(state, chains, rooms, params, ground)
        yield state


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:
    """Return the fractions of samples in which the queried atoms and formulas hold."""
    began = time.perf_counter()
    ground = grounded(question)
    last = run(steps_on(params, ground), observers=observers).state
    return estimated(METHOD.name, ground, last.batches, time.perf_counter() - began)


def estimate(params: Params, question: Question, state: TemperingState) -> Marginals:  # noqa: ARG001
    """Return what is known in a state."""
    return estimated(METHOD.name, grounded(question), state.batches, 0.0)


def reader(params: Params, question: Question) -> ChainsReader:
    """Return what reads the states of a run; the model is grounded once."""
    sweeps = params.burn_in + params.samples
    return chains_reader(METHOD.name, grounded(question), params.burn_in, sweeps)


METHOD = Method(
    name="simulated-tempering",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    params=Params,
    citation="Marinari and Parisi 1992; Wang and Landau 2001",
    marginals=marginals,
    steps=steps,
    estimate=estimate,
    reader=reader,
)
