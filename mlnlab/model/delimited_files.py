"""Tables of text with separated cells (CSV, TSV), read with Python's csv, which tells the line.

The first line is the header; a header that turns up again as data is refused, so that a file without header
does not lose its first row in silence. Empty cells are missing values.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError, InputError
from mlnlab.model.table_columns import Table
from mlnlab.model.table_reading import raise_problems
from mlnlab.model.table_values import shown
from mlnlab.syntax.sources import read_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ODD_LINES_SHOWN = 10
_LINES_AT_ONCE = 10_000


def read_delimited(file: Path, delimiter: str, *, header: bool | None = None) -> Table:
    """Return the file as a table of texts; all its odd lines are reported at once."""
    lines = _lines(file, delimiter)
    first = next(lines, None)
    if first is None and header is not False:
        raise InputError(f"{file.name} is empty; a table has at least a header line.")
    first = first or []
    if header is False:
        heading = [f"column{position}" for position in range(1, len(first) + 1)]
        columns, height = _columns(file, first, lines, [first] if first else [])
    else:
        heading = first
        columns, height = _columns(file, first, lines, [])
    if header is None:
        _refuse_data_as_header(file, heading, columns)
    return Table(file.name, tuple(heading), tuple(columns), height)


def _lines(file: Path, delimiter: str) -> Iterator[list[str]]:
    """Yield the cells of each line that is not blank."""
    try:
        reader = csv.reader(io.StringIO(_text(file), newline=""), delimiter=delimiter, strict=True)
    except TypeError:
        raise ArgumentError(f"A delimiter is one character, not {delimiter!r}.") from None
    try:
        yield from filter(None, reader)
    except csv.Error as problem:
        raise InputError(f"{file.name}, line {reader.line_num}, is no line of a table: {problem}.") from None


def _text(file: Path) -> str:
    data = read_bytes(file)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise InputError(f"{file.name} is not UTF-8 text (line {line}); save it as UTF-8.") from None


def _columns(
    file: Path, heading: list[str], lines: Iterator[list[str]], before: list[list[str]]
) -> tuple[list[NDArray[Any]], int]:
    """Return the cells column by column, and how many rows there are."""
    columns: list[list[str]] = [[line[position] for line in before] for position in range(len(heading))]
    height, odd = len(before), list[tuple[int, int]]()
    # A few lines at a time: a million lists at once would keep the garbage collector busy.
    while chunk := list(islice(lines, _LINES_AT_ONCE)):
        wrong = [(height + row, len(line)) for row, line in enumerate(chunk, 1) if len(line) != len(heading)]
        height, odd = height + len(chunk), odd + wrong
        if not odd:
            for column, cells in zip(columns, zip(*chunk, strict=True), strict=True):
                column.extend(cells)
    _refuse_odd_lines(file, heading, odd)
    return [_column(column) for column in columns], height


def _refuse_odd_lines(file: Path, heading: list[str], odd: list[tuple[int, int]]) -> None:
    """Raise an error that lists the lines with more or fewer cells than the header."""
    problems = [
        f"Row {row} of table {file.name} has {width} cells, but the header has {len(heading)}."
        for row, width in odd[:_ODD_LINES_SHOWN]
    ]
    if len(odd) > _ODD_LINES_SHOWN:
        problems.append(f"{len(odd) - _ODD_LINES_SHOWN:,} more rows of table {file.name} are as odd.")
    if problems:
        raise_problems(problems)


def _refuse_data_as_header(file: Path, heading: list[str], columns: list[NDArray[Any]]) -> None:
    again = [name for name, column in zip(heading, columns, strict=True) if name and (column == name).any()]
    if again:
        raise InputError(
            f"The first line of {file.name} is taken as its header, but {shown(again[0])} is also a value of"
            " that column: say header=True if it is a header, header=False if the file has none."
        )


def _column(cells: list[str]) -> NDArray[Any]:
    """Return the cells as an array; an empty cell is a missing value."""
    column = np.empty(len(cells), object)
    column[:] = cells
    column[column == ""] = None
    return column
