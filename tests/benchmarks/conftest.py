"""What the benchmarks compare with."""

import pytest

from mlnlab.experiments.bench.in_c import rival


@pytest.fixture(scope="session")
def in_c():
    """The same loops in C."""
    with rival() as other:
        if other.functions is None:
            pytest.skip(f"{other.words} Install gcc to measure beside C.")
        yield other.functions
