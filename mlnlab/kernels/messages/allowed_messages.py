"""Messages between clusters of 0/1 tables that settle again, from where they are, when cells have changed.

Each message is kept as it was sent, together with its sums as they would be sent now. Where few values of a
message change, the sums that these go into follow at once; where most do, those sums are only marked as
stale, and made when it is their turn: the news of a message is then a bound on its change, the changes that
its cluster has heard of (Sutton and McCallum, UAI 2007, of the order of Elidan, McGraw and Koller, UAI 2006).
"""

from __future__ import annotations

from math import inf, log
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.compiled import borrowing
from mlnlab.kernels.messages.allowed_cells import (
    NONE,
    Sums,
    Tables,
    add_change,
    change_sums,
    mend,
    place_of,
    rows_of,
    smallest_tables,
    sum_message,
    weigh_cell,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

MUCH = 1e6  # by how much a message changes that calls something impossible, or possible again
TINY = 1e-200  # a value of a message below it is about to leave the numbers that there are
SLOWER = 8  # a cell by itself than one in a row

# --- changes --------------------------------------------------------------------------------------


@borrowing
def compare_values(new: float, old: float) -> float:
    """Return by how much a value changed, as a part of it."""
    if new > 0.0 and old > 0.0:
        return abs(new - old) / min(new, old)
    return 0.0 if new == old else MUCH


@borrowing
def measure(tables: Tables, sums: Sums, message: Number) -> float:
    """Return by how much a message would change; its value of reference stays 1, where it is possible."""
    start, end = tables.message_starts[message], tables.message_starts[message + 1]
    scale = sums.sums[start + sums.references[message]]
    scale, change = scale if scale > 0.0 else 1.0, 0.0
    for place in range(start, end):
        change = max(change, compare_values(sums.sums[place] / scale, sums.messages[place]))
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
    """Send the values of a message that changed; return whether all are in the range of numbers."""
    start, end = tables.message_starts[message], tables.message_starts[message + 1]
    refer_to_most(tables, sums, message)
    scale = sums.sums[start + sums.references[message]]
    scale, change, number, kept = scale if scale > 0.0 else 1.0, 0.0, 0, True
    for place in range(start, end):
        part = compare_values(sums.sums[place] / scale, sums.messages[place])
        change, number = max(change, part), number + (1 if part > least else 0)
    cluster = tables.targets[message]
    cells = tables.cell_starts[cluster + 1] - tables.cell_starts[cluster]
    few = number * (rows_of(tables, cluster) + SLOWER * (cells // (end - start))) < cells
    for place in range(start, end):
        old, new = sums.messages[place], sums.sums[place] / scale
        if damping > 0.0 and old > 0.0 and new > 0.0:
            new = new ** (1.0 - damping) * old**damping
        if few and compare_values(new, old) <= (1.0 - damping) * least:
            continue
        kept = kept and (new == 0.0 or new > TINY)
        sums.messages[place] = new
        if few:
            tell_value(tables, sums, message, place - start, new - old)
    sums.sent[message] += 1
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
    """Measure the messages of a cluster whose cells have changed."""
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
    """Call those values of a cell possible that messages call impossible; return how many wait then."""
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
    """Return where in the turns the next message with news is, or that with most news; -1: none has any."""
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
    """Send messages until none would change much, or many were sent; return whether all is settled."""
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
    """Add up the allowed cells of a cluster, times all that it hears; by the sums of a message, if any."""
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
    tables, sums = smallest_tables()
    begin(sums)
    settle(tables, sums, 1e-9, 9, 0.0)
    change_cells(tables, sums, np.zeros(1, np.int64), np.zeros(1, np.int64))
    estimate_log_z(tables, sums)
