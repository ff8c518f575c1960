"""Define a table of data over random variables: values as numbers, missing cells as -1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError, count_of
from mlnlab.factors.graphs.random_variables import RandomVariable, show_name

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

MISSING = -1


@dataclass(frozen=True, slots=True, eq=False, init=False)
class DataTable:
    """Rows of values, one column for each variable; a cell is the number of a value, or -1 if missing.

    >>> from mlnlab.factors.data.data_table import DataTable
    >>> from mlnlab.factors.graphs.random_variables import RandomVariable
    >>> variables = tuple(RandomVariable.numbered(name, 2) for name in "AB")
    >>> DataTable(variables, [[0, 1], [1, -1]])
    <DataTable of 2 rows and 2 variables, 1 cell missing>
    """

    variables: tuple[RandomVariable, ...]
    rows: NDArray[np.int32]  # rows x variables, read-only

    def __init__(self, variables: tuple[RandomVariable, ...], rows: ArrayLike) -> None:
        """Check that each cell is a number of a value of its variable, or -1."""
        cells = np.array(rows, np.int32, order="C").reshape(-1, len(variables))
        sizes = np.array([variable.size for variable in variables], np.int32)
        wrong = np.argwhere((cells < MISSING) | (cells >= sizes))
        if len(wrong):
            row, column = wrong[0].tolist()
            variable = variables[column]
            raise ArgumentError(
                f"Row {row + 1:,} has {cells[row, column]} for {show_name(variable.name)}; its values are "
                f"numbered from 0 to {variable.size - 1}, and a missing cell is -1."
            )
        cells.flags.writeable = False
        object.__setattr__(self, "variables", tuple(variables))
        object.__setattr__(self, "rows", cells)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        missing = int((self.rows == MISSING).sum())
        ending = f", {count_of(missing, 'cell')} missing" if missing else ""
        size = f"{count_of(len(self), 'row')} and {count_of(len(self.variables), 'variable')}"
        return f"<DataTable of {size}{ending}>"
