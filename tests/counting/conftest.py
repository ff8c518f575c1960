"""What takes long to begin and serves many tests: worker processes, and an open DuckDB."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from mlnlab.counting.duckdb.duckdb_store import open_connection
from mlnlab.logic.vocabulary import Vocabulary


@pytest.fixture(scope="session")
def processes():
    """Two worker processes that import everything anew, as on Windows and macOS."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.fixture(params=["threads", "processes"])
def executor(request):
    """Whoever runs the tasks: threads of its own, or the worker processes."""
    if request.param == "processes":
        yield request.getfixturevalue("processes")
        return
    with ThreadPoolExecutor(3) as threads:
        yield threads


@pytest.fixture(scope="session")
def duckdb():
    """An open DuckDB without tables; see :func:`tests.counting.shared_duckdb.facts_in`."""
    with open_connection(Vocabulary(), threads=1) as connection:
        yield connection
