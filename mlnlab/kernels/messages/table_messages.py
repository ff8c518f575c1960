"""Sum-product messages between variables and tables of any number of values.

Kschischang, Frey and Loeliger, Factor graphs and the sum-product algorithm (2001), equations 5 and 6. All is
in logarithms; the greatest number of a message is 0 and the least one finite, so that what is forbidden can
be divided out again. Residual order: Elidan, McGraw and Koller (2006), with the bound of Sutton and McCallum
(2007) on what a table has to tell: what it was told since it last spoke. The arrays are those of
:mod:`mlnlab.kernels.messages.factor_tables`.
"""

from __future__ import annotations

from math import exp, inf, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import borrowing
from mlnlab.kernels.messages.factor_tables import Tables, smallest_tables
from mlnlab.kernels.messages.sum_product_order import Queue, order, rise, sink

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

# The logarithm of what a message calls impossible: below all that weights come to, and not so large that
# the digits of what is added to it are lost.
LEAST = -1e5


class Spoken(NamedTuple):
    """The messages of tables, the beliefs that follow, and room to work."""

    messages: NDArray[np.float64]
    beliefs: NDArray[np.float64]
    changes: NDArray[np.float64]  # of each table: by how much a message changed at most
    new: NDArray[np.float64]
    cavities: NDArray[np.float64]
    peaks: NDArray[np.float64]


@borrowing
def add_up(tables: Tables, spoken: Spoken) -> None:
    """Compute the beliefs from all messages."""
    for place in range(len(spoken.beliefs)):
        spoken.beliefs[place] = 0.0
    for edge in range(len(tables.scope)):
        start, first = (
            np.int64(tables.value_starts[tables.scope[edge]]),
            np.int64(tables.message_starts[edge]),
        )
        for value in range(np.int64(tables.message_starts[edge + 1]) - first):
            spoken.beliefs[start + value] += spoken.messages[first + value]


@borrowing
def hear(tables: Tables, spoken: Spoken, table: Number) -> None:
    """Compute the messages of a table's variables to it, as logarithms of distributions: eq. 5."""
    for edge in range(np.int64(tables.scope_starts[table]), np.int64(tables.scope_starts[table + 1])):
        start, first = (
            np.int64(tables.value_starts[tables.scope[edge]]),
            np.int64(tables.message_starts[edge]),
        )
        size = np.int64(tables.message_starts[edge + 1]) - first
        most, total = -inf, 0.0
        for value in range(size):
            cavity = spoken.beliefs[start + value] - spoken.messages[first + value]
            spoken.cavities[first + value] = cavity
            most = max(most, cavity)
        for value in range(size):
            total += exp(spoken.cavities[first + value] - most)
        for value in range(size):
            spoken.cavities[first + value] -= most + log(total)


@borrowing
def cell_place(tables: Tables, edge: Number, cell: Number) -> Number:
    """Return where the message stands that an edge has for the value that a cell selects."""
    first = np.int64(tables.message_starts[edge])
    size = np.int64(tables.message_starts[edge + 1]) - first
    return first + np.int64(cell) // np.int64(tables.strides[edge]) % size


@borrowing
def cell_score(tables: Tables, spoken: Spoken, table: Number, cell: Number) -> float:
    """Return the logarithm of a cell's weight times the messages of all variables for it."""
    score: float = tables.logs[np.int64(tables.cell_starts[table]) + np.int64(cell)]
    for edge in range(np.int64(tables.scope_starts[table]), np.int64(tables.scope_starts[table + 1])):
        score += spoken.cavities[cell_place(tables, edge, cell)]
    return score


@borrowing
def tell(tables: Tables, spoken: Spoken, table: Number, damping: float) -> float:
    """Compute a table's new messages, eq. 6; return by how much they change at most."""
    hear(tables, spoken, table)
    start, end = np.int64(tables.scope_starts[table]), np.int64(tables.scope_starts[table + 1])
    new, peaks, cavities = spoken.new, spoken.peaks, spoken.cavities
    for place in range(np.int64(tables.message_starts[start]), np.int64(tables.message_starts[end])):
        new[place], peaks[place] = 0.0, -inf
    number = np.int64(tables.cell_starts[table + 1]) - np.int64(tables.cell_starts[table])
    for turn in range(2):  # first the greatest term of each sum, then the sums
        for cell in range(number):
            score = cell_score(tables, spoken, table, cell)
            if score == -inf:
                continue
            for edge in range(start, end):
                at = np.int64(cell_place(tables, edge, cell))
                term = score - cavities[at]
                if turn == 0:
                    peaks[at] = max(peaks[at], term)
                else:
                    new[at] += exp(term - peaks[at])
    change = 0.0
    for edge in range(start, end):
        change = max(change, settle_message(tables, spoken, edge, damping))
    return change


@borrowing
def settle_message(tables: Tables, spoken: Spoken, edge: Number, damping: float) -> float:
    """Turn sums into a message whose greatest number is 0, and damp it; return by how much it changes."""
    first, end = np.int64(tables.message_starts[edge]), np.int64(tables.message_starts[edge + 1])
    new, most, change = spoken.new, -inf, 0.0
    for place in range(first, end):
        new[place] = spoken.peaks[place] + log(new[place]) if new[place] > 0.0 else -inf
        most = max(most, new[place])
    for place in range(first, end):
        told = max(new[place] - most, LEAST) if most > -inf else 0.0
        new[place] = (1.0 - damping) * told + damping * spoken.messages[place]
        change = max(change, abs(new[place] - spoken.messages[place]))
    return change


