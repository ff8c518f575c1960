"""Tables of logarithms: multiplied, summed out, maximised out, with one work table and no other of its size.

Large tables are gone through stretch by stretch, since numpy hears an interrupt only between two passes.

A table has an axis for each of its variables, which are whole numbers here; minus infinity stands for zero.
Logarithms are kept rather than weights, because a product of many small weights has no floating point number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mlnlab.errors import ArgumentError
from mlnlab.steps.values.encoding import storable

Reals: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.uint32]
_FEW = 16  # so few cells in a row make a reduction along the other axis slow
STRETCH = 1 << 20  # cells that one pass goes through: some milliseconds


@storable("factors.LogTable")
@dataclass(frozen=True, slots=True, eq=False)
class LogTable:
    """The logarithms of weights, for each combination of values of some variables."""

    scope: tuple[int, ...]
    logs: Reals

    def __post_init__(self) -> None:
        """Make the table read-only, after a look whether it can be one: it may come from a file."""
        object.__setattr__(self, "logs", np.asarray(self.logs))  # numpy makes sums of no axes plain numbers
        if self.logs.ndim != len(self.scope) or self.logs.dtype != np.float64:
            raise ArgumentError(
                f"A table over {len(self.scope)} variables cannot have {self.logs.ndim} axes."
            )
        self.logs.flags.writeable = False

    def at(self, values: Mapping[int, int]) -> float:
        """Return the logarithm for the values of at least the table's variables."""
        return float(self.logs[tuple(values[variable] for variable in self.scope)])

    def fix_values(self, values: Mapping[int, int]) -> LogTable:
        """Return the table with some variables fixed."""
        if not any(variable in values for variable in self.scope):
            return self
        places = tuple(values.get(variable, slice(None)) for variable in self.scope)
        rest = tuple(variable for variable in self.scope if variable not in values)
        return LogTable(rest, np.array(self.logs[places]))


def product(tables: Sequence[LogTable], scope: Sequence[int], sizes: Mapping[int, int]) -> Reals:
    """Return the logarithms of a product of tables as a new array, whose axes are those of the scope."""
    found = np.zeros([sizes[variable] for variable in scope])
    places = {variable: place for place, variable in enumerate(scope)}
    views = []
    for table in tables:
        order = sorted(range(len(table.scope)), key=lambda axis: places[table.scope[axis]])
        shape = [1] * len(scope)
        for axis in order:
            shape[places[table.scope[axis]]] = table.logs.shape[axis]
        views.append(table.logs.transpose(order).reshape(shape))
    for stretch in np.ndindex(*_leading(found.shape)):
        part = found[(*stretch, ...)]
        for view in views:
            own = tuple(min(place, size - 1) for place, size in zip(stretch, view.shape, strict=False))
            part += view[(*own, ...)]  # an axis that the table lacks has one place
    return found


def _leading(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the sizes of the axes to loop over in blocks of ``STRETCH`` cells; the last one stays whole."""
    number = 0
    while number < len(shape) - 1 and prod(shape[number:]) > STRETCH:
        number += 1
    return shape[:number]


def _blocks(shape: tuple[int, ...]) -> Iterator[tuple[slice, slice]]:
    """Yield the parts of a matrix, none larger than a stretch, row by row."""
    rows, columns = shape
    across = max(1, min(columns, STRETCH))
    down = max(1, STRETCH // across)
    for row in range(0, rows, down):
        for column in range(0, columns, across):
            yield slice(row, row + down), slice(column, column + across)


def summed_out(
    tables: Sequence[LogTable], kept: Sequence[int], out: Sequence[int], sizes: Mapping[int, int]
) -> LogTable:
    """Return the product of tables, summed over the values of the variables that go out."""
    work, axis = _laid_out(tables, kept, out, sizes)
    return LogTable(tuple(kept), log_sum(work, axis).reshape([sizes[variable] for variable in kept]))


def maximised_out(
    tables: Sequence[LogTable], kept: Sequence[int], out: Sequence[int], sizes: Mapping[int, int]
) -> tuple[LogTable, Places]:
    """Return the largest products over the variables to be maximised out, and the numbers of their values.

    The number of a combination counts with the last variable that goes out turning fastest.
    """
    work, axis = _laid_out(tables, kept, out, sizes)
    shape = [sizes[variable] for variable in kept]
    most = np.full(work.shape[1 - axis], -np.inf)
    best = np.zeros(work.shape[1 - axis], np.uint32)
    for block in _blocks(work.shape):
        part, own = work[block], block[1 - axis]
        highest = part.max(axis=axis)
        better = highest > most[own]
        best[own][better] = part.argmax(axis=axis)[better] + block[axis].start
        most[own][better] = highest[better]
    best = best.reshape(shape)
    best.flags.writeable = False
    return LogTable(tuple(kept), most.reshape(shape)), best


def _laid_out(
    tables: Sequence[LogTable], kept: Sequence[int], out: Sequence[int], sizes: Mapping[int, int]
) -> tuple[Reals, int]:
    """Return the product as a matrix and the axis to reduce: the one that leaves long rows to work along."""
    rows, columns = prod(sizes[v] for v in out), prod(sizes[v] for v in kept)
    if columns >= min(rows, _FEW):
        return product(tables, [*out, *kept], sizes).reshape(rows, columns), 0
    return product(tables, [*kept, *out], sizes).reshape(columns, rows), 1


def log_sum(work: Reals, axis: int) -> Reals:
    """Return the logarithm of a sum of exponentials along an axis; the array is used up."""
    most = np.full(work.shape[1 - axis], -np.inf)
    for block in _blocks(work.shape):
        highest = most[block[1 - axis]]
        np.maximum(highest, work[block].max(axis=axis), out=highest)
    most[most == -np.inf] = 0.0
    found = np.zeros(len(most))
    for block in _blocks(work.shape):
        part, own = work[block], block[1 - axis]
        part -= np.expand_dims(most[own], axis)
        np.exp(part, out=part)
        found[own] += part.sum(axis=axis)
    with np.errstate(divide="ignore"):
        np.log(found, out=found)
    found += most
    return found


def scale_table(table: LogTable) -> tuple[LogTable, float]:
    """Return a table scaled to a largest logarithm of 0, and the logarithm subtracted; zeros stay zeros."""
    most = float(table.logs.max())
    if most in {0.0, -np.inf}:
        return table, 0.0
    return LogTable(table.scope, np.asarray(table.logs - most)), most


def scale_tables(tables: Sequence[LogTable]) -> tuple[list[LogTable], float]:
    """Return scaled tables and their scale: beside a large number, the differences of a table lose digits."""
    pairs = [scale_table(table) for table in tables]
    return [table for table, _ in pairs], fsum(scale for _, scale in pairs)


def probabilities(logs: Reals) -> Reals:
    """Return the exponentials of a table, made to add up to 1."""
    found: Reals = np.asarray(np.exp(logs - logs.max()))
    found /= found.sum()
    found.flags.writeable = False
    return found
