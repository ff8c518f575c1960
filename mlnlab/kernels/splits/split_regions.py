"""The part of a circuit that a split S(D, V) copies, and the edges that it adds (Lowd's thesis, Table 5.2).

From D's parameters the walk goes up to the first nodes that lie above an indicator of V: by decomposability
these are the mutual ancestors M. From each of them it goes down to V's indicators. So the walk sees nothing
but what is copied (N), and the edge cost is counted without applying the split:

    each m in M       loses n_D and n_V, gains n_+; n_+ has an edge for each value i below n_V, to a product
                      with edges to v_i, to the copy of n_D, and to that of n_V where this is not v_i itself
    n above D         an edge from each copy to each child; n itself is deleted
    n above V         in copy i, an edge to each child that agrees with v_i, except v_i itself; n is deleted
                      where only deleted nodes and mutual ancestors led to it

Where the circuit collapses, a node with one child gives way to it, and has no edge.
"""

from __future__ import annotations

import numpy as np

from mlnlab.kernels.compiled import borrowing
from mlnlab.kernels.splits.work_circuit import (
    COLLAPSES,
    INDICATOR,
    LOWER,
    MUTUAL,
    ROOT,
    STAMP,
    SUM,
    UPPER,
    WorkCircuit,
    allocate,
    build_marginals,
    count_values,
    holds_value,
    holds_variable,
    ones,
)

DELETED = -1  # in ``dropped``: a node that goes


@borrowing
def climb(c: WorkCircuit, leaf: int, variable: int) -> None:
    """Find the nodes between D and the mutual ancestors, and those (Definition 4).

    Marks from the present stamp on are: between, mutual ancestor, between it and V.
    """
    c.totals[STAMP] += 3
    stamp = c.totals[STAMP]
    upper = mutual = 0
    begin = c.first_parameter[leaf]
    for place in range(begin, begin + c.sizes[c.leaf_variable[leaf]]):
        start = c.parameter[place]
        c.mark[start] = stamp
        c.stack[0, 0], c.stack[0, 1], top = start, c.head[start], 1
        while top:
            node, edge = c.stack[top - 1, 0], c.stack[top - 1, 1]
            if edge < 0:
                c.upper[upper] = node
                upper += 1
                top -= 1
                continue
            c.stack[top - 1, 1] = c.later[edge]
            parent = c.owner[edge]
            if c.mark[parent] >= stamp:
                continue
            if holds_variable(c, parent, variable):
                c.mark[parent] = stamp + 1
                c.mutual[mutual, 0], c.mutual[mutual, 1] = parent, node
                c.mutual[mutual, 2] = child_above(c, parent, variable)
                mutual += 1
            else:
                c.mark[parent] = stamp
                c.stack[top, 0], c.stack[top, 1] = parent, c.head[parent]
                top += 1
    c.totals[UPPER], c.totals[MUTUAL], c.totals[LOWER] = upper, mutual, 0
    _order_upper(c, variable)


@borrowing
def _order_upper(c: WorkCircuit, variable: int) -> None:
    """Give each node above D the values that its mutual ancestors have; parents come first in the list."""
    stamp, first = c.totals[STAMP], c.word[variable]
    for place in range(c.totals[UPPER]):
        node = c.upper[place]
        for word in range(c.words[variable]):
            c.mask[node, word] = 0
        edge = c.head[node]
        while edge >= 0:
            parent = c.owner[edge]
            for word in range(c.words[variable]):
                if c.mark[parent] == stamp + 1:
                    c.mask[node, word] |= c.below[parent, first + word] & c.bits[variable]
                else:
                    c.mask[node, word] |= c.mask[parent, word]
            edge = c.later[edge]


@borrowing
def child_above(c: WorkCircuit, node: int, variable: int) -> int:
    """Return the child of a product that is a V-ancestor."""
    if node == c.totals[ROOT]:
        return int(c.top[variable])
    slot = c.first[node]
    while not holds_variable(c, c.child[slot], variable):
        slot += 1
    return int(c.child[slot])


