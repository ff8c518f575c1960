"""Gibbs sampling in networks whose conditional distributions are decision trees.

    variable v   its tree's root       roots[v]
                 trees that ask for v  asking[asking_starts[v] : asking_starts[v + 1]], by their variables
    node n       inner node            asked[n] = the variable; the node of value x is branches[first[n] + x]
                 leaf                  asked[n] = -1; the logarithm of P(x) is logs[first[n] + x]

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

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]


class Trees(NamedTuple):
    """The trees of all variables; read-only."""

    sizes: NDArray[np.uint32]
    roots: NDArray[np.uint32]
    asking_starts: NDArray[np.uint32]
    asking: NDArray[np.uint32]
    asked: NDArray[np.int32]
    first: NDArray[np.uint32]
    branches: NDArray[np.uint32]
    logs: NDArray[np.float64]


class Counted(NamedTuple):
    """Sums over samples: one for each value of each variable, and how often a whole event was seen."""

    sums: NDArray[np.int64]  # variables x values of the largest
    event: NDArray[np.int64]  # a value for each variable, -1 where any will do
    matches: NDArray[np.int64]  # one number


@compiled
def find_leaf(trees: Trees, node: Number, values: NDArray[np.uint32]) -> Number:
    """Return the leaf that the values lead to from a node."""
    while trees.asked[node] >= 0:
        node = trees.branches[np.int64(trees.first[node]) + np.int64(values[trees.asked[node]])]
    return np.int64(node)


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

    def words(*numbers: int) -> NDArray[np.uint32]:
        array = np.array(numbers, np.uint32)
        array.setflags(write=False)
        return array

    asked, logs = np.array([-1], np.int32), np.zeros(2)
    for array in (asked, logs):
        array.setflags(write=False)
    trees = Trees(words(2), words(0), words(0, 0), words(), asked, words(0), words(), logs)
    counted = Counted(np.zeros((1, 2), np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))
    sample(trees, words(0), np.zeros(1, np.uint32), streams(0, 1)[0], np.zeros(2), 1, counted)
