"""Many clusters: the largest are drawn, those left of a type are one group, which opens on a click."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.card.markup import count_of
from mlnlab.display.scene.building import numbered_id
from mlnlab.structure.lift.lifted_hypergraph import LiftedHypergraph

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

MOST_SHOWN = 500  # boxes
_MOST_AT_FIRST = 24  # clusters of several constants


class Grouped(NamedTuple):
    """A coarser clustering, with words for the boxes that stand for several clusters."""

    lifted: LiftedHypergraph
    groups: Mapping[int, str]


def group_id(lifted: LiftedHypergraph, cluster: int) -> str:
    """Return the id of the group of a cluster's type."""
    return numbered_id("rest", list(lifted.hypergraph.constants).index(lifted.type_of(cluster)))


def group_clusters(
    lifted: LiftedHypergraph, opened: Collection[str] = (), most: int = _MOST_AT_FIRST
) -> Grouped:
    """Return the largest clusters, and for each type those left as one group, but of ``opened`` groups all.

    As many are opened as there is room for.
    """
    largest = lifted.clusters[np.lexsort((lifted.clusters, -lifted.sizes[lifted.clusters]))][:most]
    shown = np.zeros(len(lifted.labels), np.bool_)
    shown[largest[lifted.sizes[largest] > 1]] = True
    representative = lifted.clusters.copy()
    groups = {}
    for ours in _by_type(lifted):
        hidden = ours[~shown[ours]]
        wanted = len(hidden) == 1 or (len(hidden) > 1 and group_id(lifted, int(ours[0])) in opened)
        if wanted and int(shown.sum()) + len(hidden) <= MOST_SHOWN:
            shown[hidden] = True
        elif len(hidden):
            representative[np.isin(lifted.clusters, hidden)] = hidden[0]
            rest = f"{len(hidden):,} other clusters" if len(hidden) < len(ours) else ""
            groups[int(hidden[0])] = rest or count_of(len(hidden), "cluster")
    labels = representative[np.searchsorted(lifted.clusters, lifted.labels)]
    return Grouped(LiftedHypergraph(lifted.hypergraph, labels), groups)


def _by_type(lifted: LiftedHypergraph) -> Iterator[Numbers]:
    """Yield the clusters of each type that has some."""
    offsets = list(lifted.hypergraph.offsets.values())
    for clusters in np.split(lifted.clusters, np.searchsorted(lifted.clusters, offsets[1:])):
        if len(clusters):
            yield clusters
