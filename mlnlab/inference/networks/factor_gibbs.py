"""Gibbs sampling in factor graphs: each open variable in turn, given its Markov blanket.

P(x_v | rest) is proportional to the product of the factors that mention v (Geman and Geman, Stochastic
relaxation, Gibbs distributions, and the Bayesian restoration of images, 1984; Lowd's thesis, section 2.1.1).
Probabilities are the fractions of samples of several chains after a burn-in.

Needs: an assignment that no factor forbids, which is searched for. Answers: distributions of variables. Not
where zeros cut the space: what is proven to be cut is refused, what may be is warned of. Strong factors slow
the chains down in the same way, and only R-hat can tell.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.inference.networks.factor_answers import NetworkMarginals, sampled_answer
from mlnlab.inference.networks.factor_identity import run_of_factors
from mlnlab.inference.networks.factor_support import (
    Connectedness,
    CutSpaceError,
    connectedness,
    possible_walk,
)
from mlnlab.inference.sampling.batches import Batches, no_batches
from mlnlab.kernels.chains.table_gibbs import sample, sweep
from mlnlab.kernels.messages.factor_tables import Walk, log_weight, new_walk
from mlnlab.kernels.random_numbers import streams
from mlnlab.logic.checked_options import check_options, whole
from mlnlab.steps.run_identity import OfRun, resume_run
from mlnlab.steps.state_layout import ArrayOf, Part, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.inference.messages.factor_arrays import FactorQuestion

NAME = "gibbs"
GOES_ON = ("samples", "sweeps_per_state")  # parameters that only say how long a run does
VISITS_PER_STATE = 1_000_000  # of cells, in all chains: some milliseconds
STATES = 40  # at least so many in a run, so that there is something to see and to compare


@dataclass(frozen=True, slots=True)
class Params:
    """How long to sample, and from how many chains; samples and sweeps count for each chain."""

    samples: int = 5_000
    burn_in: int = 500
    chains: int = 4
    thin: int = 1  # sweeps from one sample to the next
    seed: int = 0
    sweeps_per_state: int | None = None  # None: so many that a state takes some milliseconds

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        check_options(
            self, samples=1, burn_in=0, chains=1, thin=1, seed=0, sweeps_per_state=whole(1).or_none()
        )


@storable("factor_gibbs.State")
@dataclass(frozen=True, slots=True, eq=False)
class FactorGibbsState(OfRun):
    """Where all chains are after some sweeps, and sums over the samples kept so far; arrays are read-only."""

    sweeps: int = field(metadata=holds(Whole()))  # of each chain, those of the burn-in included
    # Of each variable, a row for each chain.
    values: NDArray[np.uint32] = field(
        metadata=holds(ArrayOf(np.uint32, ("chains", "variables"), below="values"))
    )
    # The state of each chain's random numbers.
    random: NDArray[np.uint64] = field(metadata=holds(ArrayOf(np.uint64, ("chains", 4), no_empty_rows=True)))
    # Of each chain's assignment.
    log_weights: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, ("chains",))))
    batches: Batches = field(metadata=holds(Part(Batches)))

    @property
    def samples(self) -> int:
        """The number of samples kept from each chain."""
        return self.batches.samples

    def metrics(self) -> Mapping[str, float]:
        """Return the mean log-weight and, once there are enough samples, how the chains agree."""
        found = {"log_weight": float(self.log_weights.mean()), "samples": float(self.samples)}
        return {**found, **self.batches.metrics()}


def refuse_cut(question: FactorQuestion) -> None:
    """Refuse a space that is proven to be cut."""
    found = connectedness(question)
    if found.answer == "no":
        raise CutSpaceError(
            "Gibbs sampling changes one variable at a time, and here zeros cut the space: "
            f"{found.why}. Its samples would come from one part only. Take method='junction-tree', or "
            "'belief-propagation' where that is too large."
        )


def doubts(found: Connectedness) -> tuple[str, ...]:
    """Return a warning where the space of assignments is not known to be connected."""
    if found.answer != "unknown":
        return ()
    sentence = (
        "Some factors forbid combinations: changing one variable at a time may not lead from every possible "
        "assignment to every other, and then the samples come from a part of them only, which no diagnostic "
        "need show."
    )
    return (sentence,)


def sweeps_of(params: Params, question: FactorQuestion) -> int:
    """Return how many sweeps lead from one state to the next."""
    if params.sweeps_per_state is not None:
        return params.sweeps_per_state
    affordable = VISITS_PER_STATE // (params.chains * max(1, question.visits))
    total = params.burn_in + params.samples * params.thin
    return max(1, min(affordable, total // STATES))


def steps(
    params: Params, question: FactorQuestion, start: FactorGibbsState | None = None
) -> Iterator[FactorGibbsState]:
    """Yield a state every few milliseconds until all samples are drawn, or those that follow ``start``."""
    columns = int(question.tables.value_starts[-1])
    sizes: dict[str, Any] = {
        "chains": params.chains, "variables": question.number_of_variables, "values": question.sizes,
        "columns": columns, "binary": columns,
    }  # fmt: skip
    identity = run_of_factors(NAME, params, question, GOES_ON)
    return resume_run(identity, FactorGibbsState, start, partial(_states, params, question), lambda: sizes)


def _states(
    params: Params, question: FactorQuestion, state: FactorGibbsState | None
) -> Iterator[FactorGibbsState]:
    if state is None:
        state = _first(params, question)
        refuse_cut(question)
        yield state
    pairs = zip(state.values, state.random, strict=True)
    chains = [new_walk(question.tables, values, random) for values, random in pairs]
    while state.samples < params.samples:
        state = _advance_state(state, chains, params, question)
        yield state


def _first(params: Params, question: FactorQuestion) -> FactorGibbsState:
    """Return each chain at a random assignment of its own that nothing forbids."""
    chains = [possible_walk(question, row) for row in streams(params.seed, params.chains)]
    columns = int(question.tables.value_starts[-1])
    return _state(0, question, chains, no_batches(params.chains, columns, columns))


def _advance_state(
    state: FactorGibbsState, chains: list[Walk], params: Params, question: FactorQuestion
) -> FactorGibbsState:
    """Return the state some sweeps later; the chains, which stand where the state says, go there."""
    sweeps = sweeps_of(params, question)
    if state.sweeps < params.burn_in:
        sweeps = min(sweeps, params.burn_in - state.sweeps)
        for chain in chains:
            sweep(question.tables, chain, sweeps)
        return _state(state.sweeps + sweeps, question, chains, state.batches)
    samples = min(max(1, sweeps // params.thin), params.samples - state.samples)
    samples = min(samples, state.batches.room or samples)
    sums = np.zeros((len(chains), state.batches.columns), np.int64)
    for chain, row in zip(chains, sums, strict=True):
        sample(question.tables, chain, samples, params.thin, row)
    done = state.sweeps + samples * params.thin
    return _state(done, question, chains, state.batches.add_samples(sums, samples))


def _state(sweeps: int, question: FactorQuestion, chains: list[Walk], batches: Batches) -> FactorGibbsState:
    values = np.array([chain.values for chain in chains])
    random = np.array([chain.random for chain in chains])
    log_weights = np.array([log_weight(question.tables, chain) for chain in chains]) + question.log_scale
    for array in (values, random, log_weights):
        array.setflags(write=False)
    return FactorGibbsState(sweeps, values, random, log_weights, batches)


def answer(
    params: Params,  # noqa: ARG001 - every method's answer has the same arguments
    question: FactorQuestion,
    state: FactorGibbsState,
    seconds: float,
) -> NetworkMarginals:
    """Return the distributions as far as a state knows them."""
    return sampled_answer(question, state.batches, NAME, seconds, doubts(connectedness(question)))
