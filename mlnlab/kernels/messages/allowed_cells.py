"""Sums of the allowed cells of 0/1 tables, brought up to date where cells or messages have changed.

What a cluster u tells its neighbour v is, as in ``cluster_messages.py``, but in numbers and not in
logarithms,

    h(u, v) = sum over what the label lacks of (table of u) * (product of h(k, u) for the neighbours k but v)

In a 0/1 table such a sum is one of positive numbers. Where a cell or a few values of a message change, they
are added to the sums or taken away; each sum has a bound on what rounding did to it, and is made afresh where
that is too much, so that it is 0 where nothing is possible.

Cells lie in rows along the last variable of their cluster. The label of a message either has this variable,
so that a row of cells has a row of the message's values, or a row of cells has one value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import borrowing, inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

ROUNDING = 2.3e-16  # of one addition, as a part of the sum
TRUST = 1e-13  # what rounding may have done to a sum, as a part of it
NONE = -1


class Tables(NamedTuple):
    """The cells of a join graph's clusters, and where the values of the messages belong to them.

    ``heard`` lists for each cluster the messages that it gets; message 2 l + 1 is the answer to message 2 l.
    ``row_places`` says for each message and each row of the cluster that gets it which of the message's
    values the first cell has; where the message goes ``along`` the rows, the next cells have the next ones.
    """

    cell_starts: NDArray[np.int64]
    allowed: NDArray[np.uint8]
    lengths: NDArray[np.int64]  # of each cluster's rows
    message_starts: NDArray[np.int64]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    heard_starts: NDArray[np.int64]
    heard: NDArray[np.int64]
    row_starts: NDArray[np.int64]
    row_places: NDArray[np.uint32]
    along: NDArray[np.uint8]
    turns: NDArray[np.int64]  # all messages, forward and then back; empty: that with most news is next


class Sums(NamedTuple):
    """The messages as they were sent, each as it would be sent now but for its scale, and room to work."""

    messages: NDArray[np.float64]
    sums: NDArray[np.float64]
    errors: NDArray[np.float64]  # bounds on what rounding did to the sums
    news: NDArray[np.float64]  # bounds on how much each message would change
    stale: NDArray[np.uint8]  # whether a message's sums have to be made afresh
    references: NDArray[np.int64]  # the value that is 1 in each message
    summed: NDArray[np.int64]  # how often each message's sums were made afresh,
    touched: NDArray[np.int64]  # and how often they changed in some places
    sent: NDArray[np.int64]
    weights: NDArray[np.float64]  # as many as the longest row has cells
    terms: NDArray[np.float64]
    waiting: NDArray[np.int64]  # as many as there are values


# --- products of messages at cells ----------------------------------------------------------------


@inlined
def weigh_row(tables: Tables, sums: Sums, cluster: Number, row: Number, one: Number, other: Number) -> float:
    """Multiply a row's values of the messages that do not go along it, except for two messages."""
    found = 1.0
    for place in range(tables.heard_starts[cluster], tables.heard_starts[cluster + 1]):
        message = tables.heard[place]
        if message in (one, other) or tables.along[message]:
            continue
        value = np.int64(tables.row_places[tables.row_starts[message] + row])
        found *= sums.messages[tables.message_starts[message] + value]
    return found


@inlined
def weigh_cells(tables: Tables, sums: Sums, cluster: Number, row: Number, one: Number, other: Number) -> None:
    """Multiply each cell's values of the messages that go along its row, except for two messages."""
    length = tables.lengths[cluster]
    for cell in range(length):
        sums.weights[cell] = 1.0
    for place in range(tables.heard_starts[cluster], tables.heard_starts[cluster + 1]):
        message = tables.heard[place]
        if message in (one, other) or not tables.along[message]:
            continue
        value = np.int64(tables.row_places[tables.row_starts[message] + row])
        weigh_row_by(sums.weights, sums.messages, np.uint64(tables.message_starts[message] + value), length)


@borrowing
def weigh_row_by(
    weights: NDArray[np.float64], messages: NDArray[np.float64], start: np.uint64, length: Number
) -> None:
    """Multiply the weights of a row's cells by their values of a message."""
    for place in range(length):
        cell = np.uint64(place)
        weights[cell] *= messages[start + cell]


