"""Data frames of every kind become databases; what does not fit is said in sentences."""

from __future__ import annotations

import datetime as dt
import time
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import pytest

from mlnlab.errors import ArgumentError, InputError
from mlnlab.logic.vocabulary import NamedDomain, Predicate, RangeDomain, SizedDomain
from mlnlab.model.database.database import Database, same_database
from mlnlab.model.tables.table_values import coded_column
from tests.model.database.table_strategies import vocabulary_of
from tests.support.pace import slower

FRIENDS = Predicate("Friends", ("person", "person"))
TEACHES = Predicate("Teaches", ("professor", "course"))
AT = Predicate("At", ("person", "time"))
VOCABULARY = vocabulary_of(
    FRIENDS, TEACHES, AT, Predicate("Smokes", ("person",)), Predicate("Rains", ()), time=RangeDomain(1, 10)
)
ROWS = pd.DataFrame({"a": ["Anna", "Bob", "Anna"], "b": ["Bob", "Carl", "Dora"]})


def read(predicate, frame):
    return Database.from_frames({predicate: frame}, VOCABULARY)


def problem(predicate, frame, vocabulary=VOCABULARY):
    with pytest.raises(InputError) as caught:
        Database.from_frames({predicate: frame}, vocabulary)
    return str(caught.value)


def test_constants_are_numbered_in_order_of_first_appearance_row_by_row():
    database = read("Friends", ROWS)
    assert database.domain("person") == ("Anna", "Bob", "Carl", "Dora")
    assert database.relation("Friends").true.tolist() == [[0, 1], [0, 3], [1, 2]]
    assert database.relation("Friends").true.dtype == np.uint32
    assert not database.relation("Friends").true.flags.writeable
    assert read("Friends", [("Anna", "Carl"), ("Bob", "Anna")]).domain("person") == ("Anna", "Carl", "Bob")


def test_known_constants_keep_their_numbers():
    vocabulary = VOCABULARY.with_domain("person", NamedDomain(("Dora", "Zoe")))
    database = Database.from_frames({"Friends": ROWS}, vocabulary)
    assert database.domain("person") == ("Dora", "Zoe", "Anna", "Bob", "Carl")


def test_the_true_atoms_come_out_under_the_names_of_the_types():
    frame = read("Friends", ROWS)["Friends"]
    assert list(frame.columns) == ["person1", "person2"]
    assert frame.to_numpy().tolist() == [["Anna", "Bob"], ["Anna", "Dora"], ["Bob", "Carl"]]
    assert list(read("Teaches", [("Prof", "C1")])["Teaches"].columns) == ["professor", "course"]


@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: frame,
        lambda frame: frame.convert_dtypes(),
        lambda frame: frame.astype("category"),
        lambda frame: list(frame.itertuples(index=False, name=None)),
        lambda frame: frame.to_numpy(),
        lambda frame: frame.to_dict("list"),
        lambda frame: frame.to_dict("records"),
        lambda frame: duckdb.from_df(frame),  # noqa: PLW0108 - the function itself would outlive duckdb
        lambda frame: pytest.importorskip("polars").DataFrame(frame.to_dict("list")),
        lambda frame: pytest.importorskip("polars").LazyFrame(frame.to_dict("list")),
        lambda frame: pytest.importorskip("pyarrow").table(frame.to_dict("list")),
    ],
)
def test_frames_of_every_kind_say_the_same(convert):
    assert same_database(read("Friends", convert(ROWS)), read("Friends", ROWS))


def test_a_series_or_list_holds_a_unary_predicate():
    expected = [("Anna",), ("Bob",)]
    assert list(read("Smokes", pd.Series(["Anna", "Bob"])).rows("Smokes")) == expected
    assert list(read("Smokes", ["Anna", "Bob"]).rows("Smokes")) == expected
    assert list(read("Smokes", {"Bob", "Anna"}).rows("Smokes")) == expected
    assert list(read("Smokes", []).rows("Smokes")) == []


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (3, "3"),
        (3.0, "3"),
        (2.5, "2.5"),
        (np.int64(-7), "-7"),
        (2**70, str(2**70)),
        (True, "True"),
        (Decimal("4.00"), "4"),
        (dt.date(2026, 3, 1), "2026-03-01"),
        (pd.Timestamp("2026-03-01"), "2026-03-01"),
        (pd.Timestamp("2026-03-01 12:30"), "2026-03-01 12:30:00"),
        ("3.0", "3.0"),
        (" x ", " x "),
    ],
)
def test_values_become_names(value, name):
    assert read("Smokes", pd.DataFrame({"x": [value]})).domain("person") == (name,)
    mixed = pd.DataFrame({"x": np.array([value, "other"], object)})
    assert read("Smokes", mixed).domain("person") == (name, "other")


