"""Compiled circuits beside enumeration, junction trees and the polynomials of their networks."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mlnlab as ml
from mlnlab.circuits.propositional.circuit_compiling import compile_network, plan_compilation
from mlnlab.errors import ArgumentError, TooLargeError, UnsatisfiableError
from mlnlab.factors.graphs.random_variables import RandomVariable
from mlnlab.factors.graphs.tree_network import DecisionTree, TreeLeaf, TreeNetwork, TreeSplit
from tests.support.small_circuits import plain_value
from tests.support.thoroughness import examples

SEEDS = st.integers(0, 10**6)


def variables_of(rng, number):
    return tuple(RandomVariable.numbered(f"X{n}", int(rng.integers(1, 4))) for n in range(number))


def distribution(rng, size):
    """Return probabilities, zeros and equal ones among them."""
    found = rng.integers(0, 4, size).astype(float)
    found[rng.integers(size)] += 1
    return found / found.sum()


def random_trees(seed, number=6):
    """Return a network in which each tree splits on some earlier variables, at random depths."""
    rng = np.random.default_rng(seed)
    variables = variables_of(rng, number)
    names = rng.permutation(number).tolist()

    def tree(own, parents):
        nodes = []

        def grow(left):
            place = len(nodes)
            nodes.append(None)
            if left and rng.random() < 0.7:
                asked, *rest = rng.permutation(left).tolist()
                cases = [grow(rest) for _ in range(int(rng.integers(1, variables[asked].size + 1)))]
                children = [cases[int(rng.integers(len(cases)))] for _ in range(variables[asked].size)]
                nodes[place] = TreeSplit(asked, tuple(children))  # some values may share a child
            else:
                nodes[place] = TreeLeaf(tuple(distribution(rng, variables[own].size).tolist()))
            return place

        grow(parents)
        return DecisionTree(tuple(nodes))

    trees = [tree(own, names[: names.index(own)][-4:]) for own in range(number)]
    return TreeNetwork(variables, tuple(trees))


def tree_weights(network, values):
    """Return P(x) of a network with trees as the product of the leaves that x leads to."""
    found = 1.0
    for own, tree in enumerate(network.trees):
        node = tree.nodes[0]
        while isinstance(node, TreeSplit):
            node = tree.nodes[node.children[values[node.variable]]]
        found *= node.probabilities[values[own]]
    return found


def random_tables(seed, number=6):
    rng = np.random.default_rng(seed)
    variables = variables_of(rng, number)
    tables = []
    for own, variable in enumerate(variables):
        parents = rng.permutation(own)[: int(rng.integers(0, 4))].tolist()
        cells = prod(variables[p].size for p in parents)
        rows = [distribution(rng, variable.size) for _ in range(cells)]
        if cells > 1 and rng.random() < 0.5:
            rows[0] = rows[1]
        shape = [variables[p].size for p in parents] + [variable.size]
        tables.append(ml.ConditionalTable(variable, [variables[p] for p in parents], np.reshape(rows, shape)))
    return ml.BayesianNetwork(tables)


def random_graph(seed, number=6):
    rng = np.random.default_rng(seed)
    variables = variables_of(rng, number)
    factors = []
    for _ in range(int(rng.integers(1, 8))):
        scope = [variables[v] for v in rng.permutation(number)[: int(rng.integers(1, 4))]]
        weights = rng.integers(0, 4, [v.size for v in scope]) * rng.choice([1.0, 0.3])
        factors.append(ml.Factor.of(scope, weights + (rng.random() < 0.7)))
    return ml.FactorGraph(factors, variables)


def assignments(variables):
    return list(product(*(range(variable.size) for variable in variables)))


def weights_of(model):
    """Return the weight of each assignment, by the model's own definition."""
    if isinstance(model, TreeNetwork):
        return {values: tree_weights(model, values) for values in assignments(model.variables)}
    graph = model.to_factor_graph() if isinstance(model, ml.BayesianNetwork) else model
    named = [v.name for v in graph.variables]
    return {
        values: float(np.exp(graph.log_weight(dict(zip(named, values, strict=True)))))
        for values in assignments(graph.variables)
    }


MAKERS = {"trees": random_trees, "tables": random_tables, "factors": random_graph}


@pytest.mark.parametrize("maker", MAKERS)
@settings(max_examples=examples(40))
@given(seed=SEEDS)
def test_circuits_are_the_polynomials_of_their_networks(maker, seed):
    """At random values of the indicators, not only at zeros and ones."""
    model, rng = MAKERS[maker](seed), np.random.default_rng(seed)
    weights = weights_of(model)
    if not any(weights.values()):
        with pytest.raises(UnsatisfiableError):
            compile_network(model)
        return
    circuit = compile_network(model)
    circuit.check()
    assert circuit.variables == tuple(model.variables)
    assert circuit.edges <= plan_compilation(model).most_edges
    for _ in range(3):
        worth = [rng.normal(size=variable.size) for variable in model.variables]
        terms = [w * prod(worth[v][x] for v, x in enumerate(values)) for values, w in weights.items()]
        expected, scale = sum(terms), sum(map(abs, terms))
        found = plain_value(circuit, lambda v, x, worth=worth: worth[v][x])
        assert found == pytest.approx(expected, abs=1e-12 * scale)


@settings(max_examples=examples(20))
@given(SEEDS)
def test_any_order_gives_the_same_circuit_function(seed):
    model, rng = random_trees(seed), np.random.default_rng(seed)
    names = [model.variables[n].name for n in rng.permutation(len(model.variables))]
    one, other = compile_network(model), compile_network(model, order=names)
    row = {v.name: int(rng.integers(v.size)) for v in model.variables[:3]}
    assert one.log_probability(row) == pytest.approx(other.log_probability(row), abs=1e-12)


