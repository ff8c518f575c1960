"""χ² is scipy's, and Grow-Shrink finds the blankets of Bayesian networks, by an oracle and by samples."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, chi2_contingency

from mlnlab.structure.templates.grow_shrink import ChiSquares, Independence, blanket_changes
from mlnlab.structure.templates.template_networks import (
    BOTH,
    EITHER,
    blankets_after,
    links_of,
    network_changes,
)
from tests.support.thoroughness import examples


@st.composite
def tables(draw):
    """Draw a Boolean table of few columns, some of which often depend on each other or are constant."""
    columns, rows = draw(st.integers(2, 5)), draw(st.integers(1, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    table = rng.random((rows, columns)) < rng.choice([0.0, 0.1, 0.5, 0.9, 1.0], columns)
    if draw(st.booleans()):
        table[:, 1] = table[:, 0] ^ (rng.random(rows) < 0.1)
    return table


def by_scipy(table, one, other, given):
    """Sum chi2_contingency over the strata in which both columns vary."""
    statistic, freedom = 0.0, 0
    for values in {tuple(row) for row in table[:, given].tolist()}:
        stratum = table[(table[:, given] == values).all(axis=1)]
        counts = np.zeros((2, 2))
        np.add.at(counts, (stratum[:, one].astype(int), stratum[:, other].astype(int)), 1)
        if counts.any(axis=0).all() and counts.any(axis=1).all():
            found = chi2_contingency(counts, correction=False)
            statistic, freedom = statistic + found.statistic, freedom + found.dof
    return statistic, freedom, chi2.sf(statistic, freedom) if freedom else 1.0


@settings(max_examples=examples(200), deadline=None)
@given(tables())
def test_the_statistic_is_that_of_scipy_summed_over_strata(table):
    tests, columns = ChiSquares(table, 0), table.shape[1]
    for size in range(columns - 1):
        for given_columns in combinations(range(2, columns), size):
            others = [n for n in range(1, columns) if n not in given_columns]
            for other, found in zip(others, tests(0, others, given_columns), strict=True):
                np.testing.assert_allclose(found, by_scipy(table, 0, other, list(given_columns)), rtol=1e-9)


def test_many_columns_and_few_are_tested_alike():
    table = np.random.default_rng(0).random((80, 9)) < 0.4
    tests = ChiSquares(table, 0)
    together = tests(2, [0, 1, 3, 5, 6, 7, 8], (4,))
    assert together == [tests(2, [other], (4,))[0] for other in (0, 1, 3, 5, 6, 7, 8)]


def test_no_test_is_made_of_too_few_rows():
    rng = np.random.default_rng(1)
    table = rng.random((79, 4)) < 0.5
    assert ChiSquares(table, 5)(0, [1], ()) is not None  # 79 rows for 4 cells
    assert ChiSquares(table, 5)(0, [1], (2, 3)) is None  # for 16 cells
    assert ChiSquares(np.vstack([table, table[:1]]), 5)(0, [1], (2, 3)) is not None
    table[:, 1] = table[:, 0]
    table[:, 2] = table[:, 0] ^ (rng.random(79) < 0.2)
    # Whatever depends: growth ends where tests do, and nothing is removed without one.
    found = list(blanket_changes(0, [1, 2, 3], lambda node, others, given: None, 0.05))
    assert found == []
    assert [change.other for change in blanket_changes(0, [1, 2, 3], ChiSquares(table, 5), 0.05)] == [1]


def test_equal_columns_are_not_both_in_a_blanket():
    rng = np.random.default_rng(2)
    first = rng.random(500) < 0.5
    table = np.column_stack([first ^ (rng.random(500) < 0.1), first, first])
    assert blankets_after(list(blanket_changes(0, [1, 2], ChiSquares(table, 5), 0.05))) == {0: (1,)}


# --- Bayesian networks ----------------------------------------------------------------------------


def random_dag(rng, nodes, chance):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    order = rng.permutation(nodes).tolist()
    graph.add_edges_from(
        (order[one], order[other])
        for one, other in combinations(range(nodes), 2)
        if rng.random() < chance and len(graph.pred[order[other]]) < 3
    )
    return graph


def blanket_of(graph, node):
    """Return parents, children, and the other parents of these."""
    family = {parent for child in graph.succ[node] for parent in (*graph.pred[child], child)}
    return (family | set(graph.pred[node])) - {node}


def oracle(graph):
    """Return tests that know which variables are separated."""

    def test(node, others, given):
        apart = (nx.is_d_separator(graph, {node}, {other}, set(given)) for other in others)
        return [Independence(0.0, 1, 1.0) if one else Independence(1.0, 1, 0.0) for one in apart]

    return test


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.sampled_from([0.2, 0.4, 0.7]))
def test_with_an_oracle_blankets_are_right_whatever_the_network(seed, nodes, chance):
    graph = random_dag(np.random.default_rng(seed), nodes, chance)
    everything = range(nodes)
    changes = [
        change for node in everything
        for change in blanket_changes(node, [n for n in everything if n != node], oracle(graph), 0.05)
    ]  # fmt: skip
    found = blankets_after(changes)
    assert {node: set(found.get(node, ())) for node in everything} == {
        node: blanket_of(graph, node) for node in everything
    }
    moral = {tuple(sorted((n, other))) for n in everything for other in blanket_of(graph, n)}
    assert set(links_of(found, EITHER)) == set(links_of(found, BOTH)) == moral


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 8))
def test_fewer_blankets_give_the_same_links_among_the_neighbours_of_the_head(seed, nodes):
    graph = random_dag(np.random.default_rng(seed), nodes, 0.4)
    near = {0} | blanket_of(graph, 0)
    for agreement in (EITHER, BOTH):
        changes = list(network_changes(range(nodes), oracle(graph), 0.05, agreement))
        links = links_of(blankets_after(changes), agreement)
        found = {link for link in links if set(link) <= near}
        assert found == {tuple(sorted((n, o))) for n in near for o in blanket_of(graph, n) if o in near}


def sampled(graph, rng, rows):
    """Sample a network each of whose variables depends strongly on each parent."""
    table = np.zeros((rows, len(graph)), bool)
    for node in nx.topological_sort(graph):
        slope = rng.choice([-1.0, 1.0], len(graph.pred[node])) * 2.0
        score = (2.0 * table[:, list(graph.pred[node])] - 1.0) @ slope if len(slope) else np.zeros(rows)
        table[:, node] = rng.random(rows) < 1 / (1 + np.exp(-score))
    return table


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1), (1, 2), (2, 3), (3, 4)],  # a chain
        [(0, 2), (1, 2), (2, 3), (4, 3)],  # two colliders
        [(0, 1), (0, 2), (0, 3), (0, 4)],  # a star
        [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)],  # a diamond with a tail
    ],
)
def test_samples_of_known_networks_have_their_blankets(edges):
    graph = nx.DiGraph(edges)
    right = 0
    for seed in range(5):
        tests = ChiSquares(sampled(graph, np.random.default_rng(seed), 20_000), 5)
        changes = [c for n in graph for c in blanket_changes(n, sorted(set(graph) - {n}), tests, 0.001)]
        found = blankets_after(changes)
        right += sum(set(found.get(node, ())) == blanket_of(graph, node) for node in graph)
    assert right >= 24  # of 25: each of some 20 tests of a network errs once in 1,000


def test_a_change_tells_the_test_that_it_was_made_for():
    graph = nx.DiGraph([(0, 1), (1, 2)])
    table = sampled(graph, np.random.default_rng(3), 5_000)
    changes = list(blanket_changes(0, [1, 2], ChiSquares(table, 5), 0.05))
    for change in changes:
        found = by_scipy(table, change.node, change.other, list(change.given))
        np.testing.assert_allclose((change.statistic, change.freedom, change.p), found, rtol=1e-9)
        assert (change.p <= 0.05) == change.added
