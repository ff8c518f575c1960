"""Keep the pairs of clusters that LiftGraph may merge in a hash table, with their shared units.

Two clusters share a context where they have hyperedges that differ in them alone. The units
that a pair shares there are those of its two combinations as one, minus those of each alone, all over the
constants of both.
"""

from __future__ import annotations

from mlnlab.kernels.compiled import borrowing
from mlnlab.kernels.lift.lift_combinations import (
    CLUSTERED,
    CONTEXTS,
    DOUBLED_AT,
    FULL,
    GAINED_AT,
    JOINED,
    KEY,
    LISTED,
    NEXT,
    PLACE,
    RANK,
    SHARED,
    SIGNATURE,
    USED,
    Search,
    are_mates,
    atoms_of,
    begin,
    first_place,
    holds,
    list_of,
    pivot,
    smallest_search,
    units,
)


@borrowing
def row_of_pair(s: Search, one: int, other: int) -> int:
    """Return where a pair is in the table; a new one is entered, and -1 returned where the table is full."""
    key = min(one, other) * len(s.sizes) + max(one, other)
    mask = len(s.pairs) - 1
    at = (key * 0x9E3779B97F4A7C1 >> 20) & mask
    while s.pairs[at, KEY] != key:
        if s.pairs[at, KEY] < 0:
            if 3 * s.totals[USED] > 2 * len(s.pairs):
                s.totals[FULL] = 1
                return -1
            for column in range(s.pairs.shape[1]):
                s.pairs[at, column] = 0
            s.pairs[at, KEY] = key
            s.pairs[at, GAINED_AT] = s.pairs[at, DOUBLED_AT] = -1
            s.totals[USED] += 1
            break
        at = (at + 1) & mask
    return at


@borrowing
def enlist(s: Search, at: int) -> None:
    """Put a pair into the lists of both its clusters, unless it is there."""
    key = s.pairs[at, KEY]
    for side in range(2):
        if not s.pairs[at, LISTED + side]:
            node = key % len(s.sizes) if side else key // len(s.sizes)
            s.pairs[at, LISTED + side], s.pairs[at, NEXT + side] = 1, s.first_pair[node, side]
            s.first_pair[node, side] = at


