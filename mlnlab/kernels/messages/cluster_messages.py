"""Messages between the clusters of a join graph, in logarithms: the largest number of each message is 0.

Mateescu, Kask, Gogate and Dechter (2010), figure 11: what a cluster u tells its neighbour v is

    h(u, v) = sum over what the label lacks of (table of u) * (product of h(k, u) for the neighbours k but v)

Message 2 l goes forward over link l, message 2 l + 1 back, so that ``message ^ 1`` is its answer.
In order of residuals (Elidan, McGraw and Koller, 2006) each message that would change is computed ahead, and
the one that would change most is sent next. A cluster where nothing is possible tells minus infinity of every
value: nothing is divided, so that this needs no care.
"""

from __future__ import annotations

from math import exp, inf, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import borrowing
from mlnlab.kernels.messages.sum_product_order import Queue, rise, sink

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

MUCH = 1e6  # by how much a message changes that calls something impossible, or possible again


class Clusters(NamedTuple):
    """The tables of a join graph's clusters, and its messages.

    ``heard`` lists for each cluster the messages that it gets. ``places`` says for each message and each cell
    of the cluster that gets it which of the message's values the cell has.
    """

    cell_starts: NDArray[np.int64]
    logs: NDArray[np.float64]  # of the clusters' tables
    message_starts: NDArray[np.int64]
    sources: NDArray[np.int64]
    targets: NDArray[np.int64]
    heard_starts: NDArray[np.int64]
    heard: NDArray[np.int64]
    place_starts: NDArray[np.int64]
    places: NDArray[np.uint32]


class Told(NamedTuple):
    """The messages, each as it would be sent now, and room to work."""

    messages: NDArray[np.float64]
    next: NDArray[np.float64]
    sums: NDArray[np.float64]  # as many as a message has values
    scores: NDArray[np.float64]  # as many as the largest cluster has cells


@borrowing
def score_cells(clusters: Clusters, told: Told, cluster: Number, but: Number) -> None:
    """Add up, for each cell of a cluster, its logarithm and all messages but one."""
    first = np.uint64(clusters.cell_starts[cluster])
    number = clusters.cell_starts[cluster + 1] - clusters.cell_starts[cluster]
    copy_cells(clusters.logs, first, told.scores, number)
    for place in range(clusters.heard_starts[cluster], clusters.heard_starts[cluster + 1]):
        message = clusters.heard[place]
        if message != but:
            start, at = np.uint64(clusters.message_starts[message]), np.uint64(clusters.place_starts[message])
            add_message(told.messages, start, clusters.places, at, told.scores, number)


# Indices have no sign, so that nothing asks whether they are to be counted from the end of an array.


@borrowing
def copy_cells(
    logs: NDArray[np.float64], first: np.uint64, scores: NDArray[np.float64], number: Number
) -> None:
    """Let the scores of cells be their logarithms."""
    for place in range(number):
        cell = np.uint64(place)
        scores[cell] = logs[first + cell]


@borrowing
def add_message(
    messages: NDArray[np.float64], start: np.uint64, places: NDArray[np.uint32], at: np.uint64,
    scores: NDArray[np.float64], number: Number,
) -> None:  # fmt: skip
    """Add to the score of each cell its value of a message."""
    for place in range(number):
        cell = np.uint64(place)
        scores[cell] += messages[start + np.uint64(places[at + cell])]


@borrowing
def find_largest(
    scores: NDArray[np.float64], places: NDArray[np.uint32], at: np.uint64, largest: NDArray[np.float64],
    start: np.uint64, number: Number,
) -> None:  # fmt: skip
    """Raise the numbers of a message's values to the largest scores of their cells."""
    for place in range(number):
        cell = np.uint64(place)
        own = start + np.uint64(places[at + cell])
        largest[own] = max(largest[own], scores[cell])


@borrowing
def sum_cells(
    scores: NDArray[np.float64], places: NDArray[np.uint32], at: np.uint64, largest: NDArray[np.float64],
    start: np.uint64, sums: NDArray[np.float64], number: Number,
) -> None:  # fmt: skip
    """Add up, for each of a message's values, the cells that have it, as parts of the largest one."""
    for place in range(number):
        cell = np.uint64(place)
        if scores[cell] > -inf:
            own = np.uint64(places[at + cell])
            sums[own] += exp(scores[cell] - largest[start + own])


@borrowing
def prepare_message(clusters: Clusters, told: Told, message: Number, damping: float) -> float:
    """Compute a message as it would be sent now; return by how much it would change."""
    answer, cluster = message ^ 1, clusters.sources[message]
    score_cells(clusters, told, cluster, answer)
    start = clusters.message_starts[message]
    size = clusters.message_starts[message + 1] - start
    at, behind = np.uint64(clusters.place_starts[answer]), np.uint64(start)
    number = clusters.cell_starts[cluster + 1] - clusters.cell_starts[cluster]
    new, sums = told.next, told.sums
    for value in range(size):
        new[start + value], sums[value] = -inf, 0.0
    find_largest(told.scores, clusters.places, at, new, behind, number)
    sum_cells(told.scores, clusters.places, at, new, behind, sums, number)
    most = -inf
    for value in range(size):
        if sums[value] > 0.0:
            new[start + value] += log(sums[value])
        most = max(most, new[start + value])
    return settle_message(told, start, size, most, damping)


