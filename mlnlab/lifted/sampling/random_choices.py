"""The few questions that drawing a world asks of chance, so that all answers can be gone through instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]


class RandomChoices:
    """Answers of a random generator; a mutable local of drawing one world."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def one_of(self, shares: Values) -> int:
        """Return a number from 0, with probabilities that are as the shares."""
        cumulative = np.cumsum(shares)
        place = np.searchsorted(cumulative, self._generator.random() * cumulative[-1], side="right")
        return min(int(place), int(np.flatnonzero(shares)[-1]))

    def split(self, counts: Counts, probabilities: Values) -> Counts:
        """Return of how many of each count something is true that is so of each with a probability."""
        return np.asarray(self._generator.binomial(counts, probabilities), dtype=np.int64)

    def spread(self, number: int, shares: Values) -> Counts:
        """Return how many of a number fall to each share."""
        return np.asarray(self._generator.multinomial(number, shares / shares.sum()), dtype=np.int64)

    def order(self, number: int) -> Counts:
        """Return the numbers from 0 in a random order."""
        return self._generator.permutation(number)

    def places(self, among: int, number: int) -> Counts:
        """Return ``number`` different numbers below ``among``, in random order; few of many cost little."""
        return self._generator.choice(among, number, replace=False)
