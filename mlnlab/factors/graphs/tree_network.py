"""Bayesian networks whose conditional distributions are decision trees (Lowd's thesis, section 5.3).

An inner node of the tree for X splits on a parent of X, with an edge for each of its values; a leaf is the
distribution of X given the values on its path. Several values may lead to one node: then a split is on
subsets of values, and leaves are merged (decision graphs; Chickering, Heckerman and Meek, 1997).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from mlnlab.errors import count_of
from mlnlab.factors.graphs.random_variables import RandomVariable


class TreeSplit(NamedTuple):
    """An inner node: the number of the variable asked for, and the node that each of its values leads to."""

    variable: int
    children: tuple[int, ...]


class TreeLeaf(NamedTuple):
    """A leaf: the probability of each value of the tree's variable."""

    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class DecisionTree:
    """The distribution of a variable given its parents: nodes, the root first."""

    nodes: tuple[TreeSplit | TreeLeaf, ...]

    def leaves(self) -> tuple[TreeLeaf, ...]:
        """Return the leaves, in the order of the nodes."""
        return tuple(node for node in self.nodes if isinstance(node, TreeLeaf))

    def parents(self) -> tuple[int, ...]:
        """Return the numbers of the variables that the tree asks for, ascending."""
        return tuple(sorted({node.variable for node in self.nodes if isinstance(node, TreeSplit)}))


@dataclass(frozen=True, slots=True, eq=False)
class TreeNetwork:
    """A decision tree for each variable; splits name variables by their numbers, and make no cycle."""

    variables: tuple[RandomVariable, ...]
    trees: tuple[DecisionTree, ...]

    def parents(self) -> tuple[tuple[int, ...], ...]:
        """Return the numbers of each variable's parents."""
        return tuple(tree.parents() for tree in self.trees)

    def __repr__(self) -> str:
        leaves = sum(len(tree.leaves()) for tree in self.trees)
        size = f"{count_of(len(self.variables), 'variable')} and {count_of(leaves, 'leaf', 'leaves')}"
        return f"<TreeNetwork of {size}>"
