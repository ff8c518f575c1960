"""The combinations of LiftGraph in arrays: hyperedges as rows of nodes, and a list for each node and place.

A hyperedge is a row of nodes; those that hold a node at one place are a doubly linked list. The *mates* of a
hyperedge at a place are those that differ from it there alone: they share a context.
"""

from __future__ import annotations

from math import log, log1p
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import borrowing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

UNITS = 2.0**36
REMEMBERED = 8  # sizes for which each node's growth is remembered

# What ``totals`` holds, and the columns of ``pairs``, ``slots`` and ``growths``.
LIKELIHOOD, HYPEREDGES, STAMP, USED, FULL, PENALTY = range(6)
PAIR_COLUMNS = 14
KEY, CONTEXTS, SHARED, JOINED, GAIN, SAVED = range(6)
GAINED_AT, DOUBLED, LESS, DOUBLED_AT, LISTED, LISTED_TOO, NEXT, NEXT_TOO = range(6, PAIR_COLUMNS)
SIGNATURE, PLACE, RANK, CLUSTERED, REPEATED = range(5)
BY, GROWTH, GROWN_AT = range(3)


class Search(NamedTuple):
    """All arrays; of nodes, of hyperedges, of places in rows (slots), and of pairs in a hash table.

    A pair's row holds: first * nodes + second, or -1; how many contexts it shares; what it shares in them; in
    how many two combinations become one; its gain, how many combinations there are less, and when both were
    computed; what it shares in combinations that hold its clusters twice, how many of these there are less,
    and when both were computed; whether it is in the list of its first cluster's pairs and in that of its
    second one's, and which is next in each. A slot's row: its signature, its place in this, its rank among
    the slots of its type, whether its nodes may be merged, and whether its type stands at another place, too.
    """

    sizes: Numbers
    type_of: Numbers
    touched: Numbers  # the stamp of the last merge that changed a node's combinations
    retouched: Numbers  # that of the last one that changed those which hold it or a pair with it twice
    lists: Numbers  # the number of each node's first list
    heads: Numbers  # of each list
    counts: Numbers
    nodes: Numbers  # (hyperedge, place)
    later: Numbers  # (hyperedge, place): the next one in the list of the node there
    earlier: Numbers
    signatures: Numbers  # of each hyperedge
    true: Numbers
    value: Numbers  # the log-likelihood
    widths: Numbers  # of each signature
    first_slot: Numbers  # of each signature
    slots: Numbers
    first_of_type: Numbers  # a type's slots are slots_of_types[first_of_type[t] : first_of_type[t + 1]]
    slots_of_types: Numbers
    first_pair: Numbers  # (node, list)
    first_node: Numbers  # a type's nodes are nodes_of_types[first_node[t] : first_node[t + 1]]
    nodes_of_types: Numbers
    looked_at: Numbers  # the stamp of the last look for a type's best pair
    row_is_old: Numbers  # whether the best of a node's pairs with greater nodes may be another one
    best_of_rows: Numbers
    pairs: Numbers
    growths: Numbers  # (node, remembered): by how many constants, what is lost, and when it was computed
    buffer: Numbers
    totals: Numbers


@borrowing
def units(true: int, atoms: float) -> int:
    """Return the log-likelihood of a combination in units."""
    value = true * log(true / atoms)
    if atoms > true:
        value += (atoms - true) * log1p(-true / atoms)
    return int(np.rint(value * UNITS))


@borrowing
def atoms_of(s: Search, edge: int, grown: int, by: int, other: int, by_other: int) -> float:
    """Return how many atoms a combination has where one or two of its clusters have more constants."""
    atoms = 1.0
    for place in range(s.widths[s.signatures[edge]]):
        node = s.nodes[edge, place]
        size = s.sizes[node]
        if node == grown:
            size += by
        elif node == other:
            size += by_other
        atoms *= size
    return atoms


@borrowing
def list_of(s: Search, edge: int, place: int) -> int:
    """Return the number of the list that a hyperedge is in at a place."""
    return int(s.lists[s.nodes[edge, place]] + s.slots[s.first_slot[s.signatures[edge]] + place, RANK])


@borrowing
def link(s: Search, edge: int, place: int) -> None:
    """Put a hyperedge into the list of the node that it has at a place."""
    at = list_of(s, edge, place)
    after = s.heads[at]
    s.later[edge, place], s.earlier[edge, place] = after, -1
    if after >= 0:
        s.earlier[after, place] = edge
    s.heads[at] = edge
    s.counts[at] += 1


