"""An arithmetic circuit that changes: nodes and edges in arrays with free places, linked both ways.

Each node owns a stretch of edge slots for its children; the edges that lead to a node form a list, so that
its parents can be walked. A row of bits tells which indicators lie below a node, another one which leaf
distributions; by these a walk from a distribution upwards stops where it meets a variable.

         stretch of p                     edges into c
    child: [ a | b | c ]        head[c] -> edge -> later -> later -> -1
    owner: [ p | p | p ]                   <- earlier <-
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import borrowing

if TYPE_CHECKING:
    from numpy.typing import NDArray

INDICATOR, PARAMETER, SUM, PRODUCT, FREE = 0, 1, 2, 3, 255  # the first four as in a frozen circuit
# Places in ``totals``.
NODES, EDGES, FREE_NODE, LIVE_NODES, LIVE_EDGES, SINGLES, STAMP, ROOT, LEAVES = range(9)
UPPER, MUTUAL, LOWER, COLLAPSES = 9, 10, 11, 12
TOTALS = 13


class WorkCircuit(NamedTuple):
    """The arrays of a circuit that is split."""

    kind: NDArray[np.uint8]
    variable: NDArray[np.int32]  # of an indicator or a parameter; otherwise -1
    value: NDArray[np.int32]
    first: NDArray[np.int32]  # slot of a node's first child
    n_children: NDArray[np.int32]
    room: NDArray[np.int32]  # slots
    head: NDArray[np.int32]  # newest edge into a node; of a free node the next free one
    parents: NDArray[np.int32]  # edges into a node
    below: NDArray[np.uint64]  # nodes x words: indicators below
    held: NDArray[np.uint64]  # nodes x words: leaf distributions below; no words where nobody asks
    child: NDArray[np.int32]
    owner: NDArray[np.int32]
    later: NDArray[np.int32]  # next edge into the same child; of a free stretch the next free one
    earlier: NDArray[np.int32]
    free_stretches: NDArray[np.int32]  # by size: the first slot of a free stretch, or -1
    totals: NDArray[np.int64]
    # variables
    sizes: NDArray[np.int32]
    word: NDArray[np.int32]  # the first word of a variable's bits
    shift: NDArray[np.int32]  # its first bit there
    words: NDArray[np.int32]  # how many words
    bits: NDArray[np.uint64]  # its bits within each of them
    first_value: NDArray[np.int32]
    indicator: NDArray[np.int32]  # node of each value of each variable
    top: NDArray[np.int32]  # the root's child above each variable
    savings: NDArray[np.int64]  # edges at most by which copies of sums are fewer than they, by variable
    # leaf distributions
    leaf_variable: NDArray[np.int32]
    first_parameter: NDArray[np.int32]
    parameter: NDArray[np.int32]  # the nodes of their parameters
    # work space of one split
    mark: NDArray[np.int64]
    mask: NDArray[np.uint64]  # nodes x words of the widest variable: the values that copies are made for
    copy: NDArray[np.int32]
    dropped: NDArray[np.int32]  # edges into a node that the split removes
    stack: NDArray[np.int32]  # nodes x 2
    upper: NDArray[np.int32]  # nodes between mutual ancestors and D, parents first
    mutual: NDArray[np.int32]  # mutual ancestors x (node, n_D, n_V, n_+)
    lower: NDArray[np.int32]  # nodes between mutual ancestors and V, children first
    order: NDArray[np.int32]


# --- bits ------------------------------------------------------------------------------------------


@borrowing
def ones(word: np.uint64) -> int:
    """Count the bits that are set (Warren, "Hacker's Delight", 2nd ed., section 5-1)."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    word += word >> np.uint64(8)
    word += word >> np.uint64(16)
    word += word >> np.uint64(32)
    return int(np.int64(word & np.uint64(127)))


@borrowing
def holds_variable(c: WorkCircuit, node: int, variable: int) -> bool:
    """Return whether a node is a V-ancestor (Definition 4)."""
    for word in range(c.word[variable], c.word[variable] + c.words[variable]):
        if c.below[node, word] & c.bits[variable]:
            return True
    return False


@borrowing
def holds_value(c: WorkCircuit, node: int, variable: int, value: int) -> bool:
    """Return whether an indicator lies below a node."""
    place = c.shift[variable] + value
    bit = (c.below[node, c.word[variable] + (place >> 6)] >> np.uint64(place & 63)) & np.uint64(1)
    return bool(bit != np.uint64(0))


@borrowing
def count_values(c: WorkCircuit, node: int, variable: int) -> int:
    """Count the indicators of a variable below a node."""
    total = 0
    for word in range(c.word[variable], c.word[variable] + c.words[variable]):
        total += ones(c.below[node, word] & c.bits[variable])
    return total


@borrowing
def set_bit(rows: NDArray[np.uint64], node: int, place: int) -> None:
    """Set a bit of a node's row."""
    rows[node, place >> 6] |= np.uint64(1) << np.uint64(place & 63)


