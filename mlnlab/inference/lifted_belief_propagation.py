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
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.beliefs import BeliefsReader, BeliefState, Graph, believed, graph_of
from mlnlab.inference.colour_passing import (
    Colours,
    Compressed,
    Places,
    compressed,
    first_colours,
    passed_on,
    places_of,
)
from mlnlab.inference.message_passing import Order, Passing, checked, first_messages, passed
from mlnlab.inference.method import Method
from mlnlab.steps.encoding import storable
from mlnlab.steps.step import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.grounding.question import Question
    from mlnlab.inference.marginals import Marginals
    from mlnlab.steps.step import Observer


@dataclass(frozen=True, slots=True)
class Params:
    """In which order messages are passed, how much of the old ones is kept, and when that ends."""

    order: Order = "residual"
    damping: float = 0.1
    tolerance: float = 1e-9
    sweeps: int = 1_000  # at most

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        checked(self.order, self.damping, self.tolerance, self.sweeps)

    @property
    def passing(self) -> Passing:
        """The same for the sweeps."""
        return Passing(self.order, self.damping, self.tolerance, self.sweeps)


@storable("lifted_belief_propagation.State")
@dataclass(frozen=True, slots=True, eq=False)
class LiftedState:
    """The colours after some rounds and, once they are settled, the messages between them."""

    rounds: int
    colours: NDArray[np.int64]  # of each choice
    factor_colours: NDArray[np.int64]  # of each clause, and behind them each table
    settled: bool  # no colour splits any more
    beliefs: tuple[BeliefState, ...]  # one, once messages are passed

    def metrics(self) -> Mapping[str, float]:
        """Return the numbers of colours, and how much messages still change."""
        found = {
            "colours": float(int(self.colours.max(initial=-1)) + 1),
            "factor_colours": float(int(self.factor_colours.max(initial=-1)) + 1),
        }
        return {**found, **(self.beliefs[0].metrics() if self.beliefs else {})}


def coloured(rounds: int, colours: NDArray[np.int64], found: Colours, *, settled: bool) -> LiftedState:
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
    places = places_of(graph.model)
    state = start
    if state is None:
        colours = first_colours(places)
        state = coloured(0, colours, passed_on(places, colours), settled=False)
        yield state
    for later in _rounds(places, state):
        state = later
        yield state
    small = _compressed(graph, places, state)
    beliefs = state.beliefs[0] if state.beliefs else first_messages(small.graph)
    for message_state in passed(params.passing, small.graph, beliefs):
        yield LiftedState(state.rounds, state.colours, state.factor_colours, True, (message_state,))


def _rounds(places: Places, start: LiftedState) -> Iterator[LiftedState]:
    """Yield the state after each further round; where none is left, nothing but the last state is known."""
    state = start
    while not state.settled:
        found = passed_on(places, state.colours)
        settled = _number(found.choices) == _number(state.colours)
        colours = state.colours if settled else found.choices
        state = coloured(state.rounds + 1, colours, passed_on(places, colours), settled=settled)
        yield state


def _number(colours: NDArray[np.int64]) -> int:
    return int(colours.max(initial=-1)) + 1


def _compressed(graph: Graph, places: Places, state: LiftedState) -> Compressed:
    found = passed_on(places, state.colours)
    return compressed(graph.model, places, Colours(state.colours, found.factors, found.messages))


def ground_messages(graph: Graph, state: LiftedState) -> BeliefState:
    """Return the state of the ground graph that a state stands for."""
    if not state.beliefs:
        return first_messages(graph.model)
    small, beliefs = _compressed(graph, places_of(graph.model), state), state.beliefs[0]
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
    return _known(graph, last, time.perf_counter() - began)


def estimate(params: Params, question: Question, state: LiftedState) -> Marginals:  # noqa: ARG001
    """Return the beliefs of a state."""
    return _known(graph_of(question), state, 0.0)


def _known(graph: Graph, state: LiftedState, seconds: float) -> Marginals:
    return believed(METHOD.name, graph, ground_messages(graph, state), seconds, symmetric=True)


def reader(params: Params, question: Question) -> BeliefsReader:  # noqa: ARG001
    """Return what reads the states of a run; the model is grounded once."""
    graph = graph_of(question)
    return BeliefsReader(METHOD.name, graph, lambda state: ground_messages(graph, state))


METHOD = Method(
    name="lifted-belief-propagation",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    is_approximation=True,
    params=Params,
    citation="Kersting, Ahmadi and Natarajan 2009; Singla and Domingos 2008",
    marginals=marginals,
    steps=steps,
    estimate=estimate,
    reader=reader,
)
