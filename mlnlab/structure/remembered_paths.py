"""The last searches for paths, remembered by the content of what was searched.

A learner asks for the same paths several times: when it begins, when it goes on after a stop, and when it
says where its clauses came from.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from mlnlab.structure.path_support import PathSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.structure.lifted_hypergraph import LiftedHypergraph
    from mlnlab.structure.path_support import PathProgress
    from mlnlab.structure.variabilized import SupportedPath

_Key: TypeAlias = tuple[bytes, int, bool, float]

_REMEMBERED = 2  # searches: one with heuristic 1 and one without
_LOCK = Lock()
_SEARCHES: OrderedDict[_Key, PathSearch] = OrderedDict()


def remembered_paths(
    graphs: Sequence[LiftedHypergraph], longest: int, *, singles: bool = False, fewest: float = 0,
    progress: Callable[[PathProgress], None] | None = None,
) -> Iterator[SupportedPath]:  # fmt: skip
    """Yield the same as ``supported_paths``, but search no length again that was searched a moment ago."""
    key = (_digest(graphs), longest, singles, float(fewest))
    with _LOCK:
        search = _SEARCHES.pop(key, None)
        if search is None:
            search = PathSearch(graphs, longest, singles=singles, fewest=fewest)
        _SEARCHES[key] = search
        while len(_SEARCHES) > _REMEMBERED:
            _SEARCHES.popitem(last=False)
    return search.paths(progress)


def _digest(graphs: Sequence[LiftedHypergraph]) -> bytes:
    """Return what is equal for hypergraphs with equal clusters, predicates and true atoms."""
    digest = hashlib.sha256()
    for graph in graphs:
        predicates = graph.hypergraph.vocabulary.predicates
        digest.update(repr([(name, predicates[name].types) for name in graph.hypergraph.members]).encode())
        arrays: list[NDArray[Any]] = [graph.labels, *graph.hypergraph.members.values()]
        for array in arrays:
            digest.update(f"{array.shape}{array.dtype}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()
