"""MC-SAT: slice sampling, whose slices are the worlds that satisfy chosen clauses.

A step chooses among the clauses that hold: one of weight w joins the slice with probability 1 - exp(-w), a
hard one always; then the next world is drawn uniformly among those in which the chosen clauses hold (Poon and
Domingos, Sound and efficient inference with probabilistic and deterministic dependencies, 2006;
Lowd's thesis, section 2.2). So a chain leaps between parts of the space that hard and strong formulas cut
apart, where Gibbs sampling cannot leave one. Clauses of negative weight count as their negations; formulas
that are no clauses, and blocks of exclusive atoms, are taken as they are.

What is left of a slice after unit propagation falls into components. Those that a few random tries satisfy
are drawn exactly uniformly, and so are those whose combinations of options are few enough to try them all
(512 of them). The others are drawn by SampleSAT (Wei, Erenrich and Selman 2004): with
probability ``jumps`` from a random world, solved by WalkSAT moves mixed with annealing moves; else from where
they are, by annealing moves alone. The latter leave the uniform distribution exactly as it is; a jump does
not, since some worlds are easier to find, so with ``jumps=0`` every step is exact, and with ``jumps=1,
walking=0.5`` it is that of the papers. A component for which no world is found stays as it was; that is exact
too, counted, and told where it happens often.

Total variation of SampleSAT alone from uniform, over six kinds of small slices, mean (largest), by what is
changed of ``jumps=1, walking=0.5, temperature=0, passes=1``: nothing .033 (.074); walking 0.1 .028 (.073),
0.9 .034 (.083); temperature 0.2 .043 (.124), 0.7 .015 (.064); passes 3 .017 (.066), 10 .006 (.019). Marginals
off the exact ones over 25 random models of ten atoms, 40,000 samples, by the share of hard clauses:

    hard clauses          none           30 %           70 %            all
    jumps=1, tries=1      .011 (.089)    .012 (.122)    .019 (.106)    .038 (.143)
    by default            .013 (.148)    .007 (.099)    .003 (.033)    .003 (.021)

On the left it is chains that move slowly; on the right it is bias, which random tries and rarer jumps remove.
Where slices are tight and large, ``passes=10`` does (see ``experiments/studies/sample_sat_bias.py``).

Needs: every weight known; finite domains. Answers: marginals of atoms and formulas, expected counts.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.answers.memory import bytes_of
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
from mlnlab.inference.sampling.slice_reading import SliceReader, slice_warnings, slices_reader
from mlnlab.inference.sampling.slices import constraints_of, room_for
from mlnlab.kernels.chains.sample_sat_components import ASKED, FAILED, LARGEST, TIGHT, Effort
from mlnlab.kernels.chains.sample_sat_constraints import Constraints, Slice
from mlnlab.kernels.chains.sample_sat_slices import next_sample, sample_slices
from mlnlab.kernels.chains.world_arrays import Chain, new_chain
from mlnlab.kernels.random_numbers import streams
from mlnlab.logic.checked_options import check_options, real, whole
from mlnlab.steps import budget
from mlnlab.steps.run_identity import OfRun, resume_run
from mlnlab.steps.state_layout import ArrayOf, Part, Sizes, Whole, holds
from mlnlab.steps.step import Observer, run
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.grounding.question.question import Question
    from mlnlab.inference.answers.marginals import Marginals
    from mlnlab.inference.costs.inference_problem import Cost, Problem

VISITS_PER_STATE = 1_000_000  # of clauses by atoms, in all chains: some 5 ms, where slices are easy


@dataclass(frozen=True, slots=True)
class Params:
    """How long to sample, from how many chains, and how slices are drawn; samples count for each chain."""

    samples: int = 5_000
    burn_in: int = 200
    chains: int = 4
    thin: int = 1  # steps from one sample to the next
    seed: int = 0
    tries: int = 100  # random draws of a component before it counts as tight
    jumps: float = 0.2  # of the tight components: how many begin in a random world
    walking: float = 0.5  # share of WalkSAT moves after a jump; the others are annealing moves
    temperature: float = 0.0  # of annealing; 0: so cold that a world satisfies its slice half of the time
    passes: int = 1  # satisfying worlds to visit, for each choice of a tight component
    moves: int = 100  # at most, for each choice of a tight component
    sweeps_per_state: int | None = None  # None: so many that a state takes some milliseconds

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        check_options(self, samples=1, burn_in=0, chains=1, thin=1, seed=0, tries=1, passes=1, moves=1)
        share = real(0, 1)
        check_options(
            self, jumps=share, walking=share, temperature=real(0), sweeps_per_state=whole(1).or_none()
        )

    @property
    def effort(self) -> Effort:
        """How components are drawn, for the kernels."""
        shares = float(self.jumps), float(self.walking), float(self.temperature)
        return Effort(self.tries, *shares, self.passes, self.moves)


@storable("mc_sat.State")
@dataclass(frozen=True, slots=True, eq=False)
class McSatState(OfRun):
    """Where all chains are after some steps, their last slices, and sums over the samples kept so far."""

    sweeps: int = field(metadata=holds(Whole()))  # steps of each chain, those of the burn-in included
    # The option of each choice, a row for each chain.
    chosen: NDArray[np.uint32] = field(metadata=holds(CHOSEN))
    random: NDArray[np.uint64] = field(metadata=holds(RANDOM))  # the state of each chain's random numbers
    # Of each chain's world.
    log_weights: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, ("chains",))))
    # Of each chain: its last slice, and what was drawn how.
    tallies: NDArray[np.int64] = field(metadata=holds(ArrayOf(np.int64, ("chains", "tallies"), least=0)))
    # Which constraints each chain's last slice asked for, as bits.
    joined: NDArray[np.uint8] = field(metadata=holds(ArrayOf(np.uint8, ("chains", "joined"))))
    batches: Batches = field(metadata=holds(Part(Batches)))

    @property
    def samples(self) -> int:
        """The number of samples kept from each chain."""
        return self.batches.samples

    def metrics(self) -> Mapping[str, float]:
        """Return the mean log-weight, the size of the last slices, and how slices were drawn so far."""
        tight = int(self.tallies[:, TIGHT].sum())
        return {
            "log_weight": float(self.log_weights.mean()),
            "samples": float(self.samples),
            "selected": float(self.tallies[:, ASKED].mean()),
            "largest_component": float(self.tallies[:, LARGEST].max()),
            "tight_components": float(tight),
            "unsatisfied_slices": float(self.tallies[:, FAILED].sum()),
            **self.batches.metrics(),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """The ground model and constraints, which all steps of a run share."""

    ground: Ground
    constraints: Constraints


def prepare_question(question: Question) -> Prepared:
    """Ground a question, and say when its clauses join a slice."""
    ground = ground_question(question)
    return Prepared(ground, constraints_of(ground))


def steps_per_state(params: Params, ground: Ground) -> int:
    """Return how many steps of the chains lead from one state to the next."""
    if params.sweeps_per_state is not None:
        return params.sweeps_per_state
    affordable = VISITS_PER_STATE // (params.chains * max(1, ground.visits))
    total = params.burn_in + params.samples * params.thin
    return max(1, min(affordable, total // STATES))


def first_state(params: Params, ground: Ground) -> McSatState:
    """Return each chain in a random world of its own, in which the hard formulas hold."""
    chains = [random_world(ground, row) for row in streams(params.seed, params.chains)]
    rooms = [room_for(ground) for _ in chains]
    return _state(0, ground, chains, rooms, empty_sums(ground, params.chains))


def advance_state(
    state: McSatState, chains: list[Chain], rooms: list[Slice], params: Params, shared: Prepared
) -> McSatState:
    """Return the state some steps later; the chains, which stand where the state says, go there."""
    ground, constraints, effort = shared.ground, shared.constraints, params.effort
    number = steps_per_state(params, ground)
    if state.sweeps < params.burn_in:
        number = min(number, params.burn_in - state.sweeps)
        for chain, room in zip(chains, rooms, strict=True):
            for _ in range(number):
                next_sample(ground.network, constraints, chain, room, effort)
        return _state(state.sweeps + number, ground, chains, rooms, state.batches)
    samples = min(max(1, number // params.thin), params.samples - state.samples)
    samples = min(samples, state.batches.room or samples)
    sums, counts = room_for_sums(ground, len(chains))
    for chain, room, row in zip(chains, rooms, sums, strict=True):
        sample_slices(
            ground.network, constraints, ground.groups, chain, room, effort, samples, params.thin, row, counts
        )
    done = state.sweeps + samples * params.thin
    return _state(done, ground, chains, rooms, state.batches.add_samples(sums, samples))


def _state(
    sweeps: int, ground: Ground, chains: list[Chain], rooms: list[Slice], batches: Batches
) -> McSatState:
    return McSatState(
        sweeps,
        frozen_rows([chain.chosen for chain in chains]),
        frozen_rows([chain.random for chain in chains]),
        log_weights(ground, chains),
        frozen_rows([room.tallies for room in rooms]),
        frozen_rows([np.packbits(room.joined) for room in rooms]),
        batches,
    )


def steps(params: Params, question: Question, start: McSatState | None = None) -> Iterator[McSatState]:
    """Yield a state every few milliseconds until all samples are drawn, or those that follow ``start``."""
    return steps_on(params, prepare_question(question), start)


def steps_on(params: Params, shared: Prepared, start: McSatState | None = None) -> Iterator[McSatState]:
    """Yield the states over constraints that are there already."""
    identity = METHOD.identity(params, shared.ground.clauses.question)
    return resume_run(
        identity, McSatState, start, partial(_states, params, shared), partial(_sizes, params, shared.ground),
    )  # fmt: skip


def _sizes(params: Params, ground: Ground) -> Sizes:
    room = room_for(ground)
    own = {"tallies": len(room.tallies), "joined": len(np.packbits(room.joined))}
    return {**sizes_of_states(ground, params.chains), **own}


def _states(params: Params, shared: Prepared, state: McSatState | None) -> Iterator[McSatState]:
    if state is None:
        state = first_state(params, shared.ground)
        yield state
    pairs = zip(state.chosen, state.random, strict=True)
    chains = [new_chain(shared.ground.network, chosen, random) for chosen, random in pairs]
    rooms = [room_for(shared.ground) for _ in chains]
    for room, tallies in zip(rooms, state.tallies, strict=True):
        room.tallies[:] = tallies
    while state.samples < params.samples:
        state = advance_state(state, chains, rooms, params, shared)
        yield state


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:
    """Return the fractions of samples in which the queried atoms and formulas hold."""
    began = time.perf_counter()
    shared = prepare_question(question)
    last = run(steps_on(params, shared), observers=observers).state
    return _make_marginals(shared.ground, last, time.perf_counter() - began)


def estimate(params: Params, question: Question, state: McSatState) -> Marginals:  # noqa: ARG001
    """Return the marginals of a state."""
    return _make_marginals(prepare_question(question).ground, state, 0.0)


def _make_marginals(ground: Ground, state: McSatState, seconds: float) -> Marginals:
    working = len(state.chosen) * bytes_of(room_for(ground))
    found = estimate_marginals(
        METHOD.name, ground, state.batches, seconds, single_changes=False, working=working
    )
    return replace(found, warnings=(*found.warnings, *slice_warnings(state)))


def reader(params: Params, question: Question) -> SliceReader:
    """Return a reader of a run's states; the model is grounded once."""
    sweeps = params.burn_in + params.samples * params.thin
    return slices_reader(METHOD.name, ground_question(question), params.burn_in, sweeps)


def length(params: Params) -> RunLength:
    """Return how long a run is."""
    return RunLength(params.burn_in + params.samples * params.thin, chains=params.chains)


def estimate_cost(params: Params, problem: Problem) -> Cost:
    """Estimate the cost by that of the sweeps, each of which draws a slice."""
    return sampling_cost(params, problem, budget.MC_SAT)


METHOD = Method(
    name="mc-sat",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    params=Params,
    citation="Poon and Domingos 2006; Wei, Erenrich and Selman 2004; Lowd's thesis, section 2.2",
    marginals=marginals,
    steps=steps,
    state=McSatState,
    goes_on=("samples", "sweeps_per_state"),
    estimate=estimate,
    reader=reader,
    length=length,
    estimate_cost=estimate_cost,
    sweeps=budget.MC_SAT,
    turn=4,
)
