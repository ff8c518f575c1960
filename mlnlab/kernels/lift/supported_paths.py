"""At which hyperedges variabilised paths lie somewhere: not one by one, but as far as it matters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.lift.path_embeddings import is_marked, lies_at, mark, new_search, one_hyperedge, unmark
from mlnlab.kernels.lift.path_growing import is_connected, leave_out
from mlnlab.kernels.lift.path_patterns import Paths, canonical, copy_row, naming, slot_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.kernels.lift.path_embeddings import Domain, Hyperedges, Search
    from mlnlab.kernels.lift.path_patterns import Naming, Rows

    Flags = NDArray[np.uint8]
    Domains = NDArray[np.uint64]  # of several paths
    Number = int | np.integer[Any]


@compiled
def support(
    paths: Rows, graph: Hyperedges, shorter: Paths, below: Domains, enough: Number,
    domains: Domains, lies: Flags,
) -> None:  # fmt: skip
    """Mark the hyperedges at which each atom of each path lies somewhere, and whether the path does at all.

    ``below`` holds what was marked so for the shorter paths; where there are none, all hyperedges are tried.
    Where ``enough`` is negative, all marks are there. Else a hyperedge is marked at one of the atoms that lie
    there; and where they hold fewer than ``enough`` true atoms together, the search ends as soon as this is
    certain and that the path lies somewhere.
    """
    _, length, width = paths.shape
    clusters = graph.number
    search, room = new_search(length, length * width, clusters), naming(length, width)
    sure = np.empty((length, domains.shape[2]), np.uint64)
    for path in range(len(paths)):
        candidates = domains[path]
        _begin(paths[path], graph, shorter, below, candidates, room)
        for atom in range(length):
            for word in range(sure.shape[1]):
                sure[atom, word] = 0
        if enough < 0:
            lies[path] = _all_places(paths[path], graph, clusters, candidates, sure, search)
        else:
            lies[path] = _union(paths[path], graph, clusters, candidates, sure, search, enough)
        for atom in range(length):
            copy_row(sure[atom], candidates[atom])


@compiled
def _begin(
    path: Rows, graph: Hyperedges, shorter: Paths, below: Domains, candidates: Domain, room: Naming
) -> None:
    """Take for each atom the hyperedges at which it lies in all connected paths with one atom less."""
    length, width = path.shape
    for atom in range(length):
        for word in range(candidates.shape[1]):
            candidates[atom, word] = 0
        for edge in range(graph.first[path[atom, 0]], graph.first[path[atom, 0] + 1]):
            mark(candidates[atom], edge)
    if len(shorter.rows) == 0:
        return
    part, best = np.empty((length - 1, width), np.int16), np.empty((length - 1, width), np.int16)
    for without in range(length):
        leave_out(path, without, part)
        if is_connected(part):
            canonical(part, best, room)
            row = shorter.slots[slot_of(best, shorter)]
            for place in range(length - 1):
                atom = room.best_order[place]
                atom += atom >= without
                for word in range(candidates.shape[1]):
                    candidates[atom, word] &= below[row, place, word]


@compiled
def _all_places(
    path: Rows, graph: Hyperedges, clusters: Number, candidates: Domain, sure: Domain, search: Search
) -> bool:
    """Mark the hyperedges of each atom, the one with the fewest candidates first."""
    done = np.zeros(len(path), np.uint8)
    for _ in range(len(path)):
        atom = _rarest(path, graph, candidates, done)
        some = False
        for edge in range(graph.first[path[atom, 0]], graph.first[path[atom, 0] + 1]):
            if is_marked(sure[atom], edge):
                some = True
            elif is_marked(candidates[atom], edge):
                if lies_at(path, atom, edge, graph, clusters, candidates, search):
                    some = True
                    for place in range(len(path)):
                        mark(sure[search.order[place]], search.lying[place])
                else:
                    unmark(candidates[atom], edge)
        if not some:  # nothing lies where one of its atoms does not
            return False
        done[atom] = 1
    return True


@compiled
def _rarest(path: Rows, graph: Hyperedges, candidates: Domain, done: Flags) -> Number:
    """Return the atom with the fewest candidates that is not done yet."""
    best, fewest = np.int64(-1), np.int64(0)
    for atom in range(len(path)):
        if done[atom]:
            continue
        number = np.int64(0)
        for edge in range(graph.first[path[atom, 0]], graph.first[path[atom, 0] + 1]):
            number += is_marked(candidates[atom], edge)
        if best < 0 or number < fewest:
            best, fewest = np.int64(atom), number
    return best


@compiled
def _union(
    path: Rows, graph: Hyperedges, clusters: Number, candidates: Domain, sure: Domain, search: Search,
    enough: Number,
) -> bool:  # fmt: skip
    """Mark each hyperedge at one of the atoms that lie there, as far as it matters."""
    possible = np.int64(0)
    for atom in range(len(path)):
        for edge in range(graph.first[path[atom, 0]], graph.first[path[atom, 0] + 1]):
            if is_marked(candidates[atom], edge) and _first_with(path, atom, edge, candidates) == atom:
                possible += np.int64(graph.true[edge])
    some = False
    done = np.zeros(len(path), np.uint8)
    for _ in range(len(path)):
        rarest = _rarest(path, graph, candidates, done)
        for edge in range(graph.first[path[rarest, 0]], graph.first[path[rarest, 0] + 1]):
            if not is_marked(candidates[rarest], edge) or _first_with(path, rarest, edge, sure) < len(path):
                continue
            if lies_at(path, rarest, edge, graph, clusters, candidates, search):
                some = True
                for place in range(len(path)):
                    mark(sure[search.order[place]], search.lying[place])
            else:
                unmark(candidates[rarest], edge)
                if _first_with(path, rarest, edge, candidates) == len(path):
                    possible -= graph.true[edge]
            if some and possible < enough:
                return True
        if not some:
            return False
        done[rarest] = 1
    return True


@compiled
def _first_with(path: Rows, atom: Number, edge: Number, domains: Domain) -> Number:
    """Return the first atom with the predicate of one that is marked at a hyperedge, or their number."""
    for other in range(len(path)):
        if path[other, 0] == path[atom, 0] and is_marked(domains[other], edge):
            return np.int64(other)
    return np.int64(len(path))


def warm_up() -> None:
    """Compile every kernel of this file."""
    paths = np.array([[[0, 0, 1]]], np.int16)
    shorter = Paths(np.empty((0, 0, 3), np.int16), np.empty(1, np.int64))
    below, domains = np.empty((0, 0, 1), np.uint64), np.empty((1, 1, 1), np.uint64)
    support(paths, one_hyperedge(), shorter, below, -1, domains, np.zeros(1, np.uint8))
