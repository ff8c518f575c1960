"""A factor graph of clauses and tables as arrays, the messages on it, and the beliefs they add up to.

    choice v     options      beliefs[value_starts[v] : value_starts[v + 1]]
    clause c     edges        clause_starts[c : c + 1] -> clause_choices[], message clause[edge]
    edge e       falsifying   bits[bit_starts[e] + option]
    table t      edges        table_starts[t : t + 1] -> table_choices[], strides[], message_starts[]

``counts`` say how often an edge occurs: 1, but for graphs in which equal parts are merged.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import borrowing, inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

_1 = np.uint32(1)


class Factors(NamedTuple):
    """A factor graph of clauses and tables; read-only."""

    value_starts: NDArray[np.uint32]
    clause_starts: NDArray[np.uint32]
    clause_choices: NDArray[np.uint32]
    bit_starts: NDArray[np.uint32]
    bits: NDArray[np.uint8]
    if_falsified: NDArray[np.float64]  # exp(-w), what a clause multiplies by where it fails; 0 where hard
    log_if_falsified: NDArray[np.float64]  # -w
    counts: NDArray[np.float64]
    table_starts: NDArray[np.uint32]
    table_choices: NDArray[np.uint32]
    strides: NDArray[np.uint32]
    message_starts: NDArray[np.uint32]
    table_counts: NDArray[np.float64]
    cell_starts: NDArray[np.uint32]
    cells: NDArray[np.uint8]
    table_sizes: NDArray[np.uint32]
    if_true: NDArray[np.float64]  # what a table multiplies by, the larger of both being 1
    if_false: NDArray[np.float64]
    log_if_true: NDArray[np.float64]
    log_if_false: NDArray[np.float64]


class Messages(NamedTuple):
    """The messages of factors, the beliefs of choices that follow, and room to work."""

    clause: NDArray[np.float64]
    table: NDArray[np.float64]
    beliefs: NDArray[np.float64]  # sums of the finite messages to each option
    bans: NDArray[np.float64]  # how many messages say that an option is impossible: minus infinity
    changes: NDArray[np.float64]  # of each clause, and behind them each table: by how much a message changed
    new_clause: NDArray[np.float64]
    new_table: NDArray[np.float64]
    falsifying: NDArray[np.float64]  # of each edge, in the cavity: a probability, or its logarithm when read
    satisfying: NDArray[np.float64]
    cavities: NDArray[np.float64]  # of each message of a table: a probability, or its logarithm
    before: NDArray[np.float64]
    digits: NDArray[np.uint32]


@inlined
def hear(
    beliefs: NDArray[np.float64], bans: NDArray[np.float64], value: Number, count: float, before: float,
    now: float,
) -> None:  # fmt: skip
    """Replace a message to an option, ``count`` times; infinite ones are counted, not added."""
    if before > -inf and now > -inf:
        beliefs[value] += count * (now - before)
        return
    if before > -inf:
        beliefs[value] -= count * before
    else:
        bans[value] -= count
    if now > -inf:
        beliefs[value] += count * now
    else:
        bans[value] += count


@inlined
def without(
    beliefs: NDArray[np.float64], bans: NDArray[np.float64], value: Number, own: float
) -> float:  # fmt: skip
    """Return the log-belief in an option without one message."""
    if own == -inf:
        return float(beliefs[value]) if bans[value] < 1.5 else -inf
    return float(beliefs[value] - own) if bans[value] < 0.5 else -inf


@borrowing
def add_up(factors: Factors, messages: Messages) -> None:
    """Compute the beliefs from all messages."""
    clause, table = messages.clause, messages.table
    for value in range(len(messages.beliefs)):
        messages.beliefs[value] = messages.bans[value] = 0.0
    for edge in range(len(clause)):
        start, bit = factors.value_starts[factors.clause_choices[edge]], factors.bit_starts[edge]
        options = factors.value_starts[factors.clause_choices[edge] + _1] - start
        for option in range(options):
            if factors.bits[bit + option]:
                hear(messages.beliefs, messages.bans, start + option, factors.counts[edge], 0.0, clause[edge])
    for edge in range(len(factors.table_choices)):
        start, first = factors.value_starts[factors.table_choices[edge]], factors.message_starts[edge]
        for option in range(factors.message_starts[edge + 1] - first):
            hear(
                messages.beliefs,
                messages.bans,
                start + option,
                factors.table_counts[edge],
                0.0,
                table[first + option],
            )


def make_read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array after making it read-only."""
    array.setflags(write=False)
    return array


def room_for_messages(factors: Factors) -> Messages:
    """Return messages that say nothing yet."""
    edges, told = len(factors.clause_choices), int(factors.message_starts[-1])
    widest = int(np.diff(factors.table_starts.astype(np.int64)).max(initial=1))
    options = int(factors.value_starts[-1])
    return Messages(
        np.zeros(edges), np.zeros(told), np.zeros(options), np.zeros(options),
        np.zeros(len(factors.if_falsified) + len(factors.if_true)), np.zeros(edges), np.zeros(told),
        np.zeros(edges), np.zeros(edges), np.zeros(told), np.zeros(widest), np.zeros(widest, np.uint32),
    )  # fmt: skip


def smallest_factors() -> Factors:
    """Return a graph of one atom and a clause, with the types used in earnest."""

    def words(*numbers: int) -> NDArray[np.uint32]:
        return make_read_only(np.array(numbers, np.uint32))

    reals, none = make_read_only(np.zeros(1)), make_read_only(np.zeros(0))
    bits = make_read_only(np.array([0, 1], np.uint8))
    return Factors(
        words(0, 2), words(0, 1), words(0), words(0), bits, reals, reals, reals,
        words(0), words(), words(), words(0), none, words(), bits, words(), none, none, none, none,
    )  # fmt: skip


def warm_up() -> None:
    """Compile every kernel of this file."""
    factors = smallest_factors()
    add_up(factors, room_for_messages(factors))