@borrowing
def count_mask_values(c: WorkCircuit, node: int, variable: int) -> int:
    """Count the values for which a node above D is copied."""
    total = 0
    for word in range(c.words[variable]):
        total += ones(c.mask[node, word])
    return total


@borrowing
def is_masked(c: WorkCircuit, node: int, variable: int, value: int) -> bool:
    """Return whether a node above D is copied for a value."""
    place = c.shift[variable] + value
    return bool((c.mask[node, place >> 6] >> np.uint64(place & 63)) & np.uint64(1))


@borrowing
def edges_of(c: WorkCircuit, count: int) -> int:
    """Return the number of edges that a node with a number of children counts."""
    return 0 if count == 1 and c.totals[COLLAPSES] else count


@borrowing
def count_upper(c: WorkCircuit, variable: int) -> int:
    """Count the edges that copies of the nodes above D and the mutual ancestors add."""
    cost = 0
    for place in range(c.totals[UPPER]):
        node = c.upper[place]
        if c.n_children[node]:
            cost += (count_mask_values(c, node, variable) - 1) * edges_of(c, int(c.n_children[node]))
    for place in range(c.totals[MUTUAL]):
        node, above = c.mutual[place, 0], c.mutual[place, 2]
        values = count_values(c, node, variable)
        own = int(c.n_children[node])
        cost += edges_of(c, own - 1) - edges_of(c, own)
        cost += edges_of(c, values) + values * (2 if c.kind[above] == INDICATOR else 3)
    return cost


@borrowing
def count_copies(c: WorkCircuit, node: int, variable: int) -> int:
    """Count the edges of all copies of a node above V."""
    edges = singles = 0
    if c.kind[node] == SUM:
        first = c.word[variable]
        for word in range(first, first + c.words[variable]):
            once = twice = np.uint64(0)
            for slot in range(c.first[node], c.first[node] + c.n_children[node]):
                values = c.below[c.child[slot], word] & c.bits[variable]
                edges += ones(values)
                twice |= once & values
                once |= values
            singles += ones(once & ~twice)
    else:
        values, left = count_values(c, node, variable), int(c.n_children[node])
        for slot in range(c.first[node], c.first[node] + c.n_children[node]):
            child = c.child[slot]
            left -= int(c.kind[child] == INDICATOR and c.variable[child] == variable)
        edges = values * left
        if left == 1:
            singles = values
    return edges - singles if c.totals[COLLAPSES] else edges


@borrowing
def note_savings(c: WorkCircuit, node: int, sign: int) -> None:
    """Add the edges that copies of a sum save to the savings by variable, or with sign -1 take them away."""
    if c.kind[node] != SUM or not c.totals[COLLAPSES]:
        return
    first, end = c.first[node], c.first[node] + c.n_children[node]
    for variable in range(len(c.sizes)):
        differs = False  # where all children have the same values, copies save nothing
        for word in range(c.word[variable], c.word[variable] + c.words[variable]):
            for slot in range(first + 1, end):
                rows = c.below[c.child[first], word] ^ c.below[c.child[slot], word]
                differs = differs or (rows & c.bits[variable]) != np.uint64(0)
        if differs:
            added = count_copies(c, node, variable) - edges_of(c, int(c.n_children[node]))
            if added < 0:
                c.savings[variable] -= sign * added


