"""Tables in SQLite files, read and written with Python's own sqlite3.

Names of tables come from models and files: they are always quoted as identifiers, values always bound.
"""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import InputError
from mlnlab.model.table_columns import PROBABILITY, Table
from mlnlab.model.table_reading import Parts, read_tables
from mlnlab.model.table_values import is_missing, shown
from mlnlab.model.tables import table_frames

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.tables import Facts

_LISTING = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"


def read_sqlite(
    path: str | Path, vocabulary: Vocabulary, *, tables: Mapping[str, str] | None = None
) -> Parts:
    """Read the tables named after predicates; ``tables`` says which table holds which predicate instead."""
    file = Path(path).expanduser()
    if not file.is_file():
        kind = "a folder" if file.is_dir() else "not there"
        raise InputError(f"A file of SQLite is needed, but {path} is {kind}.")
    with _sentences(path, "read"), contextlib.closing(_opened_to_read(file)) as connection:
        present = [str(name) for (name,) in connection.execute(_LISTING)]
        chosen = dict(tables) if tables is not None else {name: name for name in present}
        found = {predicate: _read_table(connection, table) for predicate, table in chosen.items()}
    if not found:
        raise InputError(f"{path} holds no tables.")
    return read_tables(found, vocabulary, name=file.name, any_case=tables is None)


def _opened_to_read(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)


def _read_table(connection: sqlite3.Connection, table: str) -> Table:
    cursor = connection.execute(f"SELECT * FROM {_identifier(table)}")  # noqa: S608 - quoted as an identifier
    names = tuple(str(column[0]) for column in cursor.description)
    rows = cursor.fetchall()
    values: list[np.ndarray[Any, Any]] = []
    for position in range(len(names)):
        column = np.empty(len(rows), object)
        column[:] = [row[position] for row in rows]
        values.append(column)
    return Table(shown(table), names, tuple(values), len(rows))


def write_sqlite(facts: Facts, path: str | Path) -> None:
    """Write a table for each predicate and one of the constants; all or nothing, other tables are kept."""
    file = Path(path).expanduser()
    if file.is_dir():
        raise InputError(f"{path} is a folder; a file is needed.")
    with _sentences(path, "written"), contextlib.closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("BEGIN IMMEDIATE")
        for name, frame in table_frames(facts).items():
            _write_table(connection, name, frame)


def _write_table(connection: sqlite3.Connection, table: str, frame: pd.DataFrame) -> None:
    name = _identifier(table)
    kinds = {PROBABILITY: "REAL"}
    columns = ", ".join(f"{_identifier(c)} {kinds.get(c, 'TEXT NOT NULL')}" for c in frame.columns)
    connection.execute(f"DROP TABLE IF EXISTS {name}")
    connection.execute(f"CREATE TABLE {name} ({columns})")
    marks = ", ".join("?" * frame.shape[1])
    values = [
        [None if is_missing(value) else value for value in frame[column].tolist()] for column in frame.columns
    ]
    statement = f"INSERT INTO {name} VALUES ({marks})"  # noqa: S608 - quoted as an identifier, values bound
    connection.executemany(statement, zip(*values, strict=True))


def _identifier(name: str) -> str:
    """Return a name quoted as SQL wants it; quotes inside are doubled, so that nothing ends the name."""
    return '"' + name.replace('"', '""') + '"'


@contextlib.contextmanager
def _sentences(path: str | Path, done: str) -> Iterator[None]:
    """Turn what SQLite says into one sentence."""
    try:
        yield
    except (sqlite3.Error, UnicodeError, ValueError, OverflowError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError(f"{path} cannot be {done} as SQLite: {problem}.") from None
