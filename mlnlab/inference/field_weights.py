"""What ground formulas add where they hold, hard ones a large number; and random distributions to begin with.

Naive and structured mean field share this: both need finite logarithms, and both climb from where they begin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.inference.beliefs import model_parts
from mlnlab.kernels.random_numbers import next_uniform, streams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.inference.beliefs import Graph

    Reals = NDArray[np.float64]


def factor_weights(graph: Graph, hard: float) -> tuple[Reals, Reals]:
    """Return what each of the model's clauses and tables adds where it holds."""
    clauses = graph.clauses
    ours, tables = model_parts(clauses)
    of_clauses = np.where(clauses.hard, hard, clauses.weights)[ours]
    return of_clauses, np.where(clauses.table_hard, hard, clauses.table_weights)[tables]


def constant_of(graph: Graph, hard: float) -> float:
    """Return what log-weights have besides: evidence, negated clauses, and hard ones, which add nothing."""
    clauses = graph.clauses
    ours, tables = model_parts(clauses)
    negated = float(clauses.weights[ours & clauses.negated & ~clauses.hard].sum())
    number = int((clauses.hard & ours).sum() + (clauses.table_hard & tables).sum())
    return clauses.decided_log_weight - negated - hard * number


def random_field(seed: int, value_starts: NDArray[np.uint32]) -> Reals:
    """Return random distributions, none of them far from uniform."""
    (random,) = streams(seed, 1)
    starts = value_starts.astype(np.int64)
    noise = np.array([0.5 + next_uniform(random) for _ in range(int(starts[-1]))])
    sums = np.add.reduceat(noise, starts[:-1]) if len(starts) > 1 else np.zeros(0)
    return np.asarray(noise / np.repeat(sums, starts[1:] - starts[:-1]))
