"""How probable it is that a row has as many true atoms as are demanded, and drawing rows that have.

An atom of a row is true with a probability that depends on the cells of its two elements. The number of true
atoms is summed up atom by atom; told apart are numbers up to the demanded ones, and "more". Backwards, that
says how probable each next atom is where the demand is met in the end. All that is summed is positive, and
all are logarithms: a demand may be met by atoms alone that are rarer than floats can tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.lifted.random_choices import RandomChoices
    from mlnlab.lifted.row_demands import RowDemand

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]


def log_met(demand: RowDemand, diagonal: bool, numbers: Counts, log_shares: Values) -> Values:
    """Return how probable the demand is met, in logarithms, for rows of numbers of elements in cells.

    ``log_shares`` are those of an atom that is false, and true, by the other element's cell; ``diagonal``:
    that with itself is true.
    """
    right = _right(demand)
    states = np.full((len(numbers), len(right)), -np.inf)
    states[:, min(int(diagonal), len(right) - 1)] = 0.0
    for cell, logs in enumerate(log_shares):
        states = _convolved(states, np.maximum(numbers[:, cell], 0), logs)
    return np.asarray(np.logaddexp.reduce(states[:, right], axis=1, initial=-np.inf))


def _right(demand: RowDemand) -> NDArray[np.bool_]:
    """Return which numbers of true atoms are demanded; the last stands for all larger ones, too."""
    numbers = np.arange(max(demand.tracked, 0) + 2)
    right = numbers >= demand.least
    return right if demand.most is None else right & (numbers <= demand.most)


def _convolved(states: Values, numbers: Counts, logs: Values) -> Values:
    """Return the numbers of true atoms with those of another cell."""
    found, last = np.full_like(states, -np.inf), states.shape[1] - 1
    for more in range(last + 1):
        exactly, at_least = _exactly(more, numbers, logs), _at_least(more, numbers, logs)
        for before in range(last - more):
            found[:, before + more] = np.logaddexp(found[:, before + more], states[:, before] + exactly)
        found[:, last] = np.logaddexp(found[:, last], states[:, last - more] + at_least)
    return found


def _exactly(more: int, numbers: Counts, logs: Values) -> Values:
    """Return how probable it is that so many of each number of atoms are true."""
    from scipy.special import gammaln

    others = np.maximum(numbers - more, 0)
    ways = gammaln(numbers + 1.0) - gammaln(more + 1.0) - gammaln(others + 1.0)
    chance = ways + _times(np.array(more), logs[1]) + _times(others, logs[0])
    return np.where(numbers >= more, chance, -np.inf)


def _at_least(more: int, numbers: Counts, logs: Values) -> Values:
    """Return how probable so many are, or more: one of the atoms, in turn, is the one that makes it so."""
    if not more:
        return np.zeros(len(numbers))
    before = np.arange(numbers.max(initial=0))
    sums = np.logaddexp.accumulate(_exactly(more - 1, before, logs) + logs[1])
    return np.asarray(np.append(-np.inf, sums)[numbers])


def _times(numbers: Counts, log: float) -> Values:
    """Return numbers times a logarithm, which counts for nothing where there is none."""
    return np.multiply(numbers, log, out=np.zeros(np.shape(numbers)), where=numbers > 0)


def drawn_rows(
    demand: RowDemand | None, begun: Counts, log_shares: Values, choices: RandomChoices
) -> NDArray[np.bool_]:
    """Draw rows of independent atoms so that the demand is met, all with the same probabilities.

    ``begun``: how many atoms of each row are true already; ``log_shares``: of each column's atom, that it is
    false, and true. Without a demand, nothing has to be met.
    """
    found = np.zeros((len(begun), len(log_shares)), dtype=bool)
    ones = np.ones(len(begun), dtype=np.int64)
    if demand is None:
        for column, p in enumerate(np.exp(log_shares[:, 1]).tolist()):
            found[:, column] = choices.split(ones, np.full(len(begun), min(p, 1.0))) > 0
        return found
    met = _still_met(demand, log_shares)
    state = np.minimum(begun, met.shape[1] - 1)
    for column, log_p in enumerate(log_shares[:, 1].tolist()):
        after = met[column + 1, np.minimum(state + 1, met.shape[1] - 1)]
        chance = np.exp(log_p + after - met[column, state])
        found[:, column] = choices.split(ones, np.clip(chance, 0.0, 1.0)) > 0
        state = np.minimum(state + found[:, column], met.shape[1] - 1)
    return found


def _still_met(demand: RowDemand, log_shares: Values) -> Values:
    """Return how probable the demand is met in the end, by column and true atoms before; logarithms."""
    right = _right(demand)
    found = np.empty((len(log_shares) + 1, len(right)))
    found[-1] = np.where(right, 0.0, -np.inf)
    for column in range(len(log_shares) - 1, -1, -1):
        after = np.append(found[column + 1, 1:], found[column + 1, -1])
        log_q, log_p = log_shares[column]
        found[column] = np.logaddexp(log_p + after, log_q + found[column + 1])
    return found
