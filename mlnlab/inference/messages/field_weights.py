"""Share options, finite weights, first distributions and answers between naive and structured mean field.

Both need finite logarithms, so that hard formulas count as a large number; both climb from where they begin.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mlnlab.errors import count_of
from mlnlab.inference.answers.marginals import Marginals
from mlnlab.inference.messages.beliefs import count_bytes, expected_counts, model_parts, query_probabilities
from mlnlab.kernels.random_numbers import next_uniform, streams
from mlnlab.logic.checked_options import above, check_options

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.inference.messages.beliefs import Graph

    Reals = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Params:
    """Where the ascent begins and when it ends."""

    seed: int = 0
    sweeps: int = 1_000  # at most
    tolerance: float = 1e-8  # changes of a probability that count as none
    hard: float = 30.0  # by how much what is forbidden is less than what is not, as logarithms

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        check_ascent(self)


def check_ascent(params: object) -> None:
    """Refuse a seed, sweeps, a tolerance or a weight of hard formulas outside of their ranges."""
    check_options(params, seed=0, sweeps=1, tolerance=above(0), hard=above(0))


def factor_weights(graph: Graph, hard: float) -> tuple[Reals, Reals]:
    """Return the log-weight of each true clause and table of the model, hard ones a large number."""
    clauses = graph.clauses
    ours, tables = model_parts(clauses)
    of_clauses = np.where(clauses.hard, hard, clauses.weights)[ours]
    return of_clauses, np.where(clauses.table_hard, hard, clauses.table_weights)[tables]


def constant_of(graph: Graph, hard: float) -> float:
    """Return the constant part of log-weights: evidence, negated clauses, and minus all hard weights."""
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


# --- answers --------------------------------------------------------------------------------------


class Bounded(Protocol):
    """A state of an ascent: the bound that it reaches, and whether it has ended."""

    @property
    def bound(self) -> float:
        """The bound on log Z."""
        ...

    @property
    def converged(self) -> bool:
        """Whether nothing changes any more."""
        ...


def bounded_marginals(
    method: str, graph: Graph, state: Bounded, shares: tuple[Reals, Reals, Reals], sweeps: int,
    seconds: float, *, about: str = "", rounding: float = 0.0, kept: tuple[object, ...] = (),
) -> Marginals:  # fmt: skip
    """Return the probabilities of a state.

    ``shares`` are the probabilities of the options, of the factors asked for and of the model's factors;
    ``about`` says more of the approximation, and ``kept`` are further objects that take memory.
    """
    options, asked, truths = shares
    names, drawn = graph.asked.names, (graph.asked.columns >= 0).tolist()
    ended = "settled" if state.converged else "not settled"
    return Marginals(
        probabilities=dict(zip(names, query_probabilities(graph, options, asked).tolist(), strict=True)),
        method=method,
        log_z=nan,
        number_of_worlds=0,
        seconds=seconds,
        rounding=rounding,
        question=graph.clauses.question,
        expected_counts=expected_counts(graph.clauses, truths),
        reason=(
            f"{method}: {about}{count_of(sweeps, 'sweep')}, {ended}; log Z is at least about "
            f"{state.bound:.6g}, and the error of the probabilities is not known"
        ),
        inexact=frozenset(name for name, is_drawn in zip(names, drawn, strict=True) if is_drawn),
        memory=count_bytes(graph, state, *kept),
    )
