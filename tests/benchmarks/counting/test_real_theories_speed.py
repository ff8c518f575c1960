"""Fifty clauses about UW-CSE, IMDB and Cora (all folds), planned beside DuckDB, each in a fresh process."""

from __future__ import annotations

import pytest

from tests.counting.real_theories import SETS, measured

pytestmark = pytest.mark.benchmark


@pytest.mark.parametrize("name", [*SETS, "published"])
def test_fifty_clauses_within_five_seconds_and_500_megabytes(data_folder, name):
    measured(data_folder, name, "planned")  # kernels are compiled once for all processes
    planned, duckdb = (measured(data_folder, name, method) for method in ("planned", "duckdb"))
    assert planned["counts"] == duckdb["counts"]
    for method, found in (("planned", planned), ("DuckDB", duckdb)):
        seconds = f"{found['wall']:5.2f} s ({found['own']:.2f} s of CPU)"
        megabytes = f"{found['peak']:4.0f} MB at most, {found['loaded']:.0f} MB before counting"
        print(f"{name:9} {method:8} {len(found['counts'])} clauses: {seconds}, {megabytes}")
    assert planned["wall"] < 5
    assert planned["peak"] < 500
