"""How far samples can be trusted: standard errors, effective sample sizes and R-hat of probabilities.

What is averaged is a truth value, 0 or 1, so that a chain's variance follows from its mean, and sums over
stretches of the chains (*batches*) are all that has to be kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

_LARGEST_WHOLE = 10_000_000  # samples of a batch: the squares of so many, summed, are 64-bit numbers
LARGEST_R_HAT = 1000.0  # stands for infinity: chains that never move, in different places


def split_r_hat(sums: NDArray[np.int64], size: int) -> Numbers:
    """Return R-hat from the sums over the halves of the chains, a row for each half (of ``size`` samples).

    Gelman, Carlin, Stern, Dunson, Vehtari and Rubin, Bayesian Data Analysis (3rd ed., 2013), section 11.4,
    whose symbols the comments use; for truth values s_j^2 = n/(n-1) mean_j (1 - mean_j).
    """
    means = sums / size
    between = size * means.var(axis=0, ddof=1)  # B = n/(m-1) sum_j (mean_j - mean)^2
    within = (size / max(1, size - 1)) * (means * (1 - means)).mean(axis=0)  # W = 1/m sum_j s_j^2
    variance = (size - 1) / size * within + between / size  # var+ = (n-1)/n W + B/n
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt(variance / within)  # R-hat = sqrt(var+ / W)
    stuck = np.where(between > 0, LARGEST_R_HAT, 1.0)
    return np.minimum(np.where(within > 0, ratio, stuck), LARGEST_R_HAT)


def batch_errors(sums: NDArray[np.int64], size: int) -> Numbers:
    """Return standard errors of the means from the sums over batches, a row for each batch of each chain.

    The batches' means vary as their number times the variance of the whole mean (non-overlapping batch
    means: Geyer, Practical Markov chain Monte Carlo, Statistical Science 1992, section 3.2). Never smaller
    than with independent samples: what never happened in N of them may still happen once in N.
    """
    number = len(sums)
    samples = number * size
    independent = _smoothed_variance(sums.sum(axis=0), samples) / samples
    if number < 2:
        return np.full(sums.shape[1], 0.5)
    # sum_k (mean_k - mean)^2 / (K (K - 1)) over K batches; in whole numbers: exact, and one pass
    whole = sums if size < _LARGEST_WHOLE else sums.astype(np.float64)
    squares = number * np.einsum("kj,kj->j", whole, whole) - whole.sum(axis=0) ** 2
    batches = squares / (float(number) ** 2 * (number - 1) * float(size) ** 2)
    return np.asarray(np.sqrt(np.maximum(batches, independent)))


def effective_sizes(sums: NDArray[np.int64], size: int) -> Numbers:
    """Return how many independent samples would give the same standard errors: p (1 - p) / error^2.

    Vehtari, Gelman, Simpson, Carpenter and Buerkner, Rank-normalization, folding, and localization
    (Bayesian Analysis 2021), section 3.2: the ratio of the variance to that of the mean.
    """
    variance = _smoothed_variance(sums.sum(axis=0), len(sums) * size)
    return variance / batch_errors(sums, size) ** 2


def _smoothed_variance(trues: NDArray[np.int64], samples: int) -> Numbers:
    """Return p (1 - p), p smoothed by a sample that is half true (as in Lowd's thesis, section 5.7.3)."""
    smoothed = (trues + 0.5) / (samples + 1)
    return np.asarray(smoothed * (1 - smoothed))
