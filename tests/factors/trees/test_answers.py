"""Exact answers of elimination and of junction trees against enumeration, on random models with zeros."""

from __future__ import annotations

import random
from itertools import pairwise, permutations
from math import inf, isclose

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.factors.graphs import log_tables
from mlnlab.factors.graphs.log_tables import LogTable, log_sum, maximised_out, product, summed_out
from mlnlab.factors.trees.calibrated_tree import calibrate
from mlnlab.factors.trees.elimination_rules import METHODS
from mlnlab.factors.trees.running_intersection import violations
from mlnlab.factors.trees.tree_messages import MessagePassing, inward_schedule
from tests.factors import brute_force as plain

ROUNDING = 1e-9


def same(found, expected):
    return found == expected or isclose(found, expected, rel_tol=1e-10, abs_tol=ROUNDING)


@given(st.data())
def test_log_z_marginals_and_the_most_probable_state(data):
    graph = data.draw(plain.graphs())
    evidence = data.draw(plain.evidence_on(graph))
    expected = plain.log_z(graph, evidence)
    method = data.draw(st.sampled_from(METHODS))
    assert same(ml.variable_elimination(graph, (), evidence, method=method).log_z, expected)
    tree = ml.junction_tree(graph, method=method)
    if expected == -inf:
        for ask in (tree.calibrated, lambda e: ml.most_probable(graph, e)):
            with pytest.raises(ml.UnsatisfiableError):
                ask(evidence)
        return
    found = tree.calibrated(evidence)
    assert same(found.log_z, expected)
    assert list(found.marginals) == [variable.name for variable in graph.variables]
    for variable in graph.variables:
        assert isclose(sum(found[variable.name].values()), 1.0)
        for value in variable.values:
            exact = plain.probability(graph, {variable.name: value}, evidence)
            assert abs(found[variable.name][value] - exact) < ROUNDING
    best = plain.best(graph, evidence)
    for answer in (found.most_probable(), ml.most_probable(graph, evidence, method=method)):
        assert same(answer.log_weight, best)
        assert same(plain.log_weight(graph, dict(answer)), best)
        assert all(answer[name] == value for name, value in evidence.items())


@given(st.data())
def test_joint_distributions_and_events_across_cliques(data):
    graph = data.draw(plain.graphs(weights=st.sampled_from([0.0, 0.5, 1.0, 3.0])))
    evidence = data.draw(plain.evidence_on(graph))
    event = data.draw(plain.evidence_on(graph))
    if plain.log_z(graph, evidence) == -inf:
        return
    found = ml.junction_tree(graph).calibrated(evidence)
    assert abs(found.probability(event) - plain.probability(graph, event, evidence)) < ROUNDING
    open_names = [v.name for v in graph.variables if v.name not in evidence and v.size > 1][:3]
    joint = found.joint(open_names)
    assert isclose(joint.weights.sum(), 1.0)
    other = ml.variable_elimination(graph, open_names, evidence).joint
    assert np.allclose(joint.weights, other.weights)
    for place in np.ndindex(*joint.logs.shape):
        state = {v.name: v.values[n] for v, n in zip(joint.scope, place, strict=True)}
        assert abs(joint.weights[place] - plain.probability(graph, state, evidence)) < ROUNDING


@given(st.data())
def test_beliefs_agree_on_separators(data):
    graph = data.draw(plain.graphs(weights=st.floats(0.1, 10.0)))
    tree = ml.junction_tree(graph)
    found = tree.calibrated()
    for a, b in tree.edges:
        both = []
        for clique in (a, b):
            belief = found.belief(clique)
            kept = [n for n, v in enumerate(belief.scope) if graph.number(v.name) in tree.separator(a, b)]
            out = tuple(n for n in range(len(belief.scope)) if n not in kept)
            both.append(belief.weights.sum(axis=out))
        assert np.allclose(*both)


@given(plain.networks())
def test_a_bayesian_network_adds_up_to_one(network):
    found = ml.junction_tree(network).calibrated()
    assert abs(found.log_z) < ROUNDING
    graph = network.to_factor_graph()
    state = dict(found.most_probable())
    assert same(network.log_probability(state), plain.best(graph))