@inlined
def weighs_alike(tables: Tables, cluster: Number, row: Number, known: Number) -> bool:
    """Tell whether the cells of two rows get the same values of all messages that go along."""
    for place in range(tables.heard_starts[cluster], tables.heard_starts[cluster + 1]):
        message = tables.heard[place]
        start = tables.row_starts[message]
        if tables.along[message] and tables.row_places[start + row] != tables.row_places[start + known]:
            return False
    return True


@borrowing
def weigh_cell(
    tables: Tables, sums: Sums, cluster: Number, cell: Number, one: Number, other: Number
) -> float:
    """Multiply all that a cluster hears of a cell, except for two messages."""
    found = 1.0
    for place in range(tables.heard_starts[cluster], tables.heard_starts[cluster + 1]):
        message = tables.heard[place]
        if message not in (one, other):
            found *= sums.messages[tables.message_starts[message] + place_of(tables, message, cell)]
    return found


@borrowing
def place_of(tables: Tables, message: Number, cell: Number) -> int:
    """Return which value of a message a cell of the cluster that gets it has."""
    length = tables.lengths[tables.targets[message]]
    row = cell // length
    found = np.int64(tables.row_places[tables.row_starts[message] + row])
    return int(found + (cell - row * length if tables.along[message] else 0))


