"""Belief propagation in the order of residuals: the factor speaks next that has most news to tell.

Elidan, McGraw and Koller, Residual belief propagation: informed scheduling for asynchronous message passing
(UAI 2006); what a factor has to tell is bounded by what it was told since it last spoke, so that no message
is computed only to see how much it would change (Sutton and McCallum, Improved dynamic schedules for belief
propagation, UAI 2007). The factors wait in a binary heap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import borrowing
from mlnlab.kernels.messages.sum_product import difference, take, tell_clause, tell_table
from mlnlab.kernels.messages.sum_product_graph import (
    Factors,
    Messages,
    add_up,
    room_for_messages,
    smallest_factors,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

_1 = np.uint32(1)


class Neighbours(NamedTuple):
    """The factors of each choice, clauses and behind them tables."""

    starts: NDArray[np.uint32]
    factors: NDArray[np.uint32]


class Queue(NamedTuple):
    """The news of each factor, and a heap of the factors, those with most news on top."""

    news: NDArray[np.float64]
    heap: NDArray[np.uint32]
    places: NDArray[np.uint32]  # where each factor stands


@borrowing
def swap(queue: Queue, one: int, other: int) -> None:
    """Let two places of the heap change their factors."""
    first, second = queue.heap[one], queue.heap[other]
    queue.heap[one], queue.heap[other] = second, first
    queue.places[second], queue.places[first] = one, other


@borrowing
def rise(queue: Queue, place: int) -> None:
    """Move a factor up while it has more news than the one above it."""
    while place > 0:
        above = (place - 1) // 2
        if queue.news[queue.heap[place]] <= queue.news[queue.heap[above]]:
            return
        swap(queue, place, above)
        place = above


@borrowing
def sink(queue: Queue, place: int) -> None:
    """Move a factor down while it has less news than one below it."""
    number = len(queue.heap)
    while 2 * place + 1 < number:
        below = 2 * place + 1
        if below + 1 < number and queue.news[queue.heap[below + 1]] > queue.news[queue.heap[below]]:
            below += 1
        if queue.news[queue.heap[below]] <= queue.news[queue.heap[place]]:
            return
        swap(queue, place, below)
        place = below


@borrowing
def order(queue: Queue) -> None:
    """Build the heap anew, so that it depends on the news alone."""
    number = len(queue.heap)
    for place in range(number):
        queue.heap[place] = queue.places[place] = place
    for place in range(number // 2 - 1, -1, -1):
        sink(queue, place)


@borrowing
def pass_on(
    factors: Factors, messages: Messages, neighbours: Neighbours, queue: Queue, factor: Number
) -> None:
    """Tell the other factors of a factor's choices that there is news, before the choices hear it."""
    clauses = len(factors.if_falsified)
    in_clause = factor < clauses
    if in_clause:
        first, end = np.int64(factors.clause_starts[factor]), np.int64(factors.clause_starts[factor + 1])
    else:
        first = np.int64(factors.table_starts[factor - clauses])
        end = np.int64(factors.table_starts[factor - clauses + 1])
    for edge in range(first, end):
        if in_clause:
            choice = factors.clause_choices[edge]
            change = difference(messages.new_clause[edge], messages.clause[edge])
        else:
            choice, change = factors.table_choices[edge], 0.0
            for place in range(factors.message_starts[edge], factors.message_starts[edge + 1]):
                change = max(change, difference(messages.new_table[place], messages.table[place]))
        if change == 0.0:
            continue
        for place in range(neighbours.starts[choice], neighbours.starts[choice + _1]):
            other = neighbours.factors[place]
            if other != factor:
                queue.news[other] += change
                rise(queue, int(queue.places[other]))


@borrowing
def sweep_residuals(
    factors: Factors, messages: Messages, neighbours: Neighbours, queue: Queue, damping: float
) -> float:
    """Let as many factors speak as there are, always that with most to tell; return the most that is left."""
    clauses = len(factors.if_falsified)
    number = clauses + len(factors.if_true)
    add_up(factors, messages)
    order(queue)
    for factor in range(number):
        messages.changes[factor] = 0.0
    for _ in range(number):
        speaker = int(queue.heap[0])
        if queue.news[speaker] == 0.0:
            break
        if speaker < clauses:
            change = tell_clause(factors, messages, speaker, damping)
        else:
            change = tell_table(factors, messages, speaker - clauses, damping)
        queue.news[speaker] = damping / (1.0 - damping) * change
        sink(queue, 0)
        pass_on(factors, messages, neighbours, queue, speaker)
        take(factors, messages, speaker)
        messages.changes[speaker] = max(messages.changes[speaker], change)
    return float(queue.news[queue.heap[0]]) if number else 0.0


def warm_up() -> None:
    """Compile every kernel of this file."""
    factors = smallest_factors()
    starts = factors.clause_starts
    queue = Queue(np.ones(1), np.zeros(1, np.uint32), np.zeros(1, np.uint32))
    neighbours = Neighbours(starts, factors.clause_choices)
    sweep_residuals(factors, room_for_messages(factors), neighbours, queue, 0.5)
