"""Elimination orders, their costs, and treewidths, against definitions and known graphs."""

from __future__ import annotations

from itertools import combinations, permutations
from math import prod
from time import process_time

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.factors.trees.elimination_order import elimination_steps
from mlnlab.factors.trees.elimination_rules import METHODS, eliminate, fill_of
from mlnlab.factors.trees.treewidth import _order_within, degeneracy, minor_min_width, treewidth_of, width_of
from tests.factors import brute_force as plain
from tests.support.pace import slower


def neighbours(graph):
    numbers = {node: number for number, node in enumerate(graph)}
    return tuple(frozenset(numbers[other] for other in graph[node]) for node in graph)


def model(graph, sizes=None):
    variables = {n: ml.RandomVariable.numbered(f"v{n}", (sizes or {}).get(n, 2)) for n in graph}
    ties = []
    for a, b in graph.edges:
        shape = variables[a].size * variables[b].size
        ties.append(ml.Factor.of((variables[a], variables[b]), [1.0] * shape))
    return ml.FactorGraph(ties, variables.values())


@st.composite
def random_graphs(draw, most=8):
    size = draw(st.integers(1, most))
    pairs = list(combinations(range(size), 2))
    graph = nx.Graph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(pair for pair in pairs if draw(st.booleans()))
    return graph


def by_definition(near, order):
    """Width, fill and cliques of an order, written without any shared code."""
    graph = {n: set(others) for n, others in enumerate(near)}
    cliques, fill = [], set()
    for variable in order:
        others = graph.pop(variable)
        cliques.append(frozenset(others | {variable}))
        for a, b in combinations(sorted(others), 2):
            if b not in graph[a]:
                fill.add((a, b))
                graph[a].add(b)
                graph[b].add(a)
        for other in others:
            graph[other].discard(variable)
    return cliques, fill


@given(random_graphs(), st.sampled_from(METHODS), st.data())
def test_steps_are_what_the_definition_says(graph, method, data):
    sizes = {n: data.draw(st.integers(1, 4)) for n in graph}
    whole = model(graph, sizes)
    order = ml.elimination_order(whole, method)
    cliques, fill = by_definition(whole.neighbours(), order.numbers)
    states = list(order)
    assert sorted(order.numbers) == list(range(len(graph)))
    assert list(order.cliques) == cliques == [frozenset(state.clique) for state in states[1:]]
    assert {edge for state in states for edge in state.fill} == fill
    assert order.width == max(map(len, cliques)) - 1
    costs = [prod(sizes[n] for n in clique) for clique in cliques]
    assert (order.largest, order.cells) == (max(costs), sum(costs))
    assert states == list(order)
    assert states[0].metrics() == {"width": 0, "fill edges": 0, "log10 of cells": 0}


@given(random_graphs(), st.sampled_from(METHODS))
def test_each_choice_is_the_least_by_its_rule(graph, method):
    """Measured anew at every step: what the incremental bookkeeping must not get wrong."""
    whole = model(graph)
    near = [set(others) for others in whole.neighbours()]
    left = set(range(len(near)))
    for variable in ml.elimination_order(whole, method).numbers:

        def measure(n):
            others = sorted(near[n])
            fill = sum(b not in near[a] for a, b in combinations(others, 2))
            return {"min-fill": fill, "min-width": len(others), "min-weight": len(others)}[method]

        assert measure(variable) == min(map(measure, left))
        left.discard(variable)
        eliminate(near, variable, fill_of(near, variable))


@given(random_graphs(most=7))
def test_treewidth_is_the_least_width_of_all_orders(graph):
    near = neighbours(graph)
    exact = min(width_of(near, order) for order in permutations(range(len(near))))
    found = treewidth_of(near)
    assert found.is_exact
    assert found.upper == exact == width_of(near, found.order)
    bounds = {n: set(others) for n, others in enumerate(near)}
    assert degeneracy(bounds) <= minor_min_width(bounds) <= exact
    assert degeneracy(bounds) == max(nx.core_number(graph).values(), default=0)


@given(random_graphs(most=6), st.integers(0, 5))
def test_orders_within_a_width_are_found_just_where_there_are_some(graph, width):
    near = neighbours(graph)
    exact = min(width_of(near, order) for order in permutations(range(len(near))))
    found, _ = _order_within([sum(1 << other for other in others) for others in near], width, 10_000)
    assert (found is not None) == (exact <= width)
    if found is not None:
        assert sorted(found) == list(range(len(near)))
        assert width_of(near, found) <= width


