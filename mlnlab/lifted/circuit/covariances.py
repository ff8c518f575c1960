"""Second derivatives of log Z: covariances of counts, as products with a direction of weights.

The Hessian of log Z by the weights is Cov(n_i, n_j) (lecture notes; Lowd's thesis, section 4: diagonal Newton
and scaled conjugate gradient ask for products with it). One pass up and one down over series of two terms
gives the change of all expected counts along a direction at once; it is carried by balls, so that it is
right also where signs cancel, and its error is known. Where numbers of true atoms are asked for, differences
take its place (:mod:`mlnlab.lifted.circuit.covariance_differences`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.algebra.semirings import ball_series
from mlnlab.circuits.first_order.derivatives import derivatives
from mlnlab.circuits.first_order.fold import Weights
from mlnlab.errors import TooLargeError
from mlnlab.lifted.circuit.arithmetic import Evaluation, LogWeights, at_growing_precision, is_sharp, middle_of
from mlnlab.lifted.circuit.lifted_questions import read_direction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Values = NDArray[np.float64]


def covariances_times(
    evaluation: Evaluation, logs: tuple[LogWeights, LogWeights], direction: Sequence[float]
) -> Values:
    """Return Cov(n) · direction: how the expected counts change when weights go that way."""
    weighted = evaluation.weighted
    along = read_direction(weighted.mln, direction)
    moved = (weighted.true @ along, weighted.false @ along)  # of the logarithms of atoms' weights
    changes = at_growing_precision(lambda: _trial(evaluation, logs, moved))
    if changes is None:
        raise TooLargeError(
            "Covariances stay unsharp at any precision; perhaps no world satisfies the hard formulas.",
            0.0, ["ask ml.conflict(...) for a smaller domain"],
        )  # fmt: skip
    return np.asarray(weighted.true.T @ changes[0] + weighted.false.T @ changes[1])


def _trial(
    evaluation: Evaluation, logs: tuple[LogWeights, LogWeights], moved: tuple[Values, Values]
) -> tuple[Values, Values] | None:
    """Return how numbers of true and false atoms change; nothing where the precision does not do."""
    from flint import arb, arb_series, ctx

    before, ctx.cap = ctx.cap, 2
    try:
        weighed = [
            [arb_series([w, w * arb(float(change))]) for w, change in zip(ws, changes, strict=True)]
            for ws, changes in zip(evaluation.ball_weights(*logs), moved, strict=True)
        ]
        found = derivatives(evaluation.bodies, evaluation.subdomains, ball_series(), Weights(*weighed))
        if not found.value[0] > 0:
            return None
        parts = [
            [d * w / found.value for d, w in zip(ds, ws, strict=True)]
            for ds, ws in zip((found.true, found.false), weighed, strict=True)
        ]
    finally:
        ctx.cap = before
    changes: list[list[Any]] = [[expected[1] for expected in part] for part in parts]
    if not all(is_sharp(change) for part in changes for change in part):
        return None
    return tuple(np.array([middle_of(c) for c in part]) for part in changes)  # type: ignore[return-value]
