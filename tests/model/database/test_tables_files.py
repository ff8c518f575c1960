"""CSV, TSV, Parquet, JSON and SQLite files are read with a sentence for whatever is odd in them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from mlnlab.errors import ArgumentError, InputError, OutputError
from mlnlab.logic.vocabulary import Predicate
from mlnlab.model.database.database import Database, same_database
from mlnlab.model.tables import table_files
from tests.model.database.table_strategies import vocabulary_of

VOCABULARY = vocabulary_of(Predicate("Friends", ("person", "person")), Predicate("Smokes", ("person",)))


def file(folder, name, content):
    path = Path(folder) / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def friends(path, **options):
    return list(Database.from_files({"Friends": path}, VOCABULARY, **options).rows("Friends"))


def problem(path, **options):
    with pytest.raises(InputError) as caught:
        friends(path, **options)
    return str(caught.value)


def test_cells_stay_text(tmp_path):
    path = file(tmp_path, "f.csv", 'source,target\n007,3.0\n"a,""b""",NA\nnull,"two\nlines"\n')
    rows = {("007", "3.0"), ('a,"b"', "NA"), ("null", "two\nlines")}
    assert set(friends(path)) == rows


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f.csv", "a,b\nAnna,Bob\n"),
        ("f.CSV", "a,b\r\nAnna,Bob"),
        ("f.csv", "\ufeffa,b\n\nAnna,Bob\n\n"),
        ("f.tsv", "a\tb\nAnna\tBob\n"),
        ("f.tab", "a\tb\nAnna\tBob\n"),
        ("f.json", '[{"a": "Anna", "b": "Bob"}]'),
        ("f.jsonl", '{"a": "Anna", "b": "Bob"}\n'),
        ("with [brackets]* and ?.json", '[{"a": "Anna", "b": "Bob"}]'),
    ],
)
def test_text_files_of_every_kind(tmp_path, name, content):
    assert friends(file(tmp_path, name, content)) == [("Anna", "Bob")]


def test_a_wildcard_in_a_name_reads_that_file_only(tmp_path):
    file(tmp_path, "f1.json", '[{"a": "Carl", "b": "Dora"}]')
    star = file(tmp_path, "f*.json", '[{"a": "Anna", "b": "Bob"}]')
    assert friends(star) == [("Anna", "Bob")]


def test_parquet(tmp_path):
    path = tmp_path / "f.parquet"
    duckdb.sql("SELECT 'Anna' AS a, 3 AS b").write_parquet(str(path))
    assert friends(path) == [("Anna", "3")]


def test_delimiter_and_header_can_be_said(tmp_path):
    assert friends(file(tmp_path, "f.txt", "a;b\nAnna;Bob\n"), delimiter=";") == [("Anna", "Bob")]
    assert friends(file(tmp_path, "f.csv", "Anna,Bob\n"), header=False) == [("Anna", "Bob")]
    with pytest.raises(ArgumentError, match="one character"):
        friends(file(tmp_path, "f.csv", "a,b\n"), delimiter=";;")


def test_a_file_without_header_does_not_lose_its_first_row_in_silence(tmp_path):
    path = file(tmp_path, "f.csv", "Anna,Bob\nBob,Carl\nAnna,Dora\n")
    assert "Anna is also a value of that column" in problem(path)
    assert len(friends(path, header=False)) == 3
    assert len(friends(path, header=True)) == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        (b"a,b\nAnna,B\xf6b\n", "is not UTF-8 text (line 2)"),
        (b"\x00\x01\x02\xff", "is not UTF-8 text (line 1)"),
        ("a,b\nAnna\nBob,Carl,Dora\n", "Row 2 of table f.csv has 3 cells, but the header has 2."),
        ("a,b\nAnna,\n", "Row 1 of table f.csv has no value in column b."),
        ('a,b\n"Anna,Bob\n', "f.csv, line 2, is not a line of a table: "),
        ("a;b\nAnna;Bob\n", "Table f.csv has 1 column (a;b), but Friends(person, person) needs 2"),
        ("a,b\n" + "x" * 200_000 + ",y\n", "field larger than field limit"),
    ],
)
def test_bad_csv_gets_a_sentence(tmp_path, content, said):
    assert said in problem(file(tmp_path, "f.csv", content))


@pytest.mark.parametrize("ending", [".parquet", ".json"])
@pytest.mark.parametrize("content", [b"", b"\x00junk\xff", b"PAR1"])
def test_bad_binary_files_get_a_sentence(tmp_path, ending, content):
    said = problem(file(tmp_path, f"f{ending}", content))
    assert "\n" not in said or said.startswith("The tables have")


