"""Coordinate ascent of naive mean field over tables: each variable in turn, given all others' distributions.

A variable's best distribution is proportional to exp of the log-weight that each of its values can expect
(Jordan, Ghahramani, Jaakkola and Saul, An introduction to variational methods for graphical models, 1999).
Logarithms must be finite here. The arrays are those of :mod:`mlnlab.kernels.messages.factor_tables`.
"""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.messages.factor_tables import Tables, smallest_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]
    Reals = NDArray[np.float64]


@compiled
def add_expected(tables: Tables, field: Reals, scores: Reals, table: Number, variable: Number) -> None:
    """Add a table's expected log-weight to the scores of a variable's values."""
    start, end = np.int64(tables.scope_starts[table]), np.int64(tables.scope_starts[table + 1])
    first = np.int64(tables.cell_starts[table])
    for cell in range(np.int64(tables.cell_starts[table + 1]) - first):
        product, own = tables.logs[first + cell], np.int64(0)
        for edge in range(start, end):
            begins = np.int64(tables.value_starts[tables.scope[edge]])
            size = np.int64(tables.value_starts[np.int64(tables.scope[edge]) + 1]) - begins
            value = cell // np.int64(tables.strides[edge]) % size
            if tables.scope[edge] == variable:
                own = value
            else:
                product *= field[begins + value]
        scores[own] += product


@compiled
def sweep_distributions(tables: Tables, field: Reals, scores: Reals) -> float:
    """Give each variable in turn its best distribution; return the largest change of a probability."""
    largest = 0.0
    for variable in range(len(tables.value_starts) - 1):
        start = np.int64(tables.value_starts[variable])
        size = np.int64(tables.value_starts[variable + 1]) - start
        for value in range(size):
            scores[value] = 0.0
        for near in range(np.int64(tables.near_starts[variable]), np.int64(tables.near_starts[variable + 1])):
            add_expected(tables, field, scores, np.int64(tables.near_tables[near]), variable)
        most, total = scores[0], 0.0
        for value in range(size):
            most = max(most, scores[value])
        for value in range(size):
            scores[value] = exp(scores[value] - most)
            total += scores[value]
        for value in range(size):
            largest = max(largest, abs(scores[value] / total - field[start + value]))
            field[start + value] = scores[value] / total
    return largest


@compiled
def bound_of(tables: Tables, field: Reals) -> float:
    """Return the expected log-weight plus the entropy, which log Z is never below."""
    bound = 0.0
    for place in range(len(field)):
        if field[place] > 0.0:
            bound -= field[place] * log(field[place])
    for table in range(len(tables.cell_starts) - 1):
        first = np.int64(tables.cell_starts[table])
        start, end = np.int64(tables.scope_starts[table]), np.int64(tables.scope_starts[table + 1])
        for cell in range(np.int64(tables.cell_starts[table + 1]) - first):
            product = tables.logs[first + cell]
            for edge in range(start, end):
                begins = np.int64(tables.value_starts[tables.scope[edge]])
                size = np.int64(tables.value_starts[np.int64(tables.scope[edge]) + 1]) - begins
                product *= field[begins + cell // np.int64(tables.strides[edge]) % size]
            bound += product
    return bound


def warm_up() -> None:
    """Compile every kernel of this file."""
    tables, field = smallest_tables(), np.full(2, 0.5)
    sweep_distributions(tables, field, np.zeros(2))
    bound_of(tables, field)
