"""Gibbs sampling in networks whose conditional distributions are decision trees.

A variable's distribution given all others is its own leaf's times, for each tree that asks for it, the
probability at the leaf that each of its values leads to. A tree whose path does not meet the variable
contributes the same to all values, and is left after one walk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.messages.factor_tables import draw
from mlnlab.kernels.random_numbers import streams
from mlnlab.kernels.trees.tree_walks import Trees, find_leaf, smallest_trees

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]


class Counted(NamedTuple):
    """Sums over samples: one for each value of each variable, and how often a whole event was seen."""

    sums: NDArray[np.int64]  # variables x values of the largest
    event: NDArray[np.int64]  # a value for each variable, -1 where any will do
    matches: NDArray[np.int64]  # one number


@compiled
def _find_question(trees: Trees, node: Number, values: NDArray[np.uint32], variable: Number) -> Number:
    """Return the node on the path that asks for a variable; -1 if none does."""
    while trees.asked[node] >= 0:
        if trees.asked[node] == variable:
            return np.int64(node)
        node = trees.branches[np.int64(trees.first[node]) + np.int64(values[trees.asked[node]])]
    return np.int64(-1)


@compiled
def sweep(
    trees: Trees, free: NDArray[np.uint32], values: NDArray[np.uint32], random: NDArray[np.uint64],
    scores: NDArray[np.float64],
) -> None:  # fmt: skip
    """Draw each free variable in turn, given all others."""
    for place in range(len(free)):
        variable = np.int64(free[place])
        size = np.int64(trees.sizes[variable])
        own = np.int64(trees.first[find_leaf(trees, np.int64(trees.roots[variable]), values)])
        for value in range(size):
            scores[value] = trees.logs[own + value]
        start, end = np.int64(trees.asking_starts[variable]), np.int64(trees.asking_starts[variable + 1])
        for edge in range(start, end):
            child = trees.asking[edge]
            node = _find_question(trees, np.int64(trees.roots[child]), values, variable)
            if node >= 0:
                for value in range(size):
                    below = np.int64(trees.branches[np.int64(trees.first[node]) + value])
                    leaf = np.int64(trees.first[find_leaf(trees, below, values)])
                    scores[value] += trees.logs[leaf + np.int64(values[child])]
        values[variable] = draw(scores, size, random)


@compiled
def sample(
    trees: Trees, free: NDArray[np.uint32], values: NDArray[np.uint32], random: NDArray[np.uint64],
    scores: NDArray[np.float64], sweeps: int, counted: Counted,
) -> None:  # fmt: skip
    """Draw a sample a sweep, and count it."""
    for _ in range(sweeps):
        sweep(trees, free, values, random, scores)
        for variable in range(len(values)):
            counted.sums[variable, np.int64(values[variable])] += 1
        seen = 1
        for variable in range(len(values)):
            if counted.event[variable] >= 0 and counted.event[variable] != np.int64(values[variable]):
                seen = 0
                break
        counted.matches[0] += seen


def warm_up() -> None:
    """Compile every kernel of this file."""
    trees, none = smallest_trees(), np.zeros(1, np.uint32)
    none.setflags(write=False)
    counted = Counted(np.zeros((1, 2), np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))
    sample(trees, none, np.zeros(1, np.uint32), streams(0, 1)[0], np.zeros(2), 1, counted)
