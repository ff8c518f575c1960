"""One thread for linear algebra on short vectors.

OpenBLAS, which numpy's and scipy's wheels bring along, shares out work on vectors from some 10,000 numbers
on, and its threads wait for each other actively. Where other processes want the processor too, a scalar
product of microseconds then takes tens of milliseconds. What is made of thousands of such products asks for
one thread. Where another library does the linear algebra, nothing is changed.
"""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

_NAMES = tuple(
    f"{prefix}openblas_{{}}_num_threads{suffix}" for prefix in ("scipy_", "") for suffix in ("64_", "")
)


@cache
def _libraries() -> tuple[tuple[Any, Any], ...]:
    """Return how to ask for and how to set the number of threads, of each OpenBLAS in this process."""
    import scipy

    found = []
    for package in (np, scipy):
        folder = Path(str(package.__file__)).parent.parent / f"{package.__name__}.libs"
        for file in sorted(folder.glob("*openblas*")):
            try:
                library = ctypes.CDLL(str(file))
            except OSError:
                continue
            for name in _NAMES:
                pair = tuple(getattr(library, name.format(verb), None) for verb in ("get", "set"))
                if all(pair):
                    found.append((pair[0], pair[1]))
                    break
    return tuple(found)


@contextmanager
def blas_threads(number: int = 1) -> Iterator[int]:
    """Let linear algebra use so many threads for a while; gives how many it had."""
    before = [get() for get, _ in _libraries()]
    _set([number] * len(before))
    try:
        yield max(before, default=number)
    finally:
        _set(before)


def _set(numbers: list[int]) -> None:
    for (_, change), number in zip(_libraries(), numbers, strict=True):
        change(number)
