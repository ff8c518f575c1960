"""Tables in files: CSV and TSV by Python's csv, Parquet and JSON by duckdb."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError, InputError
from mlnlab.model.delimited_files import read_delimited
from mlnlab.model.table_columns import Table, find_predicate
from mlnlab.model.table_frames import as_table
from mlnlab.model.table_reading import Parts, read_tables
from mlnlab.model.table_values import a_kind, is_missing, shown
from mlnlab.model.tables import table_frames
from mlnlab.syntax.sources import read_bytes, write_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb
    import pandas as pd

    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.tables import Facts

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
    """Return the parts of a database with what the files say: ``{"Friends": "friends.csv"}``."""
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
            f"The folder {folder} holds several tables named {shown(twice[0])}; keep one of them."
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
    place = _made_folder(folder)
    written = []
    for name, frame in table_frames(facts).items():
        written.append(place / f"{name}{ending}")
        _require_named_constants(name, frame)
        write_text(written[-1], _delimited_text(frame, _DELIMITERS[ending]))
    return written


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

    place = _made_folder(folder)
    written = []
    with duckdb.connect() as connection:
        for name, frame in table_frames(facts).items():
            written.append(place / f"{name}.parquet")
            try:
                _write_one_parquet(connection.from_df(frame), written[-1])
            except (duckdb.Error, OSError) as problem:
                reason = str(problem).split("\n", 1)[0]
                raise InputError(f"{written[-1]} cannot be written: {reason}") from None
    return written


def _write_one_parquet(relation: duckdb.DuckDBPyRelation, file: Path) -> None:
    """Write the file whole or not at all: a temporary neighbour is renamed."""
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=".writing") as neighbour:
        relation.write_parquet(str(Path(neighbour) / "table.parquet"))
        (Path(neighbour) / "table.parquet").replace(file)


def _made_folder(folder: str | Path) -> Path:
    place = Path(folder).expanduser()
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        raise InputError(f"The folder {folder} cannot be made: {problem.strerror or problem}.") from None
    return place
