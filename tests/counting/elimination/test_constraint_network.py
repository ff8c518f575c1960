"""The paper's example 1 and figure 1, orders of elimination, and solutions against counting."""

from __future__ import annotations

from itertools import permutations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.counting.counts.counter import Counter
from mlnlab.counting.elimination.constraint_network import constraint_network
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


@settings(deadline=None, max_examples=examples(30))
@given(st.integers(1, 7), st.floats(0, 1), st.integers(0, 99))
def test_the_order_has_the_treewidth_and_no_order_has_less(size, density, seed):
    edges = list(nx.gnp_random_graph(size, density, seed).edges)
    mln = ml.MLN.from_text("R(t, t)\nP(t)")
    x = [Variable(f"x{number}", "t") for number in range(size)]
    parts = (*(Atom("P", (one,)) for one in x), *(Atom("R", (x[one], x[other])) for one, other in edges))
    network = constraint_network(Or(parts), ml.Database.from_text("R(A, B)", mln))
    widths = {order: width(network, order) for order in permutations(network.variables)}
    assert network.treewidth_is_exact
    assert network.treewidth == min(widths.values()) == widths[tuple(network.elimination_order())]


def width(network, order):
    near, widest = network.neighbours(), 0
    for name in order:
        others = near.pop(name)
        widest = max(widest, len(others))
        for other in others:
            near[other] = near[other] | others - {other, name}
            near[other].discard(name)
    return widest


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
