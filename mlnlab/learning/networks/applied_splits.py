"""Splits in the order in which they were applied: all that a learned network consists of.

A tree begins as one leaf, node 0. A split turns its node into an inner one, and appends a leaf for each group
of values; the networks of all states are made by going through their splits again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mlnlab.factors.graphs.tree_network import DecisionTree, TreeLeaf, TreeSplit
from mlnlab.steps.state_layout import Real, Several, Whole, holds
from mlnlab.steps.values.encoding import storable

EVERY_LEAF = -1  # as the node of a split: of a table, whose columns all get one more parent
MERGED = -1  # as the variable asked for: the leaf is united with another one


@storable("networks.AppliedSplit")
@dataclass(frozen=True, slots=True)
class AppliedSplit:
    """A split S(D, V): the leaf D by its tree and node, V, the leaf of each value of V, and its gain.

    Where leaves were merged, ``asked`` is -1 and ``groups`` holds the node of the other leaf.
    """

    variable: int = field(metadata=holds(Whole()))  # of the tree, X
    node: int = field(metadata=holds(Whole(EVERY_LEAF)))
    asked: int = field(metadata=holds(Whole(MERGED)))  # V
    groups: tuple[int, ...] = field(metadata=holds(Several(Whole())))
    gain: float = field(metadata=holds(Real(finite=True)))  # in the score of the data, without penalties
    parameters: int = field(metadata=holds(Whole(least=None)))  # how many more there are after it


class TreeShape:
    """A tree that grows: which nodes ask for which variable, and which are leaves."""

    def __init__(self) -> None:
        """Begin with one leaf."""
        self.size = 1
        self.inner: dict[int, tuple[int, list[int]]] = {}
        self.merged: set[int] = set()

    def is_leaf(self, node: int) -> bool:
        """Tell whether a node is there and is a leaf."""
        return 0 <= node < self.size and node not in self.inner and node not in self.merged

    def leaves(self) -> list[int]:
        """Return the leaves, in the order in which they came."""
        return [node for node in range(self.size) if self.is_leaf(node)]

    def split(self, node: int, asked: int, groups: Sequence[int]) -> list[int]:
        """Turn a leaf into an inner node; return its new leaves."""
        first = self.size
        self.size += max(groups) + 1
        self.inner[node] = asked, [first + group for group in groups]
        return list(range(first, self.size))

    def merge(self, node: int, other: int) -> None:
        """Lead to a leaf wherever another one was led to."""
        for _, children in self.inner.values():
            children[:] = [node if child == other else child for child in children]
        self.merged.add(other)

    def _parents_first(self) -> list[int]:
        """Return the nodes that are reached, each after all that lead to it."""
        done: list[int] = []
        waiting, seen = [(0, False)], set[int]()
        while waiting:
            node, is_done = waiting.pop()
            if is_done:
                done.append(node)
            elif node not in seen:
                seen.add(node)
                waiting.append((node, True))
                waiting += [(child, False) for child in self.inner.get(node, (0, []))[1]]
        return done[::-1]

    def decision_tree(self, leaves: Mapping[int, TreeLeaf]) -> DecisionTree:
        """Return the tree with its leaves, each node before those that it leads to."""
        order = self._parents_first()
        numbers = {node: number for number, node in enumerate(order)}
        return DecisionTree(
            tuple(
                TreeSplit(self.inner[node][0], tuple(numbers[child] for child in self.inner[node][1]))
                if node in self.inner
                else leaves[node]
                for node in order
            )
        )


def apply_to_shape(shape: TreeShape, split: AppliedSplit) -> dict[int, list[int]]:
    """Apply a split to a tree; return the new leaves of each leaf that was split."""
    if split.asked == MERGED:
        shape.merge(split.node, split.groups[0])
        return {}
    nodes = shape.leaves() if split.node == EVERY_LEAF else [split.node]
    return {node: shape.split(node, split.asked, split.groups) for node in nodes}


def flaw_of_splits(sizes: Sequence[int], splits: Iterable[AppliedSplit]) -> str:
    """Return how splits from outside fit no network over variables of some sizes; empty if they do."""
    shapes = [TreeShape() for _ in sizes]
    parents: list[set[int]] = [set() for _ in sizes]
    for split in splits:
        if not split.variable < len(sizes) or not split.asked < len(sizes):
            return "a split is of a variable that is not there"
        shape = shapes[split.variable]
        if split.node != EVERY_LEAF and not shape.is_leaf(split.node):
            return "a split is of a node that is not a leaf"
        if split.asked == MERGED:
            other = split.groups[0] if len(split.groups) == 1 else -1
            if split.node in {EVERY_LEAF, other} or not shape.is_leaf(other):
                return "a leaf was merged with something else"
        elif len(split.groups) != sizes[split.asked] or set(split.groups) != set(
            range(max(split.groups) + 1)
        ):
            return "a split does not lead each value to a leaf"
        else:
            parents[split.variable].add(split.asked)
        apply_to_shape(shape, split)
    return "its splits make a cycle" if _has_cycle(parents) else ""


def _has_cycle(parents: Sequence[set[int]]) -> bool:
    waiting = {child: set(above) for child, above in enumerate(parents)}
    while waiting:
        free = {child for child, above in waiting.items() if not above & waiting.keys()}
        if not free:
            return True
        for child in free:
            del waiting[child]
    return False
