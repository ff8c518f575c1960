"""A factor graph over variables with any number of values, as arrays, and an assignment to them.

    variable v   values      value_starts[v] : value_starts[v + 1]
                 tables      near_starts[v] : near_starts[v + 1] -> near_tables[], near_strides[]
    table t      edges       scope_starts[t] : scope_starts[t + 1] -> scope[], strides[], message_starts[]
                 cells       logs[cell_starts[t] : cell_starts[t + 1]], minus infinity where forbidden

An assignment keeps for each table the cell that it selects, so that a change of one variable costs its own
tables only.
"""

from __future__ import annotations

from math import exp, inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.random_numbers import next_below, next_uniform, streams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]


class Tables(NamedTuple):
    """Variables and tables; read-only."""

    value_starts: NDArray[np.uint32]
    near_starts: NDArray[np.uint32]
    near_tables: NDArray[np.uint32]
    near_strides: NDArray[np.uint32]
    scope_starts: NDArray[np.uint32]
    scope: NDArray[np.uint32]
    strides: NDArray[np.uint32]
    message_starts: NDArray[np.uint32]  # of each edge, a number for each value of its variable
    cell_starts: NDArray[np.uint32]
    logs: NDArray[np.float64]


class Walk(NamedTuple):
    """Where a chain is: the value of each variable, the cell of each table; its random numbers; room."""

    values: NDArray[np.uint32]
    cells: NDArray[np.uint32]
    random: NDArray[np.uint64]
    scores: NDArray[np.float64]


@compiled
def settle(tables: Tables, walk: Walk) -> None:
    """Compute the cell of each table from the values."""
    for table in range(len(walk.cells)):
        cell = np.int64(0)
        for edge in range(np.int64(tables.scope_starts[table]), np.int64(tables.scope_starts[table + 1])):
            cell += np.int64(walk.values[tables.scope[edge]]) * np.int64(tables.strides[edge])
        walk.cells[table] = cell


@compiled
def scatter(tables: Tables, walk: Walk) -> None:
    """Give each variable a random value."""
    for variable in range(len(walk.values)):
        size = np.int64(tables.value_starts[variable + 1]) - np.int64(tables.value_starts[variable])
        walk.values[variable] = next_below(walk.random, size)  # type: ignore[arg-type]
    settle(tables, walk)


@compiled
def log_weight(tables: Tables, walk: Walk) -> float:
    """Return the sum of the logarithms of the selected cells."""
    total = 0.0
    for table in range(len(walk.cells)):
        total += tables.logs[np.int64(tables.cell_starts[table]) + np.int64(walk.cells[table])]
    return total


@compiled
def count_forbidden_tables(tables: Tables, walk: Walk) -> int:
    """Return how many tables select a cell that is forbidden."""
    number = 0
    for table in range(len(walk.cells)):
        if tables.logs[np.int64(tables.cell_starts[table]) + np.int64(walk.cells[table])] == -inf:
            number += 1
    return number


@compiled
def draw(scores: NDArray[np.float64], size: Number, random: NDArray[np.uint64]) -> Number:
    """Draw a value in proportion to exp(score); the scores are used up."""
    most, total, last = -inf, 0.0, np.int64(0)
    for value in range(size):
        most = max(most, scores[value])
    for value in range(size):
        worth = exp(scores[value] - most)
        if worth > 0.0:
            last = np.int64(value)
        total += worth
        scores[value] = total
    target = next_uniform(random) * total
    for value in range(size):
        if target < scores[value]:
            return np.int64(value)
    return last  # rounding may let the target reach the total


def new_walk(tables: Tables, values: NDArray[np.uint32], random: NDArray[np.uint64]) -> Walk:
    """Return a chain of its own at these values."""
    widest = int(np.diff(tables.value_starts.astype(np.int64)).max(initial=1))
    room = np.zeros(len(tables.cell_starts) - 1, np.uint32)
    walk = Walk(values.copy(), room, random.copy(), np.zeros(widest))
    settle(tables, walk)
    return walk


def smallest_tables() -> Tables:
    """Return one variable with two values and a table over it, with the types used in earnest."""

    def words(*numbers: int) -> NDArray[np.uint32]:
        array = np.array(numbers, np.uint32)
        array.setflags(write=False)
        return array

    logs = np.zeros(2)
    logs.setflags(write=False)
    starts = words(0, 1)
    return Tables(
        words(0, 2), starts, words(0), words(1), starts, words(0), words(1), words(0, 2), words(0, 2), logs
    )


def smallest_walk() -> Walk:
    """Return a chain over the smallest tables."""
    return new_walk(smallest_tables(), np.zeros(1, np.uint32), streams(0, 1)[0])


def warm_up() -> None:
    """Compile every kernel of this file."""
    tables, walk = smallest_tables(), smallest_walk()
    scatter(tables, walk)
    log_weight(tables, walk)
    count_forbidden_tables(tables, walk)
    draw(walk.scores, np.int64(2), walk.random)