def test_every_order_of_a_small_graph_gives_the_same_answers():
    graph = _cycle(4, seed=3)
    names = [variable.name for variable in graph.variables]
    expected = plain.log_z(graph)
    for order in permutations(names):
        assert same(ml.junction_tree(graph, method=list(order)).calibrated().log_z, expected)


def _cycle(size, seed):
    rng = random.Random(seed)
    variables = [ml.RandomVariable.numbered(f"v{n}", 3) for n in range(size)]
    pairs = [(variables[n], variables[(n + 1) % size]) for n in range(size)]
    return ml.FactorGraph([ml.Factor.of(pair, [rng.random() for _ in range(9)]) for pair in pairs])


def test_many_answers_from_one_tree():
    network = ml.sample_network("greenhouse")
    tree = ml.junction_tree(network)
    graph = network.to_factor_graph()
    for evidence in ({}, {"Alarm": "rings"}, {"Alarm": "silent", "Wilting": "yes"}):
        found = tree.calibrated(evidence)
        for name in ("Soil", "Pump", "Harvest"):
            asked = ml.variable_elimination(graph, name, evidence).joint
            assert np.allclose(list(found[name].values()), asked.weights)
    assert found["Sensor"]["broken"] > ml.junction_tree(network).calibrated()["Sensor"]["broken"]


def test_events_beside_values_that_cannot_be():
    network = ml.sample_network("greenhouse")
    graph = network.to_factor_graph()
    evidence = {"Pump": "broken", "Season": "summer"}  # so that Irrigation and Heating cannot be on
    found = ml.junction_tree(network).calibrated(evidence)
    for event in (
        {"Soil": "dry"},
        {"Irrigation": "off", "Alarm": "rings"},
        {"Heating": "on"},
        {"Irrigation": "on"},
    ):
        both = ml.variable_elimination(graph, (), {**evidence, **event}).log_z
        exact = np.exp(both - ml.variable_elimination(graph, (), evidence).log_z)
        assert found.probability(event) == pytest.approx(exact, abs=1e-12)


def test_what_cannot_be_has_a_sentence():
    network = ml.sample_network("greenhouse")
    for ask in (
        lambda e: ml.junction_tree(network).calibrated(e),
        lambda e: ml.most_probable(network, e),
        lambda e: ml.variable_elimination(network, "Soil", e).joint,
    ):
        with pytest.raises(ml.UnsatisfiableError, match="Pump = broken, Irrigation = on"):
            ask({"Pump": "broken", "Irrigation": "on"})
    assert ml.variable_elimination(network, (), {"Pump": "broken", "Irrigation": "on"}).log_z == -inf


def test_strange_arguments_have_sentences():
    network = ml.sample_network("greenhouse")
    tree = ml.junction_tree(network)
    found = tree.calibrated({"Pump": "works"})
    for ask, said in (
        (lambda: tree.calibrated({"Pmp": "works"}), "did you mean Pump"),
        (lambda: tree.calibrated({"Pump": "wrks"}), "did you mean works"),
        (lambda: tree.calibrated(["Pump"]), "by the names"),
        (lambda: tree.calibrated(most_cells=0), "most_cells"),
        (lambda: found["Sol"], "did you mean Soil"),
        (lambda: found.joint(["Pump"]), "Pump is evidence"),
        (lambda: found.belief(99), "numbered 0 to 9"),
        (lambda: found.probability({"Pump": "odd"}), "has no value odd"),
        (lambda: ml.junction_tree(network, method="min-fil"), "did you mean min-fill"),
        (lambda: ml.junction_tree(network, method=["Pump"]), "missing"),
        (lambda: ml.junction_tree(7), "Bayesian network is needed"),
        (lambda: ml.variable_elimination(network, "Sol"), "did you mean Soil"),
    ):
        with pytest.raises(ml.ArgumentError, match=said):
            ask()
    assert found.probability({"Pump": "broken"}) == 0
    assert same(found.probability({"Pump": "works"}), 1.0)


