"""The rival that benchmarks compare with."""

import pytest

from tests.benchmarks.beside_c.in_c import find_compiler, functions_in_c


@pytest.fixture(scope="session")
def in_c():
    """The same loops in C."""
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("There is no C compiler here; install gcc to measure beside C.")
    with functions_in_c(compiler) as functions:
        yield functions
