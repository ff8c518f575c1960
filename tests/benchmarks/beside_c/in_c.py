"""The same loops in C, compiled here and called through ctypes."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCES = Path(__file__).parent / "sources"
# Without contraction no multiplication is fused with an addition, so that trajectories agree bit for bit.
FLAGS = ("-O3", "-march=native", "-ffp-contract=off")

FILES = (
    "gibbs", "enumeration", "walk_sat", "sample_sat", "belief_propagation", "factor_gibbs",
    "cluster_messages", "leaf_counts",
)  # fmt: skip


class CompilerError(Exception):
    """Raised when a C compiler is there but fails to build our functions."""


@dataclass(frozen=True, slots=True)
class FunctionsInC:
    """The compiled loops; their arguments are explained in the C files."""

    sweep: Callable[..., None]
    sum_over_worlds: Callable[..., float]
    walk: Callable[..., None]
    search: Callable[..., int]
    sweep_clauses: Callable[..., float]
    sweep_tables: Callable[..., None]
    sweep_clusters: Callable[..., None]
    sum_message: Callable[..., None]
    count_leaf: Callable[..., None]


@contextmanager
def functions_in_c(compiler: str) -> Iterator[FunctionsInC]:
    """Compile the loops in C, and remove the libraries afterwards."""
    with TemporaryDirectory(prefix="mlnlab-bench-", ignore_cleanup_errors=True) as folder:
        yield compiled_functions(compiler, Path(folder))


def find_compiler() -> str | None:
    """Return the path of a C compiler."""
    return shutil.which("gcc") or shutil.which("cc")


def compiled_functions(compiler: str, folder: Path) -> FunctionsInC:
    """Compile the C files into libraries in a folder and return their functions."""
    libraries = {}
    for name in FILES:
        library = folder / f"{name}.so"
        _call(compiler, *FLAGS, "-shared", "-fPIC", str(SOURCES / f"{name}.c"), "-o", str(library), "-lm")
        try:
            libraries[name] = ctypes.CDLL(str(library))
        except OSError as error:
            raise CompilerError(f"The library that {compiler} made cannot be loaded: {error}") from None
    sweep, sum_over_worlds = libraries["gibbs"].sweep, libraries["enumeration"].sum_over_worlds
    kinds = (np.uint32, np.uint32, np.float64, np.uint8, np.uint32, np.uint64)
    sweep.argtypes = [ctypes.c_int64, *map(np.ctypeslib.ndpointer, kinds), ctypes.c_int64]
    sweep.restype = None
    doubles = np.ctypeslib.ndpointer(np.float64)
    sum_over_worlds.argtypes, sum_over_worlds.restype = [ctypes.c_int, doubles, doubles], ctypes.c_double
    return FunctionsInC(
        sweep, sum_over_worlds, _walk(libraries["walk_sat"]), _search(libraries["sample_sat"]),
        _sweep_clauses(libraries["belief_propagation"]), _sweep_tables(libraries["factor_gibbs"]),
        _sweep_clusters(libraries["cluster_messages"]), _sum_message(libraries["cluster_messages"]),
        _count_leaf(libraries["leaf_counts"]),
    )  # fmt: skip


def _walk(library: ctypes.CDLL) -> Callable[..., None]:
    walk = library.walk
    kinds = (
        *(np.uint32,) * 4, np.float64, np.uint8, *(np.uint32,) * 2, np.uint64, *(np.uint32,) * 2,
        np.int64, *(np.uint32,) * 2, np.int64, np.float64,
    )  # fmt: skip
    arrays = map(np.ctypeslib.ndpointer, kinds)
    walk.argtypes = [
        ctypes.c_int64,
        *arrays,
        ctypes.c_int64,
        ctypes.c_double,
        ctypes.c_int64,
        ctypes.c_double,
    ]
    walk.restype = None
    return walk


def _search(library: ctypes.CDLL) -> Callable[..., int]:
    search = library.search
    kinds = (
        *(np.uint32,) * 4, *(np.uint8,) * 2, np.uint32, np.uint8, *(np.uint32,) * 3, np.uint64,
    )  # fmt: skip
    arrays = map(np.ctypeslib.ndpointer, kinds)
    numbers = (ctypes.c_int64, ctypes.c_double, ctypes.c_double, ctypes.c_int64)
    search.argtypes, search.restype = [ctypes.c_int64, *arrays, *numbers], ctypes.c_int64
    return search


def _sweep_clauses(library: ctypes.CDLL) -> Callable[..., float]:
    sweep = library.sweep_clauses
    arrays = map(np.ctypeslib.ndpointer, (*(np.uint32,) * 4, np.uint8, *(np.float64,) * 9))
    sweep.argtypes = [ctypes.c_int64, ctypes.c_int64, *arrays, ctypes.c_double]
    sweep.restype = ctypes.c_double
    return sweep


def _sweep_tables(library: ctypes.CDLL) -> Callable[..., None]:
    sweep = library.sweep_tables
    kinds = (*(np.uint32,) * 5, np.float64, *(np.uint32,) * 2, np.uint64, np.float64)
    sweep.argtypes = [ctypes.c_int64, *map(np.ctypeslib.ndpointer, kinds), ctypes.c_int64]
    sweep.restype = None
    return sweep


def _sweep_clusters(library: ctypes.CDLL) -> Callable[..., None]:
    sweep = library.sweep_clusters
    kinds = (np.int64, np.float64, *(np.int64,) * 5, np.uint32, *(np.float64,) * 4)
    sweep.argtypes = [ctypes.c_int64, *map(np.ctypeslib.ndpointer, kinds)]
    sweep.restype = None
    return sweep


def _sum_message(library: ctypes.CDLL) -> Callable[..., None]:
    add_up = library.sum_message
    cells, reals, whole = np.ctypeslib.ndpointer(np.uint8), np.ctypeslib.ndpointer(np.float64), ctypes.c_int64
    add_up.argtypes, add_up.restype = [cells, whole, whole, reals, whole, reals, reals, reals], None
    return add_up


def _count_leaf(library: ctypes.CDLL) -> Callable[..., None]:
    count = library.count_leaf
    words, masks, wholes = map(np.ctypeslib.ndpointer, (np.uint32, np.uint64, np.int64))
    number = ctypes.c_int64
    count.argtypes = [number, number, words, masks, masks, wholes, number, number, number, wholes, wholes]
    count.restype = None
    return count


def _call(*command: str) -> None:
    """Run the compiler."""
    try:
        subprocess.run(
            command, check=True, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
        )
    except subprocess.CalledProcessError as error:
        raise CompilerError(f"{command[0]} failed: {error.stderr.strip() or error}") from None