@borrowing
def settle_message(told: Told, start: Number, size: Number, most: float, damping: float) -> float:
    """Let the largest number of a message be 0, and damp it; return by how much it would change."""
    change = 0.0
    for place in range(start, start + size):
        before = told.messages[place]
        new = told.next[place] - most if most > -inf else -inf
        if new > -inf and before > -inf:
            new = (1.0 - damping) * new + damping * before
            change = max(change, abs(new - before))
        elif new != before:
            change = MUCH
        told.next[place] = new
    return change


@borrowing
def send(clusters: Clusters, told: Told, message: Number) -> None:
    """Send a message that was prepared."""
    for place in range(clusters.message_starts[message], clusters.message_starts[message + 1]):
        told.messages[place] = told.next[place]


@borrowing
def sweep_in_turn(
    clusters: Clusters, told: Told, changes: NDArray[np.float64], damping: float
) -> None:  # fmt: skip
    """Let each cluster send its messages forward, from the first to the last, and then back."""
    number = len(clusters.cell_starts) - 1
    for back in range(2):
        for turn in range(number):
            cluster = number - 1 - turn if back else turn
            for place in range(clusters.heard_starts[cluster], clusters.heard_starts[cluster + 1]):
                message = clusters.heard[place] ^ 1
                if message & 1 == back:
                    changes[message] = prepare_message(clusters, told, message, damping)
                    send(clusters, told, message)


@borrowing
def prepare_all(clusters: Clusters, told: Told, queue: Queue, damping: float) -> None:
    """Prepare every message."""
    for message in range(len(queue.heap)):
        queue.news[message] = prepare_message(clusters, told, message, damping)


@borrowing
def send_most_urgent(
    clusters: Clusters, told: Told, queue: Queue, damping: float, number: Number, least: float
) -> int:
    """Send up to a number of messages, always the one that changes most; return how many were sent."""
    for sent in range(number):
        message = np.int64(queue.heap[0])
        if queue.news[message] <= least:
            return sent
        send(clusters, told, message)
        queue.news[message] = prepare_message(clusters, told, message, damping) if damping > 0.0 else 0.0
        sink(queue, 0)
        cluster = clusters.targets[message]
        for place in range(clusters.heard_starts[cluster], clusters.heard_starts[cluster + 1]):
            other = clusters.heard[place] ^ 1
            if clusters.heard[place] != message:
                queue.news[other] = prepare_message(clusters, told, other, damping)
                rise(queue, int(queue.places[other]))
                sink(queue, int(queue.places[other]))
    return int(number)


@borrowing
def log_sum(numbers: NDArray[np.float64], number: Number) -> float:
    """Return the logarithm of the sum of some exponentials."""
    most, total = -inf, 0.0
    for place in range(number):
        most = max(most, numbers[place])
    if most == -inf:
        return -inf
    for place in range(number):
        total += exp(numbers[place] - most)
    return float(most + log(total))


@borrowing
def estimate_log_z(clusters: Clusters, told: Told) -> float:
    """Return log Z as clusters and separators have it; exact in a tree that has settled.

    With beliefs b that are not divided by their sums, it is the sum over clusters of log sum b less the sum
    over links of log sum b: Yedidia, Freeman and Weiss (2005), at a fixed point.
    """
    total = 0.0
    for cluster in range(len(clusters.cell_starts) - 1):
        score_cells(clusters, told, cluster, -1)
        own = log_sum(told.scores, clusters.cell_starts[cluster + 1] - clusters.cell_starts[cluster])
        if own == -inf:
            return -inf
        total += own
    for forward in range(0, len(clusters.sources), 2):
        start, back = clusters.message_starts[forward], clusters.message_starts[forward + 1]
        for value in range(back - start):
            told.sums[value] = told.messages[start + value] + told.messages[back + value]
        between = log_sum(told.sums, back - start)
        if between == -inf:
            return -inf
        total -= between
    return total


@borrowing
def believe(
    clusters: Clusters, told: Told, cluster: Number, numbers: NDArray[np.uint32], beliefs: NDArray[np.float64]
) -> None:
    """Compute a variable's distribution from a cluster; ``numbers`` are its values in the cells."""
    score_cells(clusters, told, cluster, -1)
    most, total = -inf, 0.0
    for cell in range(len(numbers)):
        most = max(most, told.scores[cell])
    for value in range(len(beliefs)):
        beliefs[value] = 0.0
    if most == -inf:
        return
    for cell in range(len(numbers)):
        beliefs[np.int64(numbers[cell])] += exp(told.scores[cell] - most)
    for value in range(len(beliefs)):
        total += beliefs[value]
    for value in range(len(beliefs)):
        beliefs[value] /= total


def warm_up() -> None:
    """Compile every kernel of this file."""
    zero, ends = np.zeros(1, np.int64), np.array([0, 1, 2])
    clusters = Clusters(
        ends, np.zeros(2), ends, np.array([0, 1]), np.array([1, 0]), ends, np.array([1, 0]), zero.repeat(3),
        np.zeros(2, np.uint32),
    )  # fmt: skip
    told = Told(np.zeros(2), np.zeros(2), np.zeros(1), np.zeros(1))
    queue = Queue(np.zeros(2), np.zeros(2, np.uint32), np.zeros(2, np.uint32))
    sweep_in_turn(clusters, told, queue.news, 0.5)
    prepare_all(clusters, told, queue, 0.5)
    send_most_urgent(clusters, told, queue, 0.5, 1, 0.0)
    estimate_log_z(clusters, told)
    believe(clusters, told, 0, np.zeros(1, np.uint32), np.zeros(1))
