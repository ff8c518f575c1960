"""Lifted belief propagation: messages that must be equal are sent once, with a count.

Colours go from choices to factors and back until none splits (colour passing: Kersting, Ahmadi and Natarajan,
Counting belief propagation, 2009; Singla and Domingos, Lifted first-order belief propagation,
2008, find the same classes from the formulas). Then one choice and one factor of each colour are kept, an
edge counts how often its message arrives, and belief propagation on this graph computes what it would compute
on the ground one: in the order "at once" sweep by sweep, in the others where messages settle. The model is
grounded first, so this saves time, not the memory of grounding.

Needs: every weight known; finite domains. Answers: marginals of atoms and formulas, expected counts. Worth
it where evidence leaves many constants alike; where it tells all of them apart, nothing is saved.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.costs.sampling_costs import approximation_cost
from mlnlab.inference.messages.beliefs import (
    BeliefsReader,
    BeliefState,
    Graph,
    graph_of,
    make_marginals,
    message_sizes,
)
from mlnlab.inference.messages.colour_passing import (
    Colours,
    Compressed,
    Places,
    compress_graph,
    first_colours,
    passed_on,
    places_of,
)
from mlnlab.inference.messages.message_passing import (
    Order,
    Passing,
    check_passing,
    first_messages,
    pass_messages,
)
from mlnlab.inference.method import Method, RunLength
from mlnlab.steps.run_identity import OfRun, resume_run
from mlnlab.steps.state_layout import FLAG, ArrayOf, Elsewhere, Several, Whole, holds, refuse_misshapen
from mlnlab.steps.step import Observer, run
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.grounding.question.question import Question
    from mlnlab.inference.answers.marginals import Marginals


@dataclass(frozen=True, slots=True)
class Params:
    """In which order messages are passed, how much of the old ones is kept, and when that ends."""

    order: Order = "residual"
    damping: float = 0.1
    tolerance: float = 1e-9
    sweeps: int = 1_000  # at most

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        check_passing(self)

    @property
    def passing(self) -> Passing:
        """The same for the sweeps."""
        return Passing(self.order, self.damping, self.tolerance, self.sweeps)


_COLOURS = ArrayOf(np.int64, ("choices",), least=0, below="choices")
_FACTOR_COLOURS = ArrayOf(np.int64, ("factors",), least=0, below="factors")


@storable("lifted_belief_propagation.State")
@dataclass(frozen=True, slots=True, eq=False)
class LiftedState(OfRun):
    """The colours after some rounds and, once they are settled, the messages between them."""

    rounds: int = field(metadata=holds(Whole()))
    # Of each choice.
    colours: NDArray[np.int64] = field(metadata=holds(_COLOURS))
    # Of each clause, and behind them each table.
    factor_colours: NDArray[np.int64] = field(metadata=holds(_FACTOR_COLOURS))
    settled: bool = field(metadata=holds(FLAG))  # no colour splits any more
    # One, once messages are passed.
    beliefs: tuple[BeliefState, ...] = field(metadata=holds(Several(Elsewhere())))

    def metrics(self) -> Mapping[str, float]:
        """Return the numbers of colours, and how much messages still change."""
        found = {
            "colours": float(int(self.colours.max(initial=-1)) + 1),
            "factor_colours": float(int(self.factor_colours.max(initial=-1)) + 1),
        }
        return {**found, **(self.beliefs[0].metrics() if self.beliefs else {})}


def make_round_state(
    rounds: int, colours: NDArray[np.int64], found: Colours, *, settled: bool
) -> LiftedState:
    """Return the state after a round."""
    shown, factors = colours.copy(), found.factors.copy()
    shown.setflags(write=False)
    factors.setflags(write=False)
    return LiftedState(rounds, shown, factors, settled, ())


def steps(params: Params, question: Question, start: LiftedState | None = None) -> Iterator[LiftedState]:
    """Yield a state for each round of colours, then for each sweep; or those that follow ``start``."""
    return steps_on(params, graph_of(question), start)


def steps_on(params: Params, graph: Graph, start: LiftedState | None = None) -> Iterator[LiftedState]:
    """Yield the states over a graph that is there already."""
    sizes = {"choices": len(graph.clauses.options), "factors": graph.factors}
    identity = METHOD.identity(params, graph.clauses.question)
    return resume_run(
        identity, LiftedState, start,
        partial(_states, params, graph), lambda: sizes, partial(_flaw, graph),
    )  # fmt: skip


def _flaw(graph: Graph, state: LiftedState) -> str:
    """Say which part of a state its graph does not lead to: wrong colours merge unlike choices."""
    places = places_of(graph.model)
    colours = first_colours(places)
    first = make_round_state(0, colours, passed_on(places, colours), settled=False)
    for own in chain([first], _rounds(places, first)):
        if own.rounds == state.rounds:
            break
    for name in ("rounds", "colours", "factor_colours", "settled"):
        if not np.array_equal(getattr(own, name), getattr(state, name)):
            return f"its {name.replace('_', ' ')} are not those of its graph"
    if state.beliefs:
        if len(state.beliefs) != 1 or not state.settled or type(state.beliefs[0]) is not BeliefState:
            return "its messages are not those of one graph"
        refuse_misshapen(state.beliefs[0], message_sizes(_compress_graph(graph, places, state).graph))
    return ""


def _states(params: Params, graph: Graph, state: LiftedState | None) -> Iterator[LiftedState]:
    places = places_of(graph.model)
    if state is None:
        colours = first_colours(places)
        state = make_round_state(0, colours, passed_on(places, colours), settled=False)
        yield state
    for later in _rounds(places, state):
        state = later
        yield state
    small = _compress_graph(graph, places, state)
    beliefs = state.beliefs[0] if state.beliefs else first_messages(small.graph)
    for message_state in pass_messages(params.passing, small.graph, beliefs):
        yield LiftedState(state.rounds, state.colours, state.factor_colours, True, (message_state,))


def _rounds(places: Places, start: LiftedState) -> Iterator[LiftedState]:
    """Yield the state after each further round; where none is left, nothing but the last state is known."""
    state = start
    while not state.settled:
        found = passed_on(places, state.colours)
        settled = _number(found.choices) == _number(state.colours)
        colours = state.colours if settled else found.choices
        state = make_round_state(state.rounds + 1, colours, passed_on(places, colours), settled=settled)
        yield state


def _number(colours: NDArray[np.int64]) -> int:
    return int(colours.max(initial=-1)) + 1


def _compress_graph(graph: Graph, places: Places, state: LiftedState) -> Compressed:
    found = passed_on(places, state.colours)
    return compress_graph(graph.model, places, Colours(state.colours, found.factors, found.messages))


def ground_messages(graph: Graph, state: LiftedState) -> BeliefState:
    """Return the state of the ground graph that a state stands for."""
    if not state.beliefs:
        return first_messages(graph.model)
    small, beliefs = _compress_graph(graph, places_of(graph.model), state), state.beliefs[0]
    heads = np.sort(np.unique(state.factor_colours, return_index=True)[1])
    of_colour = np.zeros(len(heads))
    of_colour[state.factor_colours[heads]] = beliefs.changes
    changes = of_colour[state.factor_colours]
    return BeliefState(
        beliefs.sweeps, beliefs.clause[small.clause_places], beliefs.table[small.table_places],
        changes, changes, beliefs.largest_change, beliefs.converged, beliefs.options[small.value_places],
    )  # fmt: skip


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:
    """Return the beliefs in the queried atoms and formulas."""
    began = time.perf_counter()
    graph = graph_of(question)
    last = run(steps_on(params, graph), observers=observers).state
    return _make_marginals(graph, last, time.perf_counter() - began)


def estimate(params: Params, question: Question, state: LiftedState) -> Marginals:  # noqa: ARG001
    """Return the beliefs of a state."""
    return _make_marginals(graph_of(question), state, 0.0)


def _make_marginals(graph: Graph, state: LiftedState, seconds: float) -> Marginals:
    return make_marginals(METHOD.name, graph, ground_messages(graph, state), seconds, symmetric=True)


def reader(params: Params, question: Question) -> BeliefsReader:  # noqa: ARG001
    """Return a reader of a run's states; the model is grounded once."""
    graph = graph_of(question)
    return BeliefsReader(METHOD.name, graph, lambda state: ground_messages(graph, state))


def length(params: Params) -> RunLength:
    """Return the length of a run."""
    return RunLength(params.sweeps, at_most=True)


METHOD = Method(
    name="lifted-belief-propagation",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    is_approximation=True,
    params=Params,
    citation="Kersting, Ahmadi and Natarajan 2009; Singla and Domingos 2008",
    marginals=marginals,
    steps=steps,
    state=LiftedState,
    goes_on=("sweeps",),
    estimate=estimate,
    reader=reader,
    length=length,
    estimate_cost=approximation_cost,
)
