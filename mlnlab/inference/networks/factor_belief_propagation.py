"""Loopy belief propagation in factor graphs, over variables with any number of values.

Variables and factors tell each other what they know until nothing is new (Kschischang, Frey and Loeliger,
Factor graphs and the sum-product algorithm, 2001, equations 5 and 6). Without loops the beliefs are the exact
marginals; with loops they are approximations of which nobody knows how far off they are, and messages need
not settle at all; damping and the order of residuals (Elidan, McGraw and Koller, 2006) help with the latter.

Needs: an assignment that no factor forbids. Answers: distributions of variables, and log Z where there are no
loops. Not for strong factors full of loops.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import inf, nan
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from mlnlab.errors import count_of
from mlnlab.inference.networks.factor_answers import NetworkMarginals, make_network_marginals
from mlnlab.inference.networks.factor_identity import run_of_factors
from mlnlab.inference.networks.factor_support import possible_walk
from mlnlab.kernels.messages.sum_product_order import Queue
from mlnlab.kernels.messages.table_messages import (
    Spoken,
    add_up,
    bethe,
    room_for,
    sweep_residual,
    sweep_tables,
)
from mlnlab.kernels.random_numbers import streams
from mlnlab.logic.checked_options import above, check_options, one_of, real
from mlnlab.steps.run_identity import OfRun, resume_run
from mlnlab.steps.state_layout import FLAG, REPORTED, ArrayOf, Sizes, Whole, holds
from mlnlab.steps.values.encoding import storable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.inference.messages.factor_arrays import FactorQuestion

NAME = "belief-propagation"
GOES_ON = ("sweeps",)  # parameters that only say how long a run does
Order: TypeAlias = Literal["residual", "in turn", "at once"]
ORDERS: tuple[Order, ...] = ("residual", "in turn", "at once")
MUCH = 1e6  # news that a factor has before anybody has spoken
NOTHING = 1e-200  # what messages call impossible is smaller


@dataclass(frozen=True, slots=True)
class Params:
    """In which order messages are passed, how much of the old ones is kept, and when that ends."""

    order: Order = "residual"  # who has most to tell; or all factors in turn, or all at once
    damping: float = 0.1  # share of the old message in the new one
    tolerance: float = 1e-9  # changes of a message's logarithm that count as none
    sweeps: int = 1_000  # at most

    def __post_init__(self) -> None:
        """Refuse options outside of their ranges."""
        check_options(self, order=one_of(ORDERS), tolerance=above(0), sweeps=1)
        check_options(self, damping=real(0, 1, below=True))


@storable("factor_belief_propagation.State")
@dataclass(frozen=True, slots=True, eq=False)
class FactorBeliefState(OfRun):
    """All messages after some sweeps, and the distributions that follow; arrays are read-only."""

    sweeps: int = field(metadata=holds(Whole()))
    # The logarithms of what each factor says of each value.
    messages: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, ("messages",), finite=False)))
    # What each factor has to tell, where they speak in that order.
    news: NDArray[np.float64] = field(metadata=holds(ArrayOf(np.float64, ("tables",), finite=False)))
    # By how much a message of each factor changed in the last sweep.
    changes: NDArray[np.float64] = field(
        metadata=holds(ArrayOf(np.float64, ("tables",), finite=False, nan=True))
    )
    largest_change: float = field(metadata=holds(REPORTED))
    converged: bool = field(metadata=holds(FLAG))
    # Of each value of each variable.
    probabilities: NDArray[np.float64] = field(
        metadata=holds(ArrayOf(np.float64, ("values",), least=0.0, most=1.0 + 1e-9))
    )

    def metrics(self) -> Mapping[str, float]:
        """Return how much messages still change; before the first sweep nobody knows."""
        if not self.sweeps:
            return {}
        moving = float((self.changes > 0).mean()) if len(self.changes) else 0.0
        return {"largest_change": float(self.largest_change), "share_of_changing_factors": moving}


def steps(
    params: Params, question: FactorQuestion, start: FactorBeliefState | None = None
) -> Iterator[FactorBeliefState]:
    """Yield a state for each sweep until messages have settled, or those that follow ``start``."""
    identity = run_of_factors(NAME, params, question, GOES_ON)
    return resume_run(
        identity, FactorBeliefState, start, partial(_states, params, question), partial(_sizes, question)
    )


def _sizes(question: FactorQuestion) -> Sizes:
    return {
        "messages": len(room_for(question.tables).messages),
        "tables": question.number_of_tables,
        "values": int(question.tables.value_starts[-1]),
    }


def _states(
    params: Params, question: FactorQuestion, state: FactorBeliefState | None
) -> Iterator[FactorBeliefState]:
    spoken, number = room_for(question.tables), question.number_of_tables
    if state is None:
        if question.forbids:
            possible_walk(question, streams(0, 1)[0])  # else beliefs would tell of nothing
        state = _state(question, spoken, 0, np.full(number, MUCH), inf, converged=number == 0)
        yield state
    spoken.messages[:] = state.messages
    queue = Queue(state.news.copy(), np.zeros(number, np.uint32), np.zeros(number, np.uint32))
    while not state.converged and state.sweeps < params.sweeps:
        if params.order == "residual":
            change = sweep_residual(question.tables, spoken, queue, params.damping)
        else:
            change = sweep_tables(question.tables, spoken, params.damping, params.order == "at once")
        settled = bool(change <= params.tolerance * (1.0 - params.damping))
        state = _state(question, spoken, state.sweeps + 1, queue.news, change, converged=settled)
        yield state


def _state(
    question: FactorQuestion, spoken: Spoken, sweeps: int, news: NDArray[np.float64], change: float, *,
    converged: bool,
) -> FactorBeliefState:  # fmt: skip
    add_up(question.tables, spoken)
    found = probabilities_of(question, spoken.beliefs)
    arrays = [spoken.messages.copy(), news.copy(), spoken.changes.copy(), found]
    for array in arrays:
        array.setflags(write=False)
    messages, told, changes, found = arrays
    return FactorBeliefState(sweeps, messages, told, changes, float(min(change, MUCH)), converged, found)


def probabilities_of(question: FactorQuestion, beliefs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return distributions from the logarithms of beliefs."""
    starts, sizes = question.starts, question.sizes
    if not len(sizes):
        return np.zeros(0)
    worth = np.exp(beliefs - np.repeat(np.maximum.reduceat(beliefs, starts[:-1]), sizes))
    worth[worth < NOTHING] = 0.0
    return np.asarray(worth / np.repeat(np.add.reduceat(worth, starts[:-1]), sizes))


