"""Variables, factors, factor graphs and Bayesian networks: what they hold, and what they refuse."""

from __future__ import annotations

import dataclasses
import pickle
from itertools import combinations, pairwise
from math import inf, isclose

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.factors.graphs.factor_graph import large_number
from tests.factors import brute_force as plain

rain = ml.RandomVariable("Rain", ("no", "yes"))
wet = ml.RandomVariable("Wet", ("no", "yes"))
sky = ml.RandomVariable("Sky", ("blue", "grey", "black"))


def test_values_have_names_and_numbers():
    truth = ml.RandomVariable("Truth", (False, True))
    assert truth.values == ("false", "true")
    assert [truth.number(value) for value in (True, "true", False)] == [1, 1, 0]
    assert ml.RandomVariable.numbered("X", 3).number(2) == 2
    with pytest.raises(ml.ArgumentError, match="Sky has no value gray; did you mean grey"):
        sky.number("gray")
    with pytest.raises(ml.ArgumentError, match="one of blue, grey, black"):
        sky.number(17)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ml.RandomVariable("", ("a",)), "needs a name"),
        (lambda: ml.RandomVariable("X", ()), "no values"),
        (lambda: ml.RandomVariable("X", "ab"), "list of values"),
        (lambda: ml.RandomVariable("X", 3), "list of values"),
        (lambda: ml.RandomVariable("X", ("a", "b", "a")), "value a twice"),
        (lambda: ml.RandomVariable("X\x1b[31m", ()), r"X�\[31m has no values"),
        (lambda: ml.Factor.of((rain, rain), np.ones(4)), "twice"),
        (lambda: ml.Factor.of((rain, sky), np.ones(5)), "needs 2 times 3 numbers, and there are 5"),
        (lambda: ml.Factor.of((rain,), [1, -1]), "negative weight"),
        (lambda: ml.Factor.of((rain,), [1, inf]), "infinite"),
        (lambda: ml.Factor.of((rain,), [1, float("nan")]), "not a number"),
        (lambda: ml.Factor.of((rain,), ["a", "b"]), "needs numbers"),
        (lambda: ml.Factor.of(("Rain",), [1, 2]), "random variables"),
        (lambda: ml.Factor("Rain", [1, 2]), "random variables"),
        (
            lambda: ml.Factor(tuple(ml.RandomVariable.numbered(f"v{n}", 1) for n in range(65)), [0]),
            "at most 64",
        ),
        (lambda: ml.FactorGraph(7), "made of factors"),
        (lambda: ml.FactorGraph([1]), "made of factors"),
        (lambda: ml.FactorGraph([], (rain, rain)), "called Rain"),
        (
            lambda: ml.FactorGraph([ml.Factor.of((rain,), [1, 1])], [ml.RandomVariable.numbered("Rain", 2)]),
            "other values",
        ),
        (
            lambda: ml.ConditionalTable(wet, (rain,), [[0.5, 0.5], [0.2, 0.7]]),
            "Wet where Rain is yes add up to 0.9",
        ),
        (lambda: ml.BayesianNetwork([ml.Factor.of((rain,), [1, 1])]), "conditional tables"),
        (lambda: ml.BayesianNetwork([ml.ConditionalTable(rain, (), [1, 0])] * 2), "two conditional tables"),
        (
            lambda: ml.BayesianNetwork([ml.ConditionalTable(wet, (rain,), np.full(4, 0.5))]),
            "Rain, which has no table",
        ),
    ],
)
def test_what_makes_no_sense_gets_a_sentence(make, said):
    with pytest.raises(ml.ArgumentError, match=said):
        make()


def test_a_cycle_is_named():
    names = [ml.RandomVariable.numbered(name, 2) for name in "abcd"]
    tables = [ml.ConditionalTable(names[3], (), [0.5, 0.5])]
    parents = {0: (3, 2), 1: (0,), 2: (1,)}
    for child, above in parents.items():
        tables.append(
            ml.ConditionalTable(names[child], [names[p] for p in above], np.full(2 ** (len(above) + 1), 0.5))
        )
    with pytest.raises(ml.ArgumentError, match=r"this one has (a → b → c → a|b → c → a → b|c → a → b → c)\."):
        ml.BayesianNetwork(tables)


def test_a_long_chain_is_no_problem_and_neither_is_a_long_cycle():
    names = [ml.RandomVariable.numbered(f"v{n}", 2) for n in range(3_000)]
    tables = [ml.ConditionalTable(names[0], (), [0.5, 0.5])]
    tables += [ml.ConditionalTable(b, (a,), np.full(4, 0.5)) for a, b in pairwise(names)]
    assert ml.BayesianNetwork(tables[::-1]).topological_order()[0] == 2_999
    tables[0] = ml.ConditionalTable(names[0], (names[-1],), np.full(4, 0.5))
    with pytest.raises(ml.ArgumentError, match="…"):
        ml.BayesianNetwork(tables)


def test_rows_that_miss_one_by_rounding_are_mended():
    table = ml.ConditionalTable(sky, (), [0.3333, 0.3333, 0.3333])
    assert isclose(table.probabilities.sum(), 1, abs_tol=1e-15)
    again = ml.ConditionalTable(sky, (), table.probabilities)
    assert np.array_equal(again.probabilities, table.probabilities)


def test_everything_is_frozen():
    network = ml.sample_network("greenhouse")
    graph = network.to_factor_graph()
    values = [
        rain,
        graph.factors[0],
        graph,
        network.tables[0],
        network,
        ml.junction_tree(graph),
        ml.elimination_order(graph),
    ]
    for value in values:
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, dataclasses.fields(value)[0].name, None)
    for array in (graph.factors[0].logs, network.tables[0].probabilities):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 3


