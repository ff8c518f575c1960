"""How ill-conditioned a learning problem is at some weights: condition numbers of the Hessian.

The Hessian of a negative log-likelihood is the covariance of the counts (thesis, section 4.2.4). Where its
largest and smallest eigenvalues are far apart, no one learning rate suits all directions; where the largest
and smallest variances are, a rate for each weight helps (section 4.3.1: a ratio of over 600,000 for Cora and
of 7,000 for WebKB at weights of zero; ``mlnlab reproduce condition-numbers`` puts ours beside them, with each
cause of the difference switched off).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import count_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.problems.problem import Problem

    Numbers = NDArray[np.float64]

MOST_EIGENVALUES = 2000  # parameters for which the whole matrix is taken apart
_NOTHING = 1e-12  # relative to the largest: an eigenvalue that is rounding


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """The variances of the counts and the eigenvalues of the Hessian at some weights."""

    variances: Numbers  # the diagonal, by parameter
    eigenvalues: Numbers | None  # ascending; None where there are too many weights
    with_prior: bool

    @property
    def diagonal(self) -> float:
        """The largest ratio of two variances, of those that are not 0."""
        return _ratio(self.variances)

    @property
    def full(self) -> float:
        """The ratio of the largest and the smallest eigenvalue that is not 0; nan where not known."""
        return float("nan") if self.eigenvalues is None else _ratio(self.eigenvalues)

    @property
    def flat_directions(self) -> int:
        """In how many directions the objective does not change at all, so that data leave weights open."""
        if self.eigenvalues is None:
            return int((self.variances <= 0).sum())
        largest = float(self.eigenvalues.max(initial=0.0))
        return int((self.eigenvalues <= _NOTHING * max(largest, 1e-300)).sum())

    def __repr__(self) -> str:
        full = "" if self.eigenvalues is None else f"Hessian {self.full:.4g}, "
        flat = f", {count_of(self.flat_directions, 'flat direction')}" if self.flat_directions else ""
        of = count_of(len(self.variances), "weight")
        return f"<Condition: {full}diagonal {self.diagonal:.4g}, of {of}{flat}>"


def _ratio(values: Numbers) -> float:
    largest = float(values.max(initial=0.0))
    kept = values[values > _NOTHING * largest]
    return float(kept.max() / kept.min()) if len(kept) else inf


def condition(problem: Problem, weights: Numbers | None = None, *, with_prior: bool = False) -> Condition:
    """Return the condition at some weights, or where learning begins; of the data alone, without prior."""
    free = problem.free
    parameters = free.start if weights is None else free.parameters_of(np.asarray(weights, np.float64))
    point = problem.at(parameters)
    prior = problem.priors.precision
    kept = prior if with_prior else np.zeros_like(prior)
    if free.number <= MOST_EIGENVALUES:
        hessian = point.hessian() - np.diag(prior) + np.diag(kept)
        return Condition(np.diag(hessian).copy(), np.maximum(np.linalg.eigvalsh(hessian), 0.0), with_prior)
    return Condition(point.hessian_diagonal() - prior + kept, None, with_prior)
