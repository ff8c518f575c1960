"""Define a table of data over random variables: values as numbers, missing cells as -1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError, count_of
from mlnlab.factors.data.data_files import DATA, SCHEMA, data_text, read_source, schema_text
from mlnlab.factors.data.table_coding import MISSING as MISSING  # noqa: PLC0414 - of a table's cells
from mlnlab.factors.graphs.random_variables import RandomVariable, show_name, shown_names
from mlnlab.steps.safe_files import write_text

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, slots=True, eq=False, init=False)
class DataTable:
    """Rows of values, one column for each variable; a cell is the number of a value, or -1 if missing.

    >>> import mlnlab as ml
    >>> table = ml.DataTable.of({"Weather": ["dry", "rain", None, "dry"], "Wet": [0, 1, 1, 0]})
    >>> table
    <DataTable of 4 rows and 2 variables, 1 cell missing>
    >>> table.variables[0].values, table.rows[:, 0].tolist()
    (('dry', 'rain'), [0, 1, -1, 0])
    """

    variables: tuple[RandomVariable, ...]
    rows: NDArray[np.int32]  # rows x variables, read-only

    def __init__(self, variables: Sequence[RandomVariable], rows: ArrayLike) -> None:
        """Check that each cell is a number of a value of its variable, or -1."""
        cells = _whole_numbers(rows, len(variables))
        names = [variable.name for variable in variables]
        if len(set(names)) < len(names):
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            raise ArgumentError(f"Two columns are called {show_name(twice)}; each variable has one column.")
        sizes = np.array([variable.size for variable in variables], np.int64)
        if cells.size and (cells.min() < MISSING or (cells.max(axis=0) >= sizes).any()):
            row, column = np.argwhere((cells < MISSING) | (cells >= sizes))[0].tolist()
            variable = variables[column]
            raise ArgumentError(
                f"Row {row + 1:,} has {cells[row, column]} for {show_name(variable.name)}; its values are "
                f"numbered from 0 to {variable.size - 1}, and a missing cell is -1."
            )
        known = np.array(cells, np.int32, order="C")
        known.flags.writeable = False
        object.__setattr__(self, "variables", tuple(variables))
        object.__setattr__(self, "rows", known)

    @classmethod
    def of(cls, source: object, variables: Sequence[RandomVariable] | None = None) -> DataTable:
        """Return a data frame, an array, a file or rows as a table.

        Values of a frame keep their names; the whole numbers of an array or a ``.data`` file are numbers of
        values, with -1 (or ``*`` in the file) for a missing cell. ``variables``: those of a model, whose
        columns and values the table must have.
        """
        table = source if isinstance(source, DataTable) else cls(*read_source(source, variables))
        return table if variables is None else table.over(variables)

    def over(self, variables: Sequence[RandomVariable]) -> DataTable:
        """Return the table with the columns and values of some variables, those of a model.

        Columns are found by their names, and values by theirs.
        """
        if tuple(variables) == self.variables:
            return self
        own = {variable.name: place for place, variable in enumerate(self.variables)}
        wanted = {variable.name for variable in variables}
        lacking = [variable.name for variable in variables if variable.name not in own]
        further = [name for name in own if name not in wanted]
        if lacking or further:
            parts = [f"lacks {shown_names(lacking)}"] * bool(lacking)
            parts += [f"has {shown_names(further)} besides"] * bool(further)
            raise ArgumentError(
                f"The table needs the columns of the model, {shown_names(v.name for v in variables)}; it "
                f"{' and '.join(parts)}."
            )
        columns = [_recode(self, own[variable.name], variable) for variable in variables]
        return DataTable(variables, np.stack(columns, axis=1) if columns else self.rows)

    @property
    def missing(self) -> int:
        """The number of missing cells."""
        return int((self.rows == MISSING).sum())

    def to_frame(self) -> pd.DataFrame:
        """Return the values by their names, a column of categories for each variable."""
        import pandas as pd

        return pd.DataFrame({
            variable.name: pd.Categorical.from_codes(self.rows[:, place], pd.Index(list(variable.values)))
            for place, variable in enumerate(self.variables)
        })  # fmt: skip

    def save(self, path: str | Path) -> None:
        r"""Write the numbers of the values to a ``.data`` file, and a ``.schema`` file beside it.

        >>> import mlnlab as ml
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     ml.DataTable.of([[0, 2], [1, -1]]).save(Path(folder, "small.data"))
        ...     Path(folder, "small.data").read_text(), Path(folder, "small.schema").read_text()
        ('0,2\n1,*\n', '2,3\n')
        """
        file = Path(path)
        if file.suffix != DATA:
            raise ArgumentError(f"A table is written to a file that ends in {DATA}, not to {file.name}.")
        write_text(file, data_text(self.rows))
        write_text(file.with_suffix(SCHEMA), schema_text(self.variables))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        missing = self.missing
        ending = f", {count_of(missing, 'cell')} missing" if missing else ""
        size = f"{count_of(len(self), 'row')} and {count_of(len(self.variables), 'variable')}"
        return f"<DataTable of {size}{ending}>"


def _whole_numbers(rows: ArrayLike, width: int) -> NDArray[Any]:
    """Return the cells as whole numbers; refuse another shape, and numbers that are not whole."""
    try:
        given = np.asarray(rows)
    except ValueError:
        raise ArgumentError("The rows of a table have one length; these have several.") from None
    if given.size == 0:
        return np.zeros((len(given), width), np.int64)
    if given.ndim != 2 or given.shape[1] != width:
        shape = " x ".join(map(str, given.shape))
        raise ArgumentError(
            f"The table has {count_of(width, 'variable')}, so its rows are an array with as many columns, "
            f"not one of shape {shape}."
        )
    if given.dtype.kind == "f":
        given = np.where(np.isnan(given), MISSING, given)
    elif given.dtype.kind not in "iub":
        raise ArgumentError(
            "The rows of a table hold numbers of values; DataTable.of(rows) reads other values."
        )
    if given.dtype.kind != "f":
        return given.astype(np.int8) if given.dtype.kind == "b" else given
    fractions = given[given != np.round(given)]
    if len(fractions):
        raise ArgumentError(f"The rows of a table hold whole numbers, not {fractions[0]:g}.")
    return given


def _recode(table: DataTable, place: int, variable: RandomVariable) -> NDArray[np.int32]:
    """Return a column with its values numbered as those of another variable of its name."""
    name, names, column = variable.name, table.variables[place].values, table.rows[:, place]  # noqa: PD011
    numbers = {value: number for number, value in enumerate(variable.values)}
    codes = np.array([*(numbers.get(value, MISSING - 1) for value in names), MISSING], np.int32)
    found = codes[column]  # the last one is that of missing cells
    unknown = np.flatnonzero(found < MISSING)
    if len(unknown):
        row = int(unknown[0])
        raise ArgumentError(
            f"Row {row + 1:,} has {show_name(names[column[row]])} for {show_name(name)}, which is not a "
            f"value of it in the model: {shown_names(variable.values)}."
        )
    return found
