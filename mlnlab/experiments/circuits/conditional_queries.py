"""Conditional queries made of test rows, answered by circuits exactly and by Gibbs sampling: Figure 5.3.

A query asks for the probability that some variables have their values in a row of test data, given the values
of other variables in the same row (Lowd's thesis, section 5.7.3). Its score is the logarithm of the answer,
for each variable asked for. Means over many rows approximate the Kullback-Leibler divergence from the true
distribution, but for a constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.factors.data.table_coding import MISSING
from mlnlab.factors.graphs.tree_network import tree_arrays
from mlnlab.inference.networks.tree_gibbs import TreeGibbsParams, steps
from mlnlab.logic.checked_options import check_options, real

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from mlnlab.factors.data.data_table import DataTable
    from mlnlab.factors.graphs.tree_network import TreeNetwork

# The four scenarios of section 5.7.3, samples and burn-in of each chain.
GIBBS: Mapping[str, TreeGibbsParams] = {
    "fast": TreeGibbsParams(samples=1_000, burn_in=100, chains=1),
    "medium": TreeGibbsParams(samples=1_000, burn_in=100, chains=10),
    "slow": TreeGibbsParams(samples=10_000, burn_in=1_000, chains=10),
    "very slow": TreeGibbsParams(samples=100_000, burn_in=10_000, chains=10),
}


@dataclass(frozen=True, slots=True)
class Share:
    """Shares of the variables: those asked for, and those given."""

    asked: float
    given: float

    def __post_init__(self) -> None:
        """Refuse shares that do not leave room for each other."""
        check_options(self, asked=real(0, 1), given=real(0, 1 - self.asked))


# The left graphs of Figure 5.3 vary the evidence, the right ones the query.
EVIDENCE = tuple(Share(0.3, given / 10) for given in range(6))
QUERY = tuple(Share(asked / 10, 0.3) for asked in range(1, 6))


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Test rows, and which variables each asks for and is given; arrays are queries x variables."""

    rows: NDArray[np.int32]
    asked: NDArray[np.bool_]
    given: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.rows)

    def events(self) -> NDArray[np.int32]:
        """Return the rows with only those values that are asked for or given; others are missing."""
        return np.where(self.asked | self.given, self.rows, MISSING).astype(np.int32)

    def evidence(self) -> NDArray[np.int32]:
        """Return the rows with only those values that are given; others are missing."""
        return np.where(self.given, self.rows, MISSING).astype(np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The score of each query for a variable asked for, and the seconds that a query took."""

    scores: NDArray[np.float64]
    seconds: float  # of the processor, a query

    @property
    def mean(self) -> float:
        """The mean score."""
        return float(self.scores.mean())

    @property
    def error(self) -> float:
        """The standard error of the mean score."""
        number = len(self.scores)
        return float(self.scores.std(ddof=1) / np.sqrt(number)) if number > 1 else float("nan")


def draw_queries(test: DataTable, share: Share, number: int, seed: int) -> Queries:
    """Draw queries of the first rows, each with variables of its own; the same seed draws the same."""
    rng = np.random.default_rng(seed)
    rows = test.rows[:number]
    places = rng.permuted(np.broadcast_to(np.arange(rows.shape[1]), rows.shape), axis=1)
    width = rows.shape[1]
    asked, given = max(1, round(share.asked * width)), round(share.given * width)
    return Queries(rows, places < asked, (places >= asked) & (places < asked + given))


def answer_exactly(
    log_probabilities: Callable[[NDArray[np.int32]], NDArray[np.float64]], queries: Queries
) -> Answers:
    """Answer all queries by two passes of a circuit: log P(asked, given) - log P(given)."""
    began = process_time()
    logs = log_probabilities(queries.events()) - log_probabilities(queries.evidence())
    seconds = (process_time() - began) / len(queries)
    return Answers(logs / queries.asked.sum(axis=1), seconds)


def answer_by_gibbs(
    network: TreeNetwork, queries: Queries, params: TreeGibbsParams, most_seconds: float = 60.0
) -> Answers:
    """Answer queries by sampling, one after the other, as many as begin in the time."""
    trees = tree_arrays(network)
    began, worked, scores = perf_counter(), process_time(), []
    for row, asked, given in zip(queries.rows, queries.asked, queries.given, strict=True):
        event = {int(v): int(row[v]) for v in np.flatnonzero(asked)}
        evidence = {int(v): int(row[v]) for v in np.flatnonzero(given)}
        *_, last = steps(params, network, event, evidence, trees=trees)
        sizes = tuple(network.variables[v].size for v in event)
        scores.append(last.log_probability(sizes) / len(event))
        if perf_counter() - began > most_seconds:
            break
    return Answers(np.array(scores), (process_time() - worked) / len(scores))
