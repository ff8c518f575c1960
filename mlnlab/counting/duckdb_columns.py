"""Files as DuckDB reads them, with the cells as the same names that a database in memory gives them."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

from mlnlab.counting.duckdb_store import sentence_of
from mlnlab.errors import InputError
from mlnlab.model.table_files import literal_pattern

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from mlnlab.counting.duckdb_store import Connection

INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
_LARGE_INTEGERS = {"HUGEINT", "UHUGEINT", "UBIGINT"}
_READERS = {".parquet": "read_parquet", ".csv": "read_csv", ".tsv": "read_csv", ".tab": "read_csv"}


def relation_of(
    store: Connection, file: Path, *, header: bool
) -> tuple[duckdb.DuckDBPyRelation, tuple[str, ...]]:
    """Return what DuckDB reads of a file, and the names of its columns."""
    import duckdb

    path = file.expanduser()
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(f"{file} ends in none of {', '.join(_READERS)}.")
    if not path.is_file():
        raise InputError(f"There is no file {file}.")
    heading: tuple[str, ...] = ()
    options: dict[str, Any] = {}
    if reader == "read_csv":
        heading, options = _how_to_read(path, header=header)
    try:
        found: duckdb.DuckDBPyRelation = getattr(store.database, reader)(
            literal_pattern(path.resolve()), **options
        )
    except duckdb.Error as problem:
        raise sentence_of(problem) from None
    return found, heading or tuple(map(str, found.columns))


def _how_to_read(path: Path, *, header: bool) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the first line of a file of texts, and options that leave DuckDB nothing to guess.

    What it guesses may lose a line that is shorter than the others, or skip some above the header.
    """
    delimiter = "," if path.suffix.lower() == ".csv" else "\t"
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            first = next(filter(None, csv.reader(lines, delimiter=delimiter, strict=True)), None)
    except (csv.Error, UnicodeDecodeError) as problem:
        raise InputError(f"{path.name} begins with no line of a table: {problem}.") from None
    if first is None:
        raise InputError(f"{path.name} is empty; a table has at least one line.")
    options = {
        "header": header, "delimiter": delimiter, "quotechar": '"', "escapechar": '"', "auto_detect": False,
        "columns": {f"column{place}": "VARCHAR" for place in range(1, len(first) + 1)},
        "skiprows": 0, "strict_mode": True, "null_padding": False,
    }  # fmt: skip
    return tuple(first) if header else tuple(f"column{place}" for place in range(1, len(first) + 1)), options


def name_in_sql(column: str, kind: str, file: Path) -> str:
    """Return SQL for the constants' names in a column of this type: whole numbers lose their decimals."""
    if kind == "VARCHAR" or kind in INTEGERS | _LARGE_INTEGERS:
        return column
    if kind.startswith("ENUM"):
        return f"{column}::VARCHAR"
    if kind == "BOOLEAN":
        return f"CASE WHEN {column} THEN 'True' WHEN NOT {column} THEN 'False' END"
    if kind in {"FLOAT", "DOUBLE"} or kind.startswith("DECIMAL"):
        finite = f"isfinite({column}::DOUBLE)"
        whole = f"{finite} AND abs({column}) < 1e37 AND {column} = trunc({column})"
        return f"CASE WHEN {whole} THEN {column}::HUGEINT::VARCHAR WHEN {finite} THEN {column}::VARCHAR END"
    raise InputError(
        f"A column of {file.name} holds values of the kind {kind}, which name no constants here:"
        " load the file with ml.Database.from_files, or turn them into texts or numbers."
    )
