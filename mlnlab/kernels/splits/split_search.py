"""Choose the next split of LearnAC: gains and cached edge costs in arrays, leaves x variables.

Each pair (leaf D, variable V) has a gain, without the price of edges, and a cost: the edges that S(D, V)
would add, or one of UNKNOWN, LOSING (so many that the score would fall) and INVALID (Definition 2, or no
gain). The score of a pair is at most its gain, but for the few splits of collapsed circuits that cost less
than nothing. So the pair with the highest bound is asked for its cost until one is on top whose cost is
known: candidates come in order of decreasing gain. A tournament over the leaves' best pairs finds the top.

AC-Greedy forgets the costs that an applied split may have changed. A changed node is one that is copied or
that loses a child. The thesis's rule: S(D, V) is affected by a changed node above D and not V, or above V and
not D. It leaves out mutual ancestors of D and V that are copied themselves, where D and V lie below different
children of a copied product; here these count, too. And it is wider than it need be: a node above V with
another distribution of D's variable below it is never copied by S(D, V), and does not count here. AC-Quick
keeps such costs as bounds, and counts again what comes to the top.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import borrowing
from mlnlab.kernels.splits.split_regions import edge_cost
from mlnlab.kernels.splits.work_circuit import (
    COLLAPSES,
    INDICATOR,
    LEAVES,
    LOWER,
    MUTUAL,
    PRODUCT,
    UPPER,
    WorkCircuit,
    allocate,
    build_marginals,
    holds_variable,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNKNOWN, LOSING, INVALID = -(1 << 30), -(1 << 30) - 1, -(1 << 30) - 2  # costs are above
COUNTED, FORGOTTEN, RETAINED, LOGGED = range(4)  # places in ``numbers``
BUSY = -2  # no split was chosen yet: the log is full
NUMBERS = 4


class SplitSearch(NamedTuple):
    """The candidates of a run."""

    gain: NDArray[np.float64]  # leaves x variables
    cost: NDArray[np.int32]
    fresh: NDArray[np.uint8]  # whether no split since may have changed a cost
    best: NDArray[np.float64]  # of each leaf: its highest bound, and the variable that has it
    choice: NDArray[np.int32]
    winner: NDArray[np.int32]  # a tournament: leaf at place 1 beats all
    reaches: NDArray[np.uint8]  # variables x variables: whether the second is the first or its descendant
    always: NDArray[np.uint64]  # of each leaf: variables below all changed nodes above it
    never: NDArray[np.uint64]  # of each leaf: variables below changed nodes that are not above it
    rows: NDArray[np.uint64]  # variables below a node and a child of it, and those with distributions below
    log: NDArray[np.int32]  # costs counted since it was emptied: leaf, variable, cost
    numbers: NDArray[np.int64]


@borrowing
def bound(s: SplitSearch, leaf: int, variable: int, price: float) -> float:
    """Return an upper bound on a pair's score; exact where its cost is known."""
    cost = s.cost[leaf, variable]
    if cost > UNKNOWN:
        return float(s.gain[leaf, variable] - price * cost)
    return float(s.gain[leaf, variable]) if cost == UNKNOWN else -np.inf


@borrowing
def seed_row(s: SplitSearch, leaf: int, price: float) -> None:
    """Find the best pair of a leaf."""
    best, choice = -np.inf, -1
    for variable in range(s.gain.shape[1]):
        value = bound(s, leaf, variable, price)
        if value > best:
            best, choice = value, variable
    s.best[leaf], s.choice[leaf] = best, choice


@borrowing
def play(s: SplitSearch, leaf: int) -> None:
    """Let a leaf, whose best pair has changed, play for the top again; of equals the first leaf wins."""
    half = len(s.winner) // 2
    place = (half + leaf) // 2
    if half == 1:
        return
    while place:
        if 2 * place >= half:
            left, right = np.int64(2 * place - half), np.int64(2 * place + 1 - half)
        else:
            left, right = np.int64(s.winner[2 * place]), np.int64(s.winner[2 * place + 1])
        s.winner[place] = right if s.best[right] > s.best[left] else left
        place //= 2


