"""Lazy MC-SAT: marginals of a model that is too large to ground, over the atoms that are ever loose.

A slice of MC-SAT keeps a false atom false where it asks for the atom's own prior, such as ``-12 Same(x, y)``:
with probability 1 - exp(-12). So which atoms are *loose* is drawn first, without listing the others: their
number is binomial, and each set of so many is as probable. All other false atoms are fixed in that slice, and
so is every clause that they satisfy, asked for or not; only clauses over loose atoms, true atoms and those
that other formulas want to be true are ground and drawn as ever. So no clause has to be decided without
being looked at, and each step is just one of MC-SAT on the full model (the idea of holding only what departs
from the default: Poon, Domingos and Sumner, A general method for reducing the complexity of relational
inference and its application to MCMC, AAAI 2008).

Needs: a prior for each predicate with many open atoms, of about the logarithm of their number; other open
predicates are listed, and where all are, this is MC-SAT. Answers: marginals of atoms and formulas, no
expected counts. Not for dense answers: where slices leave thousands of atoms loose, or make very many true,
it refuses with the estimate, or stops and keeps what it knows. An atom without anything for it is loose every
exp(s) slices: its probability is known to 1 / samples at best.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError, count_of
from mlnlab.grounding.lazy.lazy_priors import LazyModel, kept_false, lazy_model
from mlnlab.grounding.networks.network_size import open_atoms_of, size_of
from mlnlab.grounding.question.question import Opening, Question, drop_listing
from mlnlab.inference.answers.question_identity import run_of_opening
from mlnlab.inference.costs.inference_problem import Cost, Problem
from mlnlab.inference.costs.sampling_costs import sampling_cost
from mlnlab.inference.lazy.lazy_answers import LazyReader, formulas_of, lazy_reader
from mlnlab.inference.lazy.lazy_chains import EVENTS, LazyChains, LazyState, slices_of
from mlnlab.inference.lazy.seen_times import Seen, SeenTimes
from mlnlab.inference.method import Method, RunLength, require_unchanged_question
from mlnlab.inference.sampling.chains import refuse_cancelling_formulas
from mlnlab.kernels.chains.sample_sat_components import Effort
from mlnlab.kernels.random_numbers import streams
from mlnlab.logic.checked_options import check_options, real
from mlnlab.steps import budget
from mlnlab.steps.run_identity import resume_run
from mlnlab.steps.step import Observer, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from mlnlab.inference.answers.marginals import Marginals

MOST_ACTIVE = 200_000  # atoms that may be true at a time


@dataclass(frozen=True, slots=True)
class Params:
    """How long to sample, from how many chains, and how slices are drawn: as of mc-sat."""

    samples: int = 2_000
    burn_in: int = 200
    chains: int = 4
    seed: int = 0
    tries: int = 100
    jumps: float = 0.2
    walking: float = 0.5
    passes: int = 1
    moves: int = 100

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        check_options(self, samples=1, burn_in=0, chains=1, seed=0, tries=1, passes=1, moves=1)
        check_options(self, jumps=real(0, 1), walking=real(0, 1))

    @property
    def effort(self) -> Effort:
        """How components are drawn, for the kernels."""
        return Effort(self.tries, float(self.jumps), float(self.walking), 0.0, self.passes, self.moves)


def first_state(params: Params, sampler: LazyChains) -> LazyState:
    """Return each chain in a world that satisfies all hard constraints, with few atoms true."""
    times = SeenTimes(slices_of(sampler.model, params.samples, params.chains))
    numbers = enumerate(streams(params.seed, params.chains))
    chains = tuple(sampler.first(row, np.random.default_rng([params.seed, n])) for n, row in numbers)
    clauses = sampler.model.ground.clauses
    return LazyState(0, chains, clauses.number_of_atoms, clauses.number_of_clauses, times)


def advance_state(state: LazyState, params: Params, sampler: LazyChains) -> LazyState:
    """Return the state some slices later: at most as many as one grounding serves."""
    times, waiting = state.times, params.burn_in - state.sweeps
    left = waiting if waiting > 0 else min(times.room, params.samples - times.samples)
    slices = min(slices_of(sampler.model, params.samples, params.chains), left)
    found: dict[Seen, NDArray[np.int64]] = {}
    chains, atoms, clauses = [], 0, 0
    for number, chain in enumerate(state.chains):
        later, true, ground = sampler.advance_chain(chain, state.sweeps, slices)
        chains.append(later)
        for seen, often in true.items():
            found.setdefault(seen, np.zeros(params.chains, np.int64))[number] += often
        atoms, clauses = max(atoms, ground.number_of_atoms), max(clauses, ground.number_of_clauses)
    times = times if waiting > 0 else times.add_samples(found, slices)
    return LazyState(state.sweeps + slices, tuple(chains), atoms, clauses, times)


def steps(params: Params, question: Question, start: LazyState | None = None) -> Iterator[LazyState]:
    """Yield a state whenever clauses were ground anew; stop where too much becomes true.

    However many samples are asked for, there are never more slices from one state to the next than what is
    ground serves for, so that a run that is stopped has lost next to nothing.
    """
    return steps_on(params, chains_of(params, model_of(question)), start)


def model_of(question: Question) -> LazyModel:
    """Return the model of a question with its priors apart; its atoms need not be listed."""
    asked = require_unchanged_question(NAME, question)
    refuse_cancelling_formulas(asked.mln)
    return lazy_model(asked)


def chains_of(params: Params, model: LazyModel) -> LazyChains:
    """Return the chains' shared part, for a model."""
    return LazyChains(model, params.effort, formulas_of(model))


