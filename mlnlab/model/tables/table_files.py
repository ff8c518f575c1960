"""Tables in files: CSV and TSV by Python's csv, Parquet and JSON by duckdb."""

from __future__ import annotations

import contextlib
import csv
import io
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError, InputError, OutputError
from mlnlab.model.tables.fact_tables import Facts, table_frames
from mlnlab.model.tables.table_columns import PROBABILITY, Table, find_predicate
from mlnlab.model.tables.table_frames import as_table
from mlnlab.model.tables.table_reading import Parts, raise_problems, read_tables
from mlnlab.model.tables.table_values import a_kind, is_missing, show_value
from mlnlab.steps.safe_files import encode_text, make_folder, replacing_file, require_path, try_to_write
from mlnlab.syntax.sources import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.logic.vocabulary import Vocabulary


_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_DUCKDB_READERS = {
    ".parquet": "read_parquet",
    ".json": "read_json",
    ".jsonl": "read_json",
    ".ndjson": "read_json",
}
ENDINGS = (*_DELIMITERS, *_DUCKDB_READERS)


def read_files(
    files: Mapping[str, str | Path],
    vocabulary: Vocabulary,
    *,
    header: bool | None = None,
    delimiter: str | None = None,
) -> Parts:
    """Return the parts of a database with the facts in files: ``{"Friends": "friends.csv"}``."""
    if not hasattr(files, "items"):
        raise ArgumentError(
            f'Files are given by predicate, as in {{"Friends": "friends.csv"}}, not as {a_kind(files)};'
            " a folder with a file for each predicate is read with from_folder."
        )
    return read_tables(files_as_tables(files, header, delimiter), vocabulary)


def files_as_tables(
    files: Mapping[str, str | Path], header: bool | None, delimiter: str | None
) -> dict[str, Table]:
    """Return files by their predicates' names as tables."""
    return {name: _read_file(path, header, delimiter) for name, path in files.items()}


def folder_as_tables(folder: str | Path, header: bool | None) -> dict[str, Table]:
    """Return the files of a folder that are tables, by their names without endings."""
    found = (path for path in sorted(Path(folder).expanduser().iterdir()) if path.is_file())
    return files_as_tables({p.stem: p for p in found if p.suffix.lower() in ENDINGS}, header, None)


def read_folder(
    folder: str | Path, vocabulary: Vocabulary, *, header: bool | None = None, delimiter: str | None = None
) -> Parts:
    """Read every table of a folder; each file is named after its predicate, in any case."""
    place = Path(folder).expanduser()
    if not place.is_dir():
        kind = "a file; from_files reads single files" if place.exists() else "not there"
        raise InputError(f"A folder of tables is needed, but {folder} is {kind}.")
    found = sorted(path for path in place.iterdir() if path.suffix.lower() in ENDINGS and path.is_file())
    if not found:
        raise InputError(f"The folder {folder} holds no table ({', '.join(ENDINGS)}).")
    stems = [path.stem for path in found]
    twice = sorted({stem for stem in stems if stems.count(stem) > 1})
    if twice:
        raise InputError(
            f"The folder {folder} holds several tables named {show_value(twice[0])}; keep one of them."
        )
    known = sorted(found, key=lambda path: _place(path.stem, vocabulary))
    tables = {path.stem: _read_file(path, header, delimiter) for path in known}
    return read_tables(tables, vocabulary, name=place.name, any_case=True)


def _place(stem: str, vocabulary: Vocabulary) -> int:
    """Return a predicate's place in the model: constants are numbered in the same order on every system."""
    predicate = find_predicate(stem, vocabulary.predicates, any_case=True)
    return list(vocabulary.predicates).index(predicate) if predicate else len(vocabulary.predicates)


def _read_file(path: str | Path, header: bool | None, delimiter: str | None) -> Table:
    file = Path(path).expanduser()
    ending = file.suffix.lower()
    if ending in _DUCKDB_READERS:
        return _read_with_duckdb(file, _DUCKDB_READERS[ending])
    if ending not in _DELIMITERS and delimiter is None:
        raise InputError(f"{path} ends in none of {', '.join(ENDINGS)}; for other text say delimiter=.")
    return read_delimited(file, delimiter or _DELIMITERS[ending], header=header)


def _read_with_duckdb(file: Path, reader: str) -> Table:
    """Return a Parquet or JSON file as a table."""
    import duckdb

    if not file.is_file():
        read_bytes(file)  # says in a sentence why there is no such file
    with duckdb.connect() as connection:
        # Files are read here, never fetched: no extension is downloaded because of a file's name.
        connection.execute("SET autoinstall_known_extensions = false")
        try:
            relation = getattr(connection, reader)(literal_pattern(file.resolve()))
            return as_table(file.name, relation)
        except duckdb.Error as problem:
            reason = str(problem).split("\n", 1)[0]
            raise InputError(f"{file.name} cannot be read as a table: {reason}") from None


