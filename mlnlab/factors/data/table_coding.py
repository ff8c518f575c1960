"""Turn columns of any values into numbers, and keep which number stands for which value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError, InputError
from mlnlab.factors.graphs.random_variables import RandomVariable, show_name
from mlnlab.model.tables.table_values import coded_column, show_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.model.tables.table_columns import Table

    Coded = tuple[Sequence[RandomVariable], NDArray[Any]]  # the variables, and the rows as numbers

MISSING = -1
MOST_VALUES = 1 << 16  # of a variable: beyond, a column is a key or a measure
_WHOLE = re.compile(r"-?(0|[1-9][0-9]*)")


def code_table(table: Table, variables: Sequence[RandomVariable] | None = None) -> Coded:
    """Return variables and rows of a table of any values: the different ones of each column, in order.

    ``variables`` are those of a model, whose columns may be empty.
    """
    names = [str(name) for name in table.columns]
    known = {variable.name: variable.values for variable in variables or ()}
    coded = [
        _code_column(name, cells, known.get(name, ())) for name, cells in zip(names, table.cells, strict=True)
    ]
    variables = [RandomVariable(name, values) for name, (values, _) in zip(names, coded, strict=True)]
    columns = [codes for _, codes in coded]
    rows = np.stack(columns, axis=1) if columns else np.zeros((table.height, 0), np.int64)
    return variables, rows


def _code_column(
    name: str, cells: NDArray[Any], known: tuple[str, ...]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    column = coded_column(cells)
    if column.unnamed:
        row, value = next(iter(column.unnamed.items()))
        raise InputError(
            f"Row {row + 1:,} has {show_value(value)} for {show_name(name)}; a value is a text, a whole "
            "number, a truth value or a date."
        )
    if cells.dtype.kind == "f":
        _refuse_fractions(name, cells)
    _refuse_many(name, len(column.names))
    if not column.names and known:
        return known, np.full(len(cells), MISSING)
    if not column.names:
        raise InputError(f"All cells of {show_name(name)} are missing; leave this column out.")
    order = sorted(range(len(column.names)), key=lambda place: _in_order(column.names[place]))
    places = np.empty(len(order) + 1, np.int64)
    places[order] = np.arange(len(order))
    places[-1] = MISSING  # of the code -1
    values = tuple(column.names[place] for place in order)
    if {"True", "False"}.issuperset(values) and not set(known).issuperset(values):
        values = tuple(map(str.lower, values))  # as random variables call truth values
    return values, places[column.codes]


def _in_order(name: str) -> tuple[int, int, str]:
    """Sort whole numbers by size, before other texts."""
    return (0, int(name), "") if _WHOLE.fullmatch(name) and len(name) < 20 else (1, 0, name)


def _refuse_fractions(name: str, cells: NDArray[Any]) -> None:
    known = cells[np.isfinite(cells)]
    fractions = known[known != np.round(known)]
    if len(fractions):
        raise InputError(
            f"{show_name(name)} holds measured numbers, such as {fractions[0]:g}: a random variable has a "
            "list of values, so cut its range into parts first, for instance with pandas.cut."
        )


def _refuse_many(name: str, number: int) -> None:
    if number > MOST_VALUES:
        raise InputError(
            f"{show_name(name)} has {number:,} different values, more than {MOST_VALUES:,}: leave this "
            "column out, or put values together."
        )


def number_table(rows: NDArray[Any], variables: Sequence[RandomVariable] | None) -> Coded:
    """Return variables and rows of an array of numbers of values; variables are X0, X1, ... unless given.

    A variable has the values up to the largest in its column, and at least 0 and 1.
    """
    if variables is not None:
        return variables, rows
    if rows.ndim != 2 or not rows.shape[1]:
        raise ArgumentError(
            f"A table is an array of rows and columns, not one of shape {' x '.join(map(str, rows.shape))}."
        )
    known = np.where(np.isnan(rows), MISSING, rows) if rows.dtype.kind == "f" else rows
    largest = known.max(axis=0, initial=1)
    for place, value in enumerate(largest.tolist()):
        if value == inf:
            raise ArgumentError(f"X{place} has an infinite number; cells are the numbers of values.")
        if value >= MOST_VALUES:
            _refuse_many(f"X{place}", int(value) + 1)
    sizes = [int(value) + 1 for value in largest.tolist()]
    return [RandomVariable.numbered(f"X{place}", size) for place, size in enumerate(sizes)], known
