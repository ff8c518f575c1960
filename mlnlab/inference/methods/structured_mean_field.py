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
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.factors.graphs.random_variables import RandomVariable
from mlnlab.grounding.networks.ground_factors import variable_of
from mlnlab.inference.answers.marginals import Marginals
from mlnlab.inference.costs.sampling_costs import approximation_cost
from mlnlab.inference.messages.beliefs import Graph, graph_of
from mlnlab.inference.messages.field_weights import (
    bounded_marginals,
    constant_of,
    factor_weights,
    random_field,
)
from mlnlab.inference.messages.forests import Approximation, products_on
from mlnlab.inference.messages.spanning_trees import chosen_tree
from mlnlab.inference.messages.tree_ascent import (
    Ascent,
    Params,
    StructuredState,
    ascent_states,
    describe_tree,
    first_state,
)
from mlnlab.inference.messages.weighted_products import WeightedProducts, products_of_clauses
from mlnlab.inference.method import Method, RunLength
from mlnlab.inference.sampling.state_reading import MarginalsReader
from mlnlab.steps.step import Observer, run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from mlnlab.grounding.question.question import Question

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
        expected = self.ascent.on_tree.compute_expectations(state.conditionals)[2]
        return _truths(self.ascent.products, expected, len(self.graph.model.if_falsified), self.graph.factors)

    @cached_property
    def _queries(self) -> tuple[WeightedProducts, Approximation]:
        graph = self.graph.queries
        none = np.zeros(len(graph.if_falsified)), np.zeros(len(graph.if_true))
        products = products_of_clauses(graph, *none)
        forest = self.ascent.on_tree.forest
        return products, type(self.ascent.on_tree)(forest, products_on(forest, products))

    def compute_asked_probabilities(self, state: StructuredState) -> Reals:
        """Return how probably each clause and table holds that is asked for."""
        products, on_tree = self._queries
        graph = self.graph.queries
        expected = on_tree.compute_expectations(state.conditionals)[2]
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
    params, ascent = field.params, field.ascent

    def first() -> StructuredState:
        return first_state(params, ascent, random_field(params.seed, field.graph.model.value_starts))

    identity = METHOD.identity(params, field.graph.clauses.question)
    return ascent_states(identity, params, ascent, start, first)


# --- answers --------------------------------------------------------------------------------------


def _make_marginals(field: StructuredField, state: StructuredState, seconds: float) -> Marginals:
    shares = state.probabilities, field.compute_asked_probabilities(state), field.truths(state)
    return bounded_marginals(
        METHOD.name, field.graph, state, shares, state.sweeps + state.naive_sweeps, seconds,
        about=f"{describe_tree(field.params, field.ascent)}; ", rounding=field.graph.rounding, kept=(field,),
    )  # fmt: skip


def marginals(params: Params, question: Question, observers: Iterable[Observer] = ()) -> Marginals:
    """Return the probabilities of the queried atoms and formulas under the forest."""
    began = time.perf_counter()
    field = field_of(params, question)
    last = run(steps_on(field), observers=observers).state
    return _make_marginals(field, last, time.perf_counter() - began)


def estimate(params: Params, question: Question, state: StructuredState) -> Marginals:
    """Return the probabilities in a state."""
    return _make_marginals(field_of(params, question), state, 0.0)


def reader(params: Params, question: Question) -> MarginalsReader:
    """Return a reader of a run's states; the model is grounded once."""
    field = field_of(params, question)
    return MarginalsReader(question, lambda state: _make_marginals(field, state, 0.0))


def length(params: Params) -> RunLength:
    """Return how long a run is."""
    return RunLength(params.sweeps, at_most=True)


METHOD = Method(
    name="structured-mean-field",
    needs="every weight known; finite domains; formulas whose groundings are clauses, conjunctions or narrow",
    is_exact=False,
    is_approximation=True,
    params=Params,
    citation="Saul and Jordan 1996; Wiegerinck 2000",
    marginals=marginals,
    steps=steps,
    state=StructuredState,
    goes_on=("sweeps",),
    estimate=estimate,
    reader=reader,
    length=length,
    estimate_cost=approximation_cost,
)
