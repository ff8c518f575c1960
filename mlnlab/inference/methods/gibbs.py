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
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.grounding.clauses.gathering import gathered_where_it_pays
from mlnlab.grounding.clauses.ground_clause_making import ground_clauses
from mlnlab.inference.answers.query_instances import all_instances
from mlnlab.inference.costs.sampling_costs import sampling_cost
from mlnlab.inference.exact.world_counts import marked_atoms
from mlnlab.inference.method import Method, RunLength
from mlnlab.inference.sampling.batches import Batches, no_batches
from mlnlab.inference.sampling.chains import (
    CHOSEN,
    RANDOM,
    Ground,
    false_world,
    prepare_chains,
    random_world,
    refuse_cancelling,
    refuse_impossible,
)
from mlnlab.inference.sampling.couplings import core_of
from mlnlab.inference.sampling.estimates import estimate_marginals
from mlnlab.inference.sampling.sampled_worlds import sizes_of_states
from mlnlab.inference.sampling.state_reading import ChainsReader, chains_reader
from mlnlab.inference.search.walked_worlds import walk_chains
from mlnlab.kernels.chains.gibbs_sweeps import count, sample, sweep
from mlnlab.kernels.chains.world_arrays import Chain, new_chain
from mlnlab.kernels.random_numbers import streams
from mlnlab.logic.checked_options import check_options, one_of, whole
from mlnlab.logic.formulas.formulas import Atom, Cardinality, Formula, Quantified
from mlnlab.logic.formulas.traversal import subformulas
from mlnlab.logic.formulas.weights import Hard, WeightedFormula, weight_value
from mlnlab.model.mln.writing import statement_text
from mlnlab.steps import budget
from mlnlab.steps.run_identity import OfRun, resume_run
from mlnlab.steps.state_layout import ArrayOf, Part, Whole, holds
from mlnlab.steps.step import Observer, run
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.question.question import Question
    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.inference.costs.inference_problem import Cost, Problem

BEGINNINGS = ("random", "false", "maxwalksat")
VISITS_PER_STATE = 1_000_000  # of clauses by atoms, in all chains: some 10 ms
VISITS_PER_ATOM = 40  # at least, in each chain: to read a state's R-hats takes about as long
STATES = 40  # at least so many in a run, so that there is something to see and to compare


@dataclass(frozen=True, slots=True)
class Params:
    """How long to sample, and from how many chains; samples and sweeps count for each chain.

    Chains begin in random worlds of their own. With ``begin="false"`` they begin in the one in which all is
    false, as far as the hard formulas let; then they all stay near it where no single change leads away.
    With ``begin="maxwalksat"`` each begins in the best world that a walk of MaxWalkSAT met, as in Alchemy:
    where one world is far likelier than all that surround it, chains may never leave it, and agree by that.
    """

    samples: int = 5_000
    burn_in: int = 500
    chains: int = 4
    thin: int = 1  # sweeps from one sample to the next
    seed: int = 0
    begin: str = "random"
    sweeps_per_state: int | None = None  # None: so many that a state takes some milliseconds

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        check_options(self, samples=1, burn_in=0, chains=1, thin=1, seed=0)
        check_options(self, begin=one_of(BEGINNINGS), sweeps_per_state=whole(1).or_none())


@storable("gibbs.State")
@dataclass(frozen=True, slots=True, eq=False)
class GibbsState(OfRun):
    """Where all chains are after some sweeps, and sums over the samples kept so far; arrays are read-only."""

    sweeps: int = field(metadata=holds(Whole()))  # of each chain, those of the burn-in included
    # The option of each choice, a row for each chain.
    chosen: NDArray[np.uint32] = field(metadata=holds(CHOSEN))
    random: NDArray[np.uint64] = field(metadata=holds(RANDOM))  # the state of each chain's random numbers
    # Of each chain's world.
    log_weights: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, ("chains",))))
    batches: Batches = field(metadata=holds(Part(Batches)))

    @property
    def samples(self) -> int:
        """The number of samples kept from each chain."""
        return self.batches.samples

    def metrics(self) -> Mapping[str, float]:
        """Return the mean log-weight of the worlds and, once there are enough samples, how they agree."""
        found = {"log_weight": float(self.log_weights.mean()), "samples": float(self.samples)}
        return {**found, **self.batches.metrics()}


def ground(question: Question) -> Ground:
    """Ground the model and the asked formulas over the open atoms.

    Where many groundings are equal, as with variables that occur in evidence alone, each is looked at once.
    """
    clauses = ground_clauses(question, all_instances(question))
    refuse_impossible(clauses)
    refuse_cancelling(clauses)
    return prepare_chains(gathered_where_it_pays(clauses))


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
    own = streams(params.seed, params.chains)
    if params.begin == "maxwalksat":
        chains = walk_chains(ground, list(own))
    else:
        first_world = false_world if params.begin == "false" else random_world
        chains = [first_world(ground, row) for row in own]
    asked = sum(source.kind == "query" for source in ground.clauses.sources)
    binary = ground.clauses.number_of_atoms + asked
    columns = ground.clauses.number_of_atoms + len(ground.clauses.sources)
    return _state(0, ground, chains, no_batches(params.chains, columns, binary))


