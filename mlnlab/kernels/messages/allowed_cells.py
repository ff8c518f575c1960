"""Messages between clusters of 0/1 tables, brought up to date where cells or messages have changed.

What a cluster u tells its neighbour v is, as in ``cluster_messages.py``, but in numbers and not in logarithms,

    h(u, v) = sum over what the label lacks of (table of u) * (product of h(k, u) for the neighbours k but v)

In a 0/1 table such a sum is one of positive numbers. Where a cell or a few values of a message change, they are
added to the sums or taken away; each sum has a bound on what rounding did to it, and is made anew where that is
too much, so that it is 0 where nothing is possible. Where most values of a message changed, the sums that it
goes into are only marked as stale, and made when it is their turn: the news of a message is a bound on its
change then, the changes that its cluster heard of since (Sutton and McCallum, UAI 2007, of the order of
Elidan, McGraw and Koller, UAI 2006).

Cells lie in rows along the last variable of their cluster. The label of a message either has this variable,
so that a row of cells has a row of the message's values, or a row of cells has one value.
"""

from __future__ import annotations

from math import inf, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import borrowing, inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

MUCH = 1e6  # by how much a message changes that calls something impossible, or possible again
ROUNDING = 2.3e-16  # of one addition, as a part of the sum
TRUST = 1e-13  # what rounding may have done to a sum, as a part of it
TINY = 1e-200  # a value of a message below it is about to leave the numbers that there are
FEW = 8  # one value in so many: then cells are looked at where they changed, and else all
NONE = -1