def has_loops(question: FactorQuestion) -> bool:
    """Return whether a message can come back to where it came from."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    tables = question.tables
    variables, number = question.number_of_variables, question.number_of_tables
    scope = tables.scope.astype(np.int64)
    starts = tables.scope_starts.astype(np.int64)
    owners = variables + np.repeat(np.arange(number), starts[1:] - starts[:-1])
    nodes = variables + number
    if not nodes:
        return False
    graph = coo_array((np.ones(len(scope)), (scope, owners)), shape=(nodes, nodes))
    parts, _ = connected_components(graph, directed=False)
    return bool(len(scope) > nodes - parts)


def answer(
    params: Params,  # noqa: ARG001 - every method's answer has the same arguments
    question: FactorQuestion,
    state: FactorBeliefState,
    seconds: float,
) -> NetworkMarginals:
    """Return the beliefs of a state."""
    loops = has_loops(question)
    exact = state.converged and not loops
    sweeps = count_of(state.sweeps, "sweep")
    moving = f"messages still change by {state.largest_change:.2g}"
    how = f"{sweeps} until messages settled" if state.converged else f"{sweeps}, and {moving}"
    kind = "has loops, so the error of the beliefs is not known"
    if not loops:
        kind = "has no loops, so settled beliefs are exact"
    doubt = (
        f"After {sweeps} {moving}: these beliefs have not settled. Allow more sweeps=, raise damping=, or "
        "choose another method."
    )
    return make_network_marginals(
        question, state.probabilities, NAME, f"{NAME}: {how}; the factor graph {kind}",
        log_z=bethe_log_z(question, state) if exact else nan, seconds=seconds,
        warnings=() if state.converged else (doubt,), is_exact=exact,
    )  # fmt: skip


def bethe_log_z(question: FactorQuestion, state: FactorBeliefState) -> float:
    """Return log Z as the messages of a state have it: exact where they settled without loops."""
    spoken = room_for(question.tables)
    spoken.messages[:] = state.messages
    return question.log_scale + float(bethe(question.tables, spoken))
