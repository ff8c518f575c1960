"""Random small networks with decision trees, and their distributions by enumeration."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from mlnlab.factors.graphs.random_variables import RandomVariable
from mlnlab.factors.graphs.tree_network import DecisionTree, TreeLeaf, TreeNetwork, TreeSplit


def random_tree_network(
    rng: np.random.Generator, variables: int = 5, most_values: int = 3, splits: int = 6
) -> TreeNetwork:
    """Return a network of random complete splits; the parents of a variable come before it."""
    sizes = rng.integers(2, most_values + 1, variables).tolist()
    trees: list[list[TreeSplit | TreeLeaf]] = [[_leaf(rng, size)] for size in sizes]
    used: list[dict[int, set[int]]] = [{0: set()} for _ in sizes]  # of each leaf, the variables on its path
    for _ in range(splits):
        child = int(rng.integers(1, variables)) if variables > 1 else 0
        leaf = int(rng.choice(list(used[child])))
        open_parents = [parent for parent in range(child) if parent not in used[child][leaf]]
        if not open_parents:
            continue
        parent = int(rng.choice(open_parents))
        path = used[child].pop(leaf) | {parent}
        new = tuple(range(len(trees[child]), len(trees[child]) + sizes[parent]))
        trees[child][leaf] = TreeSplit(parent, new)
        for number in new:
            trees[child].append(_leaf(rng, sizes[child]))
            used[child][number] = path
    names = [f"X{number}" for number in range(variables)]
    named = tuple(RandomVariable.numbered(name, size) for name, size in zip(names, sizes, strict=True))
    return TreeNetwork(named, tuple(DecisionTree(tuple(nodes)) for nodes in trees))


def _leaf(rng: np.random.Generator, size: int) -> TreeLeaf:
    return TreeLeaf(tuple(rng.dirichlet(np.full(size, 2.0)).tolist()))


def leaf_probability(tree: DecisionTree, row: tuple[int, ...], value: int) -> float:
    """Return the probability of a value at the leaf that a row of values leads to."""
    node = tree.nodes[0]
    while isinstance(node, TreeSplit):
        node = tree.nodes[node.children[row[node.variable]]]
    return node.probabilities[value]


def joint_distribution(network: TreeNetwork) -> dict[tuple[int, ...], float]:
    """Return the probability of each assignment."""
    rows = product(*(range(variable.size) for variable in network.variables))
    return {
        row: prod(leaf_probability(tree, row, row[v]) for v, tree in enumerate(network.trees)) for row in rows
    }
