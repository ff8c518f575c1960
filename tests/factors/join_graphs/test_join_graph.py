"""Join graphs: every table has a home, clusters keep to their bound, and labels run as they have to."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.factors.graphs.log_tables import LogTable, product
from mlnlab.factors.join_graphs import cluster_tables
from mlnlab.factors.join_graphs.join_graph import join_graph
from mlnlab.factors.join_graphs.propagation import ClusterParams, Propagation
from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.messages import cluster_messages
from tests.support.thoroughness import examples


@st.composite
def cases(draw):
    """Draw scopes over a few variables, their sizes, an order of elimination, and a bound."""
    number = draw(st.integers(1, 6))
    scope = st.lists(st.integers(0, number - 1), max_size=4, unique=True).map(lambda one: tuple(sorted(one)))
    scopes = draw(st.lists(scope, max_size=8))
    sizes = dict(enumerate(draw(st.lists(st.integers(1, 3), min_size=number, max_size=number))))
    order = draw(st.permutations(range(number)))
    return scopes, order, sizes, draw(st.integers(1, number + 1)), draw(st.integers(0, 10**6))


def tables_of(scopes, sizes, seed):
    """Return a table for each scope, a fifth of the cells forbidden."""
    random = np.random.default_rng(seed)
    tables = []
    for scope in scopes:
        shape = [sizes[variable] for variable in scope]
        logs = np.where(random.random(shape) < 0.2, -np.inf, random.normal(0, 2, shape))
        tables.append(LogTable(scope, np.asarray(logs)))
    return tables


def log_z_of(tables, sizes):
    cells = product(tables, tuple(sizes), sizes)
    most = float(cells.max())
    return most if most == -np.inf else most + float(np.log(np.exp(cells - most).sum()))


@given(cases())
@settings(max_examples=examples(200), deadline=None)
def test_tables_have_homes_and_clusters_keep_to_the_bound(case):
    scopes, order, sizes, i, _ = case
    graph = join_graph(scopes, order, sizes, i)
    for scope, home in zip(scopes, graph.homes, strict=True):
        assert set(scope) <= set(graph.clusters[home])
    widest = max(map(len, scopes), default=0)
    assert graph.widest <= max(i, widest, 1)


@given(cases())
@settings(max_examples=examples(200), deadline=None)
def test_the_links_that_have_a_variable_are_a_tree_over_the_clusters_that_have_it(case):
    scopes, order, sizes, i, _ = case
    graph = join_graph(scopes, order, sizes, i)
    for variable in sizes:
        having = {number for number, scope in enumerate(graph.clusters) if variable in scope}
        links = [link for link in graph.links if variable in link.label]
        assert len(links) == len(having) - 1
        reached = {min(having)}
        for _ in links:
            reached |= {
                end for link in links for end in (link.one, link.other) if reached & {link.one, link.other}
            }
        assert reached == having
    for link in graph.links:
        assert set(link.label) <= set(graph.clusters[link.one]) & set(graph.clusters[link.other])


@given(cases(), st.sampled_from(["residual", "in turn"]))
@settings(max_examples=examples(200), deadline=None)
def test_log_z_is_exact_in_trees(case, turns):
    scopes, order, sizes, i, seed = case
    tables = tables_of(scopes, sizes, seed)
    graph = join_graph(scopes, order, sizes, i)
    passing = Propagation(graph, tables, ClusterParams(i=i, turns=turns, sweeps=60))
    settled, estimate, truth = passing.settle(), passing.estimate_log_z(), log_z_of(tables, sizes)
    assert not np.isnan(estimate)
    if graph.is_tree:
        assert settled
        assert estimate == pytest.approx(truth, abs=1e-10) if np.isfinite(truth) else estimate == truth


@pytest.mark.parametrize("i", [2, 3, 4, 5])
def test_clusters_are_as_wide_as_they_may_be_and_no_wider(i):
    pairs = list(combinations(range(6), 2))
    assert join_graph(pairs, range(6), dict.fromkeys(range(6), 2), i).widest == i


@given(cases())
@settings(max_examples=examples(60), deadline=None)
def test_wide_clusters_are_a_tree(case):
    scopes, order, sizes, _, _ = case
    assert join_graph(scopes, order, sizes, len(sizes)).is_tree


def test_a_junction_tree_settles_in_one_sweep_in_turn():
    scopes, sizes = [(0, 1), (1, 2), (2, 3), (1, 4)], dict.fromkeys(range(5), 3)
    tables = tables_of(scopes, sizes, 5)
    passing = Propagation(join_graph(scopes, range(5), sizes, 5), tables, ClusterParams(i=5, turns="in turn"))
    passing.sweep()
    assert passing.estimate_log_z() == pytest.approx(log_z_of(tables, sizes), abs=1e-12)
    assert passing.sweep() < 1e-12


def test_both_orders_settle_at_one_place():
    scopes, sizes = [(0, 1), (1, 2), (2, 3), (0, 3), (1, 3)], dict.fromkeys(range(4), 3)
    tables = [
        LogTable(table.scope, np.maximum(table.logs, -1.0) / 3) for table in tables_of(scopes, sizes, 2)
    ]
    graph = join_graph(scopes, range(4), sizes, 2)
    found = []
    for turns in ("residual", "in turn"):
        passing = Propagation(graph, tables, ClusterParams(i=2, turns=turns, sweeps=500, tolerance=1e-13))
        assert passing.settle()
        found.append((passing.estimate_log_z(), passing.told.messages.copy()))
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-11)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-10)


def test_plain_and_compiled_messages_are_the_same():
    scopes, sizes = [(0, 1), (1, 2), (0, 2)], dict.fromkeys(range(3), 3)
    told = []
    for function in (cluster_messages.sweep_in_turn, plain_twin(cluster_messages.sweep_in_turn)):
        passing = Propagation(
            join_graph(scopes, range(3), sizes, 2), tables_of(scopes, sizes, 8), ClusterParams(i=2)
        )
        for _ in range(3):
            function(passing.clusters, passing.told, passing.changes, 0.2)
        told.append(passing.told.messages.copy())
    np.testing.assert_allclose(*told, rtol=1e-12)


@pytest.mark.parametrize("i", [0, -1, 1.5, True])
def test_an_impossible_bound_gets_a_sentence(i):
    with pytest.raises(ArgumentError, match="i must be a whole number of at least 1"):
        ClusterParams(i=i)


def test_clusters_that_would_be_too_large_are_refused_before_they_are_made():
    sizes = dict.fromkeys(range(4), 1_000)
    graph = join_graph([(0, 1), (1, 2), (2, 3), (3, 0)], range(4), sizes, 4)
    with pytest.raises(TooLargeError, match="choose a smaller i"):
        cluster_tables.refuse_large_clusters(graph)