class Tables(NamedTuple):
    """The cells of a join graph's clusters, and where the values of the messages belong to them.

    ``heard`` lists for each cluster the messages that it gets; message 2 l + 1 is the answer to message 2 l.
    ``row_places`` says for each message and each row of the cluster that gets it which of the message's values
    the first cell has; where the message goes ``along`` the rows, the next cells have the next ones.
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
    stale: NDArray[np.uint8]  # whether a message's sums have to be made anew
    references: NDArray[np.int64]  # the value that is 1 in each message
    summed: NDArray[np.int64]  # how often each message's sums were made anew,
    touched: NDArray[np.int64]  # and how often they changed in some places
    sent: NDArray[np.int64]
    weights: NDArray[np.float64]  # as many as the longest row has cells
    terms: NDArray[np.float64]
    waiting: NDArray[np.int64]  # as many as there are values


# --- products of messages at cells ----------------------------------------------------------------


@inlined
def weigh_row(tables: Tables, sums: Sums, cluster: Number, row: Number, one: Number, other: Number) -> float:
    """Multiply what a cluster hears of a row as a whole, except for two messages."""
    found = 1.0
    for place in range(tables.heard_starts[cluster], tables.heard_starts[cluster + 1]):
        message = tables.heard[place]
        if message == one or message == other or tables.along[message]:  # noqa: PLR1714 - numba
            continue
        value = np.int64(tables.row_places[tables.row_starts[message] + row])
        found *= sums.messages[tables.message_starts[message] + value]
    return found


@borrowing
def weigh_cells(tables: Tables, sums: Sums, cluster: Number, row: Number, one: Number, other: Number) -> None:
    """Multiply what a cluster hears of each cell of a row by itself, except for two messages."""
    length = tables.lengths[cluster]
    weights = sums.weights
    for cell in range(length):
        weights[cell] = 1.0
    for place in range(tables.heard_starts[cluster], tables.heard_starts[cluster + 1]):
        message = tables.heard[place]
        if message == one or message == other or not tables.along[message]:  # noqa: PLR1714 - numba
            continue
        start = tables.message_starts[message] + np.int64(tables.row_places[tables.row_starts[message] + row])
        for cell in range(length):
            weights[cell] *= sums.messages[start + cell]


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
        if message != one and message != other:  # noqa: PLR1714 - numba
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
    """Make all sums of a message anew."""
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
    """Make one sum of a message anew."""
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
    """Make those sums of a message anew that rounding may have changed too much."""
    start = tables.message_starts[message]
    for value in range(tables.message_starts[message + 1] - start):
        if sums.errors[start + value] > TRUST * sums.sums[start + value]:
            sum_value(tables, sums, message, value)


@borrowing
def add_change(sums: Sums, place: Number, change: float) -> None:
    """Add a change to a sum, and to the bound of its error what that may have rounded off."""
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


# --- changes --------------------------------------------------------------------------------------


@borrowing
def part_changed(new: float, old: float) -> float:
    """Return by how much a value changed, as a part of it."""
    if new > 0.0 and old > 0.0:
        return abs(new - old) / min(new, old)
    return 0.0 if new == old else MUCH


@borrowing
def measure(tables: Tables, sums: Sums, message: Number) -> float:
    """Return by how much a message would change; its value of reference stays 1, where it is possible."""
    start, end = tables.message_starts[message], tables.message_starts[message + 1]
    if sums.sums[start + sums.references[message]] <= 0.0:
        for place in range(start, end):
            if sums.sums[place] > sums.sums[start + sums.references[message]]:
                sums.references[message] = place - start
    scale = sums.sums[start + sums.references[message]]
    scale, change = scale if scale > 0.0 else 1.0, 0.0
    for place in range(start, end):
        change = max(change, part_changed(sums.sums[place] / scale, sums.messages[place]))
    return change


@borrowing
def refer_to_most(tables: Tables, sums: Sums, message: Number) -> None:
    """Let the value of reference be that of the largest sum."""
    start = tables.message_starts[message]
    for value in range(tables.message_starts[message + 1] - start):
        if sums.sums[start + value] > 2.0 * sums.sums[start + sums.references[message]]:
            sums.references[message] = value


@borrowing
def send(tables: Tables, sums: Sums, message: Number, least: float, damping: float) -> bool:
    """Send what changed in a message; return whether all of it is in the range of numbers."""
    start, end = tables.message_starts[message], tables.message_starts[message + 1]
    refer_to_most(tables, sums, message)
    scale = sums.sums[start + sums.references[message]]
    scale, change, number, kept = scale if scale > 0.0 else 1.0, 0.0, 0, True
    for place in range(start, end):
        part = part_changed(sums.sums[place] / scale, sums.messages[place])
        change, number = max(change, part), number + (1 if part > least else 0)
    few = number * FEW < end - start
    for place in range(start, end):
        old, new = sums.messages[place], sums.sums[place] / scale
        if damping > 0.0 and old > 0.0 and new > 0.0:
            new = new ** (1.0 - damping) * old**damping
        if few and part_changed(new, old) <= (1.0 - damping) * least:
            continue
        kept = kept and (new == 0.0 or new > TINY)
        sums.messages[place] = new
        if few:
            tell_value(tables, sums, message, place - start, new - old)
    sums.sent[message] += 1
    cluster = tables.targets[message]
    for place in range(tables.heard_starts[cluster], tables.heard_starts[cluster + 1]):
        other = tables.heard[place] ^ 1
        if tables.heard[place] == message:
            continue
        if few and not sums.stale[other]:
            mend(tables, sums, other)
            sums.news[other] = measure(tables, sums, other)
            sums.touched[other] += 1
        else:
            sums.stale[other] = 1
            sums.news[other] += change
    sums.news[message] = measure(tables, sums, message)
    return kept


@borrowing
def tell_value(tables: Tables, sums: Sums, message: Number, value: Number, change: float) -> None:
    """Bring all sums up to date that one value of a message goes into."""
    cluster = tables.targets[message]
    for place in range(tables.heard_starts[cluster], tables.heard_starts[cluster + 1]):
        other = tables.heard[place] ^ 1
        if tables.heard[place] != message and not sums.stale[other]:
            change_sums(tables, sums, other, message, value, change)


@borrowing
def change_cell(tables: Tables, sums: Sums, cluster: Number, cell: Number) -> None:
    """Allow a cell, or forbid it; bring the sums of its cluster up to date."""
    place = tables.cell_starts[cluster] + cell
    tables.allowed[place] = 1 - tables.allowed[place]
    sign = 1.0 if tables.allowed[place] else -1.0
    for at in range(tables.heard_starts[cluster], tables.heard_starts[cluster + 1]):
        answer = tables.heard[at]
        message = answer ^ 1
        if not sums.stale[message]:
            term = sign * weigh_cell(tables, sums, cluster, cell, answer, NONE)
            add_change(sums, tables.message_starts[message] + place_of(tables, answer, cell), term)


@borrowing
def renew(tables: Tables, sums: Sums, cluster: Number) -> None:
    """Measure what a cluster would tell now that its cells have changed."""
    for at in range(tables.heard_starts[cluster], tables.heard_starts[cluster + 1]):
        message = tables.heard[at] ^ 1
        if not sums.stale[message]:
            mend(tables, sums, message)
            sums.news[message] = measure(tables, sums, message)
            sums.touched[message] += 1


@borrowing
def revive_cell(
    tables: Tables, sums: Sums, cluster: Number, cell: Number, but: Number, number: Number
) -> int:
    """Call possible what messages call impossible of a cell's values; return how many values wait then."""
    waiting = number
    for at in range(tables.heard_starts[cluster], tables.heard_starts[cluster + 1]):
        answer = tables.heard[at]
        message = answer ^ 1
        place = tables.message_starts[message] + place_of(tables, answer, cell)
        if answer == but or sums.messages[place] > 0.0:
            continue
        sums.messages[place] = 1.0
        sums.waiting[waiting] = place
        waiting += 1
        sums.stale[message], sums.news[message] = 1, MUCH
        target = tables.targets[message]
        for there in range(tables.heard_starts[target], tables.heard_starts[target + 1]):
            if tables.heard[there] != message:
                sums.stale[tables.heard[there] ^ 1], sums.news[tables.heard[there] ^ 1] = 1, MUCH
    return int(waiting)