def advance_state(state: GibbsState, chains: list[Chain], params: Params, ground: Ground) -> GibbsState:
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
    return _state(done, ground, chains, state.batches.add_samples(sums, samples))


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
    identity = METHOD.identity(params, ground.clauses.question)
    return resume_run(
        identity, GibbsState, start,
        partial(_states, params, ground), lambda: sizes_of_states(ground, params.chains),
    )  # fmt: skip


def _states(params: Params, ground: Ground, state: GibbsState | None) -> Iterator[GibbsState]:
    if state is None:
        state = first_state(params, ground)
        yield state
    pairs = zip(state.chosen, state.random, strict=True)
    chains = [new_chain(ground.network, chosen, random) for chosen, random in pairs]
    while state.samples < params.samples:
        state = advance_state(state, chains, params, ground)
        yield state


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:
    """Return the fractions of samples in which the queried atoms and formulas hold."""
    began = time.perf_counter()
    grounded = ground(question)
    last = run(steps_on(params, grounded), observers=observers).state
    return estimate_marginals(METHOD.name, grounded, last.batches, time.perf_counter() - began)


def estimate(params: Params, question: Question, state: GibbsState) -> Marginals:  # noqa: ARG001
    """Return the marginals of a state."""
    return estimate_marginals(METHOD.name, ground(question), state.batches, 0.0)


def reader(params: Params, question: Question) -> ChainsReader:
    """Return a reader of a run's states; the model is grounded once."""
    sweeps = params.burn_in + params.samples * params.thin
    return chains_reader(METHOD.name, ground(question), params.burn_in, sweeps)


def length(params: Params) -> RunLength:
    """Return how long a run is."""
    return RunLength(params.burn_in + params.samples * params.thin, chains=params.chains)


def estimate_cost(params: Params, problem: Problem) -> Cost:
    """Estimate the cost, and doubt chains that change one atom at a time where atoms hold each other."""
    cost, tie = sampling_cost(params, problem, budget.GIBBS), held_together(problem)
    return cost._replace(
        doubt=f"{tie}, so chains that change one atom at a time could get stuck" if tie else ""
    )


METHOD = Method(
    name="gibbs",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    params=Params,
    citation="Geman and Geman 1984; Lowd's thesis, sections 2.1.1 and 2.2",
    marginals=marginals,
    steps=steps,
    state=GibbsState,
    goes_on=("samples", "sweeps_per_state"),
    estimate=estimate,
    reader=reader,
    length=length,
    estimate_cost=estimate_cost,
    turn=3,
)


# --- say why chains that change one atom at a time could get stuck ------------------------------

# A hard formula holds atoms, and so does a strong one; of all others it counts what they do together, atom by
# atom in the ground model.

STRONG = 4.0  # a weight from which on it takes some e^4 = 50 sweeps to leave a world that satisfies a formula
# Log-odds from which on atoms that push each other both ways are a core. It was measured: in pairs, circles,
# grids and complete graphs, chains of Gibbs sampling begin to disagree between 2.2 and 4, the larger first.
HOLDING = 2.2
_LONGEST = 120  # letters of a formula in a sentence


def held_together(problem: Problem) -> str:
    """Name the reason that open atoms are tied: a condition, a hard or strong formula, or a core."""
    asked = problem.asked
    opened = asked.opened | marked_atoms(asked).keys()
    for condition in asked.given:
        if _ties(opened, condition):
            return f"the condition {condition!s:.{_LONGEST}} has to hold"
    tying = [weighted for weighted in asked.mln.formulas if _ties(opened, weighted.formula)]
    for weighted in tying:
        if isinstance(weighted.weight, Hard):
            return f"{statement_text(weighted)[:_LONGEST]} has to hold and ties open atoms"
    ground = problem.ground if tying else None
    core = core_of(ground, HOLDING) if ground is not None else None
    if core is not None:
        return str(core)
    return _strong_formula(tying)


def _strong_formula(tying: Sequence[WeightedFormula]) -> str:
    """Name a formula that is strong alone, or by the sum of its weights in the model."""
    together: dict[Formula, list[WeightedFormula]] = {}
    for weighted in tying:
        together.setdefault(weighted.formula, []).append(weighted)
    for equal in together.values():
        weight = abs(sum(weight_value(one.weight) or 0.0 for one in equal))
        if weight >= STRONG:
            said = statement_text(equal[0])[:_LONGEST]
            if len(equal) == 1:
                return f"{said} is strong and ties open atoms"
            return f"{said} occurs {len(equal)} times, {weight:.3g} together, and ties open atoms"
    return ""


def _ties(opened: Collection[str], formula: Formula) -> bool:
    """Return whether a grounding can hold more than one open atom, of these predicates."""
    parts = tuple(subformulas(formula))
    atoms = sum(isinstance(part, Atom | Cardinality) and part.predicate in opened for part in parts)
    quantified = any(isinstance(part, Quantified | Cardinality) for part in parts)
    return atoms > 1 or (atoms == 1 and quantified)
