"""Where variabilised paths lie in lifted hypergraphs, with a cluster of its own for each variable.

Several hypergraphs are one whose clusters are told apart: a path is connected, so it lies in one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.path_growing import is_connected
from mlnlab.kernels.path_patterns import Paths, canonical, naming, slot_of

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from mlnlab.kernels.path_patterns import Naming, Rows

    Numbers = NDArray[np.int64]
    Flags = NDArray[np.uint8]
    Domains = NDArray[np.uint64]  # for each atom of each path a bit for each hyperedge
    Domain = NDArray[np.uint64]  # of one path
    Number = int | np.integer[Any]


class Hyperedges(NamedTuple):
    """The hyperedges, predicate by predicate.

    Those of a predicate p begin at ``first[p]``. Those that have cluster c in a place stand in ``at`` from
    ``starts[s * number of clusters + c]`` on, where ``s = slots[p, place]``.
    """

    clusters: NDArray[np.int32]
    true: Numbers
    first: Numbers
    slots: Numbers
    starts: NDArray[np.int32]
    at: NDArray[np.int32]


class Search(NamedTuple):
    """The state of a search: what lies where, and what is still to be tried for each atom in its order."""

    cluster_of: Numbers
    since: Numbers
    taken: NDArray[np.uint8]
    lying: Numbers
    cursors: Numbers
    ends: Numbers
    order: Numbers


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
    clusters = 1 + graph.clusters.max()
    search, room = _search(length, length * width, clusters), naming(length, width)
    sure = np.empty(domains.shape[1:], np.uint64)
    for path in range(len(paths)):
        candidates = domains[path]
        _begin(paths[path], graph, shorter, below, candidates, room)
        sure[:] = 0
        if enough < 0:
            lies[path] = _all_places(paths[path], graph, clusters, candidates, sure, search)
        else:
            lies[path] = _union(paths[path], graph, clusters, candidates, sure, search, enough)
        candidates[:] = sure


@compiled
def _search(length: Number, variables: Number, clusters: Number) -> Search:
    return Search(
        np.full(variables, -1, np.int64),
        np.empty(variables, np.int64),
        np.zeros(clusters, np.uint8),
        np.empty(length, np.int64),
        np.empty(length, np.int64),
        np.empty(length, np.int64),
        np.empty(length, np.int64),
    )


@compiled
def _begin(
    path: Rows, graph: Hyperedges, shorter: Paths, below: Domains, candidates: Domain, room: Naming
) -> None:
    """Take for each atom the hyperedges at which it lies in all connected paths with one atom less."""
    length, width = path.shape
    candidates[:] = 0
    for atom in range(length):
        for edge in range(graph.first[path[atom, 0]], graph.first[path[atom, 0] + 1]):
            _mark(candidates[atom], edge)
    if len(shorter.rows) == 0:
        return
    part, best = np.empty((length - 1, width), np.int16), np.empty((length - 1, width), np.int16)
    for without in range(length):
        part[:without] = path[:without]
        part[without:] = path[without + 1 :]
        if is_connected(part):
            canonical(part, best, room)
            row = shorter.slots[slot_of(best, shorter)]
            for place in range(length - 1):
                atom = room.best_order[place]
                candidates[atom + (atom >= without)] &= below[row, place]


@compiled
def _mark(domain: Any, edge: Number) -> None:  # noqa: ANN401 - bits, 64 in a number
    domain[edge >> 6] |= np.uint64(1) << np.uint64(edge & 63)


@compiled
def _unmark(domain: Any, edge: Number) -> None:  # noqa: ANN401
    domain[edge >> 6] &= ~(np.uint64(1) << np.uint64(edge & 63))


@compiled
def _is_marked(domain: Any, edge: Number) -> bool:  # noqa: ANN401
    bit = (domain[edge >> 6] >> np.uint64(edge & 63)) & np.uint64(1)
    return bool(bit)


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
            if _is_marked(sure[atom], edge):
                some = True
            elif _is_marked(candidates[atom], edge):
                if _lies_at(path, atom, edge, graph, clusters, candidates, search):
                    some = True
                    for place in range(len(path)):
                        _mark(sure[search.order[place]], search.lying[place])
                else:
                    _unmark(candidates[atom], edge)
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
            number += _is_marked(candidates[atom], edge)
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
            if _is_marked(candidates[atom], edge) and _first_with(path, atom, edge, candidates) == atom:
                possible += np.int64(graph.true[edge])
    some = False
    done = np.zeros(len(path), np.uint8)
    for _ in range(len(path)):
        rarest = _rarest(path, graph, candidates, done)
        for edge in range(graph.first[path[rarest, 0]], graph.first[path[rarest, 0] + 1]):
            if not _is_marked(candidates[rarest], edge) or _first_with(path, rarest, edge, sure) < len(path):
                continue
            if _lies_at(path, rarest, edge, graph, clusters, candidates, search):
                some = True
                for place in range(len(path)):
                    _mark(sure[search.order[place]], search.lying[place])
            else:
                _unmark(candidates[rarest], edge)
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
        if path[other, 0] == path[atom, 0] and _is_marked(domains[other], edge):
            return np.int64(other)
    return np.int64(len(path))


@compiled
def _lies_at(
    path: Rows, atom: Number, edge: Number, graph: Hyperedges, clusters: Number, candidates: Domain,
    search: Search,
) -> bool:  # fmt: skip
    """Return whether the path lies somewhere so that an atom lies at a hyperedge."""
    length = len(path)
    search.order[0] = atom
    if not _put(path[atom], edge, 0, graph, search):
        return False
    depth = 1
    if length > 1:
        _open(path, depth, graph, clusters, search)
    while 0 < depth < length:
        current = search.order[depth]
        if search.cursors[depth] == search.ends[depth]:
            depth -= 1
            _take(path[search.order[depth]], depth, search)
            continue
        candidate = graph.at[search.cursors[depth]]
        search.cursors[depth] += 1
        if _is_marked(candidates[current], candidate) and _put(
            path[current], candidate, depth, graph, search
        ):
            depth += 1
            if depth < length:
                _open(path, depth, graph, clusters, search)
    for place in range(depth):
        _take(path[search.order[place]], place, search)
    return depth == length


@compiled
def _put(atom: Rows, edge: Number, depth: Number, graph: Hyperedges, search: Search) -> bool:
    """Let an atom lie at a hyperedge, if its variables can."""
    for column in range(1, len(atom)):
        variable = atom[column]
        if variable < 0:
            break
        cluster = graph.clusters[edge, column - 1]
        if search.cluster_of[variable] < 0 and search.taken[cluster] == 0:
            search.cluster_of[variable] = cluster
            search.since[variable] = depth
            search.taken[cluster] = 1
        elif search.cluster_of[variable] != cluster:
            _take(atom, depth, search)
            return False
    search.lying[depth] = edge
    return True


@compiled
def _take(atom: Rows, depth: Number, search: Search) -> None:
    """Take an atom away from where it lies."""
    for column in range(1, len(atom)):
        variable = atom[column]
        if variable >= 0 and search.cluster_of[variable] >= 0 and search.since[variable] == depth:
            search.taken[search.cluster_of[variable]] = 0
            search.cluster_of[variable] = -1


@compiled
def _open(path: Rows, depth: Number, graph: Hyperedges, clusters: Number, search: Search) -> None:
    """Choose the atom that can lie at the fewest hyperedges, and list these."""
    fewest = np.int64(-1)
    for atom in range(len(path)):
        placed = False
        for place in range(depth):
            placed |= search.order[place] == atom
        if placed:
            continue
        for column in range(1, path.shape[1]):
            variable = path[atom, column]
            if variable < 0 or search.cluster_of[variable] < 0:
                continue
            start = graph.slots[path[atom, 0], column - 1] * clusters + search.cluster_of[variable]
            number = np.int64(graph.starts[start + 1]) - graph.starts[start]
            if fewest < 0 or number < fewest:
                fewest = number
                search.order[depth] = atom
                search.cursors[depth], search.ends[depth] = graph.starts[start], graph.starts[start + 1]


def warm_up() -> None:
    """Compile every kernel of this file."""
    graph = Hyperedges(
        np.array([[0, 1]], np.int32), np.array([1]), np.array([0, 1]), np.array([[0, 1]]),
        np.array([0, 1, 1, 1, 2], np.int32), np.array([0, 0], np.int32),
    )  # fmt: skip
    paths = np.array([[[0, 0, 1]]], np.int16)
    shorter = Paths(np.empty((0, 0, 3), np.int16), np.empty(1, np.int64))
    below, domains = np.empty((0, 0, 1), np.uint64), np.empty((1, 1, 1), np.uint64)
    support(paths, graph, shorter, below, -1, domains, np.zeros(1, np.uint8))
