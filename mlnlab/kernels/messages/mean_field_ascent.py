"""Coordinate ascent of naive mean field: each choice in turn, given the distributions of all others.

The arrays of the graph are those of :mod:`mlnlab.kernels.messages.sum_product_graph`; its messages are not
used. A choice's best distribution is proportional to exp of the expected log-weight that each of its options
brings (Jordan, Ghahramani, Jaakkola and Saul, An introduction to variational methods for graphical models,
1999).
"""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.messages.sum_product_graph import Factors, smallest_factors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

_1 = np.uint32(1)


class Weights(NamedTuple):
    """The weights of true clauses and tables, and the edges of each choice, clauses' edges first."""

    clauses: NDArray[np.float64]
    tables: NDArray[np.float64]
    edge_starts: NDArray[np.uint32]
    edges: NDArray[np.uint32]
    factors: NDArray[np.uint32]  # of each edge its clause, or its table


@compiled
def compute_falsification(factors: Factors, field: NDArray[np.float64], edge: Number) -> float:
    """Return how probably the choice of an edge falsifies its literals."""
    choice, bit, total = factors.clause_choices[edge], factors.bit_starts[edge], 0.0
    start = factors.value_starts[choice]
    for option in range(factors.value_starts[choice + _1] - start):
        if factors.bits[bit + option]:
            total += field[start + option]
    return total


@compiled
def add_clause(
    factors: Factors, weights: Weights, field: NDArray[np.float64], scores: NDArray[np.float64], edge: Number
) -> None:
    """Add a clause's expected weight, up to a constant, to the scores of a choice's options."""
    clause = weights.factors[edge]
    others = 1.0
    for other in range(factors.clause_starts[clause], factors.clause_starts[clause + _1]):
        if other != edge:
            others *= compute_falsification(factors, field, other)
    choice, bit = factors.clause_choices[edge], factors.bit_starts[edge]
    for option in range(factors.value_starts[choice + _1] - factors.value_starts[choice]):
        if factors.bits[bit + option]:
            scores[option] -= weights.clauses[clause] * others


@compiled
def add_table(
    factors: Factors, weights: Weights, field: NDArray[np.float64], scores: NDArray[np.float64], edge: Number
) -> None:
    """Add a table's expected weight to the scores of a choice's options."""
    table = weights.factors[len(factors.clause_choices) + edge]
    for cell in range(factors.table_sizes[table]):
        if factors.cells[factors.cell_starts[table] + cell] == 0:
            continue
        product, own = weights.tables[table], np.int64(0)
        for other in range(factors.table_starts[table], factors.table_starts[table + _1]):
            start = np.int64(factors.value_starts[factors.table_choices[other]])
            options = np.int64(factors.message_starts[other + 1]) - np.int64(factors.message_starts[other])
            option = np.int64(cell) // np.int64(factors.strides[other]) % options
            if other == edge:
                own = option
            else:
                product *= field[start + option]
        scores[own] += product


@compiled
def sweep_field(
    factors: Factors, weights: Weights, field: NDArray[np.float64], scores: NDArray[np.float64]
) -> float:
    """Give each choice in turn its best distribution; return the largest change of a probability."""
    clause_edges, largest = len(factors.clause_choices), 0.0
    for choice in range(len(factors.value_starts) - 1):
        start = np.int64(factors.value_starts[choice])
        options = np.int64(factors.value_starts[choice + 1]) - start
        for option in range(options):
            scores[option] = 0.0
        for place in range(weights.edge_starts[choice], weights.edge_starts[choice + 1]):
            edge = np.int64(weights.edges[place])
            if edge < clause_edges:
                add_clause(factors, weights, field, scores, edge)
            else:
                add_table(factors, weights, field, scores, edge - clause_edges)
        most, total = scores[0], 0.0
        for option in range(1, options):
            most = max(most, scores[option])
        for option in range(options):
            scores[option] = exp(scores[option] - most)
            total += scores[option]
        for option in range(options):
            largest = max(largest, abs(scores[option] / total - field[start + option]))
            field[start + option] = scores[option] / total
    return largest


@compiled
def bound_of(
    factors: Factors, weights: Weights, field: NDArray[np.float64], truths: NDArray[np.float64]
) -> float:
    """Return the expected log-weight plus the entropy; ``truths`` gets how probably each factor holds."""
    clauses, total = len(weights.clauses), 0.0
    for clause in range(clauses):
        product = 1.0
        for edge in range(factors.clause_starts[clause], factors.clause_starts[clause + 1]):
            product *= compute_falsification(factors, field, edge)
        truths[clause] = 1.0 - product
        total += weights.clauses[clause] * (1.0 - product)
    for table in range(len(weights.tables)):
        holds = 0.0
        for cell in range(factors.table_sizes[table]):
            product = 1.0 if factors.cells[factors.cell_starts[table] + cell] else 0.0
            for edge in range(factors.table_starts[table], factors.table_starts[table + 1]):
                start = np.int64(factors.value_starts[factors.table_choices[edge]])
                options = np.int64(factors.message_starts[edge + 1]) - np.int64(factors.message_starts[edge])
                product *= field[start + np.int64(cell) // np.int64(factors.strides[edge]) % options]
            holds += product
        truths[clauses + table] = holds
        total += weights.tables[table] * holds
    for value in range(len(field)):
        if field[value] > 0.0:
            total -= field[value] * log(field[value])
    return total


def warm_up() -> None:
    """Compile every kernel of this file."""
    factors = smallest_factors()
    none = np.zeros(0)
    none.setflags(write=False)
    weights = Weights(
        factors.counts, none, factors.clause_starts, factors.clause_choices, factors.clause_choices
    )
    sweep_field(factors, weights, np.full(2, 0.5), np.zeros(2))
    bound_of(factors, weights, np.full(2, 0.5), np.zeros(1))
