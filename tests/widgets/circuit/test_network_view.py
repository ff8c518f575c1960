"""The view of a network: its bars are exact, its trees those of the network, whatever one clicks."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

import mlnlab as ml
from mlnlab.display.scene.items import MIME_TYPE, Group, Text
from mlnlab.factors.graphs.tree_network import DecisionTree, TreeLeaf, TreeNetwork, TreeSplit
from tests.support.tree_networks import random_tree_network


def network():
    """Rain and a sprinkler wet the grass; the sprinkler is off when it rains."""
    names = ("Rain", "Sprinkler", "Wet")
    variables = tuple(ml.RandomVariable(name, ("no", "yes")) for name in names)
    leaf = TreeLeaf
    trees = (
        DecisionTree((leaf((0.7, 0.3)),)),
        DecisionTree((TreeSplit(0, (1, 2)), leaf((0.5, 0.5)), leaf((1.0, 0.0)))),
        DecisionTree((TreeSplit(0, (1, 2)), TreeSplit(1, (3, 4)), leaf((0.1, 0.9)), leaf((0.95, 0.05)),
                      leaf((0.2, 0.8)))),
    )  # fmt: skip
    return TreeNetwork(variables, trees)


def probability(net, state):
    """The product of the leaves that a state leads to, without any circuit."""
    found = 1.0
    for variable, tree in enumerate(net.trees):
        node = tree.nodes[0]
        while isinstance(node, TreeSplit):
            node = tree.nodes[node.children[state[node.variable]]]
        found *= node.probabilities[state[variable]]
    return found


def marginals(net, given):
    """The distributions given some values, by enumeration."""
    sizes = [range(variable.size) for variable in net.variables]
    shares = [[0.0] * len(size) for size in sizes]
    for state in product(*sizes):
        if all(state[number] == value for number, value in given.items()):
            for own, value in zip(shares, state, strict=True):
                own[value] += probability(net, state)
    return [[share / sum(own) for share in own] for own in shares]


@pytest.fixture
def view():
    made = ml.network_view(network())
    yield made
    made.close()


def send(view, kind, name):
    view._receive_message({"type": kind, "id": name}, [])


def items_of(view):
    return {item.id: item for item in view.static_scene().items() if item.id}


def bars(view):
    """The probabilities that stand beside the bars."""
    found = {}
    for name, item in items_of(view).items():
        if name.startswith("value-"):
            words = [child.text for child in item.children if isinstance(child, Text)][1]
            found[tuple(map(int, name.split("-")[1:]))] = float(words.strip("<> "))
    return found


def test_bars_are_the_marginals_by_enumeration_and_follow_clicks(view):
    for clicks in ((), ("value-2-1",), ("value-0-0",)):
        for name in clicks:
            send(view, "press", name)
        given = {n: view.network.variables[n].values.index(view.evidence[one.name])
                 for n, one in enumerate(view.network.variables) if one.name in view.evidence}  # fmt: skip
        wanted = marginals(view.network, given)
        for (variable, value), share in bars(view).items():
            assert share == pytest.approx(wanted[variable][value], abs=1e-4)
    assert view.evidence == {"Wet": "yes", "Rain": "no"}
    send(view, "press", "value-2-1")
    assert view.evidence == {"Rain": "no"}
    send(view, "press", "forget")
    assert view.evidence == {}


@pytest.mark.parametrize("seed", range(4))
def test_bars_of_random_networks_are_right(seed):
    net = random_tree_network(np.random.default_rng(seed))
    view = ml.network_view(net)
    last = net.variables[-1]
    view.set(last.name, last.values[0])
    wanted = marginals(net, {len(net.variables) - 1: 0})
    for (variable, value), share in bars(view).items():
        assert share == pytest.approx(wanted[variable][value], abs=1e-4)
    view.close()


def test_a_click_on_a_variable_shows_its_tree_with_the_way_of_the_evidence(view):
    send(view, "select", "variable-2")
    assert view.selected == "Wet"
    drawn = items_of(view)
    assert "a tree of 3 leaves" in drawn["tree-name"].text
    boxes = [name for name in drawn if re.fullmatch(r"branch-\d+", name)]
    assert len(boxes) == len(view.network.trees[2].nodes)
    assert "orange" not in drawn["branch-link-0"].children[0].look
    send(view, "press", "value-0-1")
    assert "orange" in str([item.look for item in items_of(view)["branch-link-1"].children])
    send(view, "select", None)
    assert view.selected is None
    assert "tree-name" not in items_of(view)


def test_evidence_of_probability_zero_is_said(view):
    view.set("Rain", "yes")
    view.set("Sprinkler", "yes")
    assert view.marginals is None
    assert "probability" in items_of(view)["given"].text
    assert "nan" not in str(view.scene)
    view.forget()
    assert view.marginals is not None


def chain(length):
    """A network whose variables have the one before as parent."""
    variables = tuple(ml.RandomVariable.numbered(f"X{n}", 2) for n in range(length))
    first = DecisionTree((TreeLeaf((0.5, 0.5)),))
    later = (
        DecisionTree((TreeSplit(n - 1, (1, 2)), TreeLeaf((0.9, 0.1)), TreeLeaf((0.1, 0.9))))
        for n in range(1, length)
    )
    return TreeNetwork(variables, (first, *later))


@pytest.mark.parametrize(("length", "drawn"), [(10, 10), (60, 60), (400, 3)])
def test_large_networks_are_drawn_as_far_as_can_be_read(length, drawn):
    view = ml.network_view(chain(length))
    view.select("X5")
    names = [name for name in items_of(view) if re.fullmatch(r"variable-\d+", name)]
    assert len(names) == drawn
    send(view, "press", "value-5-1")
    assert view.evidence == {"X5": "1"}
    assert view.marginals["X4"]["1"] == pytest.approx(0.9)
    assert (f"{length - drawn:,} variables are not drawn" in str(view.scene)) == (drawn < length)
    view.close()


def test_learned_models_are_looked_at_with_their_own_circuit():
    rows = [[0, 0], [0, 0], [1, 1], [1, 0]] * 20
    for learned in (ml.learn_circuit(rows, progress=False), ml.learn_network(rows, progress=False)):
        view = ml.network_view(learned)
        view.set(learned.table.variables[1].name, "1")
        assert max(view.marginals[learned.table.variables[0].name].values()) > 0.9
        view.close()


def test_wrong_arguments_get_sentences_and_messages_without_sense_are_left_alone(view):
    before = view.scene
    for call, words in (
        (lambda: view.set("Rian", "yes"), "no variable Rian"),
        (lambda: view.set("Rain", "maybe"), "has no value maybe"),
        (lambda: view.select("Snow"), "no variable Snow"),
        (lambda: ml.network_view("net"), "network of decision trees"),
    ):
        with pytest.raises(ml.ArgumentError, match=re.escape(words)):
            call()
    for content in ({}, {"type": "press", "id": "value-9-9"}, {"type": "select", "id": 7}, {"type": "press"}):
        view._receive_message(content, ())
    assert view.scene == before


def test_a_saved_notebook_shows_it(view):
    data, _ = view._repr_mimebundle_()
    assert {"text/plain", "text/html", MIME_TYPE} <= set(data)
    assert isinstance(items_of(view)["variable-0"], Group)