@borrowing
def best_split(c: WorkCircuit, s: SplitSearch, price: float) -> int:
    """Return leaf * variables + variable of the best split; -1 where none has a score above zero."""
    number = s.gain.shape[1]
    while True:
        leaf = s.winner[1]
        variable = s.choice[leaf]
        if not s.best[leaf] > 0:
            return -1
        if price == 0 or (s.cost[leaf, variable] > UNKNOWN and s.fresh[leaf, variable]):
            return int(leaf * number + variable)
        if s.numbers[LOGGED] == len(s.log):
            return BUSY
        count_pair(c, s, leaf, variable, price)
        seed_row(s, leaf, price)
        play(s, leaf)


@borrowing
def count_pair(c: WorkCircuit, s: SplitSearch, leaf: int, variable: int, price: float) -> None:
    """Count the edge cost of a pair, no further than its gain could pay."""
    limit = int(min(s.gain[leaf, variable] / price, 1e12))
    cost = edge_cost(c, leaf, variable, limit)
    if s.gain[leaf, variable] - price * cost <= 0:
        cost = LOSING
    s.cost[leaf, variable], s.fresh[leaf, variable] = cost, 1
    logged = s.numbers[LOGGED]
    s.log[logged, 0], s.log[logged, 1], s.log[logged, 2] = leaf, variable, cost
    s.numbers[LOGGED] += 1
    s.numbers[COUNTED] += 1


@borrowing
def find_affected(c: WorkCircuit, s: SplitSearch) -> None:
    """Find, for the region found last, the pairs whose cost its split may change."""
    words, leaves = s.always.shape[1], c.totals[LEAVES]
    for leaf in range(leaves):
        for word in range(words):
            s.always[leaf, word], s.never[leaf, word] = ~np.uint64(0), 0
    for place in range(c.totals[UPPER]):
        mark_affected(c, s, c.upper[place], True)
    for place in range(c.totals[LOWER]):
        mark_affected(c, s, c.lower[place], True)
    for place in range(c.totals[MUTUAL]):
        node, above = c.mutual[place, 0], c.mutual[place, 2]
        # It is not copied; but one that is left with two children may end with a single one.
        mark_affected(c, s, node, c.totals[COLLAPSES] != 0 and c.n_children[node] == 3)
        if c.kind[above] == INDICATOR:
            mark_affected(c, s, above, False)


@borrowing
def mark_affected(c: WorkCircuit, s: SplitSearch, node: int, separates: bool) -> None:
    """Mark the pairs that a changed node lies above half of, or whose halves it ``separates``.

    What is above V and not above D lies between V and a mutual ancestor only where no other distribution of
    D's variable is below it (by decomposability of the mutual ancestor).
    """
    words, leaves = s.always.shape[1], c.totals[LEAVES]
    variables_below(c, s, node, 0)
    for word in range(words):
        s.rows[2, word] = 0
    for leaf in range(leaves):
        if (c.held[node, leaf >> 6] >> np.uint64(leaf & 63)) & np.uint64(1):
            own = c.leaf_variable[leaf]
            s.rows[2, own >> 6] |= np.uint64(1) << np.uint64(own & 63)
            for word in range(words):
                s.always[leaf, word] &= s.rows[0, word]
    for leaf in range(leaves):
        own = c.leaf_variable[leaf]
        if not (s.rows[2, own >> 6] >> np.uint64(own & 63)) & np.uint64(1):
            for word in range(words):
                s.never[leaf, word] |= s.rows[0, word]
    if separates and c.kind[node] == PRODUCT:
        split_apart(c, s, node)