@borrowing
def strike(s: Search, at: int, side: int) -> None:
    """Note that a pair is out of one of its lists; it may have been the best of its row."""
    s.pairs[at, LISTED + side] = 0
    s.row_is_old[s.pairs[at, KEY] // len(s.sizes)] = 1


@borrowing
def first_live(s: Search, node: int, side: int) -> int:
    """Return the first of the pairs in which a node is the first (side 0) or second one (side 1), or -1.

    Those that share no context any more are taken out of the list.
    """
    while s.first_pair[node, side] >= 0:
        at = s.first_pair[node, side]
        if s.pairs[at, CONTEXTS] > 0:
            return int(at)
        strike(s, at, side)
        s.first_pair[node, side] = s.pairs[at, NEXT + side]
    return -1


@borrowing
def next_live(s: Search, at: int, side: int) -> int:
    """Return the pair that follows one in such a list, or -1."""
    while s.pairs[at, NEXT + side] >= 0:
        after = s.pairs[at, NEXT + side]
        if s.pairs[after, CONTEXTS] > 0:
            return int(after)
        strike(s, after, side)
        s.pairs[at, NEXT + side] = s.pairs[after, NEXT + side]
    return -1


@borrowing
def share(s: Search, edge: int, mate: int, place: int, sign: int) -> None:
    """Add a context's shared units to a pair, or take them away; both clusters have a hyperedge there."""
    one, other = s.nodes[edge, place], s.nodes[mate, place]
    at = row_of_pair(s, one, other)
    if at < 0:
        return
    s.pairs[at, CONTEXTS] += sign
    if sign > 0:
        enlist(s, at)
    if holds(s, edge, one, place) or holds(s, edge, other, place):
        return  # more than two combinations may become one: see doubled()
    atoms = atoms_of(s, edge, one, s.sizes[other], -1, 0)
    true, more = s.true[edge], s.true[mate]
    gained = units(true + more, atoms) - units(true, atoms) - units(more, atoms)
    s.pairs[at, SHARED] += sign * gained
    s.pairs[at, JOINED] += sign


@borrowing
def share_all(s: Search) -> None:
    """Enter all pairs that share a context; begun with an empty table."""
    for edge in range(len(s.true)):
        signature = s.signatures[edge]
        for place in range(s.widths[signature]):
            if s.true[edge] == 0 or not s.slots[s.first_slot[signature] + place, CLUSTERED]:
                continue
            at = pivot(s, edge, place)
            mate = s.heads[list_of(s, edge, at)]
            while mate >= 0 and not s.totals[FULL]:
                if mate > edge and are_mates(s, edge, mate, place):
                    share(s, edge, mate, place, 1)
                mate = s.later[mate, at]


@borrowing
def share_around(s: Search, node: int, other: int, apart: bool, sign: int) -> None:
    """Add or take pairs' shared units in contexts that hold ``node``; skip pairs with it or ``other``.

    Where ``apart``, contexts that hold the other one as well are left out, too.
    """
    kind = s.type_of[node]
    for number_of_slot in range(s.first_of_type[kind], s.first_of_type[kind + 1]):
        slot = s.slots_of_types[number_of_slot]
        signature = s.slots[slot, SIGNATURE]
        held = s.slots[slot, PLACE]
        edge = s.heads[s.lists[node] + s.slots[slot, RANK]]
        while edge >= 0:
            for place in range(s.widths[signature]):
                if not s.slots[s.first_slot[signature] + place, CLUSTERED]:
                    continue
                if apart and holds(s, edge, other, place):
                    continue
                # It is looked at where the context holds the node first.
                if first_place(s, edge, node, place) == held:
                    share_mates(s, edge, place, node, other, sign)
            edge = s.later[edge, held]


@borrowing
def share_mates(s: Search, edge: int, place: int, node: int, other: int, sign: int) -> None:
    """Add or take the shared units of a hyperedge's node at a place and those of its later mates."""
    if s.nodes[edge, place] == node or s.nodes[edge, place] == other:
        return
    at = pivot(s, edge, place)
    mate = s.heads[list_of(s, edge, at)]
    while mate >= 0 and not s.totals[FULL]:
        apart = s.nodes[mate, place] != node and s.nodes[mate, place] != other
        if mate > edge and apart and are_mates(s, edge, mate, place):
            share(s, edge, mate, place, sign)
        mate = s.later[mate, at]


@borrowing
def share_own(s: Search, node: int, forget: bool) -> None:
    """Add all that a node shares with others, or forget all its pairs."""
    kind = s.type_of[node]
    for number_of_slot in range(s.first_of_type[kind], s.first_of_type[kind + 1]):
        slot = s.slots_of_types[number_of_slot]
        if not s.slots[slot, CLUSTERED]:
            continue
        place = s.slots[slot, PLACE]
        edge = s.heads[s.lists[node] + s.slots[slot, RANK]]
        while edge >= 0:
            at = pivot(s, edge, place)
            mate = s.heads[list_of(s, edge, at)]
            while mate >= 0 and not s.totals[FULL]:
                if are_mates(s, edge, mate, place):
                    if forget:
                        pair = row_of_pair(s, node, s.nodes[mate, place])  # it is there
                        s.pairs[pair, SHARED] = s.pairs[pair, CONTEXTS] = s.pairs[pair, JOINED] = 0
                    else:
                        share(s, edge, mate, place, 1)
                mate = s.later[mate, at]
            edge = s.later[edge, place]


def warm_up() -> None:
    """Compile every kernel of this file."""
    search = smallest_search()
    begin(search)
    share_all(search)
    share_around(search, 0, -1, False, 1)
    share_own(search, 0, True)