def test_whole_numbers_stay_whole_beside_a_column_that_made_them_floats():
    frame = pd.DataFrame({"person": ["Anna", "Bob"], "time": [3.0, 10.0]})
    assert list(read("At", frame).rows("At")) == [("Anna", "3"), ("Bob", "10")]


def test_equal_keys_and_equal_names_are_told_apart():
    frame = pd.DataFrame({"x": np.array([1, True, "1", 1.0, False, 0], object)})
    assert read("Smokes", frame).domain("person") == ("1", "True", "False", "0")


def test_columns_are_matched_by_name_else_by_position():
    by_name = read("Teaches", pd.DataFrame({"Course ": ["C1"], "professor": ["Pat"]}))
    assert list(by_name.rows("Teaches")) == [("Pat", "C1")]
    by_position = read("Teaches", pd.DataFrame({"who": ["Pat"], "what": ["C1"]}))
    assert list(by_position.rows("Teaches")) == [("Pat", "C1")]
    swapped = read("Friends", pd.DataFrame({"person2": ["Bob"], "person1": ["Anna"]}))
    assert list(swapped.rows("Friends")) == [("Anna", "Bob")]


def test_a_name_in_the_place_of_another_is_not_guessed_at():
    said = problem("Teaches", pd.DataFrame({"course": ["C1"], "who": ["Pat"]}))
    assert said.startswith("Column course of table Teaches is in the place of professor: ")


def test_wrong_number_of_columns():
    assert problem("Friends", ROWS.assign(since=2020)) == (
        "Table Friends has 3 columns (a, b, since), but Friends(person, person) needs 2: person1, person2."
    )


def test_unknown_predicate_gets_advice():
    assert "Table Freinds is not named after a predicate; did you mean Friends?" in problem("Freinds", ROWS)


def test_all_problems_of_all_tables_come_at_once():
    at = pd.DataFrame({"person": ["Anna", None, "Bob", ["x"]], "time": [11, 3, 11, 10]})
    friends = pd.DataFrame({"a": ["Anna", np.nan, pd.NA], "b": ["Bob", "C", "D"], "probability": [2, 1, "x"]})
    with pytest.raises(InputError) as caught:
        Database.from_frames({"At": at, "Friends": friends, "Smoke": ["Anna"]}, VOCABULARY)
    number = "it must be a number from 0 to 1, or empty where the atom is unknown."
    assert str(caught.value).split("\n") == [
        "The tables have 7 problems:",
        "  - Row 2 of table At has no value in column person.",
        "  - Row 4 of table At has ['x'] in column person, but a list cannot name a constant.",
        "  - Rows 1, 3 of table At have 11 in column time, but time is the range 1, ..., 10.",
        f"  - Row 1 of table Friends has the probability 2; {number}",
        f"  - Row 3 of table Friends has the probability x; {number}",
        "  - Rows 2, 3 of table Friends have no value in column a.",
        "  - Table Smoke is not named after a predicate; did you mean Smokes?",
    ]


def test_long_lists_of_problems_are_cut():
    missing = pd.DataFrame({"a": [None] * 1000, "b": ["x"] * 1000})
    assert problem("Friends", missing) == (
        "Rows 1, 2, 3, 4, 5 and 995 more of table Friends have no value in column a."
    )
    outside = pd.DataFrame({"a": ["x"] * 100, "b": range(100, 200)})
    assert problem("At", outside).count("\n") == 4


def test_domains_given_by_size_do_not_grow():
    vocabulary = VOCABULARY.with_domain("person", SizedDomain("P", 3))
    assert list(Database.from_frames({"Smokes": ["P2"]}, vocabulary).rows("Smokes")) == [("P2",)]
    assert "person has the 3 constants P1, ..., P3" in problem("Smokes", ["P4"], vocabulary)


def test_a_listed_domain_grows_with_a_warning():
    vocabulary = VOCABULARY.with_domain("person", NamedDomain(("Anna", "Bob"), is_listed=True))
    database = Database.from_frames({"Smokes": ["Ana", "Bob"]}, vocabulary)
    assert database.domain("person") == ("Anna", "Bob", "Ana")
    (remark,) = database.diagnostics
    assert remark.message == (
        "Ana is not among the constants listed for person, and is added to them; did you mean Anna?"
    )


def test_a_constant_listed_for_another_type_is_refused():
    vocabulary = VOCABULARY.with_domain("course", NamedDomain(("C1",), is_listed=True))
    said = problem("Smokes", ["Anna", "C1"], vocabulary)
    assert said == "Row 2 of table Smokes has C1 in column person, but that is a course, not a person."


