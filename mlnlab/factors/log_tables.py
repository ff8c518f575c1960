"""Tables of logarithms: multiplied, summed out, maximised out, with one work table and no other of its size.

A table has an axis for each of its variables, which are whole numbers here; minus infinity stands for zero.
Logarithms are kept rather than weights, because a product of many small weights has no floating point number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mlnlab.errors import ArgumentError
from mlnlab.steps.encoding import storable

Reals: TypeAlias = NDArray[np.float64]
Places: TypeAlias = NDArray[np.uint32]
_FEW = 16  # so few cells in a row make a reduction along the other axis slow


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

    def given(self, values: Mapping[int, int]) -> LogTable:
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
    for table in tables:
        order = sorted(range(len(table.scope)), key=lambda axis: places[table.scope[axis]])
        shape = [1] * len(scope)
        for axis in order:
            shape[places[table.scope[axis]]] = table.logs.shape[axis]
        found += table.logs.transpose(order).reshape(shape)
    return found


def summed_out(
    tables: Sequence[LogTable], kept: Sequence[int], out: Sequence[int], sizes: Mapping[int, int]
) -> LogTable:
    """Return the product of tables, summed over the values of the variables that go out."""
    work, axis = _laid_out(tables, kept, out, sizes)
    return LogTable(tuple(kept), log_sum(work, axis).reshape([sizes[variable] for variable in kept]))


def maximised_out(
    tables: Sequence[LogTable], kept: Sequence[int], out: Sequence[int], sizes: Mapping[int, int]
) -> tuple[LogTable, Places]:
    """Return the largest products over the values of what goes out, and the numbers of these values.

    The number of a combination counts with the last variable that goes out turning fastest.
    """
    work, axis = _laid_out(tables, kept, out, sizes)
    shape = [sizes[variable] for variable in kept]
    best = work.argmax(axis=axis).astype(np.uint32).reshape(shape)
    best.flags.writeable = False
    return LogTable(tuple(kept), work.max(axis=axis).reshape(shape)), best


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
    most = work.max(axis=axis, keepdims=True)
    most[most == -np.inf] = 0.0
    work -= most
    np.exp(work, out=work)
    found: Reals = work.sum(axis=axis)
    with np.errstate(divide="ignore"):
        np.log(found, out=found)
    found += most.reshape(found.shape)
    return found


def scaled(table: LogTable) -> tuple[LogTable, float]:
    """Return a table whose largest logarithm is 0, and what was taken from it; one of zeros stays."""
    most = float(table.logs.max())
    if most in {0.0, -np.inf}:
        return table, 0.0
    return LogTable(table.scope, np.asarray(table.logs - most)), most


def all_scaled(tables: Sequence[LogTable]) -> tuple[list[LogTable], float]:
    """Return scaled tables and their scale: beside a large number, the differences of a table lose digits."""
    pairs = [scaled(table) for table in tables]
    return [table for table, _ in pairs], fsum(scale for _, scale in pairs)


def probabilities(logs: Reals) -> Reals:
    """Return the exponentials of a table, made to add up to 1."""
    found: Reals = np.asarray(np.exp(logs - logs.max()))
    found /= found.sum()
    found.flags.writeable = False
    return found
