"""The paper's example 1 and figure 1, treewidths of known graphs, and solutions against counting."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.elimination.constraint_network import (
    constraint_network,
    exact_treewidth,
    min_fill_order,
    width_of,
)
from mlnlab.logic.formulas.formulas import Atom, Equality, Not, Or, Variable
from tests.counting.clause_cases import clause_cases
from tests.support.thoroughness import examples

FIGURE_1 = ml.MLN.from_text("t = {A, B}\nR(t, t)\nS(t, t)\nT(t, t)")
WORLD = ml.Database.from_text("R(A, B)\nR(B, A)\nS(A, B)\nT(A, B)", FIGURE_1)


def test_figure_1_of_the_paper():
    network = constraint_network(FIGURE_1.parse("!R(x, y) v S(y, z) v T(x, z)"), WORLD)
    assert network.variables == ("x", "y", "z")
    assert network.domains == (("A", "B"),) * 3
    scopes = [constraint.scope for constraint in network.constraints]
    assert scopes == [("x", "y"), ("y", "z"), ("x", "z")]
    # Rows AA, AB, BA, BB of the paper's tables (b), (c) and (d).
    tables = [[value for _, value in constraint.table()] for constraint in network.constraints]
    assert tables == [[0, 1, 1, 0], [1, 0, 1, 1], [1, 0, 1, 1]]
    assert [constraint.allowed for constraint in network.constraints] == [2, 3, 3]
    assert network.treewidth == 2
    assert network.treewidth_is_exact
    assert set(network.to_networkx().edges) == {("x", "y"), ("x", "z"), ("y", "z")}
    assert network.number_of_solutions() == 2  # x=A, y=B, z=A and x=B, y=A, z=A


@settings(deadline=None, max_examples=examples(60))
@given(clause_cases(quantifiers=False, most_literals=3))
def test_solutions_are_the_groundings_that_falsify_the_clause(case):
    clause = case.formula if isinstance(case.formula, Or) else case.formula.operands[0]
    network = constraint_network(clause, case.world)
    groundings = case.world.number_of_groundings(clause)
    counted = Counter(clause, case.world.vocabulary)(case.world)
    assert network.number_of_solutions() == groundings - counted


def as_neighbours(graph):
    return {str(node): {str(other) for other in graph[node]} for node in graph}


@pytest.mark.parametrize(
    ("graph", "width"),
    [
        (nx.path_graph(6), 1),
        (nx.cycle_graph(7), 2),
        (nx.complete_graph(5), 4),
        (nx.grid_2d_graph(3, 3), 3),
        (nx.petersen_graph(), 4),
        (nx.empty_graph(3), 0),
    ],
)
def test_treewidths_of_known_graphs(graph, width):
    assert exact_treewidth(as_neighbours(graph)) == width
    assert width_of(as_neighbours(graph), min_fill_order(as_neighbours(graph))) >= width


@settings(deadline=None, max_examples=examples(30))
@given(st.integers(1, 7), st.floats(0, 1), st.integers(0, 99))
def test_min_fill_is_an_upper_bound(size, density, seed):
    near = as_neighbours(nx.gnp_random_graph(size, density, seed))
    assert width_of(near, min_fill_order(near)) >= exact_treewidth(near)


def test_what_is_no_clause_gets_a_sentence():
    with pytest.raises(ml.ArgumentError, match="disjunction of literals"):
        constraint_network(FIGURE_1.parse("R(x, y) ^ S(y, z) v T(x, z)"), WORLD)


def test_constants_of_two_types_are_equal_by_their_names():
    mln = ml.MLN.from_text("t = {A, B}\nu = {B, C, D}\nP(t)\nQ(u)")
    db = ml.Database.from_text("P(A)\nP(B)", mln)
    x, y = Variable("x", "t"), Variable("y", "u")
    clause = Or((Not(Atom("P", (x,))), Equality(x, y)))
    network = constraint_network(clause, db)
    assert Counter(clause, db.vocabulary)(db) == 1
    assert network.number_of_solutions() == 5
    assert [constraint.allowed for constraint in network.constraints] == [2, 5]


def test_the_network_of_groundings_knows_the_models_constants():
    mln = ml.MLN.from_text("P(t)\nQ(t, t)")
    db = ml.Database.from_text("P(Bob)\nQ(Bob, Anna)", mln)
    shown = ml.groundings(ml.MLN.from_text("P(t)\nQ(t, t)\n1 P(Max) v P(x)"), db)
    assert shown.violated == shown.network.number_of_solutions() == 2