def test_probabilities_say_true_false_unknown_and_soft():
    frame = ROWS.assign(probability=[1, 0, None])
    relation = read("Friends", frame).relation("Friends")
    assert [len(relation.true), len(relation.false), len(relation.unknown)] == [1, 1, 1]
    soft = read("Friends", ROWS.assign(Probability=["0.1", "", "1"]))
    assert [p for _, p in soft.soft_evidence()] == [0.1]
    assert soft.relation("Friends").probabilities.dtype == np.float64


def test_two_statements_about_one_atom_are_refused():
    frame = pd.DataFrame({"person": ["Anna", "Bob", "Anna"], "probability": [1, 1, 0]})
    assert problem("Smokes", frame) == "Rows 1, 3 of table Smokes say different things about one atom."
    assert len(read("Smokes", frame.iloc[[0, 1, 0]]).relation("Smokes").true) == 2


def test_two_true_atoms_of_one_block_are_refused():
    vocabulary = vocabulary_of(Predicate("Likes", ("person", "colour"), exclusive=(1,)))
    said = problem("Likes", [("Anna", "Red"), ("Bob", "Red"), ("Anna", "Blue")], vocabulary)
    assert said.startswith("Rows 1, 3 of table Likes exclude each other: Likes(person, colour!) allows one")


def test_a_predicate_without_arguments():
    database = read("Rains", pd.DataFrame({"probability": [1.0]}))
    assert list(database.rows("Rains")) == [()]
    assert database["Rains"].shape == (1, 0)
    assert same_database(Database.from_frames(database.to_frames(), VOCABULARY), database)


def test_rare_column_names_stay_apart():
    vocabulary = vocabulary_of(
        Predicate("P", ("probability", "x")),
        Predicate("Q", ("Person", "person")),
        Predicate("R", ("a", "a", "a1")),
    )
    database = Database(vocabulary)
    assert list(database["P"].columns) == ["probability_1", "x_2"]
    assert list(database["Q"].columns) == ["Person_1", "person_2"]
    assert list(database["R"].columns) == ["a_1", "a_2", "a1_3"]


def test_the_long_frame_lists_every_atom_once():
    database = read("Friends", ROWS.assign(probability=[1, 0.5, None]))
    frame = database.to_frame()
    assert list(frame.columns) == ["predicate", "arguments", "truth", "probability"]
    assert frame["arguments"].tolist() == [("Anna", "Bob"), ("Anna", "Dora"), ("Bob", "Carl")]
    assert frame["truth"].tolist() == ["true", "unknown", "soft"]


def test_the_column_probability_is_written_only_where_needed():
    assert "probability" not in read("Friends", ROWS).to_frames()["Friends"]
    assert "probability" in read("Friends", ROWS.assign(probability=[1, 1, 0])).to_frames()["Friends"]


def test_constants_without_facts_are_kept_in_their_own_frame():
    frames = {"constants": [("person", "Zoe"), ("course", "C9")], "Smokes": ["Anna"]}
    database = Database.from_frames(frames, VOCABULARY)
    assert database.domain("person") == ("Zoe", "Anna")
    assert database.domain("course") == ("C9",)
    assert "persn, which the model does not have; did you mean person?" in problem(
        "constants", [("persn", "Z")]
    )


@pytest.mark.parametrize("frame", [3, "Anna", None, object()])
def test_what_is_no_table_gets_a_sentence(frame):
    with pytest.raises((ArgumentError, InputError), match="Table Friends"):
        read("Friends", frame)


def test_odd_rows_and_columns_get_a_sentence():
    assert problem("Friends", [("Anna", "Bob"), ("Carl",)]) == (
        "Row 2 of table Friends has 1 values, the first row has 2."
    )
    twice = ROWS.set_axis(["a", "a"], axis=1)
    assert "two columns of one name" in problem("Friends", twice)
    with pytest.raises(ArgumentError, match="by predicate"):
        Database.from_frames([ROWS], VOCABULARY)


def test_half_a_character_names_no_constant():
    said = problem("Smokes", ["\ud800"])
    assert said.endswith("in column column1, but half of a character cannot name a constant.")


def test_infinity_names_no_constant():
    for infinity in (float("inf"), np.float64("inf")):
        said = problem("Smokes", [1.5, infinity])
        assert said.endswith("has inf in column column1, but an infinite number cannot name a constant.")


def test_one_bad_cell_in_a_long_column_costs_nothing():
    values = np.arange(200_000.0)
    values[7] = np.inf
    start = time.process_time()
    column = coded_column(values)
    assert time.process_time() - start < 10 * slower()
    assert len(column.names) == 199_999
    assert (column.first_rows[6], column.first_rows[7], column.codes[7]) == (6, 8, -1)


def test_the_users_frame_is_left_as_it_was():
    frame = ROWS.copy()
    read("Friends", frame)
    pd.testing.assert_frame_equal(frame, ROWS)
