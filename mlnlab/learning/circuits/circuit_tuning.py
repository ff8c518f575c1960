"""Choose the prices of edges and parameters on validation rows (Lowd's thesis, section 5.7.2).

One run for each price of an edge, with the least price of a parameter, passes the models of all larger
prices on its way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlnlab.errors import ArgumentError
from mlnlab.learning.circuits.learned_circuit import LearnedCircuit, Trial
from mlnlab.logic.checked_options import is_number


def is_range(prices: object) -> bool:
    """Tell whether several prices are given."""
    return isinstance(prices, Sequence) and not isinstance(prices, str)


def tune_prices(
    learn: Callable[[dict[str, object]], LearnedCircuit], k_e: float | Sequence[float],
    k_p: float | Sequence[float],
) -> tuple[Trial, ...]:  # fmt: skip
    """Return a trial for each pair of prices; ``learn`` runs with some options, validation rows beside."""
    edges, parameters = list_prices(k_e, "k_e"), list_prices(k_p, "k_p")
    trials = []
    for price in edges:
        found = learn({"k_e": price, "k_p": min(parameters)})
        for other in parameters:
            point = next(point for point in found.path if point.k_p <= other)
            trials.append(Trial(price, other, point.splits, point.edges, point.valid))
    return tuple(trials)


def best_trial(trials: Sequence[Trial]) -> Trial:
    """Return the trial with the best log-likelihood; of equals the smallest circuit."""
    return max(trials, key=lambda trial: (trial.valid, -trial.edges))


def list_prices(prices: float | Sequence[float], name: str) -> list[float]:
    """Return one price or several as a list, the largest first."""
    listed = list(prices) if isinstance(prices, Sequence) else [prices]
    if not listed or not all(is_number(price) and price >= 0 for price in listed):
        raise ArgumentError(f"{name} is a number of at least 0, or a list of such, not {prices!r:.60}.")
    return sorted((float(price) for price in listed), reverse=True)
