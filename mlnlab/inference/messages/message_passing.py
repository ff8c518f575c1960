"""Sweeps of messages over a factor graph, in one of three orders, each from one state to the next."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from mlnlab.inference.messages.beliefs import BeliefState
from mlnlab.inference.messages.factor_messages import logs_of, neighbours_of, probabilities_of
from mlnlab.kernels.messages.sum_product import sweep_factors
from mlnlab.kernels.messages.sum_product_graph import Factors, Messages, add_up, room_for_messages
from mlnlab.kernels.messages.sum_product_order import Queue, sweep_residuals
from mlnlab.logic.checked_options import above, check_options, one_of, real

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

Order: TypeAlias = Literal["residual", "in turn", "at once"]
ORDERS: tuple[Order, ...] = ("residual", "in turn", "at once")
MUCH = 1e6  # news that a factor has before anybody has spoken


@dataclass(frozen=True, slots=True)
class Passing:
    """How messages are passed, and when that ends."""

    order: Order
    damping: float
    tolerance: float
    sweeps: int


def check_passing(params: object) -> None:
    """Refuse options outside of their ranges."""
    share = real(0, 1, below=True)
    check_options(params, order=one_of(ORDERS), damping=share, tolerance=above(0), sweeps=1)


def first_messages(factors: Factors) -> BeliefState:
    """Return the state in which nobody has said anything."""
    messages = room_for_messages(factors)
    number = len(factors.if_falsified) + len(factors.if_true)
    return _state(factors, messages, 0, np.full(number, MUCH), inf, converged=number == 0)


def pass_messages(passing: Passing, factors: Factors, start: BeliefState) -> Iterator[BeliefState]:
    """Yield the state after each sweep that follows a state, until messages have settled."""
    messages = room_for_messages(factors)
    messages.clause[:], messages.table[:] = start.clause, start.table
    number = len(factors.if_falsified) + len(factors.if_true)
    queue = Queue(start.news.copy(), np.zeros(number, np.uint32), np.zeros(number, np.uint32))
    neighbours = neighbours_of(factors)
    state = start
    while not state.converged and state.sweeps < passing.sweeps:
        if passing.order == "residual":
            change = sweep_residuals(factors, messages, neighbours, queue, passing.damping)
        else:
            change = sweep_factors(factors, messages, passing.damping, passing.order == "at once")
        settled = bool(change <= passing.tolerance * (1.0 - passing.damping))
        state = _state(factors, messages, state.sweeps + 1, queue.news, change, converged=settled)
        yield state


def _state(
    factors: Factors, messages: Messages, sweeps: int, news: NDArray[np.float64], change: float, *,
    converged: bool,
) -> BeliefState:  # fmt: skip
    add_up(factors, messages)
    options = probabilities_of(factors, logs_of(messages))
    arrays = [messages.clause.copy(), messages.table.copy(), news.copy(), messages.changes.copy(), options]
    for array in arrays:
        array.setflags(write=False)
    clause, table, told, changes, options = arrays
    largest = float(min(change, MUCH))
    return BeliefState(sweeps, clause, table, told, changes, largest, converged, options)
