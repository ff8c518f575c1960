"""The gains of LiftGraph's pairs, of which a merge changes as few as can be.

The gain of a pair (a, b) is taken apart into

    growth(a by b's constants) + growth(b by a's constants) + shared(a, b),

where growth is the loss of a cluster's combinations by becoming larger with no more true atoms, and shared
corrects this for the combinations that become one. The first two depend on one cluster and a size, the
third is a sum over contexts. So a merge changes the third where a context holds one of the two clusters, and
the first two of their neighbours; everything else stays. All are whole numbers of units and sums are exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.kernels.compiled import borrowing
from mlnlab.kernels.lift.lift_combinations import (
    BY,
    DOUBLED,
    DOUBLED_AT,
    GAIN,
    GAINED_AT,
    GROWN_AT,
    GROWTH,
    JOINED,
    KEY,
    LESS,
    PENALTY,
    PLACE,
    RANK,
    REMEMBERED,
    REPEATED,
    SAVED,
    SHARED,
    STAMP,
    Search,
    atoms_of,
    begin,
    first_place,
    holds,
    smallest_search,
    units,
)
from mlnlab.kernels.lift.lift_pairs import first_live, next_live, share_all

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


@borrowing
def growth(s: Search, node: int, by: int) -> int:
    """Return the loss of a cluster's combinations by more constants without more true atoms."""
    kept = by % REMEMBERED
    if s.growths[node, kept, GROWN_AT] >= s.touched[node] and s.growths[node, kept, BY] == by:
        return int(s.growths[node, kept, GROWTH])
    total = 0
    kind = s.type_of[node]
    for number_of_slot in range(s.first_of_type[kind], s.first_of_type[kind + 1]):
        slot = s.slots_of_types[number_of_slot]
        place = s.slots[slot, PLACE]
        edge = s.heads[s.lists[node] + s.slots[slot, RANK]]
        while edge >= 0:
            if first_place(s, edge, node, -1) == place:
                total += units(s.true[edge], atoms_of(s, edge, node, by, -1, 0)) - s.value[edge]
            edge = s.later[edge, place]
    s.growths[node, kept, BY], s.growths[node, kept, GROWTH] = by, total
    s.growths[node, kept, GROWN_AT] = s.totals[STAMP]
    return total


@borrowing
def collect_doubled_units(s: Search, first: int, second: int) -> tuple[int, int]:
    """Return a pair's shared units in combinations that hold its clusters at two places or more.

    Such are SameBib(γ, γ), SameBib(γ, γ'), SameBib(γ', γ) and SameBib(γ', γ'), of which one remains. The
    second number is how many combinations fewer there are.
    """
    number = doubled_edges(s, first, second)
    total = less = 0
    for one in range(number):
        edge = s.buffer[one]
        if edge < 0:
            continue
        members, true, lost, mixed = 0, 0, 0, False
        atoms = atoms_of(s, edge, first, s.sizes[second], second, s.sizes[first])
        for other in range(one, number):
            mate = s.buffer[other]
            if mate < 0 or not become_one(s, edge, mate, first, second):
                continue
            members += 1
            true += s.true[mate]
            held, held_too = holds(s, mate, first, -1), holds(s, mate, second, -1)
            mixed = mixed or (held and held_too)
            lost += s.value[mate]
            if held:
                lost += units(s.true[mate], atoms_of(s, mate, first, s.sizes[second], -1, 0)) - s.value[mate]
            if held_too:
                lost += units(s.true[mate], atoms_of(s, mate, second, s.sizes[first], -1, 0)) - s.value[mate]
            if other > one:
                s.buffer[other] = -1
        if members > 1 or mixed:
            total += units(true, atoms) - lost
            less += members - 1
    return total, less


@borrowing
def doubled_edges(s: Search, first: int, second: int) -> int:
    """Gather the hyperedges that hold clusters of a pair at two places or more; return how many there are."""
    number = 0
    kind = s.type_of[first]
    for node in (first, second):
        for number_of_slot in range(s.first_of_type[kind], s.first_of_type[kind + 1]):
            slot = s.slots_of_types[number_of_slot]
            if not s.slots[slot, REPEATED]:
                continue
            place = s.slots[slot, PLACE]
            edge = s.heads[s.lists[node] + s.slots[slot, RANK]]
            while edge >= 0:
                again = holds(s, edge, first, place) or holds(s, edge, second, place)
                new = first_place(s, edge, node, -1) == place
                if again and new and (node == first or not holds(s, edge, first, -1)):
                    s.buffer[number] = edge
                    number += 1
                edge = s.later[edge, place]
    return number


