"""Counting the rows of leaves beside the same loop in C."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.factors.data.data_table import DataTable
from mlnlab.factors.graphs.random_variables import RandomVariable
from mlnlab.kernels.trees.bit_columns import count_leaf
from mlnlab.learning.networks.split_gains import SplitGains
from tests.benchmarks.beside_c.measurement import Effort, Measurement, by_turns, compared

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.benchmarks.beside_c.in_c import FunctionsInC


def random_table(n_rows: int = 3_000, n_variables: int = 60) -> DataTable:
    """Return a table of which a tenth is 1, so that few rows are equal."""
    rows = np.random.default_rng(0).random((n_rows, n_variables)) < 0.1
    return DataTable([RandomVariable.numbered(f"X{n}", 2) for n in range(n_variables)], rows)


def words_per_second(name: str, table: DataTable, effort: Effort, in_c: FunctionsInC) -> Measurement:
    """Count the first leaf of every tree, over and over, by turns with C; words are those of bit columns."""
    gains = SplitGains(table)
    leaves = [gains.root(variable) for variable in range(len(table.variables))]
    columns = gains.bits.shape[1]
    times = max(1, effort.updates // (len(gains.powers) * columns * len(leaves)))
    ours, theirs = ([_room(columns) for _ in leaves] for _ in range(2))

    def count_here() -> None:
        for leaf, (totals, counts) in zip(leaves, ours, strict=True):
            start = int(gains.starts[leaf.variable])
            for _ in range(times):
                count_leaf(leaf.words, leaf.masks, gains.bits, gains.powers, start, 1, totals, counts)

    def count_in_c() -> None:
        for leaf, (totals, counts) in zip(leaves, theirs, strict=True):
            start = int(gains.starts[leaf.variable])
            in_c.count_leaf(times, len(leaf.words), leaf.words, leaf.masks, gains.bits, gains.powers,
                            columns, start, len(totals), totals, counts)  # fmt: skip

    seconds = by_turns(effort, count_here, count_in_c)
    same = all(np.array_equal(one, other) for pair in zip(ours, theirs, strict=True)
               for one, other in zip(*pair, strict=True))  # fmt: skip
    work = times * len(gains.powers) * columns * len(leaves)
    return compared(name, "words", work, seconds, same_results=same, memory=gains.bits.nbytes)


def _room(columns: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.zeros(2, np.int64), np.zeros((2, columns), np.int64)
