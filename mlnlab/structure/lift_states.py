"""What LiftGraph yields: a clustering with its log-posterior, and the merge that led to it with its gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.steps.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from mlnlab.structure.lift_terms import GainTerm

    Numbers = NDArray[np.int64]


@storable("lift_graph.Merge")
@dataclass(frozen=True, slots=True)
class Merge:
    """Two clusters of a type that are, or may be, merged into ``first``, and what that gains.

    Clusters are named by the smallest node in each, and first < second. ``terms`` add up to the gain; those
    that are only compared with the best have their sums alone.
    """

    type: str
    first: int
    second: int
    gain: float
    likelihood: float
    prior: float
    terms: tuple[GainTerm, ...] = ()


@storable("lift_graph.LiftState")
@dataclass(frozen=True, slots=True, eq=False)
class LiftState:
    """A clustering, and the merge that led to it; the first state has none, nor has the last.

    ``labels`` holds the cluster of each node, ``predicates`` that of each predicate with true atoms: the
    smallest number in it. ``ended`` says that no merge gains any more. ``ahead`` is what a merge
    that was found by looking ahead gains together with all that follow it.
    """

    labels: Numbers
    predicates: Numbers
    round: int
    merge: Merge | None
    runners_up: tuple[Merge, ...]
    log_posterior: float
    log_likelihood: float
    hyperedges: int
    by_hand: bool = False
    ahead: float = 0.0
    ended: bool = False

    @property
    def clusters(self) -> int:
        """The number of clusters of constants."""
        return int(np.count_nonzero(self.labels == np.arange(len(self.labels))))

    def metrics(self) -> Mapping[str, float]:
        """Return the log-posterior with its parts, and the size of the lifted hypergraph."""
        return {
            "log-posterior": self.log_posterior,
            "log-likelihood": self.log_likelihood,
            "clusters": self.clusters,
            "hyperedges": self.hyperedges,
            "gain": self.merge.gain if self.merge is not None else 0.0,
        }
