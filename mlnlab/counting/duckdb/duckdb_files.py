"""Facts that stay in files: Parquet, CSV and TSV, counted by DuckDB under a limit of memory."""

from __future__ import annotations

import csv
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.counting.duckdb.duckdb_store import Connection, open_connection, sentence_of
from mlnlab.errors import ArgumentError, InputError, TooLargeError, count_of
from mlnlab.logic.vocabulary import Domain, NamedDomain, Predicate, RangeDomain, SizedDomain, Vocabulary
from mlnlab.model.database.database import vocabulary_of
from mlnlab.model.tables.table_columns import (
    Table,
    argument_columns,
    argument_order,
    find_predicate,
    no_such_predicate,
    probability_position,
)
from mlnlab.model.tables.table_files import literal_pattern
from mlnlab.model.tables.table_values import show_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    import duckdb

    from mlnlab.model.mln.mln import MLN

MOST_NAMES = 5_000_000  # constants of a type that are kept by name


class FactFiles:
    r"""True atoms in files, a file for each predicate, for :func:`mlnlab.count` alone.

    The facts are counted by DuckDB, which keeps to ``memory`` and writes what goes beyond into a temporary
    folder. Files of any size will do where the types are ranges of numbers (``node = {1, ..., 10000000}``) or
    have sizes; constants with names of their own are gathered first. Atoms that stand twice in a file are
    one atom: they are sorted out into a copy on disk, unless ``distinct=True`` says that there are none.

    >>> import mlnlab as ml, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "friends.csv"
    >>> _ = file.write_text("person1,person2\nAnna,Bob\nBob,Carl\n")
    >>> mln = ml.MLN.from_text("Friends(person, person)\nFriends(x, y) ^ Friends(y, z) => Friends(x, z)")
    >>> with ml.FactFiles({"Friends": file}, mln) as facts:
    ...     print(ml.count(mln, facts))
    26 of 27  Friends(x, y) ^ Friends(y, z) => Friends(x, z)
    """

    def __init__(
        self,
        files: Mapping[str, str | Path],
        mln: MLN | Vocabulary,
        *,
        memory: str = "2GB",
        threads: int | None = None,
        header: bool = True,
        distinct: bool = False,
    ) -> None:
        """Look into the files, gather their constants and check that each is one of its type."""
        if not hasattr(files, "items"):
            raise ArgumentError('Files are given by predicate, as in {"Friends": "friends.parquet"}.')
        self.vocabulary, self.files = vocabulary_of(mln), {name: Path(file) for name, file in files.items()}
        self.store = open_connection(self.vocabulary, memory=memory, threads=threads, on_disk=True)
        self._closing = weakref.finalize(self, self.store.close)
        try:
            self._read(header=header, distinct=distinct)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> FactFiles:  # noqa: PYI034 - not made to be subclassed
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        facts = sum(self.store.rows[table] for table in self.store.tables.values())
        files = count_of(len(self.files), "file")
        return f"<FactFiles: {count_of(facts, 'true atom')} in {files}>"

    def close(self) -> None:
        """Release the files, and remove those written to the temporary folder."""
        self._closing()

    @property
    def closed(self) -> bool:
        """Whether the files were let go."""
        return not self._closing.alive

    def _read(self, *, header: bool, distinct: bool) -> None:
        columns: dict[str, _Columns] = {}
        for place, (name, file) in enumerate(self.files.items()):
            predicate = find_predicate(name, self.vocabulary.predicates, any_case=False)
            if predicate is None:
                raise InputError(no_such_predicate(show_value(name), name, self.vocabulary.predicates))
            declared = self.vocabulary[predicate]
            columns[predicate] = _Columns(self.store, file, declared, f"s{place}", header=header)
        for type_ in dict.fromkeys(t for found in columns.values() for t in found.predicate.types):
            domain = self.vocabulary.domain(type_)
            if isinstance(domain, NamedDomain):
                grown = _grow_domain(
                    type_, domain, [found.names(type_) for found in columns.values()], self.store
                )
                self.vocabulary = self.vocabulary.with_domain(type_, grown)
        self.store.vocabulary = self.vocabulary
        numbered = {
            type_: _Numbered(self.store, type_, self.vocabulary.domain(type_))
            for type_ in self.vocabulary.types
        }
        for name, found in columns.items():
            self.store.tables[name] = found.encode_columns(numbered, distinct=distinct)


