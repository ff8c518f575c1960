"""Clusters of choices: many tables of features merged into a few, from which a sum over worlds gathers."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.grounding.features import MOST_CELLS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.features import Table


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Some choices, and the tables of features over subsets of them."""

    scope: tuple[int, ...]
    shape: tuple[int, ...]
    tables: tuple[Table, ...]

    def log_weights(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of w_i g_ij over the cluster's features, for each cell (lecture notes, eq. 13)."""
        total = np.zeros(self.shape)
        for table in self.tables:
            weight = weights[table.column]
            aligned = table.counts.reshape(
                [n if c in table.scope else 1 for c, n in zip(self.scope, self.shape, strict=True)]
            )
            if weight == -np.inf:  # a hard formula: cells that violate any grounding are impossible
                total += np.where(aligned > 0, -np.inf, 0.0)
            elif weight:
                total += weight * aligned
        return total.ravel()


def clusters(tables: Sequence[Table], sizes: Sequence[int]) -> tuple[Cluster, ...]:
    """Merge tables into few clusters of at most so many cells, each choice being in at least one."""
    scopes = sorted(
        {table.scope for table in tables} | {(c,) for c in range(len(sizes))}, key=len, reverse=True
    )
    merged: list[set[int]] = []
    for scope in scopes:
        best = None
        for place, members in enumerate(merged):
            union = members | set(scope)
            if prod(sizes[c] for c in union) <= MOST_CELLS or union == members:
                overlap = len(members) + len(scope) - len(union)
                if best is None or overlap > best[0]:
                    best = (overlap, place)
        if best is None:
            merged.append(set(scope))
        else:
            merged[best[1]] |= set(scope)
    homes = [next(p for p, members in enumerate(merged) if members.issuperset(t.scope)) for t in tables]
    return tuple(
        Cluster(
            order,
            tuple(sizes[c] for c in order),
            tuple(t for t, h in zip(tables, homes, strict=True) if h == place),
        )
        for place, members in enumerate(merged)
        for order in [tuple(sorted(members))]
    )
