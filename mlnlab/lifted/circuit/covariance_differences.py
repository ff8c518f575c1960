"""Second derivatives of log Z as differences: covariances of counts from their expectations.

Cov(n) · d is the derivative of E[n] along d. Two expectations on each side give it up to the fourth power of
the step: by cells, and by circuits where numbers of true atoms are asked for; others have it exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.algebra.doors import RoundingError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Values = NDArray[np.float64]

STEP = 2e-3  # of a weight: what rounding takes and what the fourth power leaves are then about as much
_LEAST_MOVE = 1e-5  # of a step: what rounding may take of it
_FACTORS = ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12))


def covariances_by_differences(
    expected_counts: Callable[[list[float]], Sequence[float]], weights: Values, along: Values
) -> Values:
    """Return Cov(n) · direction by differences of expected counts at moved weights."""
    length = float(np.abs(along).max(initial=0.0))
    if not length:
        return np.zeros(len(weights))
    step = STEP / length
    moved = np.abs(weights[along != 0]).max()
    if float(np.spacing(moved)) > _LEAST_MOVE * STEP:
        raise RoundingError(
            f"Covariances by differences move weights by {STEP:g}, which floats cannot tell beside"
            f" {moved:.3g}: make that formula hard, or leave it out of the direction."
        )
    parts = [
        factor * np.asarray(expected_counts((weights + times * step * along).tolist()))
        for times, factor in _FACTORS
    ]
    return np.asarray(sum(parts) / step)