@borrowing
def take(tables: Tables, spoken: Spoken, table: Number) -> None:
    """Let the variables hear a table's new messages."""
    for edge in range(np.int64(tables.scope_starts[table]), np.int64(tables.scope_starts[table + 1])):
        start, first = (
            np.int64(tables.value_starts[tables.scope[edge]]),
            np.int64(tables.message_starts[edge]),
        )
        for value in range(np.int64(tables.message_starts[edge + 1]) - first):
            spoken.beliefs[start + value] += spoken.new[first + value] - spoken.messages[first + value]
            spoken.messages[first + value] = spoken.new[first + value]


@borrowing
def sweep_tables(tables: Tables, spoken: Spoken, damping: float, at_once: bool) -> float:
    """Let each table speak once, all at once or in turn; return the largest change of a message."""
    largest = 0.0
    add_up(tables, spoken)
    for table in range(len(spoken.changes)):
        change = tell(tables, spoken, table, damping)
        spoken.changes[table] = change
        largest = max(largest, change)
        if not at_once:
            take(tables, spoken, table)
    if at_once:
        for table in range(len(spoken.changes)):
            take(tables, spoken, table)
    return largest


@borrowing
def spread_news(tables: Tables, spoken: Spoken, queue: Queue, table: Number) -> None:
    """Tell the other tables of a table's variables that there is news, before the variables hear it."""
    for edge in range(np.int64(tables.scope_starts[table]), np.int64(tables.scope_starts[table + 1])):
        change = 0.0
        for place in range(np.int64(tables.message_starts[edge]), np.int64(tables.message_starts[edge + 1])):
            change = max(change, abs(spoken.new[place] - spoken.messages[place]))
        if change == 0.0:
            continue
        variable = np.int64(tables.scope[edge])
        for near in range(np.int64(tables.near_starts[variable]), np.int64(tables.near_starts[variable + 1])):
            other = np.int64(tables.near_tables[near])
            if other != table:
                queue.news[other] += change
                rise(queue, int(queue.places[other]))


@borrowing
def sweep_residual(tables: Tables, spoken: Spoken, queue: Queue, damping: float) -> float:
    """Let as many tables speak as there are, always that with most to tell; return the most that is left."""
    number = len(spoken.changes)
    add_up(tables, spoken)
    order(queue)
    for table in range(number):
        spoken.changes[table] = 0.0
    for _ in range(number):
        speaker = int(queue.heap[0])
        if queue.news[speaker] == 0.0:
            break
        change = tell(tables, spoken, speaker, damping)
        queue.news[speaker] = damping / (1.0 - damping) * change
        sink(queue, 0)
        spread_news(tables, spoken, queue, speaker)
        take(tables, spoken, speaker)
        spoken.changes[speaker] = max(spoken.changes[speaker], change)
    return float(queue.news[queue.heap[0]]) if number else 0.0


@borrowing
def bethe(tables: Tables, spoken: Spoken) -> float:
    """Return log Z as the messages have it (Yedidia, Freeman and Weiss 2005); exact without loops.

    With cavities n and messages m: log sum_x prod m(x) for each variable, log sum_x f(x) prod n(x) for each
    table, less log sum_x n(x) m(x) for each edge.
    """
    add_up(tables, spoken)
    total = 0.0
    for variable in range(len(tables.value_starts) - 1):
        first, end = np.int64(tables.value_starts[variable]), np.int64(tables.value_starts[variable + 1])
        total += log_sum(spoken.beliefs, first, end)
    for table in range(len(spoken.changes)):
        hear(tables, spoken, table)
        most, sum_ = -inf, 0.0
        number = np.int64(tables.cell_starts[table + 1]) - np.int64(tables.cell_starts[table])
        for cell in range(number):
            most = max(most, cell_score(tables, spoken, table, cell))
        if most == -inf:
            return -inf
        for cell in range(number):
            sum_ += exp(cell_score(tables, spoken, table, cell) - most)
        total += most + log(sum_)
        for edge in range(np.int64(tables.scope_starts[table]), np.int64(tables.scope_starts[table + 1])):
            first, end = np.int64(tables.message_starts[edge]), np.int64(tables.message_starts[edge + 1])
            for place in range(first, end):
                spoken.peaks[place] = spoken.cavities[place] + spoken.messages[place]
            total -= log_sum(spoken.peaks, first, end)
    return total


@borrowing
def log_sum(logs: NDArray[np.float64], first: Number, end: Number) -> float:
    """Return the logarithm of the sum of exponentials of a stretch."""
    most, total = logs[first], 0.0
    for place in range(first, end):
        most = max(most, logs[place])
    for place in range(first, end):
        total += exp(logs[place] - most)
    return float(most + log(total))


def room_for(tables: Tables) -> Spoken:
    """Return messages that say nothing yet."""
    told, values = int(tables.message_starts[-1]), int(tables.value_starts[-1])
    number = len(tables.cell_starts) - 1
    zeros = np.zeros
    return Spoken(zeros(told), zeros(values), zeros(number), zeros(told), zeros(told), zeros(told))


def warm_up() -> None:
    """Compile every kernel of this file."""
    tables = smallest_tables()
    spoken = room_for(tables)
    queue = Queue(np.ones(1), np.zeros(1, np.uint32), np.zeros(1, np.uint32))
    sweep_tables(tables, spoken, 0.5, at_once=False)
    sweep_residual(tables, spoken, queue, 0.5)
    bethe(tables, spoken)
