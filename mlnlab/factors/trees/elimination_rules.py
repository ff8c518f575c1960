"""Rules of thumb for the next variable to eliminate, with measures that are kept up to date, not taken anew.

When x is eliminated, the missing edges of a vertex v (pairs of its neighbours that no edge joins) change in
three ways: v loses x with the pairs that x was missing in, each new edge between two old neighbours of v is
missing no more, and each new neighbour of v brings its pairs with those of v's neighbours that x did not
have. So the work of a step is proportional to the edges that it adds.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import prod
from typing import Literal, NamedTuple, TypeAlias, get_args

Fill = tuple[tuple[int, int], ...]
OrderMethod: TypeAlias = Literal["min-fill", "min-width", "min-weight"]
METHODS: tuple[OrderMethod, ...] = get_args(OrderMethod)


class Eliminated(NamedTuple):
    """A variable that was eliminated, the neighbours that it had, and the edges that this has added."""

    variable: int
    others: tuple[int, ...]
    fill: Fill


def eliminated_in_order(near: list[set[int]], order: Iterable[int]) -> Iterator[Eliminated]:
    """Eliminate variables as they are named, in a graph that is used up."""
    for variable in order:
        others = tuple(sorted(near[variable]))
        fill = fill_of(near, variable)
        eliminate(near, variable, fill)
        yield Eliminated(variable, others, fill)


def eliminated_by_rule(
    near: list[set[int]], sizes: Sequence[int], rule: str, phases: Sequence[Collection[int]]
) -> Iterator[Eliminated]:
    """Eliminate variables as a rule chooses them, those of each phase before those of the next."""
    missing = [_missing(near, number) if rule != "min-width" else 0 for number in range(len(near))]
    weights = [size * prod(sizes[other] for other in near[n]) for n, size in enumerate(sizes)]

    def rate_variable(number: int) -> tuple[int, ...]:
        match rule:
            case "min-width":
                return len(near[number]), weights[number]
            case "min-weight":
                return weights[number], missing[number]
            case _:
                return missing[number], len(near[number]), weights[number]

    for phase in phases:
        rank = {number: rate_variable(number) for number in phase}
        waiting = [(measure, number) for number, measure in rank.items()]
        heapq.heapify(waiting)
        while waiting:
            measure, number = heapq.heappop(waiting)
            if rank.get(number) != measure:
                continue  # it was measured again since
            del rank[number]
            others, fill = tuple(sorted(near[number])), fill_of(near, number)
            changed = set(others)
            if rule != "min-width":
                changed |= _remeasure(near, missing, number, fill)
            _reweigh(weights, sizes, number, others, fill)
            eliminate(near, number, fill)
            for other in changed & rank.keys():
                if (found := rate_variable(other)) != rank[other]:
                    rank[other] = found
                    heapq.heappush(waiting, (found, other))
            yield Eliminated(number, others, fill)


def fill_of(near: Sequence[set[int]], variable: int) -> Fill:
    """Return the edges that are missing between the neighbours of a variable."""
    others = near[variable]
    return tuple((a, b) for a in sorted(others) for b in sorted(others - near[a]) if a < b)


def eliminate(near: list[set[int]], variable: int, fill: Fill) -> None:
    """Take a variable out of a graph, and join its neighbours."""
    for a, b in fill:
        near[a].add(b)
        near[b].add(a)
    for other in near[variable]:
        near[other].discard(variable)
    near[variable] = set()


def _missing(near: Sequence[set[int]], number: int) -> int:
    others = near[number]
    # Every edge between two neighbours is met from both of its ends.
    present = sum(len(near[other] & others) for other in others) // 2
    return len(others) * (len(others) - 1) // 2 - present


def _remeasure(near: Sequence[set[int]], missing: list[int], variable: int, fill: Fill) -> set[int]:
    """Bring the numbers of missing edges up to date, and return who is next to both ends of a new edge."""
    members = near[variable]
    outside = {member: near[member] - members - {variable} for member in members}
    for member, beyond in outside.items():
        missing[member] -= len(beyond)
    touched: set[int] = set()
    for a, b in fill:
        common = near[a] & near[b]
        for other in common:
            missing[other] -= 1
        touched |= common
        missing[a] += len(outside[a] - near[b])
        missing[b] += len(outside[b] - near[a])
    return touched


def _reweigh(
    weights: list[int], sizes: Sequence[int], variable: int, others: Sequence[int], fill: Fill
) -> None:
    """Bring the sizes of the variables' tables up to date."""
    for other in others:
        weights[other] //= sizes[variable]
    for a, b in fill:
        weights[a] *= sizes[b]
        weights[b] *= sizes[a]
