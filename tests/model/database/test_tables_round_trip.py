"""Every way out of a database and back in keeps every constant, its number, and every atom."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from mlnlab.errors import InputError
from mlnlab.logic.vocabulary import FrozenMapping, NamedDomain, Predicate
from mlnlab.model.database.database import Database, same_database
from tests.model.database.table_strategies import HOSTILE, databases, vocabulary_of
from tests.support.thoroughness import examples

slow_files = settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@given(databases())
@settings(deadline=None)
def test_frames(drawn):
    vocabulary, database = drawn
    assert same_database(Database.from_frames(database.to_frames(), vocabulary), database)


@pytest.mark.parametrize("write", ["to_csv", "to_tsv", "to_parquet"])
@given(drawn=databases())
@slow_files
def test_folders(write, drawn):
    vocabulary, database = drawn
    with tempfile.TemporaryDirectory() as folder:
        written = getattr(database, write)(Path(folder) / "out")
        # A predicate called ../escape does not escape.
        assert {path.parent.resolve() for path in written} == {(Path(folder) / "out").resolve()}
        assert sorted(Path(folder).rglob("*.*")) == sorted(written)
        assert same_database(Database.from_folder(Path(folder) / "out", vocabulary), database)


@given(databases())
@slow_files
def test_sqlite(drawn):
    vocabulary, database = drawn
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "facts.sqlite"
        database.to_sqlite(path)
        database.to_sqlite(path)  # writing again replaces
        assert same_database(Database.from_sqlite(path, vocabulary), database)


def hostile_database():
    vocabulary = vocabulary_of(Predicate("Likes", ("person", "person")), person=NamedDomain())
    rows = list(zip(HOSTILE, reversed(HOSTILE), strict=True))
    return vocabulary, Database.from_frames({"Likes": rows}, vocabulary)


@pytest.mark.parametrize("write", ["to_csv", "to_tsv", "to_parquet"])
def test_all_hostile_names_at_once(write, tmp_path):
    vocabulary, database = hostile_database()
    getattr(database, write)(tmp_path)
    assert same_database(Database.from_folder(tmp_path, vocabulary), database)
    assert set(database["Likes"]["person1"]) == set(HOSTILE)


def test_empty_tables_keep_their_columns(tmp_path):
    vocabulary = vocabulary_of(Predicate("Friends", ("person", "person")), Predicate("Rains", ()))
    empty = Database(vocabulary)
    assert list(empty["Friends"].columns) == ["person1", "person2"]
    for write in ("to_csv", "to_parquet"):
        getattr(empty, write)(tmp_path / write)
        assert same_database(Database.from_folder(tmp_path / write, vocabulary), empty)


def test_a_constant_without_name_is_refused_by_csv_only(tmp_path):
    vocabulary = vocabulary_of(Predicate("Smokes", ("person",)))
    database = Database.from_frames({"Smokes": [("",), ("Anna",)]}, vocabulary)
    with pytest.raises(InputError, match="whose name is empty"):
        database.to_csv(tmp_path)
    database.to_sqlite(tmp_path / "facts.sqlite")
    assert same_database(Database.from_sqlite(tmp_path / "facts.sqlite", vocabulary), database)


def test_sqlite_names_are_never_statements(tmp_path):
    hostile = 'Friends"; DROP TABLE Precious; --'
    path = tmp_path / "facts.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE Precious (kept TEXT)")
    vocabulary = vocabulary_of(Predicate(hostile, ("person",)))
    database = Database.from_frames({hostile: [("Anna",)]}, vocabulary)
    database.to_sqlite(path)
    with closing(sqlite3.connect(path)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    assert "Precious" in tables
    stored = (tables - {"Precious", "constants"}).pop()
    assert list(Database.from_sqlite(path, vocabulary, tables={hostile: stored}).rows(hostile)) == [("Anna",)]


def test_names_that_differ_in_case_only_stay_two_tables(tmp_path):
    vocabulary = vocabulary_of(Predicate("Smokes", ("person",)), Predicate("smokes", ("person",)))
    database = Database.from_frames({"Smokes": ["Anna"], "smokes": ["Bob"]}, vocabulary)
    database.to_sqlite(tmp_path / "facts.sqlite")
    assert same_database(Database.from_sqlite(tmp_path / "facts.sqlite", vocabulary), database)
    assert len({path.name.casefold() for path in database.to_csv(tmp_path / "out")}) == 3
    assert same_database(Database.from_folder(tmp_path / "out", vocabulary), database)


def test_database_without_predicates():
    assert Database.from_frames({}, vocabulary_of()).relations == FrozenMapping()
