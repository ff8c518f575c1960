"""Sum the samples of all chains in batches, which give probabilities and their errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.steps.state_layout import ArrayOf, Several, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

MOST_BATCHES = 32  # complete ones; then each two are merged
MOST_NUMBERS = 8_000_000  # 64 MB of sums; where there are many atoms, there are fewer batches

_SUMS = ArrayOf(np.int64, ("chains", "columns"), least=0)


@storable("sampling.Batches")
@dataclass(frozen=True, slots=True, eq=False)
class Batches:
    """Complete batches of equal size, oldest first, and a last one on its way; a row for each chain.

    The first ``binary`` columns count how often an atom or a queried formula was true, the others add up
    how many groundings of a formula were.
    """

    binary: int = field(metadata=holds(Whole("binary", "binary")))
    # Samples of a complete batch, from each chain; 0 before there is one.
    size: int = field(metadata=holds(Whole()))
    complete: tuple[NDArray[np.int64], ...] = field(metadata=holds(Several(_SUMS)))
    partial: NDArray[np.int64] = field(metadata=holds(_SUMS))
    partial_samples: int = field(metadata=holds(Whole()))

    def flaw(self) -> str:
        """Say if batches from outside are inconsistent: overfull, or with more true samples than samples."""
        parts = [(batch, self.size) for batch in self.complete] + [(self.partial, self.partial_samples)]
        full = self.partial_samples >= self.size if self.size else bool(self.complete or self.partial_samples)
        if full or any((sums[:, : self.binary] > samples).any() for sums, samples in parts):
            return "sums do not fit the number of samples"
        return ""

    @property
    def samples(self) -> int:
        """The number of samples from each chain."""
        return self.size * len(self.complete) + self.partial_samples

    @property
    def chains(self) -> int:
        """The number of chains."""
        return len(self.partial)

    @property
    def columns(self) -> int:
        """The number of sums."""
        return int(self.partial.shape[1])

    @property
    def room(self) -> int | None:
        """How many samples complete the batch on its way; ``None`` where they make the first batch."""
        return self.size - self.partial_samples if self.size else None

    def add_samples(self, sums: NDArray[np.int64], samples: int) -> Batches:
        """Return these with more samples, at most as many as there is room for."""
        size = self.size or samples
        partial, number = _make_read_only(self.partial + sums), self.partial_samples + samples
        if number < size:
            return Batches(self.binary, size, self.complete, partial, number)
        complete = (*self.complete, partial)
        affordable = MOST_NUMBERS // max(1, partial.size) // 2 * 2
        if len(complete) >= max(4, min(MOST_BATCHES, affordable)) and len(complete) % 2 == 0:
            complete = tuple(
                _make_read_only(a + b) for a, b in zip(complete[::2], complete[1::2], strict=True)
            )
            size *= 2
        return Batches(self.binary, size, complete, _make_read_only(np.zeros_like(partial)), 0)

    def means(self) -> NDArray[np.float64]:
        """Return the sums over all samples of all chains, divided by their number."""
        total = self.partial.sum(axis=0)
        for batch in self.complete:
            total = total + batch.sum(axis=0)
        return np.asarray(total / max(1, self.samples * self.chains))

    def errors(self) -> NDArray[np.float64]:
        """Return the standard errors of the binary columns' means."""
        return batch_errors(self._rows(self.complete), self.size)

    def effective_sizes(self) -> NDArray[np.float64]:
        """Return the effective sample sizes of the binary columns."""
        return effective_sizes(self._rows(self.complete), self.size)

    def r_hats(self) -> NDArray[np.float64]:
        """Return R-hat of the binary columns, from the halves of the chains."""
        even = self.complete[len(self.complete) % 2 :]  # of an odd number the oldest is left out
        half = len(even) // 2
        halves = [sum(part, np.zeros_like(self.partial)) for part in (even[:half], even[half:])]
        return split_r_hat(self._rows(halves), self.size * half)

    def can_tell(self) -> bool:
        """Return whether there are enough batches for errors and R-hat."""
        return len(self.complete) >= 2

    def metrics(self) -> Mapping[str, float]:
        """Return the largest R-hat and the smallest effective sample size, once they can be told."""
        if not self.binary or not self.can_tell():
            return {}
        return {
            "largest_r_hat": float(self.r_hats().max()),
            "smallest_effective_size": float(self.effective_sizes().min()),
        }

    def _rows(self, parts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return the binary columns of some sums, a row for each chain of each."""
        rows = [part[:, : self.binary] for part in parts]
        return np.concatenate(rows) if rows else np.zeros((0, self.binary), np.int64)


def no_batches(chains: int, columns: int, binary: int) -> Batches:
    """Return the sums over no samples."""
    return Batches(binary, 0, (), _make_read_only(np.zeros((chains, columns), np.int64)), 0)


def _make_read_only(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    sums.setflags(write=False)
    return sums


# --- standard errors, effective sample sizes and R-hat ------------------------------------------

# What is averaged is a truth value, 0 or 1, so that a chain's variance follows from its mean, and sums over
# stretches of the chains (*batches*) are all that has to be kept.

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
