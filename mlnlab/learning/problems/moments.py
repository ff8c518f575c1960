"""Define an objective's values at some weights: observed and expected counts, and its curvature.

The gradient of every objective here is observed minus expected (lecture notes, eq. 35): for a likelihood
n_i - E[n_i]; for a pseudo-likelihood the sums over atoms of Δn_i times the atom's truth, and times its
probability. Learning is done where the two agree, up to the prior's pull (moment matching, eq. 36).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from mlnlab.learning.problems.curvature import Curvature

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Observed and expected counts by formula, the objective's value where it is known, and its curvature."""

    observed: Numbers
    expected: Numbers
    curvature: Curvature
    value: float | None = None  # without the prior
    errors: Numbers | None = None  # standard errors of the expected counts; None where they are exact
    sampling_seconds: float = 0.0
    samples: int = 0  # behind the expected counts of each database; 0 where these are exact

    @property
    def gradient(self) -> Numbers:
        """Observed minus expected: the derivative of the objective by each weight."""
        return self.observed - self.expected


class Memory(Protocol):
    """The memory of an objective between evaluations, such as chains of samplers; ``None`` if it has none.

    It must be a registered dataclass (``@storable``), so that a run can go on from a checkpoint.
    """


class Objective(Protocol):
    """Something to maximise: a likelihood or an approximation of one, of given data."""

    @property
    def name(self) -> str:
        """The name of the objective, such as "pseudo-log-likelihood"."""
        ...

    @property
    def has_value(self) -> bool:
        """Whether its value is known, not only its derivatives."""
        ...

    @property
    def counts(self) -> Numbers:
        """n_i in the data by formula, of the groundings that evidence leaves open (for rates of steps)."""
        ...

    def moments(self, weights: Numbers, memory: object = None) -> tuple[Moments, object]:
        """Return the moments at some weights, and the memory for the next evaluation."""
        ...

    def recall_moments(self, weights: Numbers, memory: object) -> Moments:
        """Return the moments that were found at these weights with this memory left behind."""
        ...

    def part(self, databases: Sequence[int]) -> Objective:
        """Return the same objective of some of the databases (mini-batches, bootstrap)."""
        ...


def plain(objective: Objective) -> Objective:
    """Return an objective without the wrappers of batches, or of a run that somebody changed."""
    inner = getattr(objective, "whole", None) or getattr(objective, "objective", None)
    return objective if inner is None else plain(inner)
