"""Structured mean field: the best distribution in which choices depend on each other along a tree.

Naive mean field lets nothing vary together. Here the approximation q is a spanning forest over the open
atoms and blocks: either one that is named (``tree=[("S(A)", "S(B)"), ...]``) or that of the strongest ties,
and what the tree leaves out is replaced by its expectation. Each sweep gives each conditional along the tree
its best value given all others (Saul and Jordan, Exploiting tractable substructures in intractable networks,
1996; Wiegerinck, Variational approximations between mean field theory and the junction tree algorithm, 2000,
Eq. 13) and passes over the tree twice, so the bound E_q[sum_i w_i n_i] + H(q) <= log Z never falls. Where
ground formulas tie atoms in pairs that are a tree, one sweep is exact.

Needs: every weight known; finite domains. Hard formulas count with the weight ``hard``, so that the bound is
that of a slightly larger model. Answers: marginals of atoms and formulas, expected counts. Not for strong
formulas across the tree: like naive mean field, it is too sure of itself there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import count_of
from mlnlab.factors.random_variables import RandomVariable
from mlnlab.grounding.ground_factors import variable_of
from mlnlab.inference.beliefs import Graph, expected_counts, graph_of, held, query_probabilities
from mlnlab.inference.field_weights import constant_of, factor_weights, random_field
from mlnlab.inference.forests import products_on
from mlnlab.inference.marginals import Marginals
from mlnlab.inference.method import Method
from mlnlab.inference.spanning_trees import chosen_tree
from mlnlab.inference.state_reading import MarginalsReader
from mlnlab.inference.tree_ascent import (
    Ascent,
    Params,
    StructuredState,
    ascending,
    described,
    first_state,
)
from mlnlab.inference.weighted_products import WeightedProducts, products_of_clauses
from mlnlab.steps.step import run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from mlnlab.grounding.question import Question
    from mlnlab.inference.forests import Approximation
    from mlnlab.steps.step import Observer

    Reals = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StructuredField:
    """A question's factor graph and the tree that approximates it."""

    params: Params
    graph: Graph

    @cached_property
    def ascent(self) -> Ascent:
        """The model as products, and its tree."""
        hard = self.params.hard
        products = products_of_clauses(self.graph.model, *factor_weights(self.graph, hard))
        products = replace(products, constant=products.constant + constant_of(self.graph, hard))
        names = {
            str(atom): number
            for number, choice in enumerate(self.graph.clauses.question.choices)
            for atom in choice.atoms
        }
        return Ascent(products, chosen_tree(self.params.tree, products, names))

    @cached_property
    def variables(self) -> tuple[RandomVariable, ...]:
        """The choices, each with a name and the names of its values."""
        taken: set[str] = set()
        return tuple(variable_of(choice, taken) for choice in self.graph.clauses.question.choices)

    def truths(self, state: StructuredState) -> Reals:
        """Return how probably each clause holds, and behind them each table."""
        expected = self.ascent.on_tree.expected(state.conditionals)[2]
        return _truths(self.ascent.products, expected, len(self.graph.model.if_falsified), self.graph.factors)

    @cached_property
    def _queries(self) -> tuple[WeightedProducts, Approximation]:
        graph = self.graph.queries
        none = np.zeros(len(graph.if_falsified)), np.zeros(len(graph.if_true))
        products = products_of_clauses(graph, *none)
        forest = self.ascent.on_tree.forest
        return products, type(self.ascent.on_tree)(forest, products_on(forest, products))

    def asked(self, state: StructuredState) -> Reals:
        """Return how probably each clause and table holds that is asked for."""
        products, on_tree = self._queries
        graph = self.graph.queries
        expected = on_tree.expected(state.conditionals)[2]
        clauses = len(graph.if_falsified)
        return _truths(products, expected, clauses, clauses + len(graph.if_true))


def _truths(products: WeightedProducts, expected: Reals, clauses: int, factors: int) -> Reals:
    """Return how probably factors hold: clauses unless all is false in them, tables in one of their rows."""
    found: Reals = np.bincount(products.factors, expected, factors).astype(np.float64)
    found[:clauses] = 1.0 - found[:clauses]
    return found


def field_of(params: Params, question: Question) -> StructuredField:
    """Ground a question; where something has to hold, make sure that some world lets it."""
    return StructuredField(params, graph_of(question))


def steps(
    params: Params, question: Question, start: StructuredState | None = None
) -> Iterator[StructuredState]:
    """Yield a state for each sweep, or those that follow ``start``."""
    return steps_on(field_of(params, question), start)


def steps_on(field: StructuredField, start: StructuredState | None = None) -> Iterator[StructuredState]:
    """Yield the states over a graph that is there already."""
    state = start
    if state is None:
        beginning = random_field(field.params.seed, field.graph.model.value_starts)
        state = first_state(field.params, field.ascent, beginning)
        yield state
    yield from ascending(field.params, field.ascent, state)


# --- answers --------------------------------------------------------------------------------------


def _known(field: StructuredField, state: StructuredState, seconds: float) -> Marginals:
    graph = field.graph
    probabilities = query_probabilities(graph, state.probabilities, field.asked(state)).tolist()
    names, drawn = graph.asked.names, (graph.asked.columns >= 0).tolist()
    return Marginals(
        probabilities=dict(zip(names, probabilities, strict=True)),
        method=METHOD.name,
        log_z=nan,
        number_of_worlds=0,
        seconds=seconds,
        rounding=0.0,
        question=graph.clauses.question,
        expected_counts=expected_counts(graph.clauses, field.truths(state)),
        reason=_reason(field, state),
        inexact=frozenset(name for name, is_drawn in zip(names, drawn, strict=True) if is_drawn),
        memory=held(graph, state, field),
    )


def _reason(field: StructuredField, state: StructuredState) -> str:
    sweeps = count_of(state.sweeps + state.naive_sweeps, "sweep")
    ended = "settled" if state.converged else "not settled"
    return (
        f"{METHOD.name}: {described(field.params, field.ascent)}; {sweeps}, {ended}; log Z is at least about "
        f"{state.bound:.6g}, and how far off the probabilities are is not known"
    )


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:
    """Return the probabilities of the queried atoms and formulas under the forest."""
    began = time.perf_counter()
    field = field_of(params, question)
    last = run(steps_on(field), observers=observers).state
    return _known(field, last, time.perf_counter() - began)


def estimate(params: Params, question: Question, state: StructuredState) -> Marginals:
    """Return the probabilities in a state."""
    return _known(field_of(params, question), state, 0.0)


def reader(params: Params, question: Question) -> MarginalsReader:
    """Return what reads the states of a run; the model is grounded once."""
    field = field_of(params, question)
    return MarginalsReader(question, lambda state: _known(field, state, 0.0))


METHOD = Method(
    name="structured-mean-field",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    is_approximation=True,
    params=Params,
    citation="Saul and Jordan 1996; Wiegerinck 2000",
    marginals=marginals,
    steps=steps,
    estimate=estimate,
    reader=reader,
)