@borrowing
def add_rows_of(c: WorkCircuit, node: int, child: int) -> None:
    """Add to a node's rows those of a child."""
    for word in range(c.below.shape[1]):
        c.below[node, word] |= c.below[child, word]
    for word in range(c.held.shape[1]):
        c.held[node, word] |= c.held[child, word]


# --- nodes and edges -------------------------------------------------------------------------------


@borrowing
def make_node(c: WorkCircuit, kind: int, variable: int, value: int, room: int) -> int:
    """Return a new node with room for children, and nothing below it."""
    node = c.totals[FREE_NODE]
    if node >= 0:
        c.totals[FREE_NODE] = c.head[node]
    else:
        node = c.totals[NODES]
        c.totals[NODES] += 1
    c.kind[node], c.variable[node], c.value[node] = kind, variable, value
    c.n_children[node], c.room[node], c.head[node], c.parents[node], c.first[node] = 0, room, -1, 0, -1
    c.mark[node] = 0
    for word in range(c.below.shape[1]):
        c.below[node, word] = 0
    for word in range(c.held.shape[1]):
        c.held[node, word] = 0
    if room:
        stretch = np.int64(-1)
        if room < len(c.free_stretches):
            stretch = np.int64(c.free_stretches[room])
        if stretch >= 0:
            c.free_stretches[room] = c.later[stretch]
        else:
            stretch = c.totals[EDGES]
            c.totals[EDGES] += room
        c.first[node] = stretch
    c.totals[LIVE_NODES] += 1
    return int(node)


@borrowing
def link(c: WorkCircuit, edge: int, child: int) -> None:
    """Let a slot lead to a child."""
    c.child[edge], c.later[edge], c.earlier[edge] = child, c.head[child], -1
    if c.head[child] >= 0:
        c.earlier[c.head[child]] = edge
    c.head[child] = edge
    c.parents[child] += 1


@borrowing
def unlink(c: WorkCircuit, edge: int) -> None:
    """Take a slot out of the list of its child's edges."""
    child, later, earlier = c.child[edge], c.later[edge], c.earlier[edge]
    if earlier >= 0:
        c.later[earlier] = later
    else:
        c.head[child] = later
    if later >= 0:
        c.earlier[later] = earlier
    c.parents[child] -= 1


@borrowing
def add_child(c: WorkCircuit, node: int, child: int) -> None:
    """Add an edge, and to the node's rows those of the child."""
    edge = c.first[node] + c.n_children[node]
    c.owner[edge] = node
    link(c, edge, child)
    c.n_children[node] += 1
    c.totals[LIVE_EDGES] += 1
    c.totals[SINGLES] += int(c.n_children[node] == 1) - int(c.n_children[node] == 2)
    add_rows_of(c, node, child)


@borrowing
def remove_child(c: WorkCircuit, node: int, child: int) -> None:
    """Remove an edge; the last child takes its slot. Rows stay."""
    edge, last = c.first[node], c.first[node] + c.n_children[node] - 1
    while c.child[edge] != child:
        edge += 1
    unlink(c, edge)
    if edge != last:
        moved = c.child[last]
        unlink(c, last)
        link(c, edge, moved)
    c.n_children[node] -= 1
    c.totals[LIVE_EDGES] -= 1
    c.totals[SINGLES] += int(c.n_children[node] == 1) - int(c.n_children[node] == 0)


@borrowing
def delete_node(c: WorkCircuit, node: int) -> None:
    """Delete a node and its edges to children; its place and its slots are free."""
    for edge in range(c.first[node], c.first[node] + c.n_children[node]):
        unlink(c, edge)
    c.totals[LIVE_EDGES] -= c.n_children[node]
    c.totals[SINGLES] -= int(c.n_children[node] == 1)
    c.totals[LIVE_NODES] -= 1
    room = c.room[node]
    if 0 < room < len(c.free_stretches):
        c.later[c.first[node]] = c.free_stretches[room]
        c.free_stretches[room] = c.first[node]
    c.kind[node], c.n_children[node] = FREE, 0
    c.head[node] = c.totals[FREE_NODE]
    c.totals[FREE_NODE] = node


# --- the first circuit, and the frozen one ----------------------------------------------------------


@borrowing
def build_marginals(c: WorkCircuit) -> None:
    """Build the product of marginals: C = prod_i sum_j I(X_i = x_ij) P(X_i = x_ij)."""
    number = len(c.sizes)
    root = make_node(c, PRODUCT, -1, -1, number)
    c.totals[ROOT] = root
    parameters = 0
    for variable in range(number):
        size = c.sizes[variable]
        collapsed = size == 1 and c.totals[COLLAPSES] != 0
        above = root if collapsed else make_node(c, SUM, -1, -1, size)
        c.leaf_variable[variable], c.first_parameter[variable] = variable, parameters
        for value in range(size):
            product = make_node(c, PRODUCT, -1, -1, 2)
            leaf = make_node(c, INDICATOR, variable, value, 0)
            set_bit(c.below, leaf, 64 * c.word[variable] + c.shift[variable] + value)
            c.indicator[c.first_value[variable] + value] = leaf
            parameter = make_node(c, PARAMETER, variable, value, 0)
            if c.held.shape[1]:
                set_bit(c.held, parameter, variable)
            c.parameter[parameters + value] = parameter
            add_child(c, product, leaf)
            add_child(c, product, parameter)
            add_child(c, above, product)
            c.top[variable] = product if collapsed else above
        parameters += size
        if not collapsed:
            add_child(c, root, above)
            c.savings[variable] = size
    c.totals[LEAVES] = number