@borrowing
def rows_of(tables: Tables, cluster: Number) -> int:
    """Return the number of a cluster's rows."""
    return int((tables.cell_starts[cluster + 1] - tables.cell_starts[cluster]) // tables.lengths[cluster])


# --- sums of cells --------------------------------------------------------------------------------


@borrowing
def sum_row(
    allowed: NDArray[np.uint8], first: np.uint64, weights: NDArray[np.float64], terms: NDArray[np.float64],
    length: Number,
) -> float:  # fmt: skip
    """Add up the weights of a row's allowed cells: eight stretches in step, then halves."""
    left, total, one = length // 8, 0.0, np.uint64(length // 8)
    two, four = one + one, one + one + one + one
    for place in range(left):
        at = np.uint64(place)
        to = first + at
        low = weights[at] * allowed[to] + weights[at + one] * allowed[to + one]
        low += weights[at + two] * allowed[to + two] + weights[at + two + one] * allowed[to + two + one]
        at, to = at + four, to + four
        high = weights[at] * allowed[to] + weights[at + one] * allowed[to + one]
        high += weights[at + two] * allowed[to + two] + weights[at + two + one] * allowed[to + two + one]
        terms[place] = low + high
    for place in range(8 * left, length):
        total += weights[place] * allowed[first + np.uint64(place)]
    while left > 4:
        half = left // 2
        behind = np.uint64(left - half)
        for place in range(half):
            terms[place] += terms[behind + np.uint64(place)]
        left -= half
    for place in range(left):
        total += terms[place]
    return total


@borrowing
def add_cells(
    sums: NDArray[np.float64], start: np.uint64, allowed: NDArray[np.uint8], first: np.uint64,
    weights: NDArray[np.float64], factor: float, length: Number,
) -> None:  # fmt: skip
    """Add each of a row's allowed cells, times its weight and a factor, to a sum of its own."""
    for place in range(length):
        cell = np.uint64(place)
        sums[start + cell] += factor * weights[cell] * allowed[first + cell]


@inlined
def add_row(tables: Tables, sums: Sums, message: Number, cluster: Number, row: Number, factor: float) -> None:
    """Add the allowed cells of a row, times their weights and a factor, to the sums of a message."""
    length, answer = tables.lengths[cluster], message ^ 1
    # Without a sign, so that no index is looked at twice, and the machine goes several cells at a time.
    first = np.uint64(tables.cell_starts[cluster] + row * length)
    value = np.int64(tables.row_places[tables.row_starts[answer] + row])
    start = np.uint64(tables.message_starts[message] + value)
    found, weights, allowed = sums.sums, sums.weights, tables.allowed
    if tables.along[answer]:
        add_cells(found, start, allowed, first, weights, factor, length)
    else:
        found[start] += factor * sum_row(allowed, first, weights, sums.terms, length)


@borrowing
def sum_message(tables: Tables, sums: Sums, message: Number) -> None:
    """Make all sums of a message afresh."""
    cluster, answer, known = tables.sources[message], message ^ 1, NONE
    for place in range(tables.message_starts[message], tables.message_starts[message + 1]):
        sums.sums[place] = sums.errors[place] = 0.0
    for row in range(rows_of(tables, cluster)):
        factor = weigh_row(tables, sums, cluster, row, answer, NONE)
        if factor == 0.0:
            continue
        if known == NONE or not weighs_alike(tables, cluster, row, known):
            weigh_cells(tables, sums, cluster, row, answer, NONE)
            known = row
        add_row(tables, sums, message, cluster, row, factor)
    sums.stale[message] = 0
    sums.summed[message] += 1


@borrowing
def sum_value(tables: Tables, sums: Sums, message: Number, value: Number) -> None:
    """Make one sum of a message afresh."""
    cluster, answer = tables.sources[message], message ^ 1
    length, cells = tables.lengths[cluster], tables.cell_starts[cluster]
    total = 0.0
    for row in range(rows_of(tables, cluster)):
        base = np.int64(tables.row_places[tables.row_starts[answer] + row])
        first, number = row * length, length
        if tables.along[answer]:
            if not base <= value < base + length:
                continue
            first, number = first + value - base, 1
        elif base != value:
            continue
        for cell in range(first, first + number):
            if tables.allowed[cells + cell]:
                total += weigh_cell(tables, sums, cluster, cell, answer, NONE)
    place = tables.message_starts[message] + value
    sums.sums[place], sums.errors[place] = total, 0.0


@borrowing
def mend(tables: Tables, sums: Sums, message: Number) -> None:
    """Make those sums of a message afresh that rounding may have changed too much."""
    start = tables.message_starts[message]
    for value in range(tables.message_starts[message + 1] - start):
        if sums.errors[start + value] > TRUST * sums.sums[start + value]:
            sum_value(tables, sums, message, value)


@borrowing
def add_change(sums: Sums, place: Number, change: float) -> None:
    """Add a change to a sum, and its rounding to the bound of the sum's error."""
    sums.sums[place] += change
    sums.errors[place] += ROUNDING * (abs(sums.sums[place]) + 2.0 * abs(change))


@borrowing
def change_sums(
    tables: Tables, sums: Sums, message: Number, heard: Number, value: Number, change: float
) -> None:
    """Bring the sums of a message up to date where one value that its cluster heard has changed."""
    cluster, answer = tables.sources[message], message ^ 1
    length, cells = tables.lengths[cluster], tables.cell_starts[cluster]
    start, places = tables.message_starts[message], tables.row_starts[answer]
    for row in range(rows_of(tables, cluster)):
        base = np.int64(tables.row_places[tables.row_starts[heard] + row])
        if tables.along[heard]:
            cell = row * length + value - base
            if base <= value < base + length and tables.allowed[cells + cell]:
                term = change * weigh_cell(tables, sums, cluster, cell, answer, heard)
                add_change(sums, start + place_of(tables, answer, cell), term)
        elif base == value:
            factor = change * weigh_row(tables, sums, cluster, row, answer, heard)
            weigh_cells(tables, sums, cluster, row, answer, heard)
            first, at = cells + row * length, start + np.int64(tables.row_places[places + row])
            for cell in range(length):
                if tables.allowed[first + cell]:
                    term = factor * sums.weights[cell]
                    add_change(sums, at + cell if tables.along[answer] else at, term)


def smallest_tables() -> tuple[Tables, Sums]:
    """Return two clusters of one cell each, and room for their messages."""
    zero, ends = np.zeros(1, np.int64), np.array([0, 1, 2])
    tables = Tables(
        ends, np.ones(2, np.uint8), np.ones(2, np.int64), ends, np.array([0, 1]), np.array([1, 0]), ends,
        np.array([1, 0]), ends, np.zeros(2, np.uint32), np.zeros(2, np.uint8), zero[:0],
    )  # fmt: skip
    return tables, room_for_sums(tables)


def room_for_sums(tables: Tables) -> Sums:
    """Return messages that say nothing yet, and room to work."""
    values, messages = int(tables.message_starts[-1]), len(tables.sources)
    longest = int(tables.lengths.max(initial=1))
    wholes = np.zeros((4, messages), np.int64)
    return Sums(
        np.zeros(values), np.zeros(values), np.zeros(values), np.zeros(messages),
        np.zeros(messages, np.uint8), wholes[0], wholes[1], wholes[2], wholes[3], np.zeros(longest),
        np.zeros(longest), np.zeros(values, np.int64),
    )  # fmt: skip


def warm_up() -> None:
    """Compile every kernel of this file."""
    tables, sums = smallest_tables()
    sum_message(tables, sums, 0)
    mend(tables, sums, 0)
    change_sums(tables, sums, 0, 1, 0, 0.0)
