"""Tables of frames, arrays and files: values keep their names, and what is wrong is said in a sentence."""

from __future__ import annotations

import gzip
import lzma

import duckdb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.factors.data.data_files import data_text, parse_data
from tests.support.thoroughness import examples

WEATHER = {"Weather": ["dry", "rain", None, "dry"], "Wet": [0, 1, 1, 0], "Warm": [True, False, None, True]}


def names(table):
    """Return the cells by the names of their values."""
    of = table.variables
    return [
        [None if cell < 0 else one.values[cell] for one, cell in zip(of, row, strict=True)]  # noqa: PD011
        for row in table.rows.tolist()
    ]


NAMED = [["dry", "0", "true"], ["rain", "1", "false"], [None, "1", None], ["dry", "0", "true"]]


@pytest.mark.parametrize("make", [
    lambda: WEATHER, lambda: pd.DataFrame(WEATHER),
    lambda: pytest.importorskip("polars").DataFrame(WEATHER).lazy(),
    lambda: pytest.importorskip("pyarrow").table(WEATHER), lambda: duckdb.from_df(pd.DataFrame(WEATHER)),
    lambda: [dict(zip(WEATHER, row, strict=True)) for row in zip(*WEATHER.values(), strict=True)],
])  # fmt: skip
def test_a_frame_of_any_kind_keeps_its_values(make):
    table = ml.DataTable.of(make())
    assert [variable.name for variable in table.variables] == list(WEATHER)
    assert names(table) == NAMED
    assert table.missing == 2
    assert not table.rows.flags.writeable


def test_an_array_holds_numbers_of_values():
    table = ml.DataTable.of(np.array([[0, 3, 0], [0, -1, 1]]))
    assert [(v.name, v.size) for v in table.variables] == [("X0", 2), ("X1", 4), ("X2", 2)]
    assert table.rows.tolist() == [[0, 3, 0], [0, -1, 1]]
    same = ml.DataTable.of(np.array([[0.0, 3, 0], [0, np.nan, 1]]))
    assert same.rows.tolist() == table.rows.tolist()
    assert ml.DataTable.of([[0, 3, 0], [0, -1, 1]]).rows.tolist() == table.rows.tolist()
    assert ml.DataTable.of(table) is table


def test_numbers_and_texts_are_in_order():
    table = ml.DataTable.of(
        {"Age": [40, 9, 100, 9], "Mixed": ["b", "10", "9", "a"], "Whole": [3.0, None, 20.0, 3]}
    )
    values = [("9", "40", "100"), ("9", "10", "a", "b"), ("3", "20")]
    assert [one.values for one in table.variables] == values  # noqa: PD011


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(1, 4), st.integers(1, 30), st.integers(2, 30), st.booleans(), st.integers(0, 2**32 - 1))
def test_data_files_come_back(width, height, size, missing, seed):
    rows = np.random.default_rng(seed).integers(-1 if missing else 0, size, (height, width))
    variables = [ml.RandomVariable.numbered(f"X{n}", size) for n in range(width)]
    text = data_text(ml.DataTable(variables, rows).rows)
    assert parse_data(text.encode()).tolist() == rows.tolist()
    assert parse_data(text.replace("\n", "\r\n").replace(",", ", ").encode()).tolist() == rows.tolist()


@pytest.mark.parametrize(("ending", "pack"), [("", bytes), (".xz", lzma.compress), (".gz", gzip.compress)])
def test_files_may_be_compressed(tmp_path, ending, pack):
    frame = pd.DataFrame(WEATHER)
    csv = tmp_path / f"weather.csv{ending}"
    csv.write_bytes(pack(frame.to_csv(index=False).encode()))
    assert names(ml.DataTable.of(csv)) == NAMED
    data = tmp_path / f"numbers.data{ending}"
    data.write_bytes(pack(b"0,1\n2,*\n"))
    (tmp_path / "numbers.schema").write_text("4,2\n")
    table = ml.DataTable.of(str(data))
    assert [v.size for v in table.variables] == [4, 2]
    assert table.rows.tolist() == [[0, 1], [2, -1]]


def test_parquet_files_and_saved_tables_come_back(tmp_path):
    duckdb.from_df(pd.DataFrame(WEATHER)).write_parquet(str(tmp_path / "weather.parquet"))
    table = ml.DataTable.of(tmp_path / "weather.parquet")
    assert names(table) == NAMED
    table.save(tmp_path / "weather.data")
    again = ml.DataTable.of(tmp_path / "weather.data", table.variables)
    assert names(again) == NAMED
    assert names(ml.DataTable.of(table.to_frame())) == NAMED


def test_a_table_takes_the_numbers_of_a_model():
    model = ml.DataTable.of(WEATHER).variables
    turned = ml.DataTable.of({"Wet": [1, 0], "Warm": [None, True], "Weather": ["rain", "rain"]}, model)
    assert turned.variables == model
    assert turned.rows.tolist() == [[1, 1, -1], [1, 0, 1]]
    assert ml.DataTable.of([[1, 0, 1]], model).rows.tolist() == [[1, 0, 1]]