@borrowing
def revive(tables: Tables, sums: Sums, cluster: Number, cell: Number) -> None:
    """Call possible all that may be, now that a cell is allowed.

    In a cycle, values may be impossible for no reason but each other: nothing would bring them back. So all
    that hangs on the cell is called possible, and messages say again what is not.
    """
    number = revive_cell(tables, sums, cluster, cell, NONE, 0)
    while number > 0:
        number -= 1
        place = sums.waiting[number]
        message = np.searchsorted(tables.message_starts, place, side="right") - 1
        value, target = place - tables.message_starts[message], tables.targets[message]
        length = tables.lengths[target]
        for row in range(rows_of(tables, target)):
            base = np.int64(tables.row_places[tables.row_starts[message] + row])
            first, many = row * length, length
            if tables.along[message]:
                if not base <= value < base + length:
                    continue
                first, many = first + value - base, 1
            elif base != value:
                continue
            for other in range(first, first + many):
                if tables.allowed[tables.cell_starts[target] + other]:
                    number = revive_cell(tables, sums, target, other, message, number)


@borrowing
def change_cells(tables: Tables, sums: Sums, clusters: NDArray[np.int64], cells: NDArray[np.int64]) -> None:
    """Allow cells that were forbidden, and forbid those that were allowed."""
    for place in range(len(cells)):
        change_cell(tables, sums, clusters[place], cells[place])
    for place in range(len(cells)):
        if place == 0 or clusters[place] != clusters[place - 1]:
            renew(tables, sums, clusters[place])
    for place in range(len(cells)):
        if tables.allowed[tables.cell_starts[clusters[place]] + cells[place]]:
            revive(tables, sums, clusters[place], cells[place])


# --- until nothing is new -------------------------------------------------------------------------


