"""Looking ahead in LiftGraph: a merge that loses by itself, but lets others gain more.

Where no two clusters share a context, algorithm 2 as printed has no pair to try, although merging two of
one type may give their neighbours contexts to share, and these then merge by themselves: so in Figure 1 of
Kok and Domingos (2009), whose professors teach different courses. Looking ahead tries, where nothing gains
any more, each pair of clusters that stand at the same place of a predicate, goes on with the search as
printed, and takes the pair with which this ends best. It is not in the paper, and is for small databases,
because each try is a search of its own.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.structure.clustering_posterior import compared

if TYPE_CHECKING:
    from mlnlab.structure.lift_search import LiftSearch, Pair


class Ahead(NamedTuple):
    """A pair, and what merging it and all that follows gains together, in units."""

    pair: Pair
    total: int


def finish(search: LiftSearch, place: int = 0, *, merged: bool = True) -> int:
    """Merge as algorithm 2 does until nothing gains, from a type on; return the gain of all in units."""
    types, total = search.problem.clustered_types, 0
    while merged:
        merged = place > 0
        for type_ in types[place:]:
            best = search.best(search.problem.types.index(type_))
            if best is not None and best.gains:
                search.merge(best.first, best.second)
                total += best.gain
                merged = True
        place = 0
    return total


def best_ahead(search: LiftSearch) -> Ahead | None:
    """Return the pair with which the search ends best, if it ends better than here."""
    best: Ahead | None = None
    for first, second in _pairs_of_places(search):
        pair = search.pair(first, second)
        trial = search.copy()
        trial.merge(first, second)
        total = pair.gain + finish(trial, next_place(search, first))
        if compared(total) > (0 if best is None else compared(best.total)):
            best = Ahead(pair, total)
    return best


def next_place(search: LiftSearch, node: int) -> int:
    """Return which of the clustered types has its turn behind a merge of a node's type."""
    type_ = search.problem.types[search.problem.type_of[node]]
    return search.problem.clustered_types.index(type_) + 1


def _pairs_of_places(search: LiftSearch) -> list[tuple[int, int]]:
    """Return the pairs of clusters that stand at one place of one predicate, in order."""
    standing: dict[tuple[int, int, int], set[int]] = {}
    for edge in search.true:
        for place, node in enumerate(edge[2:]):
            standing.setdefault((edge[0], edge[1], place), set()).add(node)
    return sorted({pair for nodes in standing.values() for pair in combinations(sorted(nodes), 2)})
