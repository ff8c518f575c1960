"""Laying a variabilised path into lifted hypergraphs, with a cluster of its own for each variable.

Several hypergraphs are one whose clusters are told apart: a path is connected, so it lies in one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.kernels.lift.path_patterns import Rows

    Numbers = NDArray[np.int64]
    Domain = NDArray[np.uint64]  # for each atom of a path a bit for each hyperedge
    Number = int | np.integer[Any]


class Hyperedges(NamedTuple):
    """The hyperedges, predicate by predicate, and the number of clusters.

    Those of a predicate p begin at ``first[p]``. Those that have cluster c in a place stand in ``at`` from
    ``starts[s * number of clusters + c]`` on, where ``s = slots[p, place]``.
    """

    clusters: NDArray[np.int32]
    true: Numbers
    first: Numbers
    slots: Numbers
    starts: NDArray[np.int32]
    at: NDArray[np.int32]
    number: int


class Search(NamedTuple):
    """The state of a search: each atom's hyperedge, the clusters in use, and the candidates left."""

    cluster_of: Numbers
    since: Numbers
    taken: NDArray[np.uint8]
    lying: Numbers
    cursors: Numbers
    ends: Numbers
    order: Numbers


@compiled
def new_search(length: Number, variables: Number, clusters: Number) -> Search:
    """Return a search in which nothing lies anywhere."""
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
def mark(domain: Any, edge: Number) -> None:  # noqa: ANN401 - bits, 64 in a number
    """Mark a hyperedge."""
    domain[edge >> 6] |= np.uint64(1) << np.uint64(edge & 63)


@compiled
def unmark(domain: Any, edge: Number) -> None:  # noqa: ANN401
    """Take a mark away."""
    domain[edge >> 6] &= ~(np.uint64(1) << np.uint64(edge & 63))


@compiled
def is_marked(domain: Any, edge: Number) -> bool:  # noqa: ANN401
    """Return whether a hyperedge is marked."""
    bit = (domain[edge >> 6] >> np.uint64(edge & 63)) & np.uint64(1)
    return bool(bit)


@compiled
def lies_at(
    path: Rows, atom: Number, edge: Number, graph: Hyperedges, clusters: Number, candidates: Domain,
    search: Search,
) -> bool:  # fmt: skip
    """Return whether the path lies somewhere so that an atom lies at a hyperedge."""
    length = len(path)
    search.order[0] = atom
    if not _put(path[atom], np.int64(edge), np.int64(0), graph, search):
        return False
    depth = np.int64(1)
    if length > 1:
        _open(path, depth, graph, clusters, search)
    while 0 < depth < length:
        current = search.order[depth]
        if search.cursors[depth] == search.ends[depth]:
            depth -= 1
            _take(path[search.order[depth]], depth, search)
            continue
        candidate = np.int64(graph.at[search.cursors[depth]])
        search.cursors[depth] += 1
        if is_marked(candidates[current], candidate) and _put(path[current], candidate, depth, graph, search):
            depth += 1
            if depth < length:
                _open(path, depth, graph, clusters, search)
    for place in range(depth):
        _take(path[search.order[place]], np.int64(place), search)
    return bool(depth == length)


@compiled
def lie_beside(
    path: Rows, heads: Numbers, graph: Hyperedges, clusters: Number, search: Search, lies: NDArray[np.uint8]
) -> None:
    """Mark the rows of heads beside which a path lies: cluster ``heads[r, v]`` is that of variable v.

    A head of -1 lies in no hyperedge, and so does no atom with its variable.
    """
    for row in range(len(heads)):
        for variable in range(heads.shape[1]):
            search.cluster_of[variable] = heads[row, variable]
            search.since[variable] = -1  # it is never taken away
            if heads[row, variable] >= 0:
                search.taken[heads[row, variable]] = 1
        lies[row] = _lies_somewhere(path, heads.shape[1], graph, clusters, search)
        for variable in range(heads.shape[1]):
            if heads[row, variable] >= 0:
                search.taken[heads[row, variable]] = 0
            search.cluster_of[variable] = -1


@compiled
def _lies_somewhere(path: Rows, heads: Number, graph: Hyperedges, clusters: Number, search: Search) -> bool:
    """Return whether a path lies somewhere beside the clusters of its first variables."""
    for atom in range(len(path)):
        for column in range(1, path.shape[1]):
            if 0 <= path[atom, column] < heads and search.cluster_of[path[atom, column]] < 0:
                return False
    depth = np.int64(0)
    _open(path, depth, graph, clusters, search)
    while 0 <= depth < len(path):
        if search.cursors[depth] == search.ends[depth]:
            depth -= 1
            if depth >= 0:
                _take(path[search.order[depth]], depth, search)
            continue
        candidate = np.int64(graph.at[search.cursors[depth]])
        search.cursors[depth] += 1
        if _put(path[search.order[depth]], candidate, depth, graph, search):
            depth += 1
            if depth < len(path):
                _open(path, depth, graph, clusters, search)
    for place in range(depth):
        _take(path[search.order[place]], np.int64(place), search)
    return bool(depth == len(path))


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


def one_hyperedge() -> Hyperedges:
    """Return a hypergraph of one hyperedge, to compile kernels with."""
    return Hyperedges(
        np.array([[0, 1]], np.int32), np.array([1]), np.array([0, 1]), np.array([[0, 1]]),
        np.array([0, 1, 1, 1, 2], np.int32), np.array([0, 0], np.int32), 2,
    )  # fmt: skip


def warm_up() -> None:
    """Compile every kernel of this file."""
    path, candidates = np.array([[0, 0, 1]], np.int16), np.zeros((1, 1), np.uint64)
    mark(candidates[0], np.int64(0))
    if is_marked(candidates[0], np.int64(0)):
        unmark(candidates[0], np.int64(0))
    lies_at(path, np.int64(0), np.int64(0), one_hyperedge(), 2, candidates, new_search(1, 3, 2))
    heads, lies = np.zeros((1, 1), np.int64), np.zeros(1, np.uint8)
    lie_beside(path, heads, one_hyperedge(), 2, new_search(1, 3, 2), lies)