def test_a_column_of_a_model_may_be_empty(tmp_path):
    model = ml.DataTable.of(WEATHER).variables
    asked = {"Weather": ["rain", None], "Wet": [None, None], "Warm": [None, None]}
    assert ml.DataTable.of(asked, model).rows.tolist() == [[1, -1, -1], [-1, -1, -1]]
    (tmp_path / "asked.csv").write_text("Weather,Wet,Warm\nrain,,\n,,\n")
    assert ml.DataTable.of(tmp_path / "asked.csv", model).rows.tolist() == [[1, -1, -1], [-1, -1, -1]]


def test_a_text_that_looks_like_a_truth_value_is_found_in_the_model():
    model = ml.DataTable.of({"A": ["True", "Maybe"]}).variables
    assert ml.DataTable.of({"A": ["True", "True"]}, model).rows.tolist() == [[1], [1]]


def test_a_real_data_set_is_read(data_folder):
    table = ml.DataTable.of(data_folder / "debd" / "nltcs.train.data.xz")
    assert repr(table) == "<DataTable of 16,181 rows and 16 variables>"


@pytest.mark.parametrize(("source", "sentence"), [
    ({"A": [0.5, 1.5]}, "A holds measured numbers, such as 0.5: .* pandas.cut"),
    ({"A": list(range(70_000))}, "A has 70,000 different values, more than 65,536"),
    (np.array([[70_000]]), "X0 has 70,001 different values, more than 65,536"),
    ({"A": [None, None]}, "All cells of A are missing; leave this column out"),
    ({"A": [{}, {}]}, "Row 1 has {} for A; a value is a text"),
    (np.array([[0, -2]]), "Row 1 has -2 for X1; its values are numbered from 0 to 1"),
    (np.array([[0.0, 0.5]]), "whole numbers, not 0.5"),
    (np.array([[np.inf, 1.0]]), "X0 has an infinite number"),
    (np.array([0, 1]), "an array of rows and columns, not one of shape 2"),
    (np.zeros((3, 0)), "not one of shape 3 x 0"),
    ([[0, 1], [1]], "Row 2 of table the data has 1 values"),
    (7, "Table the data is an int; a data frame"),
])  # fmt: skip
def test_wrong_sources_are_refused(source, sentence):
    with pytest.raises((ml.ArgumentError, ml.InputError), match=sentence):
        ml.DataTable.of(source)


@pytest.mark.parametrize(("text", "sentence"), [
    ("", "is empty"),
    ("0,1\n0\n", "line 2 has 1 cell, the first line has 2"),
    ("0,1\n0,x\n", "line 2: 'x' is not part of a row"),
    ("0,1\n0,\n", "line 2: cell 2 is empty"),
    ("0,1\n0,1*\n", r"line 2: cell 2 is 1\*"),
    ("0,-1\n", "line 1: '-' is not part of a row"),
])  # fmt: skip
def test_wrong_data_files_are_refused(tmp_path, text, sentence):
    path = tmp_path / "wrong.data"
    path.write_text(text)
    with pytest.raises(ml.InputError, match=sentence):
        ml.DataTable.of(path)


@pytest.mark.parametrize(("name", "content", "sentence"), [
    ("wrong.data.xz", b"0,1\n", "cannot be unpacked"),
    ("wrong.data.xz", lzma.compress(b"0,1\n" * 99)[:-20], "ends too early"),
    ("wrong.doc", b"0,1\n", "should end in one of .data, .q, .ev, .csv"),
])  # fmt: skip
def test_wrong_files_are_refused(tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ml.InputError, match=sentence):
        ml.DataTable.of(tmp_path / name)
    with pytest.raises(ml.InputError, match="There is no file"):
        ml.DataTable.of(tmp_path / "nothing.data")


def test_a_wrong_schema_is_refused(tmp_path):
    (tmp_path / "small.data").write_text("0,1\n")
    (tmp_path / "small.schema").write_text("2,two\n")
    with pytest.raises(ml.InputError, match="'two' is not a number from 1 to 65,536"):
        ml.DataTable.of(tmp_path / "small.data")
    (tmp_path / "small.schema").write_text("2,2,2\n")
    with pytest.raises(ml.InputError, match=r"the sizes of 3 variables, and a row has 2 cells"):
        ml.DataTable.of(tmp_path / "small.data")


@pytest.mark.parametrize(("source", "sentence"), [
    ({"Weather": ["dry"], "Wet": [0]}, "it lacks Warm"),
    ({**WEATHER, "Wind": [1, 2, 3, 4]}, "it has Wind besides"),
    ({**WEATHER, "Weather": ["dry", "hail", "dry", "dry"]}, "Row 2 has hail for Weather, .*: dry, rain"),
    (np.zeros((2, 2), int), "The table has 3 variables, so its rows are .* not one of shape 2 x 2"),
])  # fmt: skip
def test_tables_that_differ_from_the_model_are_refused(source, sentence):
    with pytest.raises(ml.ArgumentError, match=sentence):
        ml.DataTable.of(source, ml.DataTable.of(WEATHER).variables)


def test_one_row_and_no_rows_are_tables():
    assert len(ml.DataTable.of([[0, 1]])) == 1
    assert len(ml.DataTable.of(np.zeros((0, 3), int))) == 0


def test_two_columns_of_one_name_are_refused():
    twice = [ml.RandomVariable.numbered("A", 2)] * 2
    with pytest.raises(ml.ArgumentError, match="Two columns are called A"):
        ml.DataTable(twice, [[0, 1]])
