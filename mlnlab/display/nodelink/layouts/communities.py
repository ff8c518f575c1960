"""Groups of nodes that belong together: where edges are denser than chance would have it.

Agglomeration by modularity, many clusters at once (Riedy, Meyerhenke, Ediger, Bader: Parallel community
detection for massive graphs, 2011); which cluster may join another in a round is decided by a fixed hash, so
chance plays no part. What is left in too many pieces is cut along an order in which neighbours are near.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Numbers = NDArray[np.int64]
    Reals = NDArray[np.float64]

_ROUNDS = 60
_REFINEMENTS = 12
_PATIENCE = 6  # rounds in which nothing may join before the search ends
_LARGEST = 0.9  # a share of all nodes: such a community says nothing
_HASH = 2_654_435_761


class _Quotient(NamedTuple):
    """Clusters and how many edges lie between them: both directions of each pair, and all degrees."""

    first: Numbers
    second: Numbers
    weights: Reals
    degrees: Reals


def communities(size: int, edges: ArrayLike, most: int) -> Numbers:
    """Return each node's group number: at most ``most`` groups, the largest first, none with nearly all."""
    pairs = np.asarray(edges, np.int64).reshape(-1, 2)
    labels = _merge_clusters(size, pairs[pairs[:, 0] != pairs[:, 1]])
    counts = np.bincount(labels)
    if counts.max(initial=0) > _LARGEST * size:
        labels = np.arange(size)
    if labels.max(initial=-1) >= most:
        labels = _group_labels(labels, pairs, most)
    return _by_size(labels)


def _merge_clusters(size: int, pairs: Numbers) -> Numbers:
    """Merge clusters as long as that makes the modularity larger."""
    labels = np.arange(size)
    total = max(len(pairs), 1)
    still = 0
    for round_ in range(_ROUNDS):
        graph = _quotient(labels, pairs)
        # Newman 2004: joining i and j adds w_ij / m - d_i d_j / (2 m^2) to the modularity.
        gains = graph.weights / total - graph.degrees[graph.first] * graph.degrees[graph.second] / (
            2 * total**2
        )
        joins = (gains > 0) & _may_join(graph.first, round_) & ~_may_join(graph.second, round_)
        if not (gains > 0).any() or still == _PATIENCE:
            break
        still = 0 if joins.any() else still + 1
        first, second, gain = graph.first[joins], graph.second[joins], gains[joins]
        order = np.lexsort((second, -gain, first))
        best = order[np.concatenate([[True], np.diff(first[order]) > 0])[: len(order)]]
        target = np.arange(len(graph.degrees))
        target[first[best]] = second[best]
        labels = np.unique(target[labels], return_inverse=True)[1]
    return _move_nodes(labels, pairs)


def _move_nodes(labels: Numbers, pairs: Numbers) -> Numbers:
    """Let single nodes change over to the cluster where they have more neighbours than by chance."""
    size, total = len(labels), max(len(pairs), 1)
    degrees = np.bincount(pairs.ravel(), minlength=size).astype(np.float64)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    for round_ in range(_REFINEMENTS):
        number = int(labels.max(initial=-1)) + 1
        whole = np.bincount(labels, weights=degrees, minlength=number)
        keys, weights = np.unique(both[:, 0] * number + labels[both[:, 1]], return_counts=True)
        nodes, clusters = keys // max(number, 1), keys % max(number, 1)
        others = whole[clusters] - np.where(clusters == labels[nodes], degrees[nodes], 0)
        gains = weights - degrees[nodes] * others / (2 * total)
        order = np.lexsort((clusters, -gains, nodes))
        best = order[np.concatenate([[True], np.diff(nodes[order]) > 0])[: len(order)]]
        moving = best[_may_join(nodes[best], round_) & (gains[best] > 0)]
        if (labels[nodes[moving]] == clusters[moving]).all() and round_ % 2:
            break
        labels = labels.copy()
        labels[nodes[moving]] = clusters[moving]
    return np.unique(labels, return_inverse=True)[1]


def _may_join(clusters: Numbers, round_: int) -> NDArray[np.bool_]:
    """Return which clusters look for others in a round; those that do not may be joined."""
    mixed = ((clusters + 1) * _HASH + round_ * 40_503 * _HASH) & 0xFFFFFFFF
    return np.asarray((mixed >> 15) & 1 == 1)


def _quotient(labels: Numbers, pairs: Numbers) -> _Quotient:
    number = int(labels.max(initial=-1)) + 1
    ends = labels[pairs]
    degrees = np.bincount(ends.ravel(), minlength=number).astype(np.float64)
    outer = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
    keys, weights = np.unique(outer[:, 0] * number + outer[:, 1], return_counts=True)
    low, high = keys // max(number, 1), keys % max(number, 1)
    both = np.concatenate([weights, weights]).astype(np.float64)
    return _Quotient(np.concatenate([low, high]), np.concatenate([high, low]), both, degrees)


def _group_labels(labels: Numbers, pairs: Numbers, most: int) -> Numbers:
    """Put clusters together that lie side by side in an order that keeps neighbours near, in equal shares."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    graph = _quotient(labels, pairs)
    number = len(graph.degrees) or int(labels.max()) + 1
    matrix = csr_array((graph.weights, (graph.first, graph.second)), shape=(number, number))
    order = np.asarray(reverse_cuthill_mckee(matrix, symmetric_mode=True), np.int64)
    sizes = np.bincount(labels, minlength=number)[order]
    middles = np.cumsum(sizes) - sizes / 2
    bins = np.empty(number, np.int64)
    bins[order] = np.minimum((middles * most / sizes.sum()).astype(np.int64), most - 1)
    return bins[labels]


def _by_size(labels: Numbers) -> Numbers:
    """Return other numbers of the groups, the largest first; ties in the order of their first nodes."""
    _, firsts, numbers, counts = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    order = np.lexsort((firsts, -counts))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks[numbers]
