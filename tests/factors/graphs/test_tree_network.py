"""Networks of decision trees: equal to enumeration, written out as tables, drawn from; wrong ones refused."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest

import mlnlab as ml
from mlnlab.factors.graphs.tree_network import DecisionTree, TreeLeaf, TreeNetwork, TreeSplit
from mlnlab.kernels.compiled import plain_twin
from mlnlab.kernels.trees import tree_walks
from tests.support.tree_networks import joint_distribution, random_tree_network

SEEDS = range(5)
A, B = (ml.RandomVariable.numbered(name, size) for name, size in (("A", 2), ("B", 3)))
HALVES, THIRDS = TreeLeaf((0.5, 0.5)), TreeLeaf((1 / 3, 1 / 3, 1 / 3))


def network_of(seed):
    return random_tree_network(np.random.default_rng(seed), variables=5, splits=8)


@pytest.mark.parametrize("seed", SEEDS)
def test_probabilities_are_those_of_enumeration(seed):
    network = network_of(seed)
    joint = joint_distribution(network)
    rows = np.array(list(joint))
    assert np.exp(network.log_likelihoods(rows)) == pytest.approx(list(joint.values()))
    table = ml.DataTable(network.variables, rows)
    assert network.log_likelihood(table) == pytest.approx(np.log(list(joint.values())).mean())
    tables = network.to_tables()
    names = [variable.name for variable in network.variables]
    for row, probability in joint.items():
        assignment = dict(zip(names, row, strict=True))
        assert np.exp(network.log_probability(assignment)) == pytest.approx(probability)
        assert np.exp(tables.log_probability(assignment)) == pytest.approx(probability)
    assert np.exp(ml.junction_tree(network.to_factor_graph()).calibrated().log_z) == pytest.approx(1)
    assert tables.parents() == network.parents()
    assert nx.is_isomorphic(network.to_networkx(), tables.to_networkx())
    order = network.topological_order()
    assert all(order.index(p) < order.index(v) for v, above in enumerate(network.parents()) for p in above)


def test_samples_have_the_networks_marginals_and_come_again_with_their_seed():
    network = network_of(3)
    rows = network.sample(40_000, seed=1)
    assert np.array_equal(rows, network.sample(40_000, seed=1))
    assert not np.array_equal(rows, network.sample(40_000, seed=2))
    joint = joint_distribution(network)
    for one, other in pairwise(range(5)):
        exact = sum(p for row, p in joint.items() if row[one] == 1 and row[other] == 0)
        drawn = ((rows[:, one] == 1) & (rows[:, other] == 0)).mean()
        assert drawn == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 40_000) + 1e-9)


def test_compiled_and_plain_walks_agree():
    from mlnlab.factors.graphs.tree_network import tree_arrays
    from mlnlab.kernels.random_numbers import streams

    trees, network = tree_arrays(network_of(2)), network_of(2)
    order = np.array(network.topological_order(), np.uint32)
    ends = []
    for kind in (lambda kernel: kernel, plain_twin):
        rows, logs = np.zeros((30, 5), np.uint32), np.zeros(30)
        with np.errstate(over="ignore"):
            kind(tree_walks.draw_rows)(trees, order, streams(1, 1)[0], np.zeros(9), rows)
        kind(tree_walks.add_log_probabilities)(trees, rows, logs)
        ends.append((rows, logs))
    assert np.array_equal(ends[0][0], ends[1][0])
    assert ends[0][1] == pytest.approx(ends[1][1])


def test_merged_leaves_are_written_out():
    tree = DecisionTree((TreeSplit(1, (1, 2, 1)), TreeLeaf((0.25, 0.75)), HALVES))
    table = TreeNetwork((A, B), (tree, DecisionTree((THIRDS,)))).to_tables()["A"]
    assert table.probabilities.tolist() == [[0.25, 0.75], [0.5, 0.5], [0.25, 0.75]]


def test_a_probability_of_zero_is_minus_infinity():
    network = TreeNetwork((A,), (DecisionTree((TreeLeaf((1.0, 0.0)),)),))
    assert network.log_probability({"A": 1}) == -np.inf
    assert network.log_likelihoods(np.array([[0], [1]])).tolist() == [0, -np.inf]


@pytest.mark.parametrize(("trees", "sentence"), [
    ([[HALVES]], "2 variables and 1 tree"),
    ([[], [THIRDS]], "The tree for A has no nodes"),
    ([[THIRDS], [THIRDS]], "a probability for each of its 2 values, and here are 3"),
    ([[TreeLeaf((0.5, 0.6))], [THIRDS]], "here they add up to 1.1"),
    ([[TreeLeaf((1.5, -0.5))], [THIRDS]], "at least 0"),
    ([[TreeLeaf((np.nan, 0.5))], [THIRDS]], "add up to nan"),
    ([[TreeSplit(0, (1, 1)), HALVES], [THIRDS]], "splits on variable 0, which is not another one"),
    ([[TreeSplit(7, (1, 1)), HALVES], [THIRDS]], "splits on variable 7"),
    ([[TreeSplit(1, (1, 1)), HALVES], [THIRDS]], "needs an edge for each of its 3 values, and has 2"),
    ([[TreeSplit(1, (1, 0, 1)), HALVES], [THIRDS]], "Node 0 of the tree for A leads to 1, 0, 1"),
    ([[TreeSplit(1, (1, 2, 1)), HALVES], [THIRDS]], "up to 1"),
    ([[TreeSplit(1, (1,) * 3), HALVES], [TreeSplit(0, (1, 1)), THIRDS]], "and this one has A → B → A"),
])  # fmt: skip
def test_wrong_networks_are_refused(trees, sentence):
    with pytest.raises(ml.ArgumentError, match=sentence):
        TreeNetwork((A, B), tuple(DecisionTree(tuple(nodes)) for nodes in trees))


@pytest.mark.parametrize(("rows", "sentence"), [
    (np.array([[0, 1], [1, -1]]), "Row 2 has a missing cell"),
    (np.array([[0, 3]]), "Row 1 has 3 for B; its values are numbered from 0 to 2"),
    (np.array([[0.0, 1.0]]), "Rows hold the numbers of 2 values each"),
    (np.array([[0, 1, 1]]), "Rows hold the numbers of 2 values each"),
    ("rows.csv", "DataTable.of"),
    (np.zeros((0, 2), int), "no rows"),
])  # fmt: skip
def test_wrong_rows_are_refused(rows, sentence):
    network = TreeNetwork((A, B), (DecisionTree((HALVES,)), DecisionTree((THIRDS,))))
    with pytest.raises(ml.ArgumentError, match=sentence):
        network.log_likelihood(rows)


def test_large_tables_are_refused():
    variables = tuple(ml.RandomVariable.numbered(f"X{n}", 2) for n in range(41))
    nodes = [*(TreeSplit(n, (n + 1, 41)) for n in range(1, 41)), HALVES, HALVES]
    first = DecisionTree((TreeSplit(1, (1, 41)), *nodes[1:]))
    network = TreeNetwork(variables, (first, *(DecisionTree((HALVES,)) for _ in range(40))))
    with pytest.raises(ml.TooLargeError, match=r"The table of X0 given 40 parents .* would have"):
        network.to_tables()


def test_names_are_found_with_a_hint():
    network = TreeNetwork((A, B), (DecisionTree((HALVES,)), DecisionTree((THIRDS,))))
    assert "A" in network
    assert network["A"].leaves() == (HALVES,)
    with pytest.raises(ml.ArgumentError, match="There is no variable C"):
        network["C"]
