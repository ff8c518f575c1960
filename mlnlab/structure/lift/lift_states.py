"""Define the states of LiftGraph: a clustering with its log-posterior, and the last merge with its gain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.steps.run_identity import OfRun
from mlnlab.steps.state_layout import (
    FLAG,
    NOTHING,
    REPORTED,
    TEXT,
    ArrayOf,
    OneOf,
    Part,
    Several,
    Whole,
    holds,
)
from mlnlab.steps.values.encoding import storable
from mlnlab.structure.lift.lift_terms import GainTerm

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]


LIFTING = "lifting"  # the phase of a learner


@storable("lift_graph.Merge")
@dataclass(frozen=True, slots=True)
class Merge:
    """Two clusters of a type that are, or may be, merged into ``first``, and the gain.

    Clusters are named by the smallest node in each, and first < second. ``terms`` add up to the gain; those
    that are only compared with the best have their sums alone.
    """

    type: str = field(metadata=holds(TEXT))
    first: int = field(metadata=holds(Whole(most="last")))
    second: int = field(metadata=holds(Whole(most="last")))
    gain: float = field(metadata=holds(REPORTED))
    likelihood: float = field(metadata=holds(REPORTED))
    prior: float = field(metadata=holds(REPORTED))
    terms: tuple[GainTerm, ...] = field(default=(), metadata=holds(Several(Part(GainTerm))))


@storable("lift_graph.LiftState")
@dataclass(frozen=True, slots=True, eq=False)
class LiftState(OfRun):
    """A clustering, and the merge that led to it; the first state has none, nor has the last.

    ``labels`` holds the cluster of each node, ``predicates`` that of each predicate with true atoms: the
    smallest number in it. ``ended`` says that no merge gains any more. ``ahead`` is what a merge
    that was found by looking ahead gains together with all that follow it.
    """

    labels: Numbers = field(metadata=holds(ArrayOf(np.int64, ("constants",), least=0, below="constants")))
    predicates: Numbers = field(
        metadata=holds(ArrayOf(np.int64, ("predicates",), least=0, below="predicates"))
    )
    round: int = field(metadata=holds(Whole()))
    merge: Merge | None = field(metadata=holds(OneOf((NOTHING, Part(Merge)))))
    runners_up: tuple[Merge, ...] = field(metadata=holds(Several(Part(Merge))))
    log_posterior: float = field(metadata=holds(REPORTED))
    log_likelihood: float = field(metadata=holds(REPORTED))
    hyperedges: int = field(metadata=holds(Whole()))
    by_hand: bool = field(default=False, metadata=holds(FLAG))
    ahead: float = field(default=0.0, metadata=holds(REPORTED))
    ended: bool = field(default=False, metadata=holds(FLAG))

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