class _Columns:
    """The columns of one file, in the order of a predicate's arguments: a0, a1, ..."""

    def __init__(
        self, store: Connection, file: Path, predicate: Predicate, view: str, *, header: bool
    ) -> None:
        self.store, self.file, self.predicate, self.view = store, file, predicate, view
        relation, heading = relation_of(store, file, header=header)
        relation.create_view(view)
        table = Table(file.name, heading, (), 0)
        if not header and len(relation.columns) == predicate.arity:
            table = Table(file.name, argument_columns(predicate), (), 0)
        if probability_position(table.columns) is not None:
            raise InputError(
                f"{file.name} has a column of probabilities, but facts that stay in files are simply true;"
                " load the file with ml.Database.from_files."
            )
        order = argument_order(table, argument_columns(predicate), str(predicate))
        if isinstance(order, str):
            raise InputError(order)
        if not order:
            raise InputError(f"{predicate} has no arguments, so that no file can list its atoms.")
        kinds = [str(kind) for kind in relation.types]
        self.integer = [kinds[column] in INTEGERS for column in order]
        # Columns are named by their places: what a file calls them never becomes SQL.
        names = ", ".join(
            f"{name_in_sql(f'r{column}', kinds[column], file)} AS a{place}"
            for place, column in enumerate(order)
        )
        raw = ", ".join(f"r{column}" for column in range(len(kinds)))
        self.source = f"(SELECT {names} FROM (SELECT * FROM {view}) g({raw})) f"

    def names(self, type_: str) -> str:
        """Return SQL for the names in the columns of a type; nothing where there is no such column."""
        places = [place for place, own in enumerate(self.predicate.types) if own == type_]
        return " UNION ".join(f"SELECT a{place}::VARCHAR AS name FROM {self.source}" for place in places)

    def encode_columns(self, numbered: Mapping[str, _Numbered], *, distinct: bool) -> int:
        """Return the table of constant numbers, after checking that each constant is there."""
        values, joins = [], []
        for place, type_ in enumerate(self.predicate.types):
            value, join = numbered[type_].number(f"f.a{place}", f"n{place}", integer=self.integer[place])
            values.append(value)
            joins.append(join)
        source = f"{self.source} {' '.join(joins)}"
        self._require(values, source)
        chosen = ", ".join(f"({value})::UINTEGER AS c{place}" for place, value in enumerate(values))
        number = next(self.store.numbers)
        if distinct and not any(joins):
            self.store.answers(f"CREATE VIEW t{number} AS SELECT {chosen} FROM {source}")
        else:
            unique = "" if distinct else "DISTINCT "
            self.store.answers(f"CREATE TABLE t{number} AS SELECT {unique}{chosen} FROM {source}")
        return self.store.note_height(number)

    def _require(self, values: list[str], source: str) -> None:
        """Refuse cells that name no constant of their type."""
        missing = ", ".join(f"count(*) FILTER (({value}) IS NULL)" for value in values)
        (numbers,) = self.store.answers(f"SELECT {missing} FROM {source}")
        for place, number in enumerate(numbers):
            if number:
                where = f"WHERE ({values[place]}) IS NULL LIMIT 1"
                ((example,),) = self.store.answers(f"SELECT f.a{place}::VARCHAR FROM {source} {where}")
                what = "an empty cell" if example is None else show_value(example)
                raise InputError(
                    f"{count_of(number, 'cell')} in column {place + 1} of {self.file.name} name no constant"
                    f" of type {self.predicate.types[place]}, such as {what}."
                )


class _Numbered:
    """How the constants of one type become numbers in SQL."""

    def __init__(self, store: Connection, type_: str, domain: Domain) -> None:
        self.domain, self.table = domain, -1
        if isinstance(domain, NamedDomain):
            names = {"name": np.array([*domain.names, ""], object)[:-1]}
            self.table = store.offer_columns(
                {**names, "code": np.arange(len(domain), dtype=np.uint32)}, len(domain)
            )
        elif isinstance(domain, SizedDomain):
            self.table = store.offer_columns({"prefix": np.array([domain.prefix, ""], object)[:1]}, 1)
        elif not isinstance(domain, RangeDomain):
            raise TypeError(type_)

    def number(self, column: str, alias: str, *, integer: bool) -> tuple[str, str]:
        """Return SQL for the number of the constant that a column names, and the join that it needs."""
        match self.domain:
            case RangeDomain(low, high) if integer:
                return (
                    f"CASE WHEN {column} BETWEEN {low:d} AND {high:d} THEN {column}::BIGINT - ({low:d}) END",
                    "",
                )
            case RangeDomain(low, high):
                return _whole(f"{column}::VARCHAR", low, high), ""
            case SizedDomain(prefix, size):
                text = f"{column}::VARCHAR"
                fits = f"starts_with({text}, (SELECT prefix FROM t{self.table}))"
                number = _whole(f"substr({text}, {len(prefix) + 1:d})", 1, size)
                return f"CASE WHEN {fits} THEN {number} END", ""
            case _:
                return f"{alias}.code", f"LEFT JOIN t{self.table} {alias} ON {alias}.name = {column}::VARCHAR"


def _whole(text: str, low: int, high: int) -> str:
    """Return SQL for the place of a text in a range of numbers; NULL where it writes none of them."""
    number = f"TRY_CAST({text} AS BIGINT)"
    inside = f"{number} BETWEEN {low:d} AND {high:d} AND {number}::VARCHAR = {text}"
    return f"CASE WHEN {inside} THEN {number} - ({low:d}) END"


def _grow_domain(type_: str, domain: NamedDomain, queries: list[str], store: Connection) -> NamedDomain:
    """Return a type with the constants of the files behind its own, in the order of their names."""
    union = " UNION ".join(filter(None, queries))
    number = store.answers(f"SELECT count(*) FROM ({union})")[0][0]
    if number > MOST_NAMES:
        raise TooLargeError(
            f"The files name {number:,} constants of type {type_} (the limit is {MOST_NAMES:,}).",
            float(number),
            [f"number the constants, and declare them as a range: {type_} = {{1, ..., {number}}}"],
        )
    listed = store.answers(f"SELECT name FROM ({union}) WHERE name IS NOT NULL")
    return domain.add_names(sorted(name for (name,) in listed))


# --- files as DuckDB reads them -----------------------------------------------------------------

# With the cells as the same names that a database in memory gives them.

INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
_LARGE_INTEGERS = {"HUGEINT", "UHUGEINT", "UBIGINT"}
_READERS = {".parquet": "read_parquet", ".csv": "read_csv", ".tsv": "read_csv", ".tab": "read_csv"}


def relation_of(
    store: Connection, file: Path, *, header: bool
) -> tuple[duckdb.DuckDBPyRelation, tuple[str, ...]]:
    """Return the relation that DuckDB reads from a file, and the names of its columns."""
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
        raise InputError(f"{path.name} does not begin with a line of a table: {problem}.") from None
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
