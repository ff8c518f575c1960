"""Walk down the decision trees of a network: to the leaf of an assignment, for tables and for samples.

variable v   its tree's root       roots[v]
             trees that ask for v  asking[asking_starts[v] : asking_starts[v + 1]], by their variables
node n       inner node            asked[n] = the variable; the node of value x is branches[first[n] + x]
             leaf                  asked[n] = -1; the logarithm of P(x) is logs[first[n] + x]
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


@compiled
def find_leaf(trees: Trees, node: Number, values: NDArray[np.uint32]) -> Number:
    """Return the leaf that the values lead to from a node."""
    while trees.asked[node] >= 0:
        node = trees.branches[np.int64(trees.first[node]) + np.int64(values[trees.asked[node]])]
    return np.int64(node)


@compiled
def add_log_probabilities(trees: Trees, rows: NDArray[np.uint32], logs: NDArray[np.float64]) -> None:
    """Add the logarithm of the probability of each row, variable by variable."""
    for row in range(rows.shape[0]):
        values = rows[row]
        for variable in range(len(values)):
            leaf = find_leaf(trees, np.int64(trees.roots[variable]), values)
            logs[row] += trees.logs[np.int64(trees.first[leaf]) + np.int64(values[variable])]


@compiled
def draw_rows(
    trees: Trees, order: NDArray[np.uint32], random: NDArray[np.uint64], scores: NDArray[np.float64],
    rows: NDArray[np.uint32],
) -> None:  # fmt: skip
    """Draw assignments: each variable given its parents, which come before it in the order."""
    for row in range(rows.shape[0]):
        values = rows[row]
        for place in range(len(order)):
            variable = order[place]
            leaf = find_leaf(trees, np.int64(trees.roots[variable]), values)
            size = np.int64(trees.sizes[variable])
            for value in range(size):
                scores[value] = trees.logs[np.int64(trees.first[leaf]) + value]
            values[variable] = draw(scores, size, random)


def smallest_trees() -> Trees:
    """Return the trees of one variable of two values."""

    def words(*numbers: int) -> NDArray[np.uint32]:
        array = np.array(numbers, np.uint32)
        array.setflags(write=False)
        return array

    asked, logs = np.array([-1], np.int32), np.zeros(2)
    for array in (asked, logs):
        array.setflags(write=False)
    return Trees(words(2), words(0), words(0, 0), words(), asked, words(0), words(), logs)


def warm_up() -> None:
    """Compile every kernel of this file."""
    trees, rows = smallest_trees(), np.zeros((1, 1), np.uint32)
    draw_rows(trees, trees.roots, streams(0, 1)[0], np.zeros(2), rows)
    add_log_probabilities(trees, rows, np.zeros(1))
