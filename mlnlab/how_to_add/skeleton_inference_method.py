"""Plain Gibbs sampling: each unknown atom in turn, given all others (a skeleton to copy).

A sweep draws every open atom from its distribution given the rest of the world (Geman and Geman 1984); the
fractions of samples estimate probabilities. Several chains from random worlds say how far to trust them.

Needs: every weight known; finite domains. Answers: marginals of atoms and formulas. Not for hard or strong
formulas, which cut the worlds into parts between which single changes do not lead.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.inference.answers.query_instances import all_instances
from mlnlab.inference.costs.sampling_costs import sampling_cost
from mlnlab.inference.method import Method, RunLength
from mlnlab.inference.sampling.batches import Batches, no_batches
from mlnlab.inference.sampling.chains import (
    CHOSEN,
    RANDOM,
    Ground,
    prepare_chains,
    random_world,
    refuse_impossible,
)
from mlnlab.inference.sampling.estimates import estimate_marginals
from mlnlab.inference.sampling.sampled_worlds import sizes_of_states
from mlnlab.inference.sampling.state_reading import ChainsReader, chains_reader
from mlnlab.kernels.chains.gibbs_sweeps import sample, sweep
from mlnlab.kernels.chains.world_arrays import Chain, new_chain
from mlnlab.kernels.random_numbers import streams
from mlnlab.logic.checked_options import check_options
from mlnlab.steps import budget
from mlnlab.steps.run_identity import OfRun, resume_run
from mlnlab.steps.state_layout import Part, Whole, holds
from mlnlab.steps.step import Observer, run
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.grounding.question.question import Question
    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.inference.costs.inference_problem import Cost, Problem

STATES = 40  # of a run, so that there is something to see


# --- parameters: frozen, checked, with a seed -----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Params:
    """How long to sample, and from how many chains; samples and sweeps count for each chain."""

    samples: int = 5_000
    burn_in: int = 500
    chains: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        check_options(self, samples=1, burn_in=0, chains=1, seed=0)


# --- the state: frozen, storable, each field says what it may hold --------------------------------


@storable("skeleton.State")
@dataclass(frozen=True, slots=True, eq=False)
class PlainState(OfRun):
    """Where all chains are after some sweeps, and sums over the samples kept so far; arrays are read-only."""

    sweeps: int = field(metadata=holds(Whole()))  # of each chain, those of the burn-in included
    chosen: NDArray[np.uint32] = field(metadata=holds(CHOSEN))  # the option of each choice, by chain
    random: NDArray[np.uint64] = field(metadata=holds(RANDOM))  # the state of each chain's random numbers
    batches: Batches = field(metadata=holds(Part(Batches)))

    @property
    def samples(self) -> int:
        """The number of samples kept from each chain."""
        return self.batches.samples

    def metrics(self) -> Mapping[str, float]:
        """Return how many samples there are and, once there are enough, how the chains agree."""
        return {"samples": float(self.samples), **self.batches.metrics()}


# --- small pure functions -------------------------------------------------------------------------


def ground(question: Question) -> Ground:
    """Ground the model and the asked formulas over the open atoms."""
    clauses = ground_clauses(question, all_instances(question))
    refuse_impossible(clauses)
    return prepare_chains(clauses)


def first_state(params: Params, ground: Ground) -> PlainState:
    """Return each chain in a random world in which the hard formulas hold."""
    chains = [random_world(ground, row) for row in streams(params.seed, params.chains)]
    asked = sum(source.kind == "query" for source in ground.clauses.sources)
    atoms = ground.clauses.number_of_atoms
    batches = no_batches(params.chains, atoms + len(ground.clauses.sources), atoms + asked)
    return _state(0, chains, batches)


def advance_state(state: PlainState, params: Params, ground: Ground) -> PlainState:
    """Return the state some sweeps later."""
    pairs = zip(state.chosen, state.random, strict=True)
    chains = [new_chain(ground.network, chosen, random) for chosen, random in pairs]
    sweeps = max(1, (params.burn_in + params.samples) // STATES)
    if state.sweeps < params.burn_in:
        sweeps = min(sweeps, params.burn_in - state.sweeps)
        for chain in chains:
            sweep(ground.network, chain, sweeps)
        return _state(state.sweeps + sweeps, chains, state.batches)
    samples = min(sweeps, params.samples - state.samples, state.batches.room or sweeps)
    sums = np.zeros((len(chains), state.batches.columns), np.int64)
    counts = np.zeros(len(ground.clauses.sources), np.int64)
    for chain, row in zip(chains, sums, strict=True):
        sample(ground.network, ground.groups, chain, samples, 1, row, counts)
    return _state(state.sweeps + samples, chains, state.batches.add_samples(sums, samples))


def _state(sweeps: int, chains: list[Chain], batches: Batches) -> PlainState:
    chosen = np.array([chain.chosen for chain in chains])
    random = np.array([chain.random for chain in chains])
    for array in (chosen, random):
        array.setflags(write=False)
    return PlainState(sweeps, chosen, random, batches)


# --- the steps: a generator of states, all or those after ``start`` -------------------------------


def steps(params: Params, question: Question, start: PlainState | None = None) -> Iterator[PlainState]:
    """Yield some forty states, or those that follow ``start``."""
    return steps_on(params, ground(question), start)


def steps_on(params: Params, ground: Ground, start: PlainState | None = None) -> Iterator[PlainState]:
    """Yield the states over clauses that are there already; a state from outside is checked first."""
    identity = METHOD.identity(params, ground.clauses.question)
    return resume_run(
        identity, PlainState, start,
        partial(_states, params, ground), lambda: sizes_of_states(ground, params.chains),
    )  # fmt: skip


def _states(params: Params, ground: Ground, state: PlainState | None) -> Iterator[PlainState]:
    if state is None:
        state = first_state(params, ground)
        yield state
    while state.samples < params.samples:
        state = advance_state(state, params, ground)
        yield state


# --- the answers ----------------------------------------------------------------------------------


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:
    """Return the fractions of samples in which the queried atoms and formulas hold."""
    began = time.perf_counter()
    grounded = ground(question)
    last = run(steps_on(params, grounded), observers=observers).state
    return estimate_marginals(METHOD.name, grounded, last.batches, time.perf_counter() - began)


def estimate(params: Params, question: Question, state: PlainState) -> Marginals:  # noqa: ARG001 - asked with all
    """Return the marginals of a state."""
    return estimate_marginals(METHOD.name, ground(question), state.batches, 0.0)


def reader(params: Params, question: Question) -> ChainsReader:
    """Return a reader of a run's states; the model is grounded once."""
    return chains_reader(METHOD.name, ground(question), params.burn_in, params.burn_in + params.samples)


def length(params: Params) -> RunLength:
    """Return how long a run is."""
    return RunLength(params.burn_in + params.samples, chains=params.chains)


def estimate_cost(params: Params, problem: Problem) -> Cost:
    """Estimate the cost of an answer, by that of sweeps over the ground model."""
    return sampling_cost(params, problem, budget.GIBBS)


# --- the record -----------------------------------------------------------------------------------

METHOD = Method(
    name="plain-gibbs",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    params=Params,
    citation="Geman and Geman 1984",
    marginals=marginals,
    steps=steps,
    state=PlainState,
    goes_on=("samples",),
    estimate=estimate,
    reader=reader,
    length=length,
    estimate_cost=estimate_cost,
)
