"""Summarise samples of the weights' posterior distribution: means, quantiles, agreement."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.logic.formulas.printing import to_text

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from mlnlab.learning.problems.training_data import TrainingData
    from mlnlab.model.mln.mln import MLN
    from mlnlab.steps.recordings.trace import Trace

    Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WeightPosterior:
    """Samples of the weights: ``.mean`` (the Bayesian estimate), ``.deviations``, ``.quantile(0.95)``."""

    data: TrainingData
    samples: Numbers  # chains x samples x formulas
    accepted: float  # share of the glides
    trace: Trace[Any]  # of the sampler's states

    @property
    def mean(self) -> Numbers:
        """The mean of each weight: the Bayesian estimate."""
        return np.asarray(self.samples.mean(axis=(0, 1)))

    @property
    def deviations(self) -> Numbers:
        """The standard deviation of each weight."""
        return np.asarray(self.samples.reshape(-1, self.samples.shape[2]).std(axis=0, ddof=1))

    def quantile(self, share: float) -> Numbers:
        """Return the number below which each weight lies with some probability."""
        if not 0 <= share <= 1:
            raise ArgumentError(f"A quantile is given by a probability, not by {share!r}.")
        return np.asarray(np.quantile(self.samples.reshape(-1, self.samples.shape[2]), share, axis=0))

    @cached_property
    def r_hats(self) -> Numbers:
        """How much wider all chains are than each half of one: 1 where they agree (Gelman, Rubin)."""
        halves = np.concatenate(np.array_split(self.samples[:, : self._even], 2, axis=1))
        within = halves.var(axis=1, ddof=1).mean(axis=0)
        between = halves.mean(axis=1).var(axis=0, ddof=1)
        number = halves.shape[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(within > 0, np.sqrt((number - 1) / number + between / within), 1.0)

    @property
    def _even(self) -> int:
        return int(self.samples.shape[1]) // 2 * 2

    @cached_property
    def effective_sizes(self) -> Numbers:
        """How many independent samples say as much about each mean (Geyer's initial positive sequence)."""
        return np.array([_effective(self.samples[:, :, n]) for n in range(self.samples.shape[2])])

    @property
    def mln(self) -> MLN:
        """The model with the mean weights."""
        return self.data.with_weights(self.mean)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to read before one believes the numbers."""
        worst = float(self.r_hats.max(initial=1.0))
        if worst > 1.05:
            return (f"The chains disagree (R-hat {worst:.2f}): draw more samples=, or a longer burn_in=.",)
        return ()

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each formula: mean, deviation, quantiles, R-hat and effective samples."""
        import pandas as pd

        names = [to_text(one.formula) for one in self.data.formulas]
        return pd.DataFrame(
            {"formula": names, "mean": self.mean, "deviation": self.deviations, "low": self.quantile(0.025),
             "median": self.quantile(0.5), "high": self.quantile(0.975), "r_hat": self.r_hats,
             "effective_samples": self.effective_sizes}
        )  # fmt: skip

    def __repr__(self) -> str:
        chains, samples, weights = self.samples.shape
        worst = float(self.r_hats.max(initial=1.0))
        return (
            f"<WeightPosterior of {weights} weights: {chains} chains of {samples:,} samples, "
            f"R-hat at most {worst:.3f}>"
        )


def _effective(chains: Numbers) -> float:
    """Return chains x samples over 1 + 2 sum of autocorrelations, as long as pairs of these are positive."""
    number, length = chains.shape
    centred = chains - chains.mean(axis=1, keepdims=True)
    spread = float((centred**2).mean())
    if spread == 0.0:
        return float(number * length)
    padded = np.fft.rfft(centred, 2 * length, axis=1)
    sums = np.fft.irfft(np.abs(padded) ** 2, 2 * length, axis=1)[:, :length].mean(axis=0) / length
    rho = sums / spread
    pairs = rho[1 : length - 1 : 2][: (length - 1) // 2] + rho[2:length:2][: (length - 1) // 2]
    stop = int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else len(pairs)
    share = max(1e-9, 1.0 + 2.0 * float(pairs[:stop].sum()))
    return float(number * length) / max(1.0, share)
