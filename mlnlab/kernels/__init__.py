"""Hot loops, compiled by numba, over plain arrays. Importing this package does not import numba.

Every kernel module has a ``warm_up()`` that calls each of its kernels once with the types used in earnest.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter


def warm_up_all() -> Iterator[tuple[str, float]]:
    """Compile every kernel, or load it from the cache; yield each module's name and its seconds."""
    start = perf_counter()
    from mlnlab.kernels import fact_scan, gibbs, ground_network, hard_worlds, random_numbers

    for module in (fact_scan, gibbs, ground_network, hard_worlds, random_numbers):
        module.warm_up()
        yield module.__name__.rpartition(".")[2], perf_counter() - start
        start = perf_counter()
