"""SplitAC: a circuit updated in place by splitting distribution D on variable V (Lowd's thesis, Table 5.2).

The region is that of ``split_regions.py``, found by ``edge_cost`` just before. D keeps its number for the
first value of V; the leaves of the other values are numbered as they come.
"""

from __future__ import annotations

import numpy as np

from mlnlab.kernels.compiled import borrowing
from mlnlab.kernels.splits.split_regions import DELETED, edge_cost, is_masked, note_savings
from mlnlab.kernels.splits.work_circuit import (
    COLLAPSES,
    INDICATOR,
    LEAVES,
    LOWER,
    MUTUAL,
    PARAMETER,
    PRODUCT,
    ROOT,
    STAMP,
    SUM,
    UPPER,
    WorkCircuit,
    add_child,
    allocate,
    build_marginals,
    count_values,
    delete_node,
    holds_value,
    holds_variable,
    link,
    make_node,
    remove_child,
    set_bit,
    unlink,
)


@borrowing
def copy_upper(c: WorkCircuit, variable: int, value: int, leaf: int, begin: int) -> None:
    """Copy the nodes between mutual ancestors and D for a value: N_i, with the parameters of D_i."""
    stamp = c.totals[STAMP]
    for place in range(c.totals[UPPER] - 1, -1, -1):  # children first
        node = c.upper[place]
        if not is_masked(c, node, variable, value):
            continue
        if c.kind[node] == PARAMETER:  # d_j gives way to d_ij
            new = make_node(c, PARAMETER, c.variable[node], c.value[node], 0)
            if c.held.shape[1]:
                set_bit(c.held, new, leaf)
            c.parameter[begin + c.value[node]] = new
        elif c.n_children[node] == 1 and c.totals[COLLAPSES]:
            new = c.copy[c.child[c.first[node]]]
        else:
            new = make_node(c, c.kind[node], -1, -1, c.n_children[node])
            for slot in range(c.first[node], c.first[node] + c.n_children[node]):
                child = c.child[slot]
                add_child(c, new, c.copy[child] if c.mark[child] == stamp else child)
            note_savings(c, new, 1)
        c.copy[node] = new


@borrowing
def copy_lower(c: WorkCircuit, variable: int, value: int) -> None:
    """Copy the nodes between mutual ancestors and V for a value, without v_i and nodes that disagree."""
    for place in range(c.totals[LOWER]):  # children first
        node = c.lower[place]
        if not holds_value(c, node, variable, value):
            continue
        room, last = 0, np.int32(-1)
        for slot in range(c.first[node], c.first[node] + c.n_children[node]):
            child = c.child[slot]
            if not holds_variable(c, child, variable):
                room, last = room + 1, child
            elif c.kind[child] != INDICATOR and holds_value(c, child, variable, value):
                room, last = room + 1, c.copy[child]
        if room == 1 and c.totals[COLLAPSES]:
            c.copy[node] = last
            continue
        new = make_node(c, c.kind[node], -1, -1, room)
        for slot in range(c.first[node], c.first[node] + c.n_children[node]):
            child = c.child[slot]
            if not holds_variable(c, child, variable):
                add_child(c, new, child)
            elif c.kind[child] != INDICATOR and holds_value(c, child, variable, value):
                add_child(c, new, c.copy[child])
        note_savings(c, new, 1)
        c.copy[node] = new


@borrowing
def add_conditioned_products(c: WorkCircuit, variable: int, value: int) -> None:
    """Create n_xi := v_i x n'_V x n'_D below the sum of each mutual ancestor that has the value."""
    indicator = c.indicator[c.first_value[variable] + value]
    for place in range(c.totals[MUTUAL]):
        above = c.mutual[place, 2]
        if not holds_value(c, above, variable, value):
            continue
        is_leaf = c.kind[above] == INDICATOR
        product = make_node(c, PRODUCT, -1, -1, 2 if is_leaf else 3)
        add_child(c, product, indicator)
        if not is_leaf:
            add_child(c, product, c.copy[above])
        add_child(c, product, c.copy[c.mutual[place, 1]])
        if c.mutual[place, 3] < 0:  # a sum of one product, which takes its place
            c.mutual[place, 3] = product
        else:
            add_child(c, c.mutual[place, 3], product)


