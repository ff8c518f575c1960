"""Sums over the samples of all chains, in batches: what probabilities and their errors are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.convergence import batch_errors, effective_sizes, split_r_hat
from mlnlab.steps.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

MOST_BATCHES = 32  # complete ones; then each two are merged
MOST_NUMBERS = 8_000_000  # 64 MB of sums; where there are many atoms, there are fewer batches


@storable("sampling.Batches")
@dataclass(frozen=True, slots=True, eq=False)
class Batches:
    """Complete batches of equal size, oldest first, and a last one on its way; a row for each chain.

    The first ``binary`` columns count how often an atom or a queried formula was true, the others add up
    how many groundings of a formula were.
    """

    binary: int
    size: int  # samples of a complete batch, from each chain; 0 before there is one
    complete: tuple[NDArray[np.int64], ...]
    partial: NDArray[np.int64]
    partial_samples: int

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

    def extended(self, sums: NDArray[np.int64], samples: int) -> Batches:
        """Return these with more samples, at most as many as there is room for."""
        size = self.size or samples
        partial, number = _settled(self.partial + sums), self.partial_samples + samples
        if number < size:
            return Batches(self.binary, size, self.complete, partial, number)
        complete = (*self.complete, partial)
        affordable = MOST_NUMBERS // max(1, partial.size) // 2 * 2
        if len(complete) >= max(4, min(MOST_BATCHES, affordable)) and len(complete) % 2 == 0:
            complete = tuple(_settled(a + b) for a, b in zip(complete[::2], complete[1::2], strict=True))
            size *= 2
        return Batches(self.binary, size, complete, _settled(np.zeros_like(partial)), 0)

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
    return Batches(binary, 0, (), _settled(np.zeros((chains, columns), np.int64)), 0)


def _settled(sums: NDArray[np.int64]) -> NDArray[np.int64]:
    sums.setflags(write=False)
    return sums
