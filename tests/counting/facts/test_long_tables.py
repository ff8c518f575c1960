"""Sorting, looking up and joining in stretches, against the same in one go."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlnlab.counting.facts import tables
from mlnlab.counting.facts.tables import Table, join_tables


@pytest.fixture(params=[(1, 0, 0), (3, 0, 0), (3, 10**6, 0), (1 << 20, 10**6, 62), (1 << 20, 10**6, 40)])
def stretch(request, monkeypatch):
    """Short stretches, few rows to be hashed, few bits for keys: every way on little data."""
    for name, value in zip(("STRETCH", "_MOST_HASHED", "_BITS"), request.param, strict=True):
        monkeypatch.setattr(tables, name, value)
    return request.param


@pytest.mark.parametrize("span", [1, 5, 1 << 20, 1 << 61])
def test_keys_are_ordered_and_equal_ones_stay(stretch, span):
    rng = np.random.default_rng(span)
    for length in (0, 1, 2, 7, 60, 400):
        keys = rng.integers(0, span, length)
        assert tables.stable_order(keys).tolist() == np.argsort(keys, kind="stable").tolist()
        known = rng.integers(0, span, 300)
        order, first, number = tables.matches(keys, known)
        assert len(set(order.tolist())) == len(order)
        assert number.tolist() == [int((known == key).sum()) for key in keys]
        for key, begin, several in zip(keys, first, number, strict=True):
            assert order[begin : begin + several].tolist() == np.flatnonzero(known == key).tolist()


@given(st.lists(st.integers(0, 9)), st.integers(1, 12))
def test_stretches_cover_all_groups_once_and_are_short(sizes, stretch):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "STRETCH", stretch)
        found = list(tables.stretches(np.cumsum(np.array(sizes, np.int64))))
    assert [group for begin, end in found for group in range(begin, end)] == list(range(len(sizes)))
    assert all(sum(sizes[begin:end]) <= stretch or end == begin + 1 for begin, end in found)


@pytest.mark.parametrize("kind", [np.int64, np.float64, object])
@pytest.mark.parametrize("weighed", [(False, False), (True, False), (True, True)])
def test_joins_have_each_pair_of_matching_rows_once(stretch, kind, weighed):
    rng = np.random.default_rng(8)
    sizes = {0: 4, 1: 3, 2: 5}
    left, right = (
        Table(variables, rows := np.unique(rng.integers(0, 3, (9, 2)), axis=0).astype(np.uint32),
              rng.integers(1, 9, len(rows)) if own else None)
        for variables, own in zip(((0, 1), (2, 1)), weighed, strict=True)
    )  # fmt: skip
    found = join_tables(left, right, sizes, kind)
    assert found.variables == (0, 1, 2)
    expected = [
        ((*one, other[0]), (1 if left.weights is None else left.weights[a])
         * (1 if right.weights is None else right.weights[b]))
        for a, one in enumerate(left.rows.tolist())
        for b, other in enumerate(right.rows.tolist()) if one[1] == other[1]
    ]  # fmt: skip
    assert len(expected) > 5
    assert [tuple(row) for row in found.rows.tolist()] == [row for row, _ in expected]
    if any(weighed):
        assert found.weights.tolist() == [weight for _, weight in expected]
        assert found.weights.dtype == kind
    else:
        assert found.weights is None
    nothing = Table((2, 1), np.zeros((0, 2), np.uint32))
    assert len(join_tables(left, nothing, sizes, kind).rows) == 0
    assert len(join_tables(nothing, left, sizes, kind).rows) == 0
