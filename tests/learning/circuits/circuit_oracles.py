"""Judge small arithmetic circuits by their definitions: Definition 3 node by node, polynomials by worlds."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from mlnlab.circuits.propositional.arithmetic_circuit import INDICATOR, PARAMETER, PRODUCT, SUM
from mlnlab.factors.graphs.random_variables import RandomVariable
from mlnlab.factors.graphs.tree_network import TreeSplit


def make_variables(sizes):
    """Return variables of these sizes, named A, B, ..."""
    return tuple(RandomVariable.numbered(chr(65 + place), size) for place, size in enumerate(sizes))


def children_of(circuit, node):
    """Return the children of a node."""
    return circuit.children[circuit.first_child[node] : circuit.first_child[node + 1]].tolist()


def check_definition_3(circuit):
    """Raise an error where a circuit is not smooth, decomposable and deterministic, or has dead nodes."""
    indicators, owners = [], []  # of each node: (variable, value) below it, variables of parameters below it
    reached = {len(circuit) - 1}
    for node in range(len(circuit) - 1, -1, -1):
        if node in reached:
            reached.update(children_of(circuit, node))
    assert len(reached) == len(circuit)
    for node in range(len(circuit)):
        kind, children = circuit.kinds[node], children_of(circuit, node)
        own, of = set(), set()
        if kind == INDICATOR:
            own = {(int(circuit.variable[node]), int(circuit.value[node]))}
        elif kind == PARAMETER:
            of = {int(circuit.variable[node])}
        assert bool(children) == (kind in {SUM, PRODUCT})
        below = [{variable for variable, _ in indicators[child]} for child in children]
        if kind == SUM:
            assert all(one == below[0] for one in below)
            assert all(owners[child] == owners[children[0]] for child in children)
            assert len(children) == 1 or any(
                all(
                    {v for v in indicators[one] if v[0] == variable}.isdisjoint(indicators[other])
                    for place, one in enumerate(children) for other in children[:place]
                )
                for variable in below[0]
            )  # fmt: skip
        if kind == PRODUCT:
            for place, one in enumerate(children):
                for other in range(place):
                    assert below[place].isdisjoint(below[other])
                    assert owners[one].isdisjoint(owners[children[other]])
        indicators.append(own.union(*(indicators[child] for child in children)))
        owners.append(of.union(*(owners[child] for child in children)))


def evaluate_circuit(circuit, indicators):
    """Return a circuit's value; ``indicators[variable][value]`` may be any numbers."""
    values = []
    for node in range(len(circuit)):
        below = [values[child] for child in children_of(circuit, node)]
        match circuit.kinds[node]:
            case 0:
                values.append(indicators[circuit.variable[node]][circuit.value[node]])
            case 1:
                values.append(circuit.parameters[node])
            case 2:
                values.append(sum(below))
            case _:
                values.append(prod(below))
    return values[-1]


def leaf_of(tree, world):
    """Return the probabilities at the leaf that a world leads to."""
    node = tree.nodes[0]
    while isinstance(node, TreeSplit):
        node = tree.nodes[node.children[world[node.variable]]]
    return node.probabilities


def network_polynomial(network, indicators):
    """Return the sum over all worlds of the products of indicators and parameters (section 5.4)."""
    sizes = [variable.size for variable in network.variables]
    return sum(
        prod(
            indicators[place][value] * leaf_of(network.trees[place], world)[value]
            for place, value in enumerate(world)
        )
        for world in product(*map(range, sizes))
    )


class RandomSplits:
    """Valid splits drawn one by one (Definition 2), with the network that they make."""

    def __init__(self, sizes, seed):
        self.random, self.sizes, self.splits = np.random.default_rng(seed), sizes, []
        self.owner, self.asked = list(range(len(sizes))), [set() for _ in sizes]
        self.after = [{place} for place in range(len(sizes))]  # each variable's descendants, and itself

    def valid(self):
        """Return all valid splits."""
        return [
            (leaf, variable)
            for leaf, own in enumerate(self.owner) for variable in range(len(self.sizes))
            if variable not in self.after[own] and variable not in self.asked[leaf]
        ]  # fmt: skip

    def apply(self, leaf, variable):
        """Note that a split was applied."""
        own = self.owner[leaf]
        self.splits.append((leaf, variable))
        self.asked[leaf] = self.asked[leaf] | {variable}
        for _ in range(self.sizes[variable] - 1):
            self.owner.append(own)
            self.asked.append(self.asked[leaf])
        for after in self.after:
            if variable in after:
                after.update(self.after[own])

    def draw(self):
        """Return one of the valid splits, or nothing."""
        found = self.valid()
        return found[self.random.integers(len(found))] if found else None

    def distributions(self):
        """Return random distributions for all leaves."""
        return [self.random.dirichlet(np.ones(self.sizes[own])) for own in self.owner]
