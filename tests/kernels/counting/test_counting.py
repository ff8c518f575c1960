"""The counting kernels: compiled and plain alike, and equal to numpy's sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.counting import counting_cycles, counting_groups, true_tuples
from mlnlab.logic.relations import sorted_rows
from tests.support.thoroughness import examples


@st.composite
def relations(draw):
    size = draw(st.integers(1, 6))
    bits = draw(st.lists(st.booleans(), min_size=size * size, max_size=size * size))
    return np.array(bits, bool).reshape(size, size)


def rows_of(dense):
    return sorted_rows(np.argwhere(dense).astype(np.uint32))


def starts_of(dense):
    return np.concatenate([[0], np.cumsum(dense.sum(1))]).astype(np.uint32)


def targets_of(dense):
    return np.nonzero(dense)[1].astype(np.uint32)


def both(kernel, *arguments):
    """Run a kernel compiled and plain, on copies; return what it answers and what it wrote."""
    results = []
    for function in (kernel, plain_twin(kernel)):
        copies = [a.copy() if isinstance(a, np.ndarray) and a.flags.writeable else a for a in arguments]
        with np.errstate(over="ignore"):
            results.append((function(*copies), copies))
    (answer, written), (plain_answer, plain_written) = results
    for one, other in zip(written, plain_written, strict=True):
        assert isinstance(one, tuple) or np.array_equal(one, other)  # tuples are only read
    assert np.array_equal(answer, plain_answer)
    return answer, written


@settings(max_examples=examples(30), deadline=None)
@given(relations())
def test_grouping_by_the_second_column(dense):
    targets, _ = both(true_tuples.transpose_rows, rows_of(dense), starts_of(dense.T))
    assert targets.tolist() == targets_of(dense.T).tolist()


@settings(max_examples=examples(30), deadline=None)
@given(relations(), st.integers(0, 1), st.sampled_from([np.int64, np.float64]))
def test_messages_along_rows(dense, column, kind):
    rows, size = rows_of(dense), len(dense)
    weights = np.arange(1, size + 1).astype(kind)
    _, (*_, sent) = both(true_tuples.send, rows, column, weights, 1 - column, np.zeros(size, kind))
    assert np.array_equal(sent, (dense.T if column == 0 else dense) @ weights)
    values = np.arange(1, len(rows) + 1).astype(kind)
    _, (*_, gathered) = both(true_tuples.gather, rows, column, values, np.zeros(size, kind))
    assert np.array_equal(gathered, np.bincount(rows[:, column], values, size).astype(kind))
    _, (*_, weighed) = both(true_tuples.weigh, rows, column, weights, values)
    assert np.array_equal(weighed, values * weights[rows[:, column]])
    assert both(true_tuples.dot, weights, weights)[0] == weights @ weights
    _, (*_, tallied) = both(true_tuples.tally, rows, column, np.zeros(size, kind))
    assert tallied.tolist() == dense.sum(1 - column).tolist()


@settings(max_examples=examples(30), deadline=None)
@given(relations(), st.data())
def test_composition(left, data):
    size = len(left)
    right = np.random.default_rng(data.draw(st.integers(0, 99))).random((size, size)) < 0.5
    weights = np.arange(size)  # a weight of zero takes part
    room = np.zeros((size * size, 2), np.uint32), np.zeros(size * size, np.int64)
    arrays = starts_of(left), targets_of(left), starts_of(right), targets_of(right)
    found, written = both(true_tuples.compose_rows, *arrays, weights, size, *room)
    rows, values = written[-2][:found], written[-1][:found]
    product = left.astype(int) @ np.diag(weights) @ right.astype(int)
    result = np.zeros((size, size), int)
    result[rows[:, 0], rows[:, 1]] = values
    assert np.array_equal(result, product)
    assert len(np.unique(rows, axis=0)) == found


@pytest.mark.parametrize("width", [3, 64, 65, 200])
def test_common_neighbours_by_bits(width):
    rng = np.random.default_rng(width)
    left, right, driver = rng.random((9, width)) < 0.4, rng.random((7, width)) < 0.4, rng.random((9, 7)) < 0.5
    bits = []
    for dense in (left, right):
        lines = np.zeros((len(dense), (width + 63) // 64), np.uint64)
        _, written = both(true_tuples.set_bits, rows_of(dense), 0, lines)
        bits.append(written[-1])
    ends = np.arange(9), np.arange(1, 8)
    rows = rows_of(driver)
    answer, _ = both(true_tuples.common_neighbours, rows, 0, len(rows), *bits, *ends)
    common = left.astype(int) @ right.T.astype(int)
    assert answer == (driver * common * np.outer(*ends)).sum()


@settings(max_examples=examples(40), deadline=None)
@given(relations(), st.integers(0, 99), st.booleans())
def test_conditioning_on_the_pivot_of_a_four_cycle(first, seed, weighted):
    size, rng = len(first), np.random.default_rng(seed)
    second, third, fourth = rng.random((3, size, size)) < 0.5
    weights = [rng.integers(0, 4, size) if weighted else np.ones(size, int) for _ in range(4)]
    x, y, z, w = weights
    program = [[0, 0, 0, 0, 0], [2, 0, 0, 0, 0], [1, 0, 1, 0, 1], [2, 0, 0, 1, 1], [0, 0, 2, 0, 2],
               [2, 0, 0, 2, 2], [1, 2, 3, 2, 1]]  # fmt: skip
    edges = [first, second, fourth.T, third.T]  # x to y, y to z, x to w, w to z
    fill = counting_cycles.MOST_EDGES - len(edges)
    starts, targets = (tuple(map(f, [*edges, *edges[:1] * fill])) for f in (starts_of, targets_of))
    by_variable = np.stack([y, z, w])
    arguments = np.array(program), starts, targets, by_variable, x, 0, size, size
    answer, _ = both(counting_cycles.count_bindings, *arguments)
    matrices = [array.astype(int) for array in (first, second, third, fourth)]
    assert answer == np.einsum("xy,yz,zw,wx,x,y,z,w->", *matrices, x, y, z, w)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.integers(-3, 3) | st.sampled_from([2**61, 5 << 40, -(2**62)])))
def test_numbering_groups(keys):
    array, bits = np.array(keys, np.int64), max(2, (2 * len(keys)).bit_length())
    room = [np.zeros(len(keys), np.int64) for _ in range(2)]
    slots = np.full(1 << bits, -1, np.int32)
    number, written = both(counting_groups.number_groups, array, slots, np.uint64(64 - bits), *room)
    order = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    assert number == len(order)
    assert written[3].tolist() == [order[key] for key in keys]
    assert [keys[first] for first in written[4][:number]] == list(order)
    small = np.array([key % 7 for key in keys], np.int64)
    number, written = both(counting_groups.number_small_groups, small, np.full(7, -1, np.int32), *room)
    order = {key: place for place, key in enumerate(dict.fromkeys(small.tolist()))}
    assert number == len(order)
    assert written[2].tolist() == [order[key] for key in small.tolist()]