def test_missing_files_folders_and_endings(tmp_path):
    file(tmp_path, "friends.csv", "a,b\n")
    assert "friends.csv" in problem(tmp_path / "freinds.csv")
    assert "There is no file" in problem(tmp_path / "f.parquet")
    assert "is a folder" in problem(tmp_path) or "ends in none" in problem(tmp_path)
    assert "ends in none of .csv" in problem(tmp_path / "f.xlsx")
    with pytest.raises(ArgumentError, match="from_folder"):
        Database.from_files(tmp_path, VOCABULARY)


def test_folders(tmp_path):
    file(tmp_path, "friends.csv", "a,b\nAnna,Bob\n")
    file(tmp_path, "Smokes.tsv", "person\nBob\n")
    file(tmp_path, "README.md", "not a table")
    database = Database.from_folder(tmp_path, VOCABULARY)
    assert database.name == tmp_path.name
    assert database.domain("person") == ("Anna", "Bob")  # in the model's order, not the file system's
    file(tmp_path, "Smoke.csv", "person\nBob\n")
    with pytest.raises(InputError, match=r"Smoke\.csv is not named after a predicate; did you mean Smokes\?"):
        Database.from_folder(tmp_path, VOCABULARY)


def test_folders_that_do_not_serve(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    with pytest.raises(InputError, match="holds no table"):
        Database.from_folder(tmp_path / "a", VOCABULARY)
    with pytest.raises(InputError, match="is not there"):
        Database.from_folder(tmp_path / "c", VOCABULARY)
    file(tmp_path / "b", "Smokes.csv", "p\n")
    with pytest.raises(InputError, match="from_files"):
        Database.from_folder(tmp_path / "b" / "Smokes.csv", VOCABULARY)
    file(tmp_path / "b", "Smokes.tsv", "p\n")
    with pytest.raises(InputError, match="several tables named Smokes"):
        Database.from_folder(tmp_path / "b", VOCABULARY)
    file(tmp_path / "b", "smokes.json", '[{"p": "Anna"}]')
    (tmp_path / "b" / "Smokes.tsv").unlink()
    with pytest.raises(InputError, match="a second table of Smokes"):
        Database.from_folder(tmp_path / "b", VOCABULARY)


def sqlite_file(path, *statements):
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    return path


def test_sqlite_tables_and_types(tmp_path):
    path = sqlite_file(
        tmp_path / "f.sqlite",
        "CREATE TABLE friends (a INTEGER, b TEXT)",
        "INSERT INTO friends VALUES (3, 'Bob'), (4, 'Carl')",
    )
    assert list(Database.from_sqlite(path, VOCABULARY).rows("Friends")) == [("3", "Bob"), ("4", "Carl")]


def test_sqlite_tables_of_other_names_are_chosen(tmp_path):
    path = sqlite_file(
        tmp_path / "f.sqlite",
        "CREATE TABLE edges (a, b)",
        "INSERT INTO edges VALUES ('Anna', 'Bob')",
        "CREATE VIEW smokers AS SELECT a FROM edges",
    )
    with pytest.raises(InputError, match="Table edges is not named after a predicate"):
        Database.from_sqlite(path, VOCABULARY)
    database = Database.from_sqlite(path, VOCABULARY, tables={"Friends": "edges", "Smokes": "smokers"})
    assert list(database.rows("Smokes")) == [("Anna",)]
    with pytest.raises(InputError, match="no such table"):
        Database.from_sqlite(path, VOCABULARY, tables={"Friends": 'edges"; DROP TABLE edges; --'})
    assert list(Database.from_sqlite(path, VOCABULARY, tables={"Friends": "edges"}).rows("Friends"))


def test_sqlite_problems_get_sentences(tmp_path):
    path = sqlite_file(
        tmp_path / "f.sqlite", "CREATE TABLE Smokes (p)", "INSERT INTO Smokes VALUES (x'00ff'), (NULL)"
    )
    with pytest.raises(InputError) as caught:
        Database.from_sqlite(path, VOCABULARY)
    assert "Row 2 of table Smokes has no value in column p." in str(caught.value)
    assert "a bytes cannot name a constant" in str(caught.value)
    for bad in (tmp_path, tmp_path / "missing.sqlite", file(tmp_path, "junk.sqlite", b"junk" * 500)):
        with pytest.raises(InputError):
            Database.from_sqlite(bad, VOCABULARY)
    assert not (tmp_path / "missing.sqlite").exists()
    with pytest.raises(InputError, match="cannot be written"):
        Database(VOCABULARY).to_sqlite(tmp_path / "junk.sqlite")


def test_writing_a_database_keeps_the_files_other_tables(tmp_path):
    path = sqlite_file(tmp_path / "f.sqlite", "CREATE TABLE other (a)")
    Database(VOCABULARY).to_sqlite(path)
    with closing(sqlite3.connect(path)) as connection:
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    assert names == {"other", "constants", "Friends", "Smokes"}


def test_nothing_is_written_to_sqlite_when_something_fails(tmp_path):
    path = sqlite_file(tmp_path / "f.sqlite", "CREATE VIEW Smokes AS SELECT 1")
    with pytest.raises(InputError, match="cannot be written"):
        Database(VOCABULARY).to_sqlite(path)
    with closing(sqlite3.connect(path)) as connection:
        assert [name for (name,) in connection.execute("SELECT name FROM sqlite_schema")] == ["Smokes"]


class TestFullDisk:
    """What was there stays, and what cannot be finished is not there."""

    DATABASE = Database.from_frames({"Smokes": [["Anna"]], "Friends": [["Anna", "Bob"]]}, VOCABULARY)

    @pytest.mark.parametrize("name", ["new.sqlite", "empty.sqlite"])
    def test_sqlite(self, tmp_path, full_disk, name):
        full_disk.is_full = True
        (tmp_path / "empty.sqlite").touch()
        with pytest.raises(OutputError, match=f"{name} cannot be written: No space left on device"):
            self.DATABASE.to_sqlite(tmp_path / name)
        assert [file.name for file in tmp_path.iterdir()] == ["empty.sqlite"]
        assert not (tmp_path / "empty.sqlite").read_bytes()

    def test_a_table_that_sqlite_refuses_leaves_no_file(self, tmp_path):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(table_files, "_write_table", refuse_the_last())
            with pytest.raises(OutputError, match="cannot be written as SQLite: database or disk is full"):
                self.DATABASE.to_sqlite(tmp_path / "new.sqlite")
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("kind", ["csv", "tsv", "parquet"])
    def test_folders_of_tables(self, tmp_path, full_disk, kind):
        write = getattr(self.DATABASE, f"to_{kind}")
        before = {file: file.read_bytes() for file in write(tmp_path / "old")}
        full_disk.is_full = True
        other = Database.from_frames({"Smokes": [["Bob"], ["Carl"]]}, VOCABULARY)
        for folder in ("old", "new"):
            with pytest.raises(OutputError, match="No space left on device"):
                getattr(other, f"to_{kind}")(tmp_path / folder)
        assert {file: file.read_bytes() for file in (tmp_path / "old").iterdir()} == before
        assert not (tmp_path / "new").exists()

    def test_a_table_that_cannot_be_written_leaves_all_old_ones(self, tmp_path):
        before = {file: file.read_bytes() for file in self.DATABASE.to_csv(tmp_path)}
        odd = Database.from_frames({"Smokes": [["Bob"]], "Friends": [["", "Bob"]]}, VOCABULARY)
        with pytest.raises(InputError, match="whose name is empty"):
            odd.to_csv(tmp_path)
        assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before


def refuse_the_last():
    """Return a writer of tables for whose third one the disk is full."""
    write, written = table_files._write_table, []

    def refuse(*arguments):
        written.append(arguments)
        if len(written) == 3:
            raise sqlite3.OperationalError("database or disk is full")
        write(*arguments)

    return refuse


def test_a_folder_that_cannot_be_made(tmp_path):
    file(tmp_path, "taken", "")
    for write in ("to_csv", "to_parquet"):
        with pytest.raises(InputError, match="cannot be made"):
            getattr(Database(VOCABULARY), write)(tmp_path / "taken")


def test_what_was_written_can_be_read_by_others(tmp_path):
    database = Database.from_frames({"Friends": [("Anna", 'say "hi", Bob')]}, VOCABULARY)
    database.to_csv(tmp_path)
    assert (tmp_path / "Friends.csv").read_text() == 'person1,person2\nAnna,"say ""hi"", Bob"\n'
    rows = duckdb.read_csv(str(tmp_path / "Friends.csv"), header=True).fetchall()
    assert rows == [("Anna", 'say "hi", Bob')]
    assert same_database(Database.from_folder(tmp_path, VOCABULARY), database)
