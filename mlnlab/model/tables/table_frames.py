"""Data frames of any kind as tables: pandas, polars, arrow and duckdb through narwhals, plain rows too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError, InputError
from mlnlab.model.tables.table_columns import Table
from mlnlab.model.tables.table_reading import Parts, read_tables
from mlnlab.model.tables.table_values import a_kind, show_value

if TYPE_CHECKING:
    import pandas as pd

    from mlnlab.logic.vocabulary import Vocabulary


def read_frames(frames: Mapping[str, object], vocabulary: Vocabulary) -> Parts:
    """Return the parts of a database with the facts in frames: ``{"Friends": frame}``."""
    if not isinstance(frames, Mapping):
        raise ArgumentError(
            f'Frames are given by predicate, as in {{"Friends": frame}}, not as {a_kind(frames)}.'
        )
    return read_tables(frames_as_tables(frames), vocabulary)


def frames_as_tables(frames: Mapping[str, object]) -> dict[str, Table]:
    """Return frames by their predicates' names as tables."""
    return {str(name): as_table(str(name), frame) for name, frame in frames.items()}


def as_table(title: str, frame: object) -> Table:
    """Return a frame of any kind, or rows in a list, as a table; refuse other values."""
    import narwhals as nw

    native = _as_native(title, frame)
    try:
        data = nw.from_native(native, allow_series=True)
        if isinstance(data, nw.LazyFrame):
            data = data.collect(None if data.implementation.is_polars() else "pandas")
        if isinstance(data, nw.Series):
            data = data.to_frame()
        columns = tuple(map(str, data.columns))
        values = tuple(data.get_column(name).to_numpy() for name in data.columns)
    except nw.exceptions.DuplicateError as problem:
        raise InputError(
            f"Table {show_value(title)} has two columns of one name: {_first_line(problem)}."
        ) from None
    except TypeError as problem:
        raise ArgumentError(
            f"Table {show_value(title)} is {a_kind(frame)}; a data frame (pandas, polars, arrow, duckdb) or "
            f"a list"
            f" of rows is needed."
        ) from problem
    return Table(show_value(title), columns, values, len(data))


def _as_native(title: str, frame: object) -> Any:  # noqa: ANN401 - what narwhals takes has no one type
    """Return plain rows as a data frame, anything else as it is."""
    if not isinstance(frame, list | tuple | set | frozenset | dict | np.ndarray):
        return frame
    import pandas as pd

    rows = sorted(frame, key=repr) if isinstance(frame, set | frozenset) else frame
    try:
        if isinstance(rows, list | tuple):
            return _frame_of_rows(title, rows)
        return pd.DataFrame(rows)
    except InputError:
        raise
    except (TypeError, ValueError) as problem:
        raise InputError(f"Table {show_value(title)} is not a table: {_first_line(problem)}.") from None


def _frame_of_rows(title: str, rows: Sequence[Any]) -> pd.DataFrame:
    """Return rows as a frame; a text or number alone is a row of one cell."""
    import pandas as pd

    if rows and all(isinstance(row, Mapping) for row in rows):
        return pd.DataFrame(list(rows))
    cells = [tuple(row) if isinstance(row, tuple | list) else (row,) for row in rows]
    widths = {len(row) for row in cells}
    if len(widths) > 1:
        odd = next(i for i, row in enumerate(cells) if len(row) != len(cells[0]))
        raise InputError(
            f"Row {odd + 1} of table {show_value(title)} has {len(cells[odd])} values, the first row has"
            f" {len(cells[0])}."
        )
    columns = [np.array([*column, None], object)[:-1] for column in zip(*cells, strict=True)]
    frame = pd.DataFrame(dict(enumerate(columns)), index=pd.RangeIndex(len(cells)), dtype=object)
    return frame.rename(columns=lambda position: f"column{position + 1}")


def _first_line(problem: Exception) -> str:
    return str(problem).strip().split("\n", 1)[0].rstrip(".:")
