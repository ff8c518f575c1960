"""Coordinates within layers: as near as possible to where they want to be, in order, never too close."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


def spread(wanted: Numbers, gaps: Numbers) -> Numbers:
    """Return x with x[i+1] - x[i] >= gaps[i] that minimises the sum of (x - wanted)².

    Subtracting the gaps turns the condition into "never falling": isotonic regression, solved by pooling
    neighbours that contradict each other (Ayer et al. 1955).
    """
    if len(wanted) == 0:
        return np.zeros(0)
    offsets = np.concatenate([[0.0], np.cumsum(gaps)])
    sums: list[float] = []
    counts: list[int] = []
    for value in (wanted - offsets).tolist():
        total, count = value, 1
        while sums and sums[-1] * count >= total * counts[-1]:
            total += sums.pop()
            count += counts.pop()
        sums.append(total)
        counts.append(count)
    means = np.array(sums) / np.array(counts)
    return np.asarray(np.repeat(means, counts) + offsets)
