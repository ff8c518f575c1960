"""Gibbs sampling over tables: each variable in turn, given its Markov blanket.

A variable's distribution given all others is proportional to the product of its tables, each read along the
variable's axis at the cell that the others select. The arrays are those of
:mod:`mlnlab.kernels.messages.factor_tables`. While no table selects a forbidden cell, some value is always
possible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.messages.factor_tables import Tables, Walk, draw, smallest_tables, smallest_walk

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def sweep(tables: Tables, walk: Walk, number: int) -> None:
    """Draw each variable in turn, given all others, in ``number`` sweeps."""
    near_starts, near_tables, near_strides = tables.near_starts, tables.near_tables, tables.near_strides
    value_starts, cell_starts, logs = tables.value_starts, tables.cell_starts, tables.logs
    values, cells, scores = walk.values, walk.cells, walk.scores
    for _ in range(number):
        for variable in range(len(values)):
            size = np.int64(value_starts[variable + 1]) - np.int64(value_starts[variable])
            if size == 1:
                continue
            old = np.int64(values[variable])
            start, end = np.int64(near_starts[variable]), np.int64(near_starts[variable + 1])
            for value in range(size):
                scores[value] = 0.0
            for place in range(start, end):
                table, stride = near_tables[place], np.int64(near_strides[place])
                first = np.int64(cell_starts[table]) + np.int64(cells[table]) - old * stride
                for value in range(size):
                    scores[value] += logs[first + value * stride]
            drawn = np.int64(draw(scores, size, walk.random))
            if drawn == old:
                continue
            for place in range(start, end):
                table = near_tables[place]
                cells[table] = np.int64(cells[table]) + (drawn - old) * np.int64(near_strides[place])
            values[variable] = drawn


@compiled
def sample(tables: Tables, walk: Walk, samples: int, thin: int, sums: NDArray[np.int64]) -> None:
    """Draw samples, ``thin`` sweeps apart; add to ``sums`` which value each variable has."""
    for _ in range(samples):
        sweep(tables, walk, thin)
        for variable in range(len(walk.values)):
            sums[np.int64(tables.value_starts[variable]) + np.int64(walk.values[variable])] += 1


def warm_up() -> None:
    """Compile every kernel of this file."""
    tables, walk = smallest_tables(), smallest_walk()
    sweep(tables, walk, 1)
    sample(tables, walk, 1, 1, np.zeros(2, np.int64))
