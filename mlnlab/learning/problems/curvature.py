"""Define the Hessian of minus an objective, in any form that second-order methods can use.

For log-likelihoods it is the covariance of the counts (thesis, section 4.2.4); with thousands of weights it
is never stored, since d'Hd and H times a vector follow from what it was made of (Pearlmutter 1994).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mlnlab.counting.deltas.shared_rows import SharedRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


class Curvature(Protocol):
    """A symmetric matrix H that is not negative, by its products."""

    def diagonal(self) -> Numbers:
        """Return the diagonal of H."""
        ...

    def times(self, direction: Numbers) -> Numbers:
        """Return H d."""
        ...

    def quadratic(self, direction: Numbers) -> float:
        """Return d'Hd."""
        ...

    def matrix(self) -> Numbers:
        """Return H itself."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Covariance:
    """H as a matrix: the covariance of the counts where that is known exactly."""

    values: Numbers

    def diagonal(self) -> Numbers:
        """Return the variances."""
        return np.diag(self.values).copy()

    def times(self, direction: Numbers) -> Numbers:
        """Return H d."""
        return np.asarray(self.values @ direction)

    def quadratic(self, direction: Numbers) -> float:
        """Return d'Hd."""
        return float(direction @ self.values @ direction)

    def matrix(self) -> Numbers:
        """Return H."""
        return self.values


@dataclass(frozen=True, slots=True, eq=False)
class SampledCovariance:
    """H from samples: rows of counts, each with its share of the samples (thesis, section 4.2.4)."""

    counts: Numbers  # a row for each sample, a column for each formula
    shares: Numbers  # of each sample; they sum to 1

    def _centre_counts(self) -> Numbers:
        return np.asarray(self.counts - self.shares @ self.counts)

    def diagonal(self) -> Numbers:
        """Return E[n_i^2] - E[n_i]^2."""
        return np.asarray(self.shares @ self._centre_counts() ** 2)

    def times(self, direction: Numbers) -> Numbers:
        """Return E[n (n'd)] - E[n] E[n'd]."""
        centred = self._centre_counts()
        return np.asarray((self.shares * (centred @ direction)) @ centred)

    def quadratic(self, direction: Numbers) -> float:
        """Return E[(sum_i d_i n_i)^2] - E[sum_i d_i n_i]^2."""
        along = self._centre_counts() @ direction
        return float(self.shares @ along**2)

    def matrix(self) -> Numbers:
        """Return the covariance matrix."""
        centred = self._centre_counts()
        return np.asarray((self.shares[:, None] * centred).T @ centred)


@dataclass(frozen=True, slots=True, eq=False)
class WeightedRows:
    """H = sum_r s_r v_r v_r': rows with weights, as pseudo-likelihoods have it."""

    rows: Numbers | SharedRows
    strengths: Numbers

    def diagonal(self) -> Numbers:
        """Return sum_r s_r v_ri^2."""
        squares = self.rows.squares if isinstance(self.rows, SharedRows) else self.rows**2
        return sum_rows(squares, self.strengths)

    def times(self, direction: Numbers) -> Numbers:
        """Return H d."""
        return sum_rows(self.rows, self.strengths * (self.rows @ direction))

    def quadratic(self, direction: Numbers) -> float:
        """Return d'Hd."""
        return float(self.strengths @ np.asarray(self.rows @ direction) ** 2)

    def matrix(self) -> Numbers:
        """Return H."""
        if isinstance(self.rows, SharedRows):
            return self.rows.weighted_squares(self.strengths)
        return np.asarray((self.rows * self.strengths[:, None]).T @ self.rows)


def sum_rows(rows: Numbers | SharedRows, strengths: Numbers) -> Numbers:
    """Return the sum of the rows, each times its strength."""
    return rows.sum_rows(strengths) if isinstance(rows, SharedRows) else np.asarray(strengths @ rows)


@dataclass(frozen=True, slots=True, eq=False)
class CurvatureSum:
    """The sum of several: one for each database."""

    parts: Sequence[Curvature]

    def diagonal(self) -> Numbers:
        """Return the sum of the diagonals."""
        return np.asarray(sum(part.diagonal() for part in self.parts))

    def times(self, direction: Numbers) -> Numbers:
        """Return H d."""
        return np.asarray(sum(part.times(direction) for part in self.parts))

    def quadratic(self, direction: Numbers) -> float:
        """Return d'Hd."""
        return float(sum(part.quadratic(direction) for part in self.parts))

    def matrix(self) -> Numbers:
        """Return H."""
        return np.asarray(sum(part.matrix() for part in self.parts))


def has_quick_diagonal(curvature: Curvature) -> bool:
    """Tell whether the diagonal costs no more than an evaluation of the objective."""
    match curvature:
        case Covariance() | WeightedRows():
            return True
        case CurvatureSum(parts):
            return all(map(has_quick_diagonal, parts))
        case _:
            return False


@dataclass(frozen=True, slots=True, eq=False)
class ScaledCurvature:
    """A curvature times a number: a part of the data scaled up to all of them."""

    curvature: Curvature
    factor: float

    def diagonal(self) -> Numbers:
        """Return the diagonal."""
        return np.asarray(self.factor * self.curvature.diagonal())

    def times(self, direction: Numbers) -> Numbers:
        """Return H d."""
        return np.asarray(self.factor * self.curvature.times(direction))

    def quadratic(self, direction: Numbers) -> float:
        """Return d'Hd."""
        return self.factor * self.curvature.quadratic(direction)

    def matrix(self) -> Numbers:
        """Return H."""
        return np.asarray(self.factor * self.curvature.matrix())