def test_what_is_too_large_is_refused_before_it_is_made():
    variables = [ml.RandomVariable.numbered(f"v{n}", 10) for n in range(40)]
    ties = [ml.Factor.of((a, b), np.ones(100)) for n, a in enumerate(variables) for b in variables[:n]]
    graph = ml.FactorGraph(ties)
    tree = ml.junction_tree(graph)
    for ask in (tree.calibrated, lambda: ml.variable_elimination(graph), lambda: ml.most_probable(graph)):
        with pytest.raises(ml.TooLargeError, match="table over 40 variables") as caught:
            ask()
        assert caught.value.estimate == 1e40
        assert any("evidence" in way for way in caught.value.remedies)
    known = {variable.name: 3 for variable in variables[4:]}
    assert same(tree.calibrated(known).log_z, np.log(10**4))
    with pytest.raises(ml.TooLargeError, match="4 variables"):
        tree.calibrated(known, most_cells=9_999)


def test_small_probabilities_keep_their_digits():
    variables = [ml.RandomVariable.numbered(f"v{n}", 2) for n in range(400)]
    factors = [ml.Factor.of((variables[0],), [0.5, 0.5])]
    factors += [ml.Factor.of(p, [[0.9, 0.1], [0.2, 0.8]]) for p in pairwise(variables)]
    # A large common factor, which a difference of logarithms would lose digits to.
    factors.append(ml.Factor((), [1e12]))
    found = ml.junction_tree(ml.FactorGraph(factors)).calibrated()
    event = {variable.name: n % 2 for n, variable in enumerate(variables[:60])}
    exact = 0.5 * 0.1**30 * 0.2**29
    assert isclose(found.probability(event), exact, rel_tol=1e-12)


def test_weights_without_a_floating_point_number():
    one, other = (ml.RandomVariable.numbered(name, 2) for name in "ab")
    graph = ml.FactorGraph(
        [ml.Factor((one, other), [[-5000, -4000], [-6000, 4000]]), ml.Factor((one,), [8000, 0])]
    )
    found = ml.junction_tree(graph).calibrated()
    assert same(found.log_z, 4000 + np.log(2))
    assert same(found["a"]["0"], 0.5)


def test_more_than_64_variables_of_one_value():
    variables = [ml.RandomVariable.numbered(f"v{n}", 1) for n in range(70)]
    pairs = [(variables[0], variable) for variable in variables[1:]]
    graph = ml.FactorGraph([ml.Factor.of(pair, [2.0]) for pair in pairs])
    wide = ml.junction_tree(graph, method=[variable.name for variable in variables])
    assert wide.width == 69
    assert same(wide.calibrated().log_z, 69 * np.log(2))
    assert same(ml.most_probable(graph).log_weight, 69 * np.log(2))
    assert ml.variable_elimination(graph, "v3").joint.weights.tolist() == [1.0]


# --- the tables themselves ------------------------------------------------------------------------


def test_log_sums_of_zeros_and_of_large_numbers():
    table = np.array([[-np.inf, 0.0, 1e5], [-np.inf, -np.inf, 1e5]])
    assert np.array_equal(log_sum(table, 0), [-np.inf, 0.0, 1e5 + np.log(2)])


