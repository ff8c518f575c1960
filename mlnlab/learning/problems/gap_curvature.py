"""The covariance of counts where only their expectations are known: by differences at two points nearby."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIFFERENCE = 1e-4  # of a weight: the step


@dataclass(frozen=True, slots=True, eq=False)
class GapCurvature:
    """Products with the covariance at some weights; ``gap`` tells observed minus expected counts at any."""

    gap: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    weights: NDArray[np.float64]
    rough: Callable[[], NDArray[np.float64]]

    def rough_diagonal(self) -> NDArray[np.float64]:
        """Return the approximate variances; it costs nothing."""
        return self.rough()

    def diagonal(self) -> NDArray[np.float64]:
        """Return the variances."""
        return np.diag(self.matrix()).copy()

    def times(self, direction: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return H d = (E[n] at w + h d - E[n] at w - h d) / 2h."""
        length = float(np.abs(direction).max(initial=0.0))
        if length == 0.0:
            return np.zeros(len(direction))
        step = _DIFFERENCE / length
        gaps = [self.gap(self.weights + sign * step * direction) for sign in (-1.0, 1.0)]
        return np.asarray((gaps[0] - gaps[1]) / (2 * step))

    def quadratic(self, direction: NDArray[np.float64]) -> float:
        """Return d'Hd."""
        return float(direction @ self.times(direction))

    def matrix(self) -> NDArray[np.float64]:
        """Return the covariance matrix."""
        rows = np.array([self.times(axis) for axis in np.eye(len(self.weights))])
        return np.asarray(rows + rows.T) / 2
