"""Gains of splits by bit columns, against plain counting."""

from __future__ import annotations

from math import lgamma, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.factors.data.data_table import DataTable
from mlnlab.factors.graphs.random_variables import RandomVariable
from mlnlab.learning.networks import split_gains
from mlnlab.learning.networks.split_gains import SplitGains, lay_out, merge_equal_rows
from tests.support.thoroughness import examples


@st.composite
def tables(draw):
    """Draw a table, often with equal rows, some with missing cells."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=2, max_size=5))
    seed = draw(st.integers(0, 2**32 - 1))
    n_rows = draw(st.sampled_from([0, 1, 2, 63, 64, 65, 200, 700]))
    rng = np.random.default_rng(seed)
    rows = np.stack([rng.integers(0, size, n_rows) for size in sizes], axis=1)
    for column in draw(st.sets(st.integers(0, len(sizes) - 1), max_size=2)):
        rows[rng.random(n_rows) < 0.2, column] = -1
    variables = tuple(RandomVariable.numbered(f"X{n}", size) for n, size in enumerate(sizes))
    return DataTable(variables, rows)


def worth(counts, score, prior):
    """Return the score of a leaf, term by term."""
    total, size = sum(counts), len(counts)
    if score == "likelihood":
        return sum(n * log((n + prior) / (total + size * prior)) for n in counts if n)
    likelihood = lgamma(size * prior) - lgamma(size * prior + total)
    return likelihood + sum(lgamma(prior + n) - lgamma(prior) for n in counts)


def plain_counts(rows, chosen, own, other, sizes):
    """Return n[v, x] over the chosen rows, one at a time."""
    counts = np.zeros((sizes[other], sizes[own]), int)
    for row in rows[chosen]:
        if row[own] >= 0 and row[other] >= 0:
            counts[row[other], row[own]] += 1
    return counts


def check_leaf(gains, leaf, chosen, score, prior):
    rows, sizes = gains.table.rows, gains.sizes
    own = leaf.variable
    known = rows[chosen & (rows[:, own] >= 0), own]
    assert leaf.totals.tolist() == np.bincount(known, minlength=sizes[own]).tolist()
    measured = gains.gains(leaf)
    for other in range(len(sizes)):
        if other == own:
            assert measured[own] == 0
            continue
        counts = plain_counts(rows, chosen, own, other, sizes)
        assert gains.counts(leaf, other).tolist() == counts.tolist()
        expected = sum(worth(part, score, prior) for part in counts) - worth(counts.sum(axis=0), score, prior)
        assert measured[other] == pytest.approx(expected, abs=1e-8)


@settings(max_examples=examples(120), deadline=None)
@given(tables(), st.sampled_from(split_gains.SCORES), st.sampled_from([1.0, 0.5]), st.data())
def test_gains_and_counts_equal_plain_counting_in_every_leaf(table, score, prior, data):
    gains = SplitGains(table, score, prior)
    own = data.draw(st.integers(0, len(table.variables) - 1))
    leaf, chosen = gains.root(own), np.ones(len(table), bool)
    for _ in range(3):
        check_leaf(gains, leaf, chosen, score, prior)
        other = data.draw(st.sampled_from([n for n in range(len(table.variables)) if n != own]))
        size = table.variables[other].size
        last = data.draw(st.integers(0, size - 1))
        groups = data.draw(st.sampled_from([None, [min(value, last) for value in range(size)]]))
        children = gains.split(leaf, other, groups)
        leads = np.array(range(size) if groups is None else groups)
        assert len(children) == leads.max() + 1
        parts = [
            chosen & np.isin(table.rows[:, other], np.flatnonzero(leads == n)) for n in range(len(children))
        ]
        for child, part in zip(children, parts, strict=True):
            check_leaf(gains, child, part, score, prior)
        number = data.draw(st.integers(0, len(children) - 1))
        leaf, chosen = children[number], parts[number]


@settings(max_examples=examples(60), deadline=None)
@given(tables())
def test_merged_rows_stand_for_all_rows(table):
    kinds, times = merge_equal_rows(table.rows)
    sources, powers = lay_out(kinds, times)
    spread = [
        tuple(table.rows[row].tolist())
        for place, row in enumerate(sources.tolist())
        if row >= 0
        for _ in range(2 ** int(powers[place // 64]))
    ]
    assert sorted(spread) == sorted(map(tuple, table.rows.tolist()))


def test_equal_rows_are_counted_together():
    variables = tuple(RandomVariable.numbered(name, 2) for name in "ABC")
    rows = np.random.default_rng(0).integers(0, 2, (100_000, 3))
    gains = SplitGains(DataTable(variables, rows))
    assert len(gains.powers) <= 17  # a word for each power of two; one by one, the rows would fill 1,563
    assert gains.root(0).totals.tolist() == np.bincount(rows[:, 0]).tolist()


def test_a_variable_that_is_known_in_a_leaf_gains_nothing_there():
    variables = tuple(RandomVariable.numbered(name, 3) for name in "ABC")
    gains = SplitGains(DataTable(variables, np.random.default_rng(1).integers(0, 3, (500, 3))))
    for leaf in gains.split(gains.root(0), 2):
        assert gains.gains(leaf)[2] == 0


def test_parameters_are_smoothed():
    variables = tuple(RandomVariable.numbered(name, 3) for name in "AB")
    gains = SplitGains(DataTable(variables, [[0, 1], [0, 2], [1, 0]]))
    assert gains.probabilities(gains.root(0).totals).tolist() == [3 / 6, 2 / 6, 1 / 6]  # (n + 1)/(N + k)


def test_tables_too_large_are_refused_with_the_size(monkeypatch):
    monkeypatch.setattr(split_gains, "MOST_BYTES", 1000)
    variables = tuple(RandomVariable.numbered(name, 50) for name in "AB")
    with pytest.raises(TooLargeError, match="The columns of all values would take"):
        SplitGains(DataTable(variables, [[3, 4]]))


@pytest.mark.parametrize(("options", "sentence"), [
    ({"score": "bic"}, "score is likelihood or bayesian-dirichlet, not 'bic'"),
    ({"prior": 0}, "prior is a number above 0, not 0"),
])  # fmt: skip
def test_wrong_options_are_refused(options, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        SplitGains(DataTable((RandomVariable.numbered("A", 2),), [[0]]), **options)
