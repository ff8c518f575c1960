"""Merge clusters of LiftGraph: rename hyperedges, unite equal ones, and update the pairs."""

from __future__ import annotations

from mlnlab.kernels.compiled import borrowing
from mlnlab.kernels.lift.lift_combinations import (
    HYPEREDGES,
    LIKELIHOOD,
    PLACE,
    RANK,
    STAMP,
    Search,
    are_mates,
    atoms_of,
    begin,
    first_place,
    link,
    list_of,
    pivot,
    smallest_search,
    units,
    unlink,
)
from mlnlab.kernels.lift.lift_pairs import share_all, share_around, share_own


@borrowing
def mark(s: Search, edge: int, node: int) -> None:
    """Mark the nodes of a hyperedge that changes because one of them does."""
    width = s.widths[s.signatures[edge]]
    for place in range(width):
        other = s.nodes[edge, place]
        s.touched[other] = s.totals[STAMP]
        twice = other == node
        for further in range(width):
            third = s.nodes[edge, further]
            if further != place and third != node and s.type_of[third] == s.type_of[other]:
                twice = True  # a pair of both, or the other one with any, has this hyperedge doubled
        if twice:
            s.retouched[other] = s.totals[STAMP]


@borrowing
def touch(s: Search, node: int, sign: int) -> None:
    """Mark a node's neighbours as changed; add its combinations to the log-likelihood, or take them out."""
    kind = s.type_of[node]
    for number_of_slot in range(s.first_of_type[kind], s.first_of_type[kind + 1]):
        slot = s.slots_of_types[number_of_slot]
        held = s.slots[slot, PLACE]
        edge = s.heads[s.lists[node] + s.slots[slot, RANK]]
        while edge >= 0:
            if first_place(s, edge, node, -1) == held:
                if sign > 0:
                    s.value[edge] = units(s.true[edge], atoms_of(s, edge, -1, 0, -1, 0))
                s.totals[LIKELIHOOD] += sign * s.value[edge]
                mark(s, edge, node)
                if sign < 0:
                    s.value[edge] = 0  # one that holds both clusters is taken out once
            edge = s.later[edge, held]


@borrowing
def twin_of(s: Search, edge: int, place: int, node: int) -> int:
    """Return the hyperedge that differs from one by having a node at a place, or -1."""
    at = pivot(s, edge, place)
    mate = int(s.heads[list_of(s, edge, at)])
    while mate >= 0:
        if s.nodes[mate, place] == node and are_mates(s, edge, mate, place):
            return mate
        mate = s.later[mate, at]
    return -1


@borrowing
def rename(s: Search, first: int, second: int) -> None:
    """Replace the second cluster with the first in all hyperedges, place by place; equal ones become one."""
    kind = s.type_of[first]
    for number_of_slot in range(s.first_of_type[kind], s.first_of_type[kind + 1]):
        slot = s.slots_of_types[number_of_slot]
        place = s.slots[slot, PLACE]
        at = s.lists[second] + s.slots[slot, RANK]
        while s.heads[at] >= 0:
            edge = s.heads[at]
            twin = twin_of(s, edge, place, first)
            unlink(s, edge, place)
            if twin < 0:
                s.nodes[edge, place] = first
                link(s, edge, place)
                continue
            s.true[twin] += s.true[edge]
            s.true[edge] = 0
            s.totals[HYPEREDGES] -= 1
            # Algorithm 2 as printed takes a replaced hyperedge out of E, but leaves it in H[γ] of its other
            # nodes γ; here index H changes for all of them.
            for other in range(s.widths[s.signatures[edge]]):
                if other != place:
                    unlink(s, edge, other)


@borrowing
def merge(s: Search, first: int, second: int) -> None:
    """Put the second cluster into the first, and bring hyperedges, lists, pairs and totals up to date."""
    s.totals[STAMP] += 1
    share_around(s, first, second, False, -1)
    share_around(s, second, first, True, -1)
    share_own(s, first, True)
    share_own(s, second, True)
    touch(s, first, -1)
    touch(s, second, -1)
    rename(s, first, second)
    s.sizes[first] += s.sizes[second]
    s.sizes[second] = 0
    touch(s, first, 1)
    share_around(s, first, -1, False, 1)
    share_own(s, first, False)


def warm_up() -> None:
    """Compile every kernel of this file."""
    search = smallest_search()
    begin(search)
    share_all(search)
    merge(search, 0, 1)