@borrowing
def descend(c: WorkCircuit, variable: int, cost: int, limit: int) -> int:
    """Find the nodes between mutual ancestors and V, and add the least edges that they cost.

    Returns more than ``limit`` as soon as the cost is known to be more. Copies have fewer edges than a node
    only where v_i is left out, so at most once for each edge into an indicator of V, and, if nodes with one
    child give way, where a sum tells values of V apart: see ``savings``.
    """
    stamp = c.totals[STAMP] + 2
    lower = unseen = 0
    most = 2 if c.totals[COLLAPSES] else 1  # that leaving out v_i saves
    for value in range(c.sizes[variable]):
        unseen += most * int(c.parents[c.indicator[c.first_value[variable] + value]])
    if c.totals[COLLAPSES]:
        unseen += int(c.savings[variable])
    for place in range(c.totals[MUTUAL]):
        start = c.mutual[place, 2]
        if c.kind[start] == INDICATOR or c.mark[start] == stamp:
            continue
        c.mark[start] = stamp
        c.stack[0, 0], c.stack[0, 1], top = start, 0, 1
        while top:
            node, at = c.stack[top - 1, 0], c.stack[top - 1, 1]
            if at == 0:
                c.dropped[node] = 0
                added = count_copies(c, node, variable) - edges_of(c, int(c.n_children[node]))
                cost += added
                if added < 0:
                    unseen -= -added if c.kind[node] == SUM else most
                if cost - unseen > limit:
                    return limit + 1
            if at == c.n_children[node]:
                c.lower[lower] = node
                lower += 1
                top -= 1
                continue
            c.stack[top - 1, 1] += 1
            child = c.child[c.first[node] + at]
            if c.mark[child] == stamp or c.kind[child] == INDICATOR or not holds_variable(c, child, variable):
                continue
            c.mark[child] = stamp
            c.stack[top, 0], c.stack[top, 1] = child, 0
            top += 1
    c.totals[LOWER] = lower
    return cost


@borrowing
def count_remaining(c: WorkCircuit) -> int:
    """Count the edges of the nodes above V that other nodes need as they are; tell which are deleted."""
    stamp, kept = c.totals[STAMP] + 2, 0
    for place in range(c.totals[MUTUAL]):
        c.dropped[c.mutual[place, 2]] += int(c.kind[c.mutual[place, 2]] != INDICATOR)
    for place in range(c.totals[LOWER] - 1, -1, -1):  # parents first
        node = c.lower[place]
        if c.dropped[node] < c.parents[node]:
            kept += edges_of(c, int(c.n_children[node]))
            continue
        c.dropped[node] = DELETED
        for slot in range(c.first[node], c.first[node] + c.n_children[node]):
            if c.mark[c.child[slot]] == stamp:
                c.dropped[c.child[slot]] += 1
    return kept


@borrowing
def edge_cost(c: WorkCircuit, leaf: int, variable: int, limit: int) -> int:
    """Count the edges that a split would add; where they are more than ``limit``, some number above it."""
    climb(c, leaf, variable)
    cost = count_upper(c, variable)
    cost = descend(c, variable, cost, limit)
    if cost > limit:
        return limit + 1
    return cost + count_remaining(c)


@borrowing
def measure_space(c: WorkCircuit, variable: int) -> tuple[int, int]:
    """Return how many nodes and edge slots the copies of the region found last take, before any is freed."""
    nodes = edges = 0
    for place in range(c.totals[UPPER]):
        node = c.upper[place]
        copies = count_mask_values(c, node, variable)
        nodes += copies
        edges += copies * c.n_children[node]
    for place in range(c.totals[LOWER]):
        node = c.lower[place]
        nodes += count_values(c, node, variable)
        edges += count_copies(c, node, variable)
    for place in range(c.totals[MUTUAL]):
        values = count_values(c, c.mutual[place, 0], variable)
        nodes += 1 + values
        edges += 4 * values
    return nodes, edges


def warm_up() -> None:
    """Compile every kernel of this file."""
    c = allocate(np.array([2, 2], np.int32), 32, 32, 4, 8, held=True)
    build_marginals(c)
    edge_cost(c, 0, 1, 99)
    measure_space(c, 1)
    holds_value(c, 0, 0, 0)
    is_masked(c, 0, 1, 0)