def steps_on(params: Params, sampler: LazyChains, start: LazyState | None = None) -> Iterator[LazyState]:
    """Yield the states over a model whose priors were found already."""
    return resume_run(
        run_of_opening(NAME, params, sampler.model.asked, METHOD.goes_on), LazyState, start,
        partial(_states, params, sampler), lambda: sampler.sizes(params.chains), sampler.flaw,
    )  # fmt: skip


def _states(params: Params, sampler: LazyChains, state: LazyState | None) -> Iterator[LazyState]:
    if state is None:
        state = first_state(params, sampler)
        yield state
    while state.samples < params.samples:
        later = advance_state(state, params, sampler)
        if max(len(chain.true) for chain in later.chains) > MOST_ACTIVE:
            if len(state.times.complete) < 2:
                raise _too_active()
            return
        state = later
        yield state


def _too_active() -> TooLargeError:
    ways = ["use fewer constants", "give priors that keep more atoms false"]
    sentence = f"More than {MOST_ACTIVE:,} atoms are true at a time: too many to sample lazily."
    return TooLargeError(sentence, MOST_ACTIVE, ways)


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:
    """Return the fractions of samples in which each query holds, without grounding the whole model.

    Of a predicate that is asked for, and not listed, the answer holds the facts, the atoms that formulas
    want to be true, and those that were true in some sample.
    """
    began = time.perf_counter()
    answering = reader(params, question)
    last = run(steps_on(params, chains_of(params, answering.model)), observers=observers).state
    found = answering.marginals(last, time.perf_counter() - began)
    if last.samples == params.samples:
        return found
    stopped = (
        f"Sampling stopped after {last.samples:,} samples, because more than {MOST_ACTIVE:,} atoms were true"
        " at a time."
    )
    return replace(found, warnings=(stopped, *found.warnings))


def estimate(params: Params, question: Question, state: LazyState) -> Marginals:
    """Return the marginals of a state."""
    return reader(params, question).marginals(state)


def reader(params: Params, question: Question) -> LazyReader:
    """Return a reader of a run's states; the predicates that priors keep false are looked for once."""
    return lazy_reader(NAME, model_of(question), params.burn_in, params.samples)


NAME = "lazy-mc-sat"


def length(params: Params) -> RunLength:
    """Return how long a run is."""
    return RunLength(params.burn_in + params.samples, chains=params.chains)


def estimate_cost(params: Params, problem: Problem) -> Cost | None:
    """Estimate the cost of grounding anew for batches of slices; of a small model, that of MC-SAT."""
    if problem.small:
        if problem.asks_formulas:
            return None
        return sampling_cost(params, problem, budget.MC_SAT)
    model = problem.once(planned_model)
    if model is None:
        return None
    size = problem.once(size_of)
    formulas_of(model)  # refuses what the answer would refuse
    slices = slices_of(model, params.samples, params.chains)
    batches = params.chains * (params.burn_in / slices + params.samples / slices)
    atoms = EVENTS + model.ground.clauses.number_of_atoms
    names = ", ".join(sorted(model.strengths))
    return Cost(
        budget.MC_SAT.beginning + batches * (budget.LAZY_BATCH + atoms * budget.LAZY_ATOM),
        budget.LEAST + params.chains * atoms * budget.OPEN_ATOM * 4,
        f"{count_of(size.open_atoms, 'open atom')} and up to {count_of(size.most_open, 'open grounding')}"
        f" are too many to list, and priors keep nearly all atoms of {names} false",
    )


def planned_model(asked: Opening) -> LazyModel | None:
    """Return the model of a question too large to list; where many atoms would be listed all the same, none.

    Each batch of slices would take seconds there.
    """
    numbers, lazy = open_atoms_of(asked), kept_false(asked)
    if sum(number for name, number in numbers.items() if name not in lazy) > budget.MOST_PLANNED:
        return None
    return lazy_model(asked)


METHOD = Method(
    name=NAME,
    needs="every weight known; a prior that keeps nearly all atoms of a large predicate false",
    is_exact=False,
    params=Params,
    citation="Poon, Domingos and Sumner 2008; Poon and Domingos 2006",
    marginals=marginals,
    steps=steps,
    state=LazyState,
    goes_on=("samples",),
    estimate=estimate,
    reader=reader,
    length=length,
    pose=drop_listing,
    estimate_cost=estimate_cost,
    turn=5,
)