@borrowing
def begin(sums: Sums) -> None:
    """Let all messages say nothing, and all sums be stale."""
    for place in range(len(sums.messages)):
        sums.messages[place] = 1.0
    for message in range(len(sums.news)):
        sums.news[message], sums.stale[message], sums.references[message] = MUCH, 1, 0


@borrowing
def choose_next(tables: Tables, sums: Sums, least: float, turn: Number) -> int:
    """Return where in the turns the next message with news stands, or that with most news; -1: none has any."""
    number, found = len(sums.news), NONE
    if len(tables.turns) > 0:
        for step in range(number):
            place = (turn + step) % number
            if sums.news[tables.turns[place]] > least:
                return int(place)
        return NONE
    most = least
    for message in range(number):
        if sums.news[message] > most:
            found, most = message, sums.news[message]
    return found


@borrowing
def settle(tables: Tables, sums: Sums, least: float, most: Number, damping: float) -> bool:
    """Send messages until none would change much; stop where many were sent. Return whether all is settled."""
    sent, turn = 0, 0
    while True:
        chosen = choose_next(tables, sums, least, turn)
        if chosen == NONE:
            return True
        message = tables.turns[chosen] if len(tables.turns) > 0 else chosen
        if sums.stale[message]:
            sum_message(tables, sums, message)
            sums.news[message] = measure(tables, sums, message)
            if sums.news[message] <= least:
                continue
        if sent == most or not send(tables, sums, message, least, damping):
            return False
        sent, turn = sent + 1, chosen + 1


@borrowing
def estimate_log_z(tables: Tables, sums: Sums) -> float:
    """Return log Z as clusters and separators have it; exact in a tree that has settled."""
    total = 0.0
    for cluster in range(len(tables.lengths)):
        own = sum_cluster(tables, sums, cluster)
        if own <= 0.0:
            return -inf
        total += log(own)
    for forward in range(0, len(tables.sources), 2):
        start, back = tables.message_starts[forward], tables.message_starts[forward + 1]
        between = 0.0
        for value in range(back - start):
            between += sums.messages[start + value] * sums.messages[back + value]
        if between <= 0.0:
            return -inf
        total -= log(between)
    return total


@borrowing
def sum_cluster(tables: Tables, sums: Sums, cluster: Number) -> float:
    """Add up the allowed cells of a cluster, times all that it hears: by a message's sums, where it has any."""
    message = NONE
    for at in range(tables.heard_starts[cluster], tables.heard_starts[cluster + 1]):
        if message == NONE or sums.stale[message]:
            message = tables.heard[at] ^ 1
    total = 0.0
    if message == NONE:
        for cell in range(tables.cell_starts[cluster], tables.cell_starts[cluster + 1]):
            total += tables.allowed[cell]
        return total
    if sums.stale[message]:
        sum_message(tables, sums, message)
    start, back = tables.message_starts[message], tables.message_starts[message ^ 1]
    for value in range(tables.message_starts[message + 1] - start):
        total += sums.sums[start + value] * sums.messages[back + value]
    return total


def warm_up() -> None:
    """Compile every kernel of this file."""
    zero, ends = np.zeros(1, np.int64), np.array([0, 1, 2])
    tables = Tables(
        ends, np.ones(2, np.uint8), np.ones(2, np.int64), ends, np.array([0, 1]), np.array([1, 0]), ends,
        np.array([1, 0]), ends, np.zeros(2, np.uint32), np.zeros(2, np.uint8), zero[:0],
    )  # fmt: skip
    reals, wholes = (np.zeros((4, 2)), np.zeros((4, 2), np.int64))
    sums = Sums(
        reals[0], reals[1], reals[2], reals[3], np.zeros(2, np.uint8), wholes[0], wholes[1], wholes[2],
        wholes[3], np.zeros(1), np.zeros(1), np.zeros(2, np.int64),
    )  # fmt: skip
    begin(sums)
    settle(tables, sums, 1e-9, 9, 0.0)
    change_cells(tables, sums, zero, zero)
    estimate_log_z(tables, sums)
