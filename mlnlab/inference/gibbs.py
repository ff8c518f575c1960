"""Gibbs sampling: each unknown atom in turn, given its Markov blanket.

A sweep draws every open atom from its distribution given the rest of the world, P(a | rest) =
1 / (1 + exp(-sum_i w_i Δn_i)), where only formulas in which the atom occurs have Δn_i != 0 (Geman and Geman,
Stochastic relaxation, Gibbs distributions, and the Bayesian restoration of images, 1984; for Markov logic:
Lowd's thesis, sections 2.1.1 and 2.2). A block of exclusive atoms is drawn as a whole. Probabilities are the
fractions of samples, kept from several independent chains after a burn-in; standard errors, effective sample
sizes and R-hat say how far to trust them.

Needs: every weight known; finite domains. Answers: marginals of atoms and formulas, expected counts. Not for
hard or strong formulas, which cut the worlds into parts between which single changes do not lead: then the
samples may all come from one part, and no diagnostic need show it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.grounding.clause_making import ground_clauses
from mlnlab.grounding.gathering import gathered_where_it_pays
from mlnlab.inference.batches import Batches, no_batches
from mlnlab.inference.chains import Ground, false_world, prepared, random_world, refuse_impossible
from mlnlab.inference.estimates import estimated
from mlnlab.inference.method import Method
from mlnlab.inference.query_instances import all_instances
from mlnlab.inference.state_reading import ChainsReader, chains_reader
from mlnlab.kernels.gibbs import count, sample, sweep
from mlnlab.kernels.ground_network import Chain, new_chain
from mlnlab.kernels.random_numbers import streams
from mlnlab.steps.encoding import storable
from mlnlab.steps.step import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.grounding.question import Question
    from mlnlab.inference.marginals import Marginals
    from mlnlab.steps.step import Observer

BEGINNINGS = ("random", "false")
VISITS_PER_STATE = 1_000_000  # of clauses by atoms, in all chains: some 10 ms
VISITS_PER_ATOM = 40  # at least, in each chain: to read a state's R-hats takes about as long
STATES = 40  # at least so many in a run, so that there is something to see and to compare


@dataclass(frozen=True, slots=True)
class Params:
    """How long to sample, and from how many chains; samples and sweeps count for each chain.

    Chains begin in random worlds of their own, or, with ``begin="false"``, in the one in which all is
    false, as far as the hard formulas let; then they all stay near it where no single change leads away.
    """

    samples: int = 5_000
    burn_in: int = 500
    chains: int = 4
    thin: int = 1  # sweeps from one sample to the next
    seed: int = 0
    begin: str = "random"
    sweeps_per_state: int | None = None  # None: so many that a state takes some milliseconds

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        for name, least in (("samples", 1), ("burn_in", 0), ("chains", 1), ("thin", 1), ("seed", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise ArgumentError(f"{name} is a whole number from {least} on, not {value!r}.")
        if self.begin not in BEGINNINGS:
            raise ArgumentError(f"begin is one of {', '.join(BEGINNINGS)}, not {self.begin!r:.60}.")
        if self.sweeps_per_state is not None and self.sweeps_per_state < 1:
            raise ArgumentError("sweeps_per_state is a whole number from 1 on, or None.")


@storable("gibbs.State")
@dataclass(frozen=True, slots=True, eq=False)
class GibbsState:
    """Where all chains are after some sweeps, and sums over the samples kept so far; arrays are read-only."""

    sweeps: int  # of each chain, those of the burn-in included
    chosen: NDArray[np.uint32]  # the option of each choice, a row for each chain
    random: NDArray[np.uint64]  # the state of each chain's random numbers
    log_weights: NDArray[np.float64]  # of each chain's world
    batches: Batches

    @property
    def samples(self) -> int:
        """The number of samples kept from each chain."""
        return self.batches.samples

    def metrics(self) -> Mapping[str, float]:
        """Return the mean log-weight of the worlds and, once there are enough samples, how they agree."""
        found = {"log_weight": float(self.log_weights.mean()), "samples": float(self.samples)}
        return {**found, **self.batches.metrics()}


def ground(question: Question) -> Ground:
    """Ground the model, and the formulas that are asked for, over what is open.

    Where many groundings are equal, as with variables that occur in evidence alone, each is looked at once.
    """
    clauses = ground_clauses(question, all_instances(question))
    refuse_impossible(clauses)
    return prepared(gathered_where_it_pays(clauses))


def sweeps_of(params: Params, ground: Ground) -> int:
    """Return how many sweeps lead from one state to the next."""
    if params.sweeps_per_state is not None:
        return params.sweeps_per_state
    wanted = max(VISITS_PER_STATE, VISITS_PER_ATOM * params.chains * ground.clauses.number_of_atoms)
    affordable = wanted // (params.chains * max(1, ground.visits))
    total = params.burn_in + params.samples * params.thin
    return max(1, min(affordable, total // STATES))


def first_state(params: Params, ground: Ground) -> GibbsState:
    """Return each chain in its first world, in which the hard formulas hold."""
    first_world = false_world if params.begin == "false" else random_world
    chains = [first_world(ground, row) for row in streams(params.seed, params.chains)]
    asked = sum(source.kind == "query" for source in ground.clauses.sources)
    binary = ground.clauses.number_of_atoms + asked
    columns = ground.clauses.number_of_atoms + len(ground.clauses.sources)
    return _state(0, ground, chains, no_batches(params.chains, columns, binary))


def advanced(state: GibbsState, chains: list[Chain], params: Params, ground: Ground) -> GibbsState:
    """Return the state some sweeps later; the chains, which stand where the state says, go there."""
    sweeps = sweeps_of(params, ground)
    if state.sweeps < params.burn_in:
        sweeps = min(sweeps, params.burn_in - state.sweeps)
        for chain in chains:
            sweep(ground.network, chain, sweeps)
        return _state(state.sweeps + sweeps, ground, chains, state.batches)
    samples = min(max(1, sweeps // params.thin), params.samples - state.samples)
    samples = min(samples, state.batches.room or samples)
    sums = np.zeros((len(chains), state.batches.columns), np.int64)
    counts = np.zeros(len(ground.clauses.sources), np.int64)
    for chain, row in zip(chains, sums, strict=True):
        sample(ground.network, ground.groups, chain, samples, params.thin, row, counts)
    done = state.sweeps + samples * params.thin
    return _state(done, ground, chains, state.batches.extended(sums, samples))


def _state(sweeps: int, ground: Ground, chains: list[Chain], batches: Batches) -> GibbsState:
    chosen = np.array([chain.chosen for chain in chains])
    random = np.array([chain.random for chain in chains])
    log_weights = np.array([log_weight(ground, chain) for chain in chains])
    for array in (chosen, random, log_weights):
        array.setflags(write=False)
    return GibbsState(sweeps, chosen, random, log_weights, batches)


def log_weight(ground: Ground, chain: Chain) -> float:
    """Return sum_i w_i n_i(x) over the soft formulas (lecture notes, eq. 13)."""
    counts = np.zeros(len(ground.clauses.sources), np.int64)
    count(ground.network, ground.groups, chain, counts)
    weights = np.array([source.weight for source in ground.clauses.sources])
    return ground.clauses.decided_log_weight + float(weights @ counts)


def steps(params: Params, question: Question, start: GibbsState | None = None) -> Iterator[GibbsState]:
    """Yield a state every few milliseconds until all samples are drawn, or those that follow ``start``."""
    return steps_on(params, ground(question), start)


def steps_on(params: Params, ground: Ground, start: GibbsState | None = None) -> Iterator[GibbsState]:
    """Yield the states over clauses that are there already."""
    state = start
    if state is None:
        state = first_state(params, ground)
        yield state
    pairs = zip(state.chosen, state.random, strict=True)
    chains = [new_chain(ground.network, chosen, random) for chosen, random in pairs]
    while state.samples < params.samples:
        state = advanced(state, chains, params, ground)
        yield state


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:
    """Return the fractions of samples in which the queried atoms and formulas hold."""
    began = time.perf_counter()
    grounded = ground(question)
    last = run(steps_on(params, grounded), observers=observers).state
    return estimated(METHOD.name, grounded, last.batches, time.perf_counter() - began)


def estimate(params: Params, question: Question, state: GibbsState) -> Marginals:  # noqa: ARG001
    """Return what is known in a state."""
    return estimated(METHOD.name, ground(question), state.batches, 0.0)


def reader(params: Params, question: Question) -> ChainsReader:
    """Return what reads the states of a run; the model is grounded once."""
    sweeps = params.burn_in + params.samples * params.thin
    return chains_reader(METHOD.name, ground(question), params.burn_in, sweeps)


METHOD = Method(
    name="gibbs",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    params=Params,
    citation="Geman and Geman 1984; Lowd's thesis, sections 2.1.1 and 2.2",
    marginals=marginals,
    steps=steps,
    estimate=estimate,
    reader=reader,
)