@pytest.mark.parametrize("stretch", [1, 7, 64])
@pytest.mark.parametrize(("kept", "out"), [((0,), (1, 2)), ((), (0, 1, 2)), ((2, 0), (1,)), ((0, 1, 2), ())])
def test_large_tables_are_gone_through_in_stretches(kept, out, stretch, monkeypatch):
    rng = np.random.default_rng(2)
    sizes = {0: 5, 1: 6, 2: 20}
    zeros = np.where(rng.random((20, 5)) < 0.6, -np.inf, rng.integers(-3, 3, (20, 5)).astype(float))
    tables = [LogTable((2, 0), zeros), LogTable((1,), np.arange(6.0) // 2)]  # with ties
    whole = product(tables, (0, 1, 2), sizes), summed_out(tables, kept, out, sizes).logs
    best = maximised_out(tables, kept, out, sizes)
    monkeypatch.setattr(log_tables, "STRETCH", stretch)
    assert np.array_equal(product(tables, (0, 1, 2), sizes), whole[0])
    assert np.allclose(summed_out(tables, kept, out, sizes).logs, whole[1], rtol=1e-12)
    parts = maximised_out(tables, kept, out, sizes)
    assert np.array_equal(parts[0].logs, best[0].logs)
    assert np.array_equal(parts[1], best[1])


@pytest.mark.parametrize(("kept", "out"), [((0,), (1, 2)), ((), (0, 1, 2)), ((2, 0), (1,)), ((0, 1, 2), ())])
def test_both_layouts_of_a_table(kept, out):
    rng = np.random.default_rng(1)
    sizes = {0: 5, 1: 6, 2: 20}
    tables = [LogTable((2, 0), rng.normal(size=(20, 5))), LogTable((1, 2), rng.normal(size=(6, 20)))]
    whole = np.exp(tables[0].logs.T[:, None, :] + tables[1].logs[None])
    expected = np.log(whole.sum(axis=out)).transpose(np.argsort(np.argsort(kept)))
    found = summed_out(tables, kept, out, sizes)
    assert np.allclose(found.logs, expected)
    most, places = maximised_out(tables, kept, out, sizes)
    assert np.allclose(most.logs, np.log(whole.max(axis=out)).transpose(np.argsort(np.argsort(kept))))
    assert places.shape == most.logs.shape


# --- the structure --------------------------------------------------------------------------------


@given(plain.graphs())
def test_junction_trees_are_what_networkx_says_they_are(graph):
    import networkx as nx

    tree = ml.junction_tree(graph)
    assert nx.is_forest(tree.to_networkx())
    scopes = [graph.scope(factor) for factor in graph.factors]
    assert violations(tree.cliques, tree.edges, scopes, tree.homes) == ()
    for number in range(len(graph.variables)):
        with_it = [k for k, clique in enumerate(tree.cliques) if number in clique]
        assert nx.is_connected(tree.to_networkx().subgraph(with_it))
    primal = nx.Graph((a, b) for a, near in enumerate(graph.neighbours()) for b in near)
    covered = {frozenset((a, b)) for c in tree.cliques for a in c for b in c if a < b}
    assert {frozenset(edge) for edge in primal.edges} <= covered


def test_the_checker_finds_what_is_wrong():
    cliques, edges = [(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2)]
    assert violations(cliques, edges) == ("The 2 cliques with variable 0 do not hang together.",)
    assert violations([(0, 1), (1, 2)], []) == ("The 2 cliques with variable 1 do not hang together.",)
    assert any("closes a cycle" in said for said in violations([(0,), (0,)], [(0, 1), (1, 0)]))
    assert violations([(0, 1)], [], [(0, 2)], [0]) == ("Factor 0 is not over variables of its clique 0.",)
    # A separator that lost a variable on the way between two cliques that share it.
    assert violations([(0, 1), (1,), (0, 1)], [(0, 1), (1, 2)])


def test_a_tree_without_running_intersection_is_refused():
    graph = _cycle(3, seed=1)
    cliques, edges = ((0, 1), (1, 2), (0, 2)), ((0, 1), (1, 2))
    with pytest.raises(ml.ArgumentError, match="do not hang together"):
        ml.JunctionTree(graph, cliques, edges, (0, 1, 2))


def test_messages_go_inward_and_then_outward():
    tree = ml.junction_tree(ml.sample_network("greenhouse"))
    states = list(tree)
    assert len(states) == len(tree.passing()) == 1 + 2 * len(tree.edges)
    assert [state.phase for state in states] == ["ready"] + ["inward"] * 9 + ["outward"] * 9
    inward = [(state.source, state.target) for state in states[1:10]]
    assert [(state.target, state.source) for state in states[10:]] == inward[::-1]
    known = [state.log_z for state in states]
    assert known[:9] == [None] * 9
    assert abs(known[-1]) < ROUNDING
    assert all(np.isfinite(value) for state in states for value in state.metrics().values())


def test_a_wrong_schedule_is_noticed():
    """A message that is sent before its own have come is an error, never a wrong answer."""
    passing = ml.junction_tree(_cycle(6, seed=2)).passing()
    wrong = MessagePassing(passing.tree, passing.graph, passing.scopes, passing.roots, passing.schedule[::-1])
    with pytest.raises(KeyError):
        calibrate(wrong)


def test_roots_are_in_the_middle():
    path = [[1], [0, 2], [1, 3], [2, 4], [3], []]
    roots, schedule = inward_schedule(path)
    assert roots == (2, 5)
    assert sorted(schedule) == [(0, 1), (1, 2), (3, 2), (4, 3)]
    assert schedule.index((0, 1)) < schedule.index((1, 2))


def test_parts_that_share_nothing():
    a, b, c = (ml.RandomVariable.numbered(name, 2) for name in "abc")
    graph = ml.FactorGraph([ml.Factor.of((a,), [1, 2]), ml.Factor.of((b, c), [1, 2, 3, 4])], (a, b, c))
    found = ml.junction_tree(graph).calibrated()
    assert same(found.log_z, np.log(30))
    assert found.probability({"a": 1, "c": 0}) == pytest.approx(2 / 3 * 4 / 10)
    assert found.joint(["a", "b"]).weights == pytest.approx(np.outer([1 / 3, 2 / 3], [0.3, 0.7]))
    beliefs = [found.belief(clique).weights for clique in range(2)]
    assert sorted(belief.size for belief in beliefs) == [2, 4]
    assert [belief.sum() for belief in beliefs] == pytest.approx([1, 1])


def test_a_graph_of_nothing_but_evidence():
    graph = ml.sample_network("greenhouse").to_factor_graph()
    state = {variable.name: variable.values[0] for variable in graph.variables}
    for known in (ml.junction_tree(graph).calibrated(state), ml.junction_tree(graph, state).calibrated()):
        assert same(known.log_z, plain.log_weight(graph, state))
        assert dict(known.most_probable()) == state
    assert ml.junction_tree(graph).calibrated(state, most_cells=1).evidence == state
    assert ml.junction_tree(ml.FactorGraph([])).calibrated().log_z == 0


# --- asking for what is known -------------------------------------------------------------------------


@pytest.mark.parametrize("query", [["Wilting"], ["Wilting", "Soil"], ["Soil", "Wilting", "Season"]])
def test_variable_elimination_answers_for_what_is_evidence(query):
    network = ml.sample_network("greenhouse")
    evidence = {"Wilting": "yes", "Season": "summer"}
    asked = ml.variable_elimination(network, query, evidence)
    found = asked.joint
    assert [variable.name for variable in found.scope] == query
    tree = ml.junction_tree(network).calibrated(evidence)
    for values, weight in np.ndenumerate(found.weights):
        event = {v.name: v.values[place] for v, place in zip(found.scope, values, strict=True)}
        assert weight == pytest.approx(tree.probability(event), abs=1e-12)
        if any(event.get(name, value) != value for name, value in evidence.items()):
            assert weight == 0
    assert found.weights.sum() == pytest.approx(1)
    assert asked.log_z == pytest.approx(tree.log_z)
    assert len(list(asked)) > 1


def test_of_what_was_fixed_before_only_the_value_is_left():
    graph = ml.sample_network("greenhouse").to_factor_graph().given({"Wilting": "yes"})
    assert ml.variable_elimination(graph, "Wilting").joint.to_frame().values.tolist() == [["yes", 1.0]]
    with pytest.raises(ml.ArgumentError, match="did you mean Wilting"):
        ml.variable_elimination(ml.sample_network("greenhouse"), "Wiltin")


def test_impossible_evidence_is_said_where_it_is_asked_for_itself():
    rain, wet = (ml.RandomVariable(name, ("no", "yes")) for name in ("Rain", "Wet"))
    graph = ml.FactorGraph([ml.Factor.of((rain,), [1, 0]), ml.Factor.of((rain, wet), [[1, 0], [1, 1]])])
    asked = ml.variable_elimination(graph, ["Wet"], {"Wet": "yes"})
    assert asked.log_z == -inf
    with pytest.raises(ml.UnsatisfiableError, match="Wet = yes"):
        print(asked.joint)