@borrowing
def replace_children(c: WorkCircuit) -> None:
    """Replace n_V and n_D by n_+ among the children of each mutual ancestor."""
    for place in range(c.totals[MUTUAL]):
        node, sum_ = c.mutual[place, 0], c.mutual[place, 3]
        remove_child(c, node, c.mutual[place, 1])
        slot = c.first[node]
        while c.child[slot] != c.mutual[place, 2]:
            slot += 1
        unlink(c, slot)
        link(c, slot, sum_)
        if node == c.totals[ROOT]:
            for variable in range(len(c.sizes)):
                if holds_variable(c, sum_, variable):
                    c.top[variable] = sum_


@borrowing
def update_ancestors(c: WorkCircuit, leaf: int) -> None:
    """Replace D by the leaves of its split in the rows of the mutual ancestors and of all above them."""
    c.totals[STAMP] += 3
    stamp, found = c.totals[STAMP], 0
    for place in range(c.totals[MUTUAL]):
        start = c.mutual[place, 0]
        if c.mark[start] == stamp:
            continue
        c.mark[start] = stamp
        c.stack[0, 0], c.stack[0, 1], top = start, c.head[start], 1
        while top:
            node, edge = c.stack[top - 1, 0], c.stack[top - 1, 1]
            if edge < 0:
                c.order[found] = node
                found += 1
                top -= 1
                continue
            c.stack[top - 1, 1] = c.later[edge]
            parent = c.owner[edge]
            if c.mark[parent] != stamp:
                c.mark[parent] = stamp
                c.stack[top, 0], c.stack[top, 1] = parent, c.head[parent]
                top += 1
    bit = np.uint64(1) << np.uint64(leaf & 63)
    for place in range(found - 1, -1, -1):  # children first
        node = c.order[place]
        c.held[node, leaf >> 6] &= ~bit
        for slot in range(c.first[node], c.first[node] + c.n_children[node]):
            child = c.child[slot]
            for word in range(c.held.shape[1]):
                c.held[node, word] |= c.held[child, word]


@borrowing
def collapse_mutual(c: WorkCircuit) -> None:
    """Let each mutual ancestor that is left with one child give way to it."""
    for place in range(c.totals[MUTUAL]):
        node = c.mutual[place, 0]
        if c.n_children[node] != 1:
            continue
        child = c.child[c.first[node]]
        while c.head[node] >= 0:
            edge = c.head[node]
            unlink(c, edge)
            link(c, edge, child)
        if node == c.totals[ROOT]:
            c.totals[ROOT] = child
        for variable in range(len(c.sizes)):
            if c.top[variable] == node:
                c.top[variable] = child
        delete_node(c, node)


@borrowing
def apply_split(c: WorkCircuit, leaf: int, variable: int) -> None:
    """Apply the split whose region was found last; there has to be room for ``measure_space``."""
    size, own = c.sizes[variable], c.leaf_variable[leaf]
    last = c.totals[LEAVES] - 1
    new_leaf, begin = c.totals[LEAVES], c.first_parameter[last] + c.sizes[c.leaf_variable[last]]
    for place in range(c.totals[MUTUAL]):
        values = count_values(c, c.mutual[place, 2], variable)
        single = values == 1 and c.totals[COLLAPSES] != 0
        c.mutual[place, 3] = -1 if single else make_node(c, SUM, -1, -1, values)
    for value in range(size):
        if value == 0:
            copy_upper(c, variable, value, leaf, c.first_parameter[leaf])
        else:
            c.leaf_variable[new_leaf], c.first_parameter[new_leaf] = own, begin
            copy_upper(c, variable, value, new_leaf, begin)
            new_leaf, begin = new_leaf + 1, begin + c.sizes[own]
        copy_lower(c, variable, value)
        add_conditioned_products(c, variable, value)
    c.totals[LEAVES] = new_leaf
    for place in range(c.totals[MUTUAL]):
        note_savings(c, c.mutual[place, 3], 1)
    replace_children(c)
    for place in range(c.totals[UPPER]):
        note_savings(c, c.upper[place], -1)
        delete_node(c, c.upper[place])
    for place in range(c.totals[LOWER] - 1, -1, -1):
        if c.dropped[c.lower[place]] == DELETED:
            note_savings(c, c.lower[place], -1)
            delete_node(c, c.lower[place])
    if c.held.shape[1]:
        update_ancestors(c, leaf)
    if c.totals[COLLAPSES]:
        collapse_mutual(c)


def warm_up() -> None:
    """Compile every kernel of this file."""
    c = allocate(np.array([2, 2], np.int32), 64, 64, 4, 8, held=True)
    build_marginals(c)
    edge_cost(c, 0, 1, 99)
    apply_split(c, 0, 1)
