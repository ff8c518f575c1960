"""A DuckDB connection with the true atoms of a world as numbered tables.

Tables are called t0, t1, ..., their columns c0, c1, ...; values are the numbers of constants. What stands in
memory is scanned where it stands. No name of a predicate or constant is part of a query.
"""

from __future__ import annotations

import re
import tempfile
import threading
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from mlnlab.errors import ArgumentError, InputError, MlnlabError, TooLargeError
from mlnlab.logic.checked_options import whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    import duckdb
    from numpy.typing import NDArray

    from mlnlab.counting.facts.sorted_facts import Facts
    from mlnlab.logic.vocabulary import Vocabulary


@dataclass(slots=True, eq=False)
class Connection:
    """An open DuckDB with numbered tables; closing it removes its files from the temporary folder.

    It answers one query after the other: who shares it with other threads holds its ``turn`` for a count.
    """

    vocabulary: Vocabulary
    database: duckdb.DuckDBPyConnection
    folder: tempfile.TemporaryDirectory[str]
    tables: dict[str, int] = field(default_factory=dict)
    rows: dict[int, int] = field(default_factory=dict)
    scanned: dict[int, dict[str, NDArray[Any]]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)
    turn: threading.RLock = field(default_factory=threading.RLock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and remove its files."""
        self.database.close()
        self.folder.cleanup()

    def table(self, predicate: str) -> int:
        """Return the number of the table with a predicate's true atoms; an empty one where none are known."""
        if predicate not in self.tables:
            arity = self.vocabulary[predicate].arity
            self.tables[predicate] = self.scanning(np.zeros((0, arity), np.uint32))
        return self.tables[predicate]

    def scanning(self, rows: NDArray[np.uint32]) -> int:
        """Offer the rows of an array as a table, without a copy of them."""
        columns = {f"c{column}": rows[:, column] for column in range(rows.shape[1])}
        return self.offer_columns(columns or {"present": np.ones(len(rows), bool)}, len(rows))

    def offer_columns(self, columns: dict[str, NDArray[Any]], height: int) -> int:
        """Offer arrays as the columns of a table, whose number is returned."""
        number = next(self.numbers)
        self.scanned[number] = columns
        self.database.register(f"t{number}", columns)
        self.rows[number] = height
        return number

    def make_table(self, sql: str) -> int:
        """Keep the rows of a query as a new table; return its number."""
        number = next(self.numbers)
        self.answers(f"CREATE TEMP TABLE t{number} AS {sql}")
        return self.note_height(number)

    def load_tables(self) -> None:
        """Copy all tables of predicates into DuckDB, where it reads them faster than where they stand."""
        for predicate, table in list(self.tables.items()):
            self.tables[predicate] = self.make_table(f"SELECT * FROM t{table}")

    def note_height(self, number: int) -> int:
        """Note how many rows a table has; return the table's number."""
        self.rows[number] = self.answers(f"SELECT count(*) FROM t{number}")[0][0]
        return number

    def drop_table(self, table: int) -> None:
        """Forget a table that was made or offered."""
        del self.rows[table]
        if self.scanned.pop(table, None) is not None:
            self.database.unregister(f"t{table}")
        else:
            self.answers(f"DROP TABLE t{table}")

    def answers(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with _explained():
            return interruptible(lambda: self.database.execute(sql).fetchall(), self.database.interrupt)

    def columns(self, sql: str) -> list[NDArray[Any]]:
        """Return the columns of a query."""
        with _explained():
            found = interruptible(lambda: self.database.execute(sql).fetchnumpy(), self.database.interrupt)
        return [np.asarray(column) for column in found.values()]

    def over(self, vocabulary: Vocabulary) -> Connection:
        """Return the same connection for a vocabulary that has more constants."""
        return replace(self, vocabulary=vocabulary)


class _explained:  # noqa: N801 - used as a statement
    """Turn the complaints of DuckDB into sentences."""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, where: TracebackType | None
    ) -> None:
        import duckdb

        if isinstance(problem, duckdb.Error) and not isinstance(problem, duckdb.InterruptException):
            raise sentence_of(problem) from None


def sentence_of(problem: Exception) -> MlnlabError:
    """Return the sentence for an error of DuckDB."""
    import duckdb

    reason = str(problem).split("\n", 1)[0]
    if isinstance(problem, duckdb.OutOfMemoryException):
        return TooLargeError(
            f"DuckDB ran out of memory: {reason}", 0.0, ["give it more memory, as in memory='8GB'"]
        )
    if isinstance(problem, duckdb.OutOfRangeException):
        return TooLargeError(
            f"A number here is too large for DuckDB, which calculates with 38 digits: {reason}",
            0.0,
            ['use method="planned"'],
        )
    return InputError(f"DuckDB cannot do this: {reason}")


_SIZE = re.compile(r"\s*(?=[0-9.]*[1-9])[0-9]+(\.[0-9]+)?\s*(([KMGT]i?)?B|%)\s*", re.IGNORECASE)


def open_connection(
    vocabulary: Vocabulary, *, memory: str = "", threads: int | None = None, on_disk: bool = False
) -> Connection:
    """Open a DuckDB that keeps to a limit of memory and spills to a temporary folder of its own.

    Its tables are in memory, or ``on_disk`` in that folder.
    """
    import duckdb

    if not _is_a_size(memory):
        raise ArgumentError(
            f'memory= is a positive size such as "500MB", "2GB" or "1GiB", not {memory!r:.60}.'
        )
    if threads is not None:
        whole_number(threads, "The number of threads", 1)
    folder = tempfile.TemporaryDirectory(prefix="mlnlab-", ignore_cleanup_errors=True)
    settings: dict[str, Any] = {"temp_directory": folder.name, "autoinstall_known_extensions": False}
    settings |= {"preserve_insertion_order": False}
    place = str(Path(folder.name) / "tables.duckdb") if on_disk else ":memory:"
    if memory:
        settings["memory_limit"] = memory
    if threads is not None:
        settings["threads"] = threads
    try:
        database = duckdb.connect(place, config=settings)
    except (duckdb.Error, TypeError) as problem:
        folder.cleanup()
        reason = str(problem).split("\n", 1)[0]
        raise ArgumentError(
            f"DuckDB does not take these settings, memory={memory!r} and threads={threads!r}: {reason}"
        ) from None
    # A progress bar would be written into whatever the program prints.
    database.execute("SET enable_progress_bar = false")
    return Connection(vocabulary, database, folder)


def _is_a_size(memory: object) -> bool:
    """Tell whether a text is a number above 0 with a unit; no text at all is no limit."""
    return memory == "" or (isinstance(memory, str) and _SIZE.fullmatch(memory) is not None)


def store_of(facts: Facts, *, memory: str = "", threads: int | None = None) -> Connection:
    """Open the facts of a world, scanned where they stand in memory.

    The limit of memory is for what DuckDB makes of them; what goes beyond is written to a temporary folder.
    """
    connection = open_connection(facts.vocabulary, memory=memory, threads=threads)
    for predicate, rows in facts.tables.items():
        connection.tables[predicate] = connection.scanning(rows)
    return connection


# --- queries that hear an interrupt -------------------------------------------------------------

# DuckDB itself listens between its tasks, which may take minutes.

_Answer = TypeVar("_Answer")
_LISTEN = 0.2  # seconds; some systems deliver an interrupt only between waits


def interruptible(query: Callable[[], _Answer], stop: Callable[[], None]) -> _Answer:
    """Return the answer of a query; an interrupt stops it, and is raised when it has ended.

    The main thread, which is the one that interrupts reach, only waits: the query is asked in another one.

    >>> interruptible(lambda: 6 * 7, stop=lambda: None)
    42
    """
    if threading.current_thread() is not threading.main_thread():
        return query()
    answers: list[_Answer] = []
    problems: list[BaseException] = []
    ended = threading.Event()  # a thread's own join believes it ended when an interrupt comes while it waits

    def ask() -> None:
        try:
            answers.append(query())
        except BaseException as problem:  # noqa: BLE001 - raised where the answer is waited for
            problems.append(problem)
        finally:
            ended.set()

    threading.Thread(target=ask, name="mlnlab-duckdb", daemon=True).start()
    try:
        while not ended.wait(_LISTEN):
            pass
    except BaseException:
        while not ended.wait(_LISTEN):
            stop()  # again where the query had not yet begun
        raise
    if problems:
        raise problems[0]
    return answers[0]
