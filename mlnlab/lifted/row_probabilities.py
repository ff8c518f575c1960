"""How probable it is that a row has as many true atoms as are demanded, and drawing rows that have.

An atom of a row is true with a probability that depends on the cells of its two elements. The number of true
atoms is summed up atom by atom; told apart are numbers up to the demanded ones, and "more". Backwards, that
says how probable each next atom is where the demand is met in the end.
"""

from __future__ import annotations

from math import lgamma
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.random_choices import RandomChoices
    from mlnlab.lifted.row_demands import RowDemand

    Values = NDArray[np.float64]
    Counts = NDArray[np.int64]


def log_met(demand: RowDemand, diagonal: bool, numbers: Counts, probability: Values) -> Values:
    """Return how probable the demand is met, in logarithms, for rows of numbers of elements in cells.

    ``probability`` is that of an atom by the other element's cell; ``diagonal``: that with itself is true.
    """
    most = demand.tracked
    states = np.full((len(numbers), max(most, 0) + 1), -np.inf)
    if int(diagonal) <= most:
        states[:, int(diagonal)] = 0.0
    for cell, p in enumerate(probability.tolist()):
        states = _convolved(states, np.maximum(numbers[:, cell], 0), p)
    if demand.most is not None:
        return np.asarray(np.logaddexp.reduce(states[:, demand.least :], axis=1, initial=-np.inf))
    if demand.least <= 0:
        return np.zeros(len(numbers))
    fewer = np.minimum(np.logaddexp.reduce(states, axis=1), 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(-np.expm1(fewer)))


def _convolved(states: Values, numbers: Counts, p: float) -> Values:
    """Return the numbers of true atoms with those of another cell."""
    found = np.full_like(states, -np.inf)
    log_p, log_q = _logs(p)
    for more in range(states.shape[1]):
        chance = np.full(len(numbers), -np.inf)
        some = numbers >= more
        chance[some] = [
            lgamma(n + 1)
            - lgamma(more + 1)
            - lgamma(n - more + 1)
            + _times(more, log_p)
            + _times(n - more, log_q)
            for n in numbers[some].tolist()
        ]
        for before in range(states.shape[1] - more):
            found[:, before + more] = np.logaddexp(found[:, before + more], states[:, before] + chance)
    return found


def _times(number: int, log: float) -> float:
    return number * log if number else 0.0


def _logs(p: float) -> tuple[float, float]:
    with np.errstate(divide="ignore"):
        return float(np.log(p)), float(np.log1p(-p))


def drawn_rows(
    demand: RowDemand | None, begun: Counts, probabilities: Sequence[float], choices: RandomChoices
) -> NDArray[np.bool_]:
    """Draw rows of independent atoms so that the demand is met, all with the same probabilities.

    ``begun``: how many atoms of each row are true already. Without a demand, nothing has to be met.
    """
    columns = len(probabilities)
    found = np.zeros((len(begun), columns), dtype=bool)
    ones = np.ones(len(begun), dtype=np.int64)
    if demand is None:
        for column, p in enumerate(probabilities):
            found[:, column] = choices.split(ones, np.full(len(begun), p)) > 0
        return found
    met = _still_met(demand, probabilities)
    state = np.minimum(begun, met.shape[1] - 1)
    for column, p in enumerate(probabilities):
        after = met[column + 1, np.minimum(state + 1, met.shape[1] - 1)]
        with np.errstate(divide="ignore"):
            chance = np.exp(np.log(p) + after - met[column, state])
        found[:, column] = choices.split(ones, np.clip(chance, 0.0, 1.0)) > 0
        state = np.minimum(state + found[:, column], met.shape[1] - 1)
    return found


def _still_met(demand: RowDemand, probabilities: Sequence[float]) -> Values:
    """Return how probable the demand is met in the end, by column and true atoms before; logarithms."""
    numbers = np.arange(max(demand.tracked, 0) + 2)
    right = numbers >= demand.least
    if demand.most is not None:
        right &= numbers <= demand.most
    found = np.empty((len(probabilities) + 1, len(numbers)))
    found[-1] = np.where(right, 0.0, -np.inf)
    for column in range(len(probabilities) - 1, -1, -1):
        log_p, log_q = _logs(probabilities[column])
        after = np.append(found[column + 1, 1:], found[column + 1, -1])
        found[column] = np.logaddexp(log_p + after, log_q + found[column + 1])
    return found
