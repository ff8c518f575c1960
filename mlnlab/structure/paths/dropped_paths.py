"""The paths that heuristic 1 dropped: those with fewer than μ true ground atoms for each hyperedge.

A run never makes them, so they are looked for once more without μ when somebody asks. That is bounded by
time, and how many were found by then is said.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from mlnlab.structure.paths.literals_together import may_stand_together
from mlnlab.structure.paths.path_support import supported_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph
    from mlnlab.structure.paths.remembered_paths import PathParams
    from mlnlab.structure.paths.variabilized import SupportedPath

MOST = 1_000
SECONDS = 20.0


@dataclass(frozen=True, slots=True, eq=False)
class DroppedPaths:
    """How many paths there were, how many too thin ones, and those of these that came closest."""

    fewest: float  # μ
    paths: int
    dropped: int
    closest: tuple[SupportedPath, ...]
    complete: bool = True

    def count_needed_atoms(self, path: SupportedPath) -> int:
        """Return how many true atoms a path would have needed."""
        return ceil(self.fewest * path.length)

    def __repr__(self) -> str:
        least = "" if self.complete else " at least"
        return f"<DroppedPaths:{least} {self.dropped:,} of {self.paths:,} have too few true atoms>"


def dropped_paths(
    graphs: Sequence[LiftedHypergraph], params: PathParams, kept: int, most: int = MOST,
    seconds: float = SECONDS,
) -> DroppedPaths:  # fmt: skip
    """Return the paths that μ dropped, those first that came closest to being kept."""
    if not params.fewest:
        return DroppedPaths(0.0, kept, 0, ())
    until, total, dropped, complete = time.monotonic() + seconds, 0, 0, True
    closest: list[tuple[float, int, SupportedPath]] = []
    for path in supported_paths(graphs, params.longest, singles=params.singles):
        if not may_stand_together(path.path.atoms, params.apart, mirrored=params.mirrored):
            continue  # heuristic 1 had no part in that
        total += 1
        needed = ceil(params.fewest * path.length)
        if path.true_atoms < needed:
            dropped += 1
            entry = (path.true_atoms / needed, -total, path)
            if len(closest) < most:
                heapq.heappush(closest, entry)
            else:
                heapq.heappushpop(closest, entry)
        if time.monotonic() > until:
            complete = False
            break
    best = tuple(path for *_, path in sorted(closest, key=lambda entry: (-entry[0], -entry[1])))
    return DroppedPaths(params.fewest, total, dropped, best, complete)