def test_a_factor_keeps_its_own_numbers():
    given_logs = np.zeros(2)
    factor = ml.Factor((rain,), given_logs)
    given_logs[0] = 5
    assert factor.logs.tolist() == [0, 0]
    assert given_logs.flags.writeable


def test_models_travel_between_processes():
    for value in (ml.sample_network("lattice"), ml.junction_tree(ml.sample_network("greenhouse"))):
        assert repr(pickle.loads(pickle.dumps(value))) == repr(value)


@given(st.data())
def test_weights_and_evidence(data):
    graph = data.draw(plain.graphs())
    evidence = data.draw(plain.evidence_on(graph))
    known = graph.given(evidence)
    assert dict(known.evidence) == evidence
    for state in plain.states(known):
        whole = {**state, **evidence}
        assert graph.log_weight(whole) == pytest.approx(plain.log_weight(graph, whole))
        assert known.log_weight(state) == pytest.approx(graph.log_weight(whole))


def test_names_are_looked_up_with_a_hint():
    graph = ml.sample_network("greenhouse").to_factor_graph()
    with pytest.raises(ml.ArgumentError, match="did you mean Season"):
        graph["Seson"]
    with pytest.raises(ml.ArgumentError, match="is evidence here: it is summer"):
        graph.given({"Season": "summer"})["Season"]
    with pytest.raises(ml.ArgumentError, match="gives no value to"):
        graph.log_weight({})
    assert "Season" in graph
    assert "Seson" not in graph


def test_networkx():
    graph = ml.FactorGraph(
        [ml.Factor.of((rain, sky), np.ones(6), "tie"), ml.Factor.of((rain,), [1, 2])], (wet, rain, sky)
    )
    found = graph.to_networkx()
    assert nx.is_bipartite(found)
    assert set(found.edges(("factor", 0))) == {
        (("factor", 0), ("variable", "Rain")),
        (("factor", 0), ("variable", "Sky")),
    }
    assert found.nodes["factor", 0]["name"] == "tie"
    assert found.degree[("variable", "Wet")] == 0
    directed = ml.sample_network("greenhouse").to_networkx()
    assert nx.is_directed_acyclic_graph(directed)
    assert len(directed.edges) == 23


@given(plain.networks(most_variables=7), st.data())
def test_d_separation_is_what_networkx_says(network, data):
    names = [variable.name for variable in network.variables]
    if len(names) < 2:
        return
    one, other, *rest = data.draw(st.permutations(names))
    known = rest[: data.draw(st.integers(0, len(rest)))]
    expected = nx.is_d_separator(network.to_networkx(), {one}, {other}, set(known))
    assert network.d_separated(one, other, known) == expected


def test_d_separation_in_a_network_with_many_ways():
    network = ml.sample_network("greenhouse")
    graph = network.to_networkx()
    for known in ((), ("Wilting",), ("Alarm",), ("Harvest",), ("Soil", "Alarm"), ("Temperature", "Harvest")):
        for one, other in combinations([name for name in graph if name not in known], 2):
            expected = nx.is_d_separator(graph, {one}, {other}, set(known))
            assert network.d_separated(one, other, known) == expected, (one, other, known)


def test_d_separated_variables_are_independent():
    network = ml.sample_network("greenhouse")
    tree = ml.junction_tree(network)
    names = [variable.name for variable in network.variables]
    separated = 0
    for one, other in combinations(names, 2):
        if "Temperature" not in {one, other} and network.d_separated(one, other, "Temperature"):
            separated += 1
            joint = tree.calibrated({"Temperature": "mild"}).joint([one, other]).weights
            assert np.allclose(joint, np.outer(joint.sum(1), joint.sum(0)))
    assert separated > 20
    with pytest.raises(ml.ArgumentError, match="overlap"):
        network.d_separated("Soil", "Soil")


def test_reprs_are_readable():
    lattice = ml.sample_network("lattice")
    assert repr(lattice) == "<FactorGraph of 25 variables and 65 factors: 435 cells, about 8.4e11 states>"
    assert repr(lattice.given({"x0": 1})).startswith(
        "<FactorGraph of 24 variables and 65 factors, given 1 value:"
    )
    tree = ml.junction_tree(lattice)
    assert repr(tree) == "<JunctionTree of 20 cliques: width 5, largest table 729 cells>"
    assert "20 cliques" in repr(tree.passing())
    assert repr(tree.calibrated()).startswith(
        "<CalibratedTree: <VariableMarginals of 25 variables by junction tree"
    )
    assert repr(ml.variable_elimination(lattice, "x3")) == "<VariableElimination of x3: 24 variables go out>"
    assert repr(ml.most_probable(ml.FactorGraph([ml.Factor.of((rain,), [1, 2])]))).startswith(
        "<MostProbable Rain = yes;"
    )


def test_large_numbers():
    known = {0: "0", 999_999_999: "999,999,999", 10**9: "about 1.0e9", 10**20_000 * 7: "about 7.0e20000"}
    for number, words in known.items():
        assert large_number(number) == words


def test_tables_as_frames():
    frame = ml.Factor.of((rain, sky), range(6)).to_frame()
    assert list(frame.columns) == ["Rain", "Sky", "weight"]
    assert frame.iloc[5].tolist() == ["yes", "black", 5.0]
    assert ml.Factor((), [0.0]).to_frame()["weight"].tolist() == [1.0]
    found = ml.junction_tree(ml.FactorGraph([ml.Factor.of((rain,), [1, 3])])).calibrated()
    assert found.marginals.to_frame().to_numpy().tolist() == [["Rain", "no", 0.25], ["Rain", "yes", 0.75]]
    assert found.most_probable().to_frame().to_numpy().tolist() == [["Rain", "yes", False]]