@borrowing
def become_one(s: Search, edge: int, other: int, first: int, second: int) -> bool:
    """Say whether two hyperedges are equal once two clusters are one."""
    if s.signatures[edge] != s.signatures[other]:
        return False
    for place in range(s.widths[s.signatures[edge]]):
        one, two = s.nodes[edge, place], s.nodes[other, place]
        if one != two and not (one in (first, second) and two in (first, second)):
            return False
    return True


@borrowing
def refresh(s: Search, at: int) -> None:
    """Compute the gain of a pair of the table, unless nothing near it has changed."""
    first, second = s.pairs[at, KEY] // len(s.sizes), s.pairs[at, KEY] % len(s.sizes)
    if s.pairs[at, GAINED_AT] >= max(s.touched[first], s.touched[second]):
        return
    if s.pairs[at, DOUBLED_AT] < max(s.retouched[first], s.retouched[second]):
        s.pairs[at, DOUBLED], s.pairs[at, LESS] = collect_doubled_units(s, first, second)
        s.pairs[at, DOUBLED_AT] = s.totals[STAMP]
    lost = growth(s, first, s.sizes[second]) + growth(s, second, s.sizes[first])
    s.pairs[at, SAVED] = s.pairs[at, JOINED] + s.pairs[at, LESS]
    s.pairs[at, GAIN] = (
        s.pairs[at, SHARED] + s.pairs[at, DOUBLED] + lost + s.pairs[at, SAVED] * s.totals[PENALTY]
    )
    s.pairs[at, GAINED_AT] = s.totals[STAMP]


@borrowing
def mark_rows(s: Search, kind: int) -> None:
    """Mark the rows of pairs of a type whose best may be another one, because a cluster in them was touched.

    A row is the pairs of a cluster with those of greater numbers.
    """
    for place in range(s.first_node[kind], s.first_node[kind + 1]):
        node = s.nodes_of_types[place]
        if s.touched[node] > s.looked_at[kind]:
            s.row_is_old[node] = 1
            at = first_live(s, node, 1)
            while at >= 0:
                s.row_is_old[s.pairs[at, KEY] // len(s.sizes)] = 1
                at = next_live(s, at, 1)
    s.looked_at[kind] = s.totals[STAMP]


@borrowing
def best_of_row(s: Search, node: int) -> int:
    """Return where the best pair of a cluster with those of greater numbers is, or -1."""
    if s.row_is_old[node]:
        best, at = -1, first_live(s, node, 0)
        while at >= 0:
            refresh(s, at)
            if best < 0 or is_better(s, at, best):
                best = at
            at = next_live(s, at, 0)
        s.row_is_old[node], s.best_of_rows[node] = 0, best
    return int(s.best_of_rows[node])


@borrowing
def best_pair(s: Search, kind: int) -> int:
    """Return where the best pair of a type is, or -1; of equal gains the pair of the smallest numbers."""
    mark_rows(s, kind)
    best = -1
    for place in range(s.first_node[kind], s.first_node[kind + 1]):
        at = best_of_row(s, s.nodes_of_types[place])
        if at >= 0 and (best < 0 or is_better(s, at, best)):
            best = at
    return best


@borrowing
def pairs_of_type(s: Search, kind: int, found: Numbers) -> int:
    """List where the pairs of a type are in the table, with gains that are up to date."""
    number = 0
    for place in range(s.first_node[kind], s.first_node[kind + 1]):
        at = first_live(s, s.nodes_of_types[place], 0)
        while at >= 0:
            refresh(s, at)
            found[number] = at
            number += 1
            at = next_live(s, at, 0)
    return number


@borrowing
def is_better(s: Search, one: int, other: int) -> bool:
    """Say whether a pair gains more than another, or as much with smaller numbers.

    In which digits gains are compared is the same as in ``clustering_posterior.make_comparison_key``.
    """
    gain, least = (s.pairs[one, GAIN] + 2048) >> 12, (s.pairs[other, GAIN] + 2048) >> 12
    return bool(gain > least or (gain == least and s.pairs[one, KEY] < s.pairs[other, KEY]))


def warm_up() -> None:
    """Compile every kernel of this file."""
    search = smallest_search()
    begin(search)
    share_all(search)
    best_pair(search, 0)
    pairs_of_type(search, 0, search.buffer)