@borrowing
def unlink(s: Search, edge: int, place: int) -> None:
    """Take a hyperedge out of the list of the node that it has at a place."""
    at = list_of(s, edge, place)
    before, after = s.earlier[edge, place], s.later[edge, place]
    if before >= 0:
        s.later[before, place] = after
    else:
        s.heads[at] = after
    if after >= 0:
        s.earlier[after, place] = before
    s.counts[at] -= 1


@borrowing
def pivot(s: Search, edge: int, place: int) -> int:
    """Return the other place of a hyperedge whose list is shortest: its mates at a place are in it."""
    best, fewest = -1, -1
    for other in range(s.widths[s.signatures[edge]]):
        if other != place:
            count = s.counts[list_of(s, edge, other)]
            if best < 0 or count < fewest:
                best, fewest = other, count
    return best


@borrowing
def are_mates(s: Search, edge: int, other: int, place: int) -> bool:
    """Say whether two hyperedges of one signature are equal but for one place."""
    for at in range(s.widths[s.signatures[edge]]):
        if at != place and s.nodes[edge, at] != s.nodes[other, at]:
            return False
    return bool(s.nodes[edge, place] != s.nodes[other, place])


@borrowing
def holds(s: Search, edge: int, node: int, but: int) -> bool:
    """Say whether a hyperedge holds a node at a place other than one."""
    return first_place(s, edge, node, but) >= 0


@borrowing
def first_place(s: Search, edge: int, node: int, but: int) -> int:
    """Return the first place but one at which a hyperedge holds a node, or -1."""
    for place in range(s.widths[s.signatures[edge]]):
        if place != but and s.nodes[edge, place] == node:
            return place
    return -1


@borrowing
def begin(s: Search) -> None:
    """Put all hyperedges into the lists of their nodes, and add them up."""
    for edge in range(len(s.true)):
        for place in range(s.widths[s.signatures[edge]]):
            link(s, edge, place)
        s.value[edge] = units(s.true[edge], atoms_of(s, edge, -1, 0, -1, 0))
        s.totals[LIKELIHOOD] += s.value[edge]
    s.totals[HYPEREDGES] = len(s.true)


@borrowing
def combinations_at(s: Search, node: int, found: Numbers) -> int:
    """List the hyperedges at a node, each once; return how many there are."""
    number = 0
    kind = s.type_of[node]
    for number_of_slot in range(s.first_of_type[kind], s.first_of_type[kind + 1]):
        slot = s.slots_of_types[number_of_slot]
        place = s.slots[slot, PLACE]
        edge = s.heads[s.lists[node] + s.slots[slot, RANK]]
        while edge >= 0:
            if first_place(s, edge, node, -1) == place:
                found[number] = edge
                number += 1
            edge = s.later[edge, place]
    return number


def smallest_search() -> Search:
    """Return two constants and a predicate that is true of both, to compile kernels with."""
    numbers = {
        "sizes": [1, 1, 1], "type_of": [0, 0, 1], "touched": [0] * 3, "retouched": [0] * 3,
        "lists": [0, 1, 2], "heads": [-1] * 3, "counts": [0] * 3, "nodes": [[2, 0], [2, 1]],
        "later": [[-1, -1]] * 2, "earlier": [[-1, -1]] * 2, "signatures": [0, 0], "true": [1, 1],
        "value": [0, 0], "widths": [2],
        "first_slot": [0], "slots": [[0, 0, 0, 0, 0], [0, 1, 0, 1, 0]], "first_of_type": [0, 1, 2],
        "slots_of_types": [1, 0], "first_pair": [[-1, -1]] * 3, "first_node": [0, 2, 3],
        "nodes_of_types": [0, 1, 2], "looked_at": [-1, -1], "row_is_old": [0] * 3, "best_of_rows": [-1] * 3,
        "pairs": [[-1] * PAIR_COLUMNS] * 4,
        "growths": [[[-1] * 3] * REMEMBERED] * 3, "buffer": [0, 0], "totals": [0] * 6,
    }  # fmt: skip
    return Search(**{name: np.asarray(values, np.int64) for name, values in numbers.items()})


def warm_up() -> None:
    """Compile every kernel of this file."""
    search = smallest_search()
    begin(search)
    unlink(search, 0, 1)
    link(search, 0, 1)
    pivot(search, 0, 1)
    are_mates(search, 0, 1, 1)
    holds(search, 0, 0, -1)
    combinations_at(search, 0, search.buffer)