@borrowing
def sort_nodes(c: WorkCircuit) -> int:
    """Write the nodes to ``order``, children before parents and the root last; return their number."""
    c.totals[STAMP] += 3
    stamp, found = c.totals[STAMP], 0
    c.stack[0, 0], c.stack[0, 1], top = c.totals[ROOT], 0, 1
    c.mark[c.totals[ROOT]] = stamp
    while top:
        node, place = c.stack[top - 1, 0], c.stack[top - 1, 1]
        if place == c.n_children[node]:
            c.order[found] = node
            found += 1
            top -= 1
            continue
        c.stack[top - 1, 1] += 1
        child = c.child[c.first[node] + place]
        if c.mark[child] != stamp:
            c.mark[child] = stamp
            c.stack[top, 0], c.stack[top, 1] = child, 0
            top += 1
    return found


@borrowing
def write_children(
    c: WorkCircuit, number: int, collapsed: bool, first: NDArray[np.uint32],
    children: NDArray[np.uint32], kept: NDArray[np.uint32],
) -> int:  # fmt: skip
    """Write the children of the sorted nodes by their new numbers; return how many nodes are kept.

    Where it is ``collapsed``, a node with a single child gives way to it.
    """
    found = edges = 0
    first[0] = 0
    for place in range(number):
        node = c.order[place]
        if collapsed and c.n_children[node] == 1:
            c.copy[node] = c.copy[c.child[c.first[node]]]
            continue
        for slot in range(c.first[node], c.first[node] + c.n_children[node]):
            children[edges] = c.copy[c.child[slot]]
            edges += 1
        c.copy[node], kept[found] = found, node
        found += 1
        first[found] = edges
    return found


def allocate(
    sizes: NDArray[np.int32], nodes: int, edges: int, leaves: int, parameters: int, *, held: bool,
    collapses: bool = False,
) -> WorkCircuit:  # fmt: skip
    """Return arrays for a circuit over variables of these sizes, with nothing in them.

    ``held``: room for the leaves below each node; ``collapses``: a node with one child gives way to it.
    """
    number, word, place = len(sizes), 0, 0
    layout = np.zeros((3, number), np.int32)
    bits = np.zeros(number, np.uint64)
    for variable, size in enumerate(sizes.tolist()):
        if place + size > 64 and place:  # a variable's bits share one word, or have words of their own
            word, place = word + 1, 0
        words = (size + 63) // 64
        layout[:, variable] = word, place, words
        bits[variable] = np.uint64((1 << 64) - 1 if words > 1 else ((1 << size) - 1) << place)
        word, place = (word + words, 0) if words > 1 else (word, place + size)
    total, widest = int(sizes.sum()), int(layout[2].max(initial=1))
    firsts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
    totals = np.zeros(TOTALS, np.int64)
    totals[FREE_NODE], totals[COLLAPSES] = -1, collapses

    def ints(*shape: int) -> NDArray[np.int32]:
        return np.zeros(shape, np.int32)

    return WorkCircuit(
        np.full(nodes, FREE, np.uint8), ints(nodes), ints(nodes), ints(nodes), ints(nodes), ints(nodes),
        ints(nodes), ints(nodes),
        np.zeros((nodes, word + 1), np.uint64), np.zeros((nodes, (leaves + 63) // 64 * held), np.uint64),
        ints(edges), ints(edges), ints(edges), ints(edges),
        np.full(max(3, int(sizes.max(initial=2))) + 1, -1, np.int32), totals,
        sizes, layout[0].copy(), layout[1].copy(), layout[2].copy(), bits, firsts, ints(total), ints(number),
        np.zeros(number, np.int64),
        ints(leaves), ints(leaves), ints(parameters),
        np.zeros(nodes, np.int64), np.zeros((nodes, widest), np.uint64), ints(nodes), ints(nodes),
        ints(nodes, 2), ints(nodes), ints(nodes, 4), ints(nodes), ints(nodes),
    )  # fmt: skip


def warm_up() -> None:
    """Compile every kernel of this file."""
    c = allocate(np.array([2, 2], np.int32), 32, 32, 4, 8, held=True)
    build_marginals(c)
    node = make_node(c, PRODUCT, -1, -1, 2)
    add_child(c, node, int(c.indicator[0]))
    remove_child(c, node, int(c.indicator[0]))
    delete_node(c, node)
    holds_variable(c, 0, 0)
    holds_value(c, 0, 0, 0)
    count_values(c, 0, 0)
    number = sort_nodes(c)
    empty = np.zeros(32, np.uint32)
    write_children(c, number, True, empty, empty.copy(), empty.copy())
