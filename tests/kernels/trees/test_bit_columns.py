"""Kernels over bit columns: compiled and plain alike."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.trees import bit_columns, leaf_gains


def table(missing):
    rng = np.random.default_rng(3)
    rows = np.stack([rng.integers(0, size, 150) for size in (2, 3, 4)], axis=1).astype(np.int32)
    if missing:
        rows[rng.random(rows.shape) < 0.1] = -1
    return rows


@pytest.mark.parametrize("missing", [False, True])
def test_compiled_and_plain_kernels_agree(missing):
    rows = table(missing)
    ends = []
    for kind in (lambda kernel: kernel, plain_twin):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # numpy says where whole numbers wrap around
            ends.append(count(kind, rows, missing))
    for one, other in zip(*ends, strict=True):
        assert np.array_equal(one, other)


def count(kind, rows, missing):
    factors = np.array([3, 5, 7], np.uint64) << np.uint64(40)
    hashes, new = np.zeros(150, np.uint64), np.zeros(150, np.uint8)
    kind(bit_columns.hash_rows)(rows, factors, hashes)
    order = np.argsort(hashes, kind="stable")
    kind(bit_columns.mark_new_rows)(rows, order, new)
    lowest = np.full(3, 0 if missing else 1)
    starts = np.concatenate([[0], np.cumsum([2, 3, 4] - lowest)])
    sources = np.concatenate([np.arange(150), np.full(42, -1)])
    bits, powers = np.zeros((3, starts[-1]), np.uint64), np.array([0, 2, 5])
    kind(bit_columns.fill_bits)(rows, sources, starts, lowest, bits)
    totals, counts = np.zeros(3, np.int64), np.zeros((3, starts[-1]), np.int64)
    words, masks = np.array([0, 2], np.uint32), np.array([2**63 + 12345, 2**22 - 7], np.uint64)
    kind(bit_columns.count_leaf)(words, masks, bits, powers, starts[1], lowest[1], totals, counts)
    table, gains = np.arange(20_000.0) ** 2, np.zeros(3)
    kind(leaf_gains.score_splits)(counts, totals, starts, lowest, 1, table, 2 * table, gains)
    return hashes, new, bits, totals, counts, gains
