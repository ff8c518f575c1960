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
from dataclasses import dataclass
from math import inf, nan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, count_of
from mlnlab.inference.beliefs import Graph, expected_counts, graph_of, held, query_probabilities
from mlnlab.inference.factor_messages import neighbours_of
from mlnlab.inference.field_weights import constant_of, factor_weights, random_field
from mlnlab.inference.marginals import Marginals
from mlnlab.inference.method import Method
from mlnlab.inference.state_reading import MarginalsReader
from mlnlab.kernels.belief_propagation import read_factors
from mlnlab.kernels.belief_propagation_graph import room_for_messages, shared
from mlnlab.kernels.mean_field import Weights, bound_of, sweep_field
from mlnlab.steps.encoding import storable
from mlnlab.steps.step import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.grounding.question import Question
    from mlnlab.steps.step import Observer


@dataclass(frozen=True, slots=True)
class Params:
    """Where the ascent begins and when it ends."""

    seed: int = 0
    sweeps: int = 1_000  # at most
    tolerance: float = 1e-8  # changes of a probability that count as none
    hard: float = 30.0  # the weight by which a hard formula counts

    def __post_init__(self) -> None:
        """Refuse what makes no sense."""
        if self.seed < 0:
            raise ArgumentError(f"seed is a whole number from 0 on, not {self.seed!r}.")
        if self.sweeps < 1:
            raise ArgumentError(f"sweeps is a whole number from 1 on, not {self.sweeps!r}.")
        for name in ("tolerance", "hard"):
            if not 0 < getattr(self, name) < inf:
                raise ArgumentError(f"{name} is a number above 0, not {getattr(self, name)!r}.")


@storable("mean_field.State")
@dataclass(frozen=True, slots=True, eq=False)
class MeanFieldState:
    """The distributions after some sweeps, and the bound that they reach; arrays are read-only."""

    sweeps: int
    options: NDArray[np.float64]  # the probability of each option of each choice
    truths: NDArray[np.float64]  # of each clause, and behind them each table
    bound: float  # on log Z
    largest_change: float
    converged: bool

    def metrics(self) -> Mapping[str, float]:
        """Return the bound, and how much probabilities still change."""
        return {"bound": self.bound, "largest_change": self.largest_change}


def weights_of(graph: Graph, hard: float) -> Weights:
    """Return what each clause and table adds where it holds, and the edges of each choice."""
    of_clauses, of_tables = factor_weights(graph, hard)
    model = graph.model
    starts, table_starts = (a.astype(np.int64) for a in (model.clause_starts, model.table_starts))
    factors = np.concatenate([
        np.repeat(np.arange(len(of_clauses)), starts[1:] - starts[:-1]),
        np.repeat(np.arange(len(of_tables)), table_starts[1:] - table_starts[:-1]),
    ])  # fmt: skip
    choices = np.concatenate([model.clause_choices, model.table_choices])
    edges = np.argsort(choices, kind="stable")
    words = (shared(np.ascontiguousarray(numbers, np.uint32)) for numbers in (edges, factors))
    return Weights(shared(of_clauses), shared(of_tables), neighbours_of(model).starts, *words)


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
    weights, state = weights_of(graph, params.hard), start
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


def _known(graph: Graph, state: MeanFieldState, seconds: float) -> Marginals:
    messages = room_for_messages(graph.queries)
    messages.beliefs[:] = np.log(np.maximum(state.options, 1e-300))
    asked, unused = (np.zeros(len(graph.queries.if_falsified) + len(graph.queries.if_true)) for _ in range(2))
    read_factors(graph.queries, messages, asked, unused)
    names = graph.asked.names
    drawn = (graph.asked.columns >= 0).tolist()
    ended = "settled" if state.converged else "not settled"
    return Marginals(
        probabilities=dict(
            zip(names, query_probabilities(graph, state.options, asked).tolist(), strict=True)
        ),
        method=METHOD.name,
        log_z=nan,
        number_of_worlds=0,
        seconds=seconds,
        rounding=0.0,
        question=graph.clauses.question,
        expected_counts=expected_counts(graph.clauses, state.truths),
        reason=(
            f"{METHOD.name}: {count_of(state.sweeps, 'sweep')}, {ended}; log Z is at least about "
            f"{state.bound:.6g}, and how far off the probabilities are is not known"
        ),
        inexact=frozenset(name for name, is_drawn in zip(names, drawn, strict=True) if is_drawn),
        memory=held(graph, state),
    )


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:
    """Return the probabilities of the queried atoms and formulas under the product."""
    began = time.perf_counter()
    graph = graph_of(question)
    last = run(steps_on(params, graph), observers=observers).state
    return _known(graph, last, time.perf_counter() - began)


def estimate(params: Params, question: Question, state: MeanFieldState) -> Marginals:  # noqa: ARG001
    """Return the probabilities in a state."""
    return _known(graph_of(question), state, 0.0)


def reader(params: Params, question: Question) -> MarginalsReader:  # noqa: ARG001
    """Return what reads the states of a run; the model is grounded once."""
    graph = graph_of(question)
    return MarginalsReader(question, lambda state: _known(graph, state, 0.0))


METHOD = Method(
    name="mean-field",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    is_approximation=True,
    params=Params,
    citation="Jordan, Ghahramani, Jaakkola and Saul 1999",
    marginals=marginals,
    steps=steps,
    estimate=estimate,
    reader=reader,
)