def literal_pattern(file: Path) -> str:
    """Return the path with the characters bracketed that duckdb takes for wildcards."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(file))


def write_delimited(facts: Facts, folder: str | Path, ending: str) -> list[Path]:
    """Write a CSV or TSV file for each predicate and one of the constants; return their paths."""

    def write(name: str, frame: pd.DataFrame, file: Path) -> None:
        _require_named_constants(name, frame)
        file.write_bytes(encode_text(_delimited_text(frame, _DELIMITERS[ending]), f"Table {name}"))

    return _write_tables(facts, folder, ending, write)


def _write_tables(
    facts: Facts, folder: str | Path, ending: str, write: Callable[[str, pd.DataFrame, Path], None]
) -> list[Path]:
    """Write a file for each table; none takes the place of an old one before all of them are written."""
    require_path(folder, "folder")
    place = Path(folder).expanduser()
    is_new, paths = not place.exists(), []
    try:
        make_folder(place)
        with ExitStack() as unfinished:
            for name, frame in table_frames(facts).items():
                paths.append(place / f"{name}{ending}")
                write(name, frame, unfinished.enter_context(replacing_file(paths[-1])))
    except BaseException:
        if is_new:
            with suppress(OSError):
                place.rmdir()
        raise
    return paths


def _delimited_text(frame: pd.DataFrame, delimiter: str) -> str:
    columns = [[_cell(value) for value in frame[column].tolist()] for column in frame.columns]
    # csv quotes what ends its own lines, and other readers end lines at a carriage return, too.
    returns = any("\r" in cell for cells in columns for cell in cells)
    stream = io.StringIO()
    writer = csv.writer(
        stream,
        delimiter=delimiter,
        lineterminator="\n",
        quoting=csv.QUOTE_ALL if returns else csv.QUOTE_MINIMAL,
    )
    writer.writerow(frame.columns)
    writer.writerows(zip(*columns, strict=True))
    return stream.getvalue()


def _cell(value: str | float) -> str:
    """Return a constant as it is, a probability in its shortest exact form, unknown as nothing."""
    if isinstance(value, str):
        return value
    return "" if is_missing(value) else repr(int(value) if value in {0, 1} else value)


def _require_named_constants(name: str, frame: pd.DataFrame) -> None:
    if any((frame[column] == "").any() for column in frame.columns):
        raise InputError(
            f"Table {name} holds a constant whose name is empty, which CSV cannot tell from a missing value;"
            " Parquet and SQLite can."
        )


def write_parquet(facts: Facts, folder: str | Path) -> list[Path]:
    """Write a Parquet file for each predicate and one of the constants; return their paths."""
    import duckdb

    with duckdb.connect() as connection:

        def write(name: str, frame: pd.DataFrame, file: Path) -> None:
            try:
                connection.from_df(frame).write_parquet(str(file))
            except duckdb.Error as problem:
                reason = str(problem).split("\n", 1)[0]
                raise OutputError(f"Table {name} cannot be written: {reason}") from None

        return _write_tables(facts, folder, ".parquet", write)


# --- tables of text with separated cells (CSV, TSV), read with Python's csv, which tells the line

# The first line is the header; a header that turns up again as data is refused, so that a file without header
# does not lose its first row in silence. Empty cells are missing values.

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
        raise ArgumentError(f"A delimiter must be one character, not {delimiter!r}.") from None
    try:
        yield from filter(None, reader)
    except csv.Error as problem:
        raise InputError(
            f"{file.name}, line {reader.line_num}, is not a line of a table: {problem}."
        ) from None


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
        problems.append(f"{len(odd) - _ODD_LINES_SHOWN:,} more rows of table {file.name} are like that.")
    if problems:
        raise_problems(problems)


def _refuse_data_as_header(file: Path, heading: list[str], columns: list[NDArray[Any]]) -> None:
    again = [name for name, column in zip(heading, columns, strict=True) if name and (column == name).any()]
    if again:
        raise InputError(
            f"The first line of {file.name} is taken as its header, but {show_value(again[0])} is also a "
            f"value of"
            " that column: say header=True if it is a header, header=False if the file has none."
        )


def _column(cells: list[str]) -> NDArray[Any]:
    """Return the cells as an array; an empty cell is a missing value."""
    column = np.empty(len(cells), object)
    column[:] = cells
    column[column == ""] = None
    return column


# --- tables in SQLite files, read and written with Python's own sqlite3 -------------------------

# Names of tables come from models and files: they are always quoted as identifiers, values always bound.

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
    return Table(show_value(table), names, tuple(values), len(rows))


def write_sqlite(facts: Facts, path: str | Path) -> None:
    """Write a table for each predicate and one of the constants; all or nothing, other tables are kept."""
    try_to_write(path)
    file = Path(path).expanduser()
    if file.is_file():  # SQLite itself keeps a file as it was where writing to it fails
        _write_all(facts, file, path)
    else:
        with replacing_file(path) as unfinished:
            _write_all(facts, unfinished, path)


def _write_all(facts: Facts, file: Path, path: str | Path) -> None:
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
    """Turn an error of SQLite into one sentence."""
    try:
        yield
    except (sqlite3.Error, UnicodeError, ValueError, OverflowError) as problem:
        if isinstance(problem, InputError):
            raise
        kind = OutputError if done == "written" else InputError
        raise kind(f"{path} cannot be {done} as SQLite: {problem}.") from None
