"""Lengths of shortest paths in a graph, and its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    Numbers = NDArray[np.int64]


def adjacency(size: int, edges: Numbers) -> csr_array:
    """Return the graph as a symmetric sparse matrix of ones."""
    from scipy.sparse import csr_array

    ends = np.concatenate([edges, edges[:, ::-1]])
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)
    return csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(size, size))


def path_lengths(graph: csr_array, sources: Numbers | None = None) -> NDArray[np.float64]:
    """Return the number of edges on a shortest path, infinite where there is none."""
    from scipy.sparse.csgraph import dijkstra

    return np.asarray(dijkstra(graph, directed=False, indices=sources, unweighted=True))


def parts(graph: csr_array) -> list[Numbers]:
    """Return the connected parts, the largest first; ties in the order of their first nodes."""
    from scipy.sparse.csgraph import connected_components

    count, numbers = connected_components(graph, directed=False)
    found = [np.flatnonzero(numbers == part) for part in range(count)]
    return sorted(found, key=lambda part: (-len(part), int(part[0])))
