"""Naive mean field in factor graphs: the best distribution in which all variables are independent.

Coordinate ascent looks for the product q with the highest bound E_q[log weight] + H(q) <= log Z (Jordan,
Ghahramani, Jaakkola and Saul, An introduction to variational methods for graphical models, 1999). The bound
never falls; where it ends depends on where it began, which ``seed`` decides.

Needs: finite logarithms; what a factor forbids counts as exp(-``hard``) of its largest weight, so that the
bound is that of a slightly larger Z. Answers: distributions of variables. Not for strong factors: these
distributions are then far too sure of themselves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import inf, isfinite, nan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import count_of
from mlnlab.inference.messages.field_weights import Params
from mlnlab.inference.networks.factor_answers import NetworkMarginals, make_network_marginals
from mlnlab.inference.networks.factor_identity import run_of_factors
from mlnlab.inference.networks.factor_support import possible_walk
from mlnlab.kernels.messages.table_mean_field import bound_of, sweep_distributions
from mlnlab.kernels.random_numbers import next_uniform, streams
from mlnlab.steps.run_identity import OfRun, resume_run
from mlnlab.steps.state_layout import FLAG, REPORTED, ArrayOf, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.inference.messages.factor_arrays import FactorQuestion
    from mlnlab.kernels.messages.factor_tables import Tables

__all__ = ["NAME", "Params", "answer", "soften_tables", "steps"]

NAME = "mean-field"
GOES_ON = ("sweeps",)  # parameters that only say how long a run does


@storable("factor_mean_field.State")
@dataclass(frozen=True, slots=True, eq=False)
class FactorFieldState(OfRun):
    """The distributions after some sweeps, and the bound that they reach; arrays are read-only."""

    sweeps: int = field(metadata=holds(Whole()))
    # Of each value of each variable.
    probabilities: NDArray[np.float64] = field(
        metadata=holds(ArrayOf(np.float64, ("values",), least=0.0, most=1.0 + 1e-9))
    )
    bound: float = field(metadata=holds(REPORTED))  # on log Z
    largest_change: float = field(metadata=holds(REPORTED))
    converged: bool = field(metadata=holds(FLAG))

    def metrics(self) -> Mapping[str, float]:
        """Return the bound, and how much probabilities still change."""
        change = {"largest_change": self.largest_change} if self.sweeps else {}
        return {"bound": self.bound, **change}


def soften_tables(question: FactorQuestion, hard: float) -> Tables:
    """Return the tables with finite logarithms."""
    logs = np.where(question.tables.logs == -inf, -hard, question.tables.logs)
    logs.setflags(write=False)
    return question.tables._replace(logs=logs)


def steps(
    params: Params, question: FactorQuestion, start: FactorFieldState | None = None
) -> Iterator[FactorFieldState]:
    """Yield a state for each sweep until nothing changes, or those that follow ``start``."""
    sizes = {"values": int(question.tables.value_starts[-1])}
    identity = run_of_factors(NAME, params, question, GOES_ON)
    return resume_run(identity, FactorFieldState, start, partial(_states, params, question), lambda: sizes)


def _states(
    params: Params, question: FactorQuestion, state: FactorFieldState | None
) -> Iterator[FactorFieldState]:
    tables = soften_tables(question, params.hard)
    if state is None:
        if question.forbids:
            possible_walk(question, streams(0, 1)[0])  # else there is nothing to approximate
        state = _state(params, question, tables, _first_field(params, question), 0, 1.0)
        yield state
    field = state.probabilities.copy()
    scores = np.zeros(int(question.sizes.max(initial=1)))
    while not state.converged and state.sweeps < params.sweeps:
        change = sweep_distributions(tables, field, scores)
        state = _state(params, question, tables, field, state.sweeps + 1, change)
        yield state


def _first_field(params: Params, question: FactorQuestion) -> NDArray[np.float64]:
    """Return distributions near the uniform ones: exactly uniform ones may be a saddle."""
    starts, sizes = question.starts, question.sizes
    random = streams(params.seed, 1)[0]
    noise = np.array([1.0 + 0.2 * next_uniform(random) for _ in range(int(starts[-1]))])
    sums = np.add.reduceat(noise, starts[:-1]) if len(starts) > 1 else np.zeros(0)
    return np.asarray(noise / np.repeat(sums, sizes))


def _state(
    params: Params, question: FactorQuestion, tables: Tables, field: NDArray[np.float64], sweeps: int,
    change: float,
) -> FactorFieldState:  # fmt: skip
    found = field.copy()
    found.setflags(write=False)
    bound = question.log_scale + float(bound_of(tables, found))
    settled = bool(change <= params.tolerance) or not len(field)
    return FactorFieldState(sweeps, found, bound, float(change), settled)


def answer(
    params: Params, question: FactorQuestion, state: FactorFieldState, seconds: float
) -> NetworkMarginals:
    """Return the distributions of a state."""
    sweeps = count_of(state.sweeps, "sweep")
    ended = "settled" if state.converged else "not settled"
    softly = f" (zeros count as exp(-{params.hard:g}))" if question.forbids else ""
    warned = () if state.converged else (
        f"After {sweeps} probabilities still change by {state.largest_change:.2g}; allow more sweeps=.",
    )  # fmt: skip
    bound = f"log Z is at least {state.bound:.6g}{softly}" if isfinite(state.bound) else ""
    return make_network_marginals(
        question, state.probabilities, NAME,
        f"{NAME}: {sweeps}, {ended}; {bound}, and the error of the probabilities is not known",
        log_z=nan, warnings=warned, seconds=seconds, is_exact=False,
    )  # fmt: skip
