"""Pass messages between choices and factors until nothing changes: loopy belief propagation.

A clause or table tells each of its choices how much each option is worth to it, given what its other choices
hear from elsewhere (Kschischang, Frey and Loeliger, Factor graphs and the sum-product algorithm, 2001, eq. 5
and 6). On a graph without loops the beliefs are the exact marginals after a few sweeps; on a graph with loops
they are approximations, often good, of which nobody knows how far off they are, and messages need not settle
at all (Murphy and others, Loopy belief propagation for approximate inference, 1999); damping and the
order of residuals (Elidan, McGraw and Koller 2006) help with the latter.

Needs: every weight known; finite domains. Answers: marginals of atoms and formulas, expected counts; log Z
(that of Bethe) where the graph has no loops. Not for models whose formulas are strong and full of loops.
"""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.costs.sampling_costs import approximation_cost
from mlnlab.inference.messages.beliefs import (
    BeliefsReader,
    BeliefState,
    Graph,
    atom_probabilities,
    graph_of,
    make_marginals,
    message_sizes,
)
from mlnlab.inference.messages.broken_symmetry import APART
from mlnlab.inference.messages.message_passing import (
    Order,
    Passing,
    check_passing,
    first_messages,
    pass_messages,
)
from mlnlab.inference.method import Method, RunLength
from mlnlab.inference.sampling.estimates import open_atoms
from mlnlab.steps.run_identity import resume_run
from mlnlab.steps.step import Observer, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mlnlab.grounding.question.question import Question
    from mlnlab.inference.answers.marginals import Marginals


@dataclass(frozen=True, slots=True)
class Params:
    """In which order messages are passed, how much of the old ones is kept, and when that ends."""

    order: Order = "residual"  # who has most to tell; or all factors in turn, or all at once
    damping: float = 0.1  # share of the old message in the new one
    tolerance: float = 1e-9  # changes of a message's logarithm that count as none
    sweeps: int = 1_000  # at most

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        check_passing(self)

    @property
    def passing(self) -> Passing:
        """The same for the sweeps."""
        return Passing(self.order, self.damping, self.tolerance, self.sweeps)


def steps(params: Params, question: Question, start: BeliefState | None = None) -> Iterator[BeliefState]:
    """Yield a state for each sweep, or those that follow ``start``."""
    return steps_on(params, graph_of(question), start)


def steps_on(params: Params, graph: Graph, start: BeliefState | None = None) -> Iterator[BeliefState]:
    """Yield the states over a graph that is there already."""
    identity = METHOD.identity(params, graph.clauses.question)
    return resume_run(
        identity, BeliefState, start,
        partial(_states, params, graph), lambda: message_sizes(graph.model),
    )  # fmt: skip


def _states(params: Params, graph: Graph, state: BeliefState | None) -> Iterator[BeliefState]:
    if state is None:
        state = first_messages(graph.model)
        yield state
    yield from pass_messages(params.passing, graph.model, state)


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:
    """Return the beliefs in the queried atoms and formulas."""
    began = time.perf_counter()
    graph = graph_of(question)
    last = run(steps_on(params, graph), observers=observers).state
    elsewhere = settles_elsewhere(graph, params.passing, last)
    found = make_marginals(METHOD.name, graph, last, time.perf_counter() - began)
    return replace(found, warnings=(*found.warnings, *elsewhere))


def estimate(params: Params, question: Question, state: BeliefState) -> Marginals:  # noqa: ARG001
    """Return the beliefs of a state."""
    return make_marginals(METHOD.name, graph_of(question), state, 0.0)


def reader(params: Params, question: Question) -> BeliefsReader:  # noqa: ARG001
    """Return a reader of a run's states; the model is grounded once."""
    return BeliefsReader(METHOD.name, graph_of(question), lambda state: state)


def length(params: Params) -> RunLength:
    """Return how long a run is."""
    return RunLength(params.sweeps, at_most=True)


METHOD = Method(
    name="belief-propagation",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    is_approximation=True,
    params=Params,
    citation="Kschischang, Frey and Loeliger 2001; Elidan, McGraw and Koller 2006",
    marginals=marginals,
    steps=steps,
    state=BeliefState,
    goes_on=("sweeps",),
    estimate=estimate,
    reader=reader,
    length=length,
    estimate_cost=approximation_cost,
)


# --- compare the fixed points of different beginnings -------------------------------------------

# On graphs with loops the fixed points of belief propagation are the stationary points of the Bethe free
# energy, of which there may be many (Yedidia, Freeman and Weiss 2005): then beliefs tell where messages
# began.

_SEED = 20050701  # of the other start: the same question gets the same warning


def settles_elsewhere(graph: Graph, passing: Passing, state: BeliefState) -> tuple[str, ...]:
    """Begin with random messages, and say where the beliefs that these settle at are others."""
    if not (state.converged and graph.loops):
        return ()
    sweeps = min(passing.sweeps, 4 * state.sweeps + 20)  # as long as it took, and some more
    begun = _random_messages(first_messages(graph.model))
    last = deque(pass_messages(replace(passing, sweeps=sweeps), graph.model, begun), maxlen=1)
    if not last or not last[0].converged:
        return ()
    others = last[0].options
    apart = np.abs(others - state.options)
    if not len(apart) or apart.max() < APART:
        return ()
    ours, theirs = atom_probabilities(graph, state.options), atom_probabilities(graph, others)
    where = int(np.abs(theirs - ours).argmax())
    sentence = (
        f"From other messages to begin with, beliefs settle elsewhere: {open_atoms(graph.clauses)[where]} at"
        f" {theirs[where]:.3g} instead of {ours[where]:.3g}. Formulas hold atoms together so strongly that"
        " these beliefs tell where messages began; mc-sat samples both ways."
    )
    return (sentence,)


def _random_messages(state: BeliefState) -> BeliefState:
    random = np.random.default_rng(_SEED)
    clause, table = random.normal(size=len(state.clause)), random.normal(size=len(state.table))
    for array in (clause, table):
        array.setflags(write=False)
    return replace(state, clause=clause, table=table)
