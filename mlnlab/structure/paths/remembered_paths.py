"""Remember the last searches for paths, by the content of the searched hypergraphs.

A learner asks for the same paths several times: when it begins, when it goes on after a stop, and when it
says where its clauses came from.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from mlnlab.structure.paths.literals_together import Groups, may_stand_together
from mlnlab.structure.paths.path_support import PathProgress, PathSearch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph
    from mlnlab.structure.paths.variabilized import SupportedPath

_Key: TypeAlias = tuple[bytes, int, bool, float]

_REMEMBERED = 2  # searches: one with heuristic 1 and one without
_LOCK = Lock()
_SEARCHES: OrderedDict[_Key, PathSearch] = OrderedDict()


class PathParams(Protocol):
    """The parameters of a search for paths, by their names in LHL."""

    @property
    def longest(self) -> int:
        """The most hyperedges of a path (ω)."""
        ...

    @property
    def singles(self) -> bool:
        """Whether a single hyperedge is a path."""
        ...

    @property
    def fewest(self) -> float:
        """The fewest true atoms for each hyperedge (μ)."""
        ...

    @property
    def apart(self) -> Groups | str:
        """Groups of predicates of which a clause holds at most one literal."""
        ...

    @property
    def mirrored(self) -> bool:
        """Whether a clause may hold an atom beside its mirror image."""
        ...


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


def paths_of(
    graphs: Sequence[LiftedHypergraph], params: PathParams,
    progress: Callable[[PathProgress], None] | None = None,
) -> Iterator[SupportedPath]:  # fmt: skip
    """Yield the paths of which a learner makes clauses: those whose literals may stand together."""
    found = remembered_paths(
        graphs, params.longest, singles=params.singles, fewest=params.fewest, progress=progress
    )
    for one in found:
        if may_stand_together(one.path.atoms, params.apart, mirrored=params.mirrored):
            yield one


def _digest(graphs: Sequence[LiftedHypergraph]) -> bytes:
    """Return a digest, equal for hypergraphs with equal clusters, predicates and true atoms."""
    digest = hashlib.sha256()
    for graph in graphs:
        predicates = graph.hypergraph.vocabulary.predicates
        digest.update(repr([(name, predicates[name].types) for name in graph.hypergraph.members]).encode())
        arrays: list[NDArray[Any]] = [graph.labels, *graph.hypergraph.members.values()]
        for array in arrays:
            digest.update(f"{array.shape}{array.dtype}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()
