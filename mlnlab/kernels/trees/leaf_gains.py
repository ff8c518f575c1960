"""Gains of all complete splits of a leaf, from the counts of its rows.

With n_x rows of each value x and N in all, a leaf is worth sum over x of t(n_x) - b(N). The tables t and b
make this the log-likelihood, t(n) = n log(n + alpha) and b(N) = N log(N + k alpha), or the logarithm of the
Bayesian-Dirichlet marginal likelihood, where both are differences of log-gamma functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray


@compiled
def worth_of_split(
    counts: NDArray[np.int64], totals: NDArray[np.int64], first: int, number: int, derived: bool,
    tops: NDArray[np.float64], bottoms: NDArray[np.float64],
) -> float:  # fmt: skip
    """Return the gain of a complete split on a variable with some columns of counts.

    ``derived``: rows in none of the columns have its first value; else its cell is missing in them, and they
    count neither before the split nor after it.
    """
    gain: float = 0.0
    before = left = np.int64(0)
    for value in range(len(totals)):
        known = np.int64(0)
        for column in range(first, first + number):
            known += counts[value, column]
        if derived:
            gain += tops[totals[value] - known] - tops[totals[value]]
            left += totals[value] - known
            before += totals[value]
        else:
            gain -= tops[known]
            before += known
    if derived and left == before:
        return 0.0  # every row has the first value
    gain += bottoms[before] - bottoms[left]
    for column in range(first, first + number):
        rows = np.int64(0)
        for value in range(len(totals)):
            rows += counts[value, column]
            gain += tops[counts[value, column]]
        if rows == before:
            return 0.0  # every row has this value
        gain -= bottoms[rows]
    return float(gain)


@compiled
def score_splits(
    counts: NDArray[np.int64], totals: NDArray[np.int64], starts: NDArray[np.int64],
    lowest: NDArray[np.int64], own: int, tops: NDArray[np.float64], bottoms: NDArray[np.float64],
    gains: NDArray[np.float64],
) -> None:  # fmt: skip
    """Write the gain of the complete split of a leaf on each variable; 0 for the tree's own."""
    for variable in range(len(gains)):
        first, number = starts[variable], starts[variable + 1] - starts[variable]
        if variable == own or number == 0:
            gains[variable] = 0.0
        else:
            derived = lowest[variable] == 1
            gains[variable] = worth_of_split(counts, totals, first, number, derived, tops, bottoms)


def warm_up() -> None:
    """Compile every kernel of this file."""
    counts, starts, table = np.zeros((2, 1), np.int64), np.array([0, 1]), np.zeros(1)
    score_splits(counts, counts[:, 0].copy(), starts, starts[1:], 1, table, table, table.copy())
