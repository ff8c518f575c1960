"""Loopy belief propagation: choices and factors tell each other what they know until nothing is new.

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
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mlnlab.inference.beliefs import BeliefsReader, BeliefState, Graph, believed, graph_of
from mlnlab.inference.fixed_points import settles_elsewhere
from mlnlab.inference.message_passing import Order, Passing, checked, first_messages, passed
from mlnlab.inference.method import Method
from mlnlab.steps.step import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mlnlab.grounding.question import Question
    from mlnlab.inference.marginals import Marginals
    from mlnlab.steps.step import Observer


@dataclass(frozen=True, slots=True)
class Params:
    """In which order messages are passed, how much of the old ones is kept, and when that ends."""

    order: Order = "residual"  # who has most to tell; or all factors in turn, or all at once
    damping: float = 0.1  # share of the old message in the new one
    tolerance: float = 1e-9  # changes of a message's logarithm that count as none
    sweeps: int = 1_000  # at most

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        checked(self.order, self.damping, self.tolerance, self.sweeps)

    @property
    def passing(self) -> Passing:
        """The same for the sweeps."""
        return Passing(self.order, self.damping, self.tolerance, self.sweeps)


def steps(params: Params, question: Question, start: BeliefState | None = None) -> Iterator[BeliefState]:
    """Yield a state for each sweep, or those that follow ``start``."""
    return steps_on(params, graph_of(question), start)


def steps_on(params: Params, graph: Graph, start: BeliefState | None = None) -> Iterator[BeliefState]:
    """Yield the states over a graph that is there already."""
    state = start
    if state is None:
        state = first_messages(graph.model)
        yield state
    yield from passed(params.passing, graph.model, state)


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:
    """Return the beliefs in the queried atoms and formulas."""
    began = time.perf_counter()
    graph = graph_of(question)
    last = run(steps_on(params, graph), observers=observers).state
    elsewhere = settles_elsewhere(graph, params.passing, last)
    found = believed(METHOD.name, graph, last, time.perf_counter() - began)
    return replace(found, warnings=(*found.warnings, *elsewhere))


def estimate(params: Params, question: Question, state: BeliefState) -> Marginals:  # noqa: ARG001
    """Return the beliefs of a state."""
    return believed(METHOD.name, graph_of(question), state, 0.0)


def reader(params: Params, question: Question) -> BeliefsReader:  # noqa: ARG001
    """Return what reads the states of a run; the model is grounded once."""
    return BeliefsReader(METHOD.name, graph_of(question), lambda state: state)


METHOD = Method(
    name="belief-propagation",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    is_approximation=True,
    params=Params,
    citation="Kschischang, Frey and Loeliger 2001; Elidan, McGraw and Koller 2006",
    marginals=marginals,
    steps=steps,
    estimate=estimate,
    reader=reader,
)