def test_where_the_bounds_differ_the_dynamic_programme_decides():
    # Its lower bound is 5, and the rule of the least fill finds 7.
    graph = nx.random_regular_graph(4, 18, seed=4)
    near = neighbours(graph)
    bound = minor_min_width({n: set(others) for n, others in enumerate(near)})
    found = treewidth_of(near)
    assert bound < found.upper
    assert found.is_exact
    bits = [sum(1 << other for other in others) for others in near]
    assert _order_within(bits, found.upper - 1, 10**6)[0] is None
    assert width_of(near, found.order) == found.upper


@pytest.mark.parametrize(
    ("graph", "width"),
    [
        (nx.path_graph(30), 1),
        (nx.cycle_graph(30), 2),
        (nx.complete_graph(9), 8),
        (nx.complete_bipartite_graph(4, 9), 4),
        (nx.grid_2d_graph(4, 12), 4),
        (nx.grid_2d_graph(5, 5), 5),
        (nx.petersen_graph(), 4),
        (nx.hypercube_graph(4), 6),
        (nx.balanced_tree(3, 4), 1),
        (nx.empty_graph(5), 0),
        (nx.empty_graph(0), 0),
    ],
    ids=[
        "path",
        "cycle",
        "complete",
        "bipartite",
        "ladder",
        "grid",
        "petersen",
        "hypercube",
        "tree",
        "bare",
        "none",
    ],
)
def test_known_treewidths(graph, width):
    found = treewidth_of(neighbours(graph))
    assert (found.lower, found.upper) == (width, width)
    assert width_of(neighbours(graph), found.order) == width


def test_where_it_takes_too_long_there_are_bounds():
    graph = nx.random_regular_graph(5, 60, seed=1)
    started = process_time()
    found = treewidth_of(neighbours(graph), most_sets=2_000)
    assert process_time() - started < 20 * slower()
    assert not found.is_exact
    assert 5 <= found.lower < found.upper == width_of(neighbours(graph), found.order)
    assert repr(found) == f"<Treewidth from {found.lower} to {found.upper}>"


@given(random_graphs(), st.sampled_from(METHODS))
def test_variables_that_go_last_go_last(graph, method):
    whole = model(graph)
    last = set(range(0, len(graph), 2))
    order = [state.variable for state in elimination_steps(whole, method, last)][1:]
    assert set(order[-len(last) :]) == last


def test_min_fill_beats_the_fewest_neighbours_where_it_should():
    # A wheel's hub has few missing edges once the rim is a clique; networkx's rule gives the same widths.
    from networkx.algorithms.approximation import treewidth_min_degree, treewidth_min_fill_in

    for seed in range(10):
        graph = nx.gnp_random_graph(25, 0.2, seed=seed)
        whole = model(graph)
        ours = [ml.elimination_order(whole, method).width for method in ("min-fill", "min-width")]
        theirs = [treewidth_min_fill_in(graph)[0], treewidth_min_degree(graph)[0]]
        assert all(abs(a - b) <= 2 for a, b in zip(ours, theirs, strict=True))


def test_a_thousand_variables_are_quick():
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(15, 70))
    whole = model(graph)
    started = process_time()
    order = ml.elimination_order(whole)
    assert process_time() - started < 20 * slower()
    assert 15 <= order.width <= 30


def test_min_weight_looks_at_sizes():
    star = nx.star_graph(3)
    whole = model(star, {0: 2, 1: 50, 2: 2, 3: 2})
    assert ml.elimination_order(whole, "min-weight").variables[0] == "v2"
    assert ml.elimination_order(whole, ["v1", "v0", "v2", "v3"]).largest == 100


def test_an_order_names_every_variable_once():
    whole = model(nx.path_graph(3))
    for order, said in ((["v0", "v0", "v1"], "once"), (["v0"], "missing: v1, v2"), (["w"], "no variable w")):
        with pytest.raises(ml.ArgumentError, match=said):
            ml.elimination_order(whole, order)
    assert repr(ml.elimination_order(whole)) == (
        "<EliminationOrder min-fill: v0, v1, v2; width 1, largest table 4 cells>"
    )


@given(plain.graphs())
def test_evidence_never_widens(graph):
    order = ml.elimination_order(graph)
    known = graph.given({graph.variables[0].name: graph.variables[0].values[0]})
    rest = [name for name in order.variables if name in known]
    assert ml.elimination_order(known, rest).width <= order.width
