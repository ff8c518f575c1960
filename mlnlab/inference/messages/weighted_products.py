"""A model's log-weight as a sum of weights times products of functions of one variable each.

A clause is one such product: its weight where not all of its literals are false. Any other table is a product
for each row, which says of one variable how much each value is worth where the others have the row's values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.kernels.messages.sum_product_graph import Factors, make_read_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.inference.messages.factor_arrays import FactorQuestion

    Reals = NDArray[np.float64]
    Words = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class WeightedProducts:
    """Weighted products of functions of single variables, by variable and value; read-only."""

    sizes: NDArray[np.int64]  # of the variables, how many values each has
    weights: Reals
    factors: Words  # of each product the clause or table that it is part of
    starts: Words
    variables: Words
    worth_starts: Words
    worths: Reals
    constant: float  # what the log-weight is besides

    def worth(self, place: int) -> Reals:
        """Return the worths of a variable's values at a place of a product."""
        first = int(self.worth_starts[place])
        return self.worths[first : first + int(self.sizes[self.variables[place]])]


class _Rows:
    """Collects products that are the rows of tables; functions that tell one value are written once."""

    def __init__(self, sizes: NDArray[np.int64]) -> None:
        self.sizes = sizes
        self.weights: list[float] = []
        self.factors: list[int] = []
        self.lengths: list[int] = []
        self.variables: list[int] = []
        self.worth_starts: list[int] = []
        self.worths: list[Reals] = []
        self.length = 0
        self.telling: dict[int, int] = {}

    def add(self, factor: int, scope: Sequence[int], table: Reals, weight: float) -> None:
        """Add the rows of a table that are not zero; the variable of most values is along the rows."""
        along = int(np.argmax(self.sizes[list(scope)]))
        others = [variable for axis, variable in enumerate(scope) if axis != along]
        rows = np.moveaxis(table, along, -1).reshape(-1, table.shape[along])
        shape = [int(self.sizes[variable]) for variable in others]
        for row in np.flatnonzero((rows != 0.0).any(axis=1)).tolist():
            values = np.unravel_index(row, shape) if shape else ()
            places = [self._telling(size) + int(v) * size for size, v in zip(shape, values, strict=True)]
            self.weights.append(weight)
            self.factors.append(factor)
            self.lengths.append(len(scope))
            self.variables += [*others, scope[along]]
            self.worth_starts += [*places, self._write(np.asarray(rows[row], np.float64))]

    def _telling(self, size: int) -> int:
        if size not in self.telling:
            self.telling[size] = self._write(np.eye(size).reshape(-1))
        return self.telling[size]

    def _write(self, worths: Reals) -> int:
        self.worths.append(worths)
        self.length += len(worths)
        return self.length - len(worths)


def products_of_clauses(factors: Factors, of_clauses: Reals, of_tables: Reals) -> WeightedProducts:
    """Return the weights of clauses and tables as products; a clause is 1 minus its falsified product."""
    starts = factors.value_starts.astype(np.int64)
    sizes = np.asarray(starts[1:] - starts[:-1])
    rows, clauses = _Rows(sizes), len(of_clauses)
    ends, edges = factors.table_starts.tolist(), factors.table_choices.tolist()
    for table in range(len(of_tables)):
        places = slice(ends[table], ends[table + 1])
        scope = edges[places]
        cells = np.zeros((1,) * len(scope), np.int64)
        for axis, stride in enumerate(factors.strides[places].tolist()):
            shape = [1] * len(scope)
            shape[axis] = int(sizes[scope[axis]])
            cells = cells + (np.arange(shape[axis]) * stride).reshape(shape)
        true = factors.cells[int(factors.cell_starts[table]) + cells].astype(np.float64)
        rows.add(clauses + table, scope, true, float(of_tables[table]))
    bits = factors.bits.astype(np.float64)
    clause_ends = factors.clause_starts.astype(np.int64)
    return WeightedProducts(
        make_read_only(sizes),
        make_read_only(np.concatenate([-of_clauses, np.array(rows.weights)])),
        _words(np.concatenate([np.arange(clauses), np.array(rows.factors, np.int64)])),
        _words(np.concatenate([clause_ends, clause_ends[-1] + np.cumsum(np.array(rows.lengths, np.int64))])),
        _words(np.concatenate([factors.clause_choices, np.array(rows.variables, np.int64)])),
        _words(np.concatenate([factors.bit_starts, len(bits) + np.array(rows.worth_starts, np.int64)])),
        make_read_only(np.concatenate([bits, *rows.worths])),
        float(of_clauses.sum()),
    )


def products_of_tables(question: FactorQuestion, logs: Reals) -> WeightedProducts:
    """Return the tables of a factor graph, whose logarithms are finite here."""
    rows, cells = _Rows(question.sizes), question.tables.cell_starts.tolist()
    for number, scope in enumerate(question.scopes()):
        table = logs[cells[number] : cells[number + 1]].reshape(question.sizes[list(scope)])
        rows.add(number, scope, table, 1.0)
    return WeightedProducts(
        make_read_only(question.sizes),
        make_read_only(np.array(rows.weights)),
        _words(np.array(rows.factors, np.int64)),
        _words(np.concatenate([[0], np.cumsum(np.array(rows.lengths, np.int64))])),
        _words(np.array(rows.variables, np.int64)),
        _words(np.array(rows.worth_starts, np.int64)),
        make_read_only(np.concatenate([np.zeros(0), *rows.worths])),
        question.log_scale,
    )


def _words(numbers: NDArray[np.int64]) -> Words:
    return make_read_only(np.ascontiguousarray(numbers, np.uint32))