@borrowing
def split_apart(c: WorkCircuit, s: SplitSearch, node: int) -> None:
    """Mark the pairs whose leaf and variable lie below different children of a copied product."""
    for slot in range(c.first[node], c.first[node] + c.n_children[node]):
        child = c.child[slot]
        variables_below(c, s, child, 1)
        for leaf in range(c.totals[LEAVES]):
            if (c.held[child, leaf >> 6] >> np.uint64(leaf & 63)) & np.uint64(1):
                for word in range(s.rows.shape[1]):
                    s.never[leaf, word] |= s.rows[0, word] & ~s.rows[1, word]


@borrowing
def variables_below(c: WorkCircuit, s: SplitSearch, node: int, row: int) -> None:
    """Write a bit for each variable with an indicator below a node."""
    for word in range(s.rows.shape[1]):
        s.rows[row, word] = 0
    for variable in range(len(c.sizes)):
        if holds_variable(c, node, variable):
            s.rows[row, variable >> 6] |= np.uint64(1) << np.uint64(variable & 63)


@borrowing
def forget_costs(c: WorkCircuit, s: SplitSearch, price: float, quick: bool) -> None:
    """Forget the costs of the pairs that were found affected; if ``quick``, keep them as bounds."""
    for leaf in range(c.totals[LEAVES]):
        changed = False
        for variable in range(s.gain.shape[1]):
            cost = s.cost[leaf, variable]
            if cost in (UNKNOWN, INVALID):
                continue
            bit = np.uint64(1) << np.uint64(variable & 63)
            word = variable >> 6
            if not s.always[leaf, word] & bit or s.never[leaf, word] & bit:
                s.fresh[leaf, variable] = 0
                s.numbers[FORGOTTEN] += 1
                if not quick:
                    s.cost[leaf, variable] = UNKNOWN
                    changed = True
            else:
                s.numbers[RETAINED] += 1
        if changed:
            seed_row(s, leaf, price)
            play(s, leaf)


@borrowing
def draw_arc(c: WorkCircuit, s: SplitSearch, parent: int, child: int, price: float) -> None:
    """Note an arc of the network: splits on new descendants are no longer valid."""
    number = s.gain.shape[1]
    if s.reaches[parent, child]:
        return
    for above in range(number):
        if s.reaches[above, parent]:
            for below in range(number):
                s.reaches[above, below] |= s.reaches[child, below]
    for leaf in range(c.totals[LEAVES]):
        own = c.leaf_variable[leaf]
        if s.reaches[own, parent]:
            for variable in range(number):
                if s.reaches[child, variable]:
                    s.cost[leaf, variable] = INVALID
            seed_row(s, leaf, price)
            play(s, leaf)


def warm_up() -> None:
    """Compile every kernel of this file."""
    c = allocate(np.array([2, 2], np.int32), 64, 64, 4, 8, held=True)
    build_marginals(c)
    s = make_search(4, 2)
    s.gain[:2] = 99.0
    s.cost[0, 1] = UNKNOWN
    for leaf in range(2):
        seed_row(s, leaf, 1.0)
        play(s, leaf)
    best_split(c, s, 1.0)
    find_affected(c, s)
    forget_costs(c, s, 1.0, False)
    draw_arc(c, s, 1, 0, 1.0)


def make_search(leaves: int, variables: int) -> SplitSearch:
    """Return arrays for a number of leaves, a power of two, with no candidate in them."""
    words = (variables + 63) // 64
    winner = np.zeros(2 * leaves, np.int32)
    for place in range(1, leaves):  # nobody has played yet: the first leaf below each place
        depth = leaves.bit_length() - place.bit_length()
        winner[place] = (place << depth) - leaves
    return SplitSearch(
        np.zeros((leaves, variables)), np.full((leaves, variables), INVALID, np.int32),
        np.zeros((leaves, variables), np.uint8), np.full(leaves, -np.inf), np.full(leaves, -1, np.int32),
        winner, np.eye(variables, dtype=np.uint8),
        np.zeros((leaves, words), np.uint64), np.zeros((leaves, words), np.uint64),
        np.zeros((3, words), np.uint64), np.zeros((4096, 3), np.int32), np.zeros(NUMBERS, np.int64),
    )  # fmt: skip
