"""Naive mean field: the best distribution in which all choices are independent of each other.

Of all products q of one distribution for each open atom or block, coordinate ascent looks for the one with
the highest bound E_q[sum_i w_i n_i] + H(q) <= log Z (Jordan, Ghahramani, Jaakkola and Saul, An introduction
to variational methods for graphical models, 1999). The bound never falls; where it ends depends
on where it began, which ``seed`` decides.

Needs: every weight known; finite domains. Hard formulas count with the weight ``hard``, so that the bound is
that of a slightly larger model. Answers: marginals of atoms and formulas, expected counts. Not for strong
formulas: these marginals are then far too sure of themselves.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.answers.marginals import Marginals
from mlnlab.inference.costs.sampling_costs import approximation_cost
from mlnlab.inference.messages.beliefs import SHARES, Graph, graph_of, message_sizes
from mlnlab.inference.messages.factor_messages import neighbours_of
from mlnlab.inference.messages.field_weights import (
    Params,
    bounded_marginals,
    constant_of,
    factor_weights,
    random_field,
)
from mlnlab.inference.method import Method, RunLength
from mlnlab.inference.sampling.state_reading import MarginalsReader
from mlnlab.kernels.messages.mean_field_ascent import Weights, bound_of, sweep_field
from mlnlab.kernels.messages.sum_product import read_factors
from mlnlab.kernels.messages.sum_product_graph import make_read_only, room_for_messages
from mlnlab.steps.run_identity import OfRun, resume_run
from mlnlab.steps.state_layout import FLAG, REPORTED, ArrayOf, Whole, holds
from mlnlab.steps.step import Observer, run
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.grounding.question.question import Question


@storable("mean_field.State")
@dataclass(frozen=True, slots=True, eq=False)
class MeanFieldState(OfRun):
    """The distributions after some sweeps, and the bound that they reach; arrays are read-only."""

    sweeps: int = field(metadata=holds(Whole()))
    # The probability of each option of each choice.
    options: NDArray[np.float64] = field(metadata=holds(SHARES))
    # Of each clause, and behind them each table.
    truths: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, ("factors",))))
    bound: float = field(metadata=holds(REPORTED))  # on log Z
    largest_change: float = field(metadata=holds(REPORTED))
    converged: bool = field(metadata=holds(FLAG))

    def metrics(self) -> Mapping[str, float]:
        """Return the bound, and how much probabilities still change."""
        return {"bound": self.bound, "largest_change": self.largest_change}


def weights_of(graph: Graph, hard: float) -> Weights:
    """Return the log-weights of true clauses and tables, and the edges of each choice."""
    of_clauses, of_tables = factor_weights(graph, hard)
    model = graph.model
    starts, table_starts = (a.astype(np.int64) for a in (model.clause_starts, model.table_starts))
    factors = np.concatenate([
        np.repeat(np.arange(len(of_clauses)), starts[1:] - starts[:-1]),
        np.repeat(np.arange(len(of_tables)), table_starts[1:] - table_starts[:-1]),
    ])  # fmt: skip
    choices = np.concatenate([model.clause_choices, model.table_choices])
    edges = np.argsort(choices, kind="stable")
    words = (make_read_only(np.ascontiguousarray(numbers, np.uint32)) for numbers in (edges, factors))
    return Weights(make_read_only(of_clauses), make_read_only(of_tables), neighbours_of(model).starts, *words)


def first_state(params: Params, graph: Graph, weights: Weights) -> MeanFieldState:
    """Return random distributions, none of them far from uniform."""
    field = random_field(params.seed, graph.model.value_starts)
    return _state(params, graph, weights, field, 0, 1.0)


def _state(
    params: Params, graph: Graph, weights: Weights, field: NDArray[np.float64], sweeps: int, change: float
) -> MeanFieldState:
    truths, options = np.zeros(graph.factors), field.copy()
    bound = bound_of(graph.model, weights, options, truths) + constant_of(graph, params.hard)
    options.setflags(write=False)
    truths.setflags(write=False)
    settled = change <= params.tolerance or not len(field)
    return MeanFieldState(sweeps, options, truths, float(bound), float(change), bool(settled))


def steps(
    params: Params, question: Question, start: MeanFieldState | None = None
) -> Iterator[MeanFieldState]:
    """Yield a state for each sweep, or those that follow ``start``."""
    return steps_on(params, graph_of(question), start)


def steps_on(params: Params, graph: Graph, start: MeanFieldState | None = None) -> Iterator[MeanFieldState]:
    """Yield the states over a graph that is there already."""
    identity = METHOD.identity(params, graph.clauses.question)
    return resume_run(
        identity, MeanFieldState, start,
        partial(_states, params, graph), lambda: message_sizes(graph.model),
    )  # fmt: skip


def _states(params: Params, graph: Graph, state: MeanFieldState | None) -> Iterator[MeanFieldState]:
    weights = weights_of(graph, params.hard)
    if state is None:
        state = first_state(params, graph, weights)
        yield state
    field = state.options.copy()
    scores = np.zeros(int(graph.clauses.options.max(initial=1)))
    while not state.converged and state.sweeps < params.sweeps:
        change = sweep_field(graph.model, weights, field, scores)
        state = _state(params, graph, weights, field, state.sweeps + 1, change)
        yield state


# --- answers --------------------------------------------------------------------------------------


def _make_marginals(graph: Graph, state: MeanFieldState, seconds: float) -> Marginals:
    messages = room_for_messages(graph.queries)
    messages.beliefs[:] = np.log(np.maximum(state.options, 1e-300))
    asked, unused = (np.zeros(len(graph.queries.if_falsified) + len(graph.queries.if_true)) for _ in range(2))
    read_factors(graph.queries, messages, asked, unused)
    shares = state.options, asked, state.truths
    return bounded_marginals(METHOD.name, graph, state, shares, state.sweeps, seconds)


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:
    """Return the probabilities of the queried atoms and formulas under the product."""
    began = time.perf_counter()
    graph = graph_of(question)
    last = run(steps_on(params, graph), observers=observers).state
    return _make_marginals(graph, last, time.perf_counter() - began)


def estimate(params: Params, question: Question, state: MeanFieldState) -> Marginals:  # noqa: ARG001
    """Return the probabilities in a state."""
    return _make_marginals(graph_of(question), state, 0.0)


def reader(params: Params, question: Question) -> MarginalsReader:  # noqa: ARG001
    """Return a reader of a run's states; the model is grounded once."""
    graph = graph_of(question)
    return MarginalsReader(question, lambda state: _make_marginals(graph, state, 0.0))


def length(params: Params) -> RunLength:
    """Return how long a run is."""
    return RunLength(params.sweeps, at_most=True)


METHOD = Method(
    name="mean-field",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    is_approximation=True,
    params=Params,
    citation="Jordan, Ghahramani, Jaakkola and Saul 1999",
    marginals=marginals,
    steps=steps,
    state=MeanFieldState,
    goes_on=("sweeps",),
    estimate=estimate,
    reader=reader,
    length=length,
    estimate_cost=approximation_cost,
)