@pytest.mark.parametrize("name", ["greenhouse", "lattice"])
def test_marginals_are_those_of_the_junction_tree(name):
    network = ml.sample_network(name)
    circuit, tree = ml.compile_circuit(network), ml.junction_tree(network)
    first = network.variables[0]
    for evidence in ({}, {first.name: first.values[1]}):
        expected, found = tree.calibrated(evidence), circuit.marginals(evidence)
        assert found.log_z == pytest.approx(expected.log_z, abs=1e-9)
        for variable in circuit.variables:
            if variable.name not in evidence:
                assert dict(found[variable.name]) == pytest.approx(dict(expected[variable.name]), abs=1e-12)


def test_ground_markov_logic():
    mln = ml.MLN.from_text(
        "person = {A, B, C}\nS(person)\nF(person, person)\n1.1 F(x,y) ^ S(x) => S(y)\n-1 S(x)"
    )
    db = ml.Database.from_text("F(A, B)\n!F(B, A)", mln)
    circuit, exact = (
        ml.compile_circuit(mln, db, ["S", "F"]),
        ml.infer(mln, db, query=["S", "F"], method="enumeration"),
    )
    marginals = circuit.marginals()
    for person in "ABC":
        assert marginals[f"S({person})"]["true"] == pytest.approx(exact[f"S({person})"])
    tree = ml.junction_tree(ml.factor_graph(mln, db, ["S", "F"])).calibrated()
    assert circuit.log_z == pytest.approx(tree.log_z)


def test_contexts_keep_a_circuit_small():
    """X asks one of thirty parents, chosen by a chain of splits: its table would have 2^30 rows."""
    variables = tuple(RandomVariable.numbered(f"X{n}", 2) for n in range(31))
    roots = [DecisionTree((TreeLeaf((0.25, 0.75)),))] * 30
    nodes = []
    for parent in range(30):
        nodes += [TreeSplit(parent, (2 * parent + 1, 2 * parent + 2)), TreeLeaf((0.1, 0.9))]
    nodes.append(TreeLeaf((0.6, 0.4)))
    circuit = ml.compile_circuit(TreeNetwork(variables, (*roots, DecisionTree(tuple(nodes)))))
    assert circuit.edges < 5_000
    expected = 0.1 * (1 - 0.75**30) + 0.6 * 0.75**30
    assert circuit.query({"X30": 0}) == pytest.approx(expected)


def test_too_large_circuits_are_refused_with_a_prediction():
    rng = np.random.default_rng(1)
    variables = [RandomVariable.numbered(f"X{n}", 2) for n in range(40)]
    pairs = [(variables[i], variables[j]) for i in range(40) for j in range(i)]
    dense = ml.FactorGraph([ml.Factor(pair, rng.normal(size=(2, 2))) for pair in pairs])
    with pytest.raises(
        TooLargeError, match=r"up to about .*e1\d edges \(a table over 40 variables\)"
    ) as found:
        ml.compile_circuit(dense)
    assert found.value.estimate > 1e12
    forbidding = ml.FactorGraph([ml.Factor(pair, [[0, 0], [0, float(rng.normal())]]) for pair in pairs[:60]])
    with pytest.raises(TooLargeError, match=r"reached when \d+ of 12 variables were summed out"):
        ml.compile_circuit(forbidding, most_edges=200)


def test_extreme_weights():
    variables = [RandomVariable.numbered(f"X{n}", 2) for n in range(4)]
    rng = np.random.default_rng(2)
    for shift in (800.0, -2_000.0):
        factors = [
            ml.Factor((variables[n], variables[(n + 1) % 4]), rng.normal(size=(2, 2)) + shift)
            for n in range(4)
        ]
        graph = ml.FactorGraph(factors)
        circuit, expected = ml.compile_circuit(graph), ml.junction_tree(graph).calibrated()
        assert circuit.log_z == pytest.approx(expected.log_z)
        assert circuit.marginals()["X1"]["1"] == pytest.approx(expected["X1"]["1"])
    apart = ml.FactorGraph([ml.Factor(variables[:1], [0.0, -900.0])])
    with pytest.raises(ArgumentError, match="more than e\\^700 apart"):
        ml.compile_circuit(apart)


def test_a_graph_without_variables():
    circuit = ml.compile_circuit(ml.FactorGraph([]))
    assert (len(circuit), circuit.log_z, dict(circuit.marginals()), len(circuit.most_probable())) == (
        1,
        0.0,
        {},
        0,
    )


def test_wrong_arguments_are_refused():
    network = ml.sample_network("greenhouse")
    with pytest.raises(ArgumentError, match="is compiled, not 7"):
        ml.compile_circuit(7)
    with pytest.raises(ArgumentError, match="There is no rule 'min-fil'; did you mean min-fill"):
        ml.compile_circuit(network, order="min-fil")
    for order in (["Soil"], 3, [[1]] * len(network.variables)):
        with pytest.raises(ArgumentError, match="names every variable once"):
            ml.compile_circuit(network, order=order)
    with pytest.raises(ArgumentError, match="most_edges must be a whole number"):
        ml.compile_circuit(network, most_edges="all")
    mln = ml.MLN.from_text("S(person)")
    with pytest.raises(ArgumentError, match="A database and a query"):
        ml.compile_circuit(network, ml.Database.from_text("S(Anna)", mln))
