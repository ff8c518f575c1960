"""Messages of clauses and tables by logarithms alone: slower, and right however small or large a number is.

What :mod:`mlnlab.kernels.messages.sum_product` computes by products and sums, here by sums and
log(exp(a) + exp(b)); minus infinity is the logarithm of what is impossible.
"""

from __future__ import annotations

from math import exp, inf, log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.compiled import borrowing
from mlnlab.kernels.messages.sum_product_graph import (
    Factors,
    Messages,
    room_for_messages,
    smallest_factors,
    without,
)

if TYPE_CHECKING:
    Number = int | np.integer[Any]

_1 = np.uint32(1)


@borrowing
def log_add(one: float, other: float) -> float:
    """Return log(exp(one) + exp(other))."""
    if one < other:
        one, other = other, one
    return one if other == -inf else one + log1p(exp(other - one))


@borrowing
def weigh_edge_by_logs(factors: Factors, messages: Messages, edge: Number) -> None:
    """Compute the logarithms of how probably a choice falsifies and satisfies its clause without it."""
    choice, bit = factors.clause_choices[edge], factors.bit_starts[edge]
    start, own = factors.value_starts[choice], messages.clause[edge]
    falsified = satisfied = -inf
    for option in range(factors.value_starts[choice + _1] - start):
        if factors.bits[bit + option]:
            falsified = log_add(falsified, without(messages.beliefs, messages.bans, start + option, own))
        else:
            satisfied = log_add(satisfied, without(messages.beliefs, messages.bans, start + option, 0.0))
    total = log_add(falsified, satisfied)
    messages.falsifying[edge] = falsified - total if falsified > -inf else -inf
    messages.satisfying[edge] = satisfied - total if satisfied > -inf else -inf


@borrowing
def tell_edge_by_logs(factors: Factors, messages: Messages, clause: Number, told: Number) -> float:
    """Return a clause's message to one of its choices; the cavities are left as they were."""
    all_false, some_true = 0.0, -inf
    for edge in range(factors.clause_starts[clause], factors.clause_starts[clause + 1]):
        if edge == told:
            continue
        false, true = messages.falsifying[edge], messages.satisfying[edge]
        weigh_edge_by_logs(factors, messages, edge)
        some_true = log_add(some_true, all_false + messages.satisfying[edge])
        all_false += messages.falsifying[edge]
        messages.falsifying[edge], messages.satisfying[edge] = false, true
    return log_add(some_true, all_false + factors.log_if_falsified[clause])


@borrowing
def read_clause(factors: Factors, messages: Messages, clause: Number) -> tuple[float, float]:
    """Return the probability that a clause holds, and the logarithm of its part of Z."""
    all_false, some_true = 0.0, -inf
    for edge in range(factors.clause_starts[clause], factors.clause_starts[clause + 1]):
        weigh_edge_by_logs(factors, messages, edge)
        some_true = log_add(some_true, all_false + messages.satisfying[edge])
        all_false += messages.falsifying[edge]
    total = log_add(some_true, all_false + factors.log_if_falsified[clause])
    return (exp(some_true - total) if total > -inf else 1.0), total


@borrowing
def messages_place(factors: Factors, edge: Number, cell: Number) -> Number:
    """Return where the message stands that an edge has for the option that a cell selects."""
    first = np.int64(factors.message_starts[edge])
    options = np.int64(factors.message_starts[edge + 1]) - first
    return first + np.int64(cell) // np.int64(factors.strides[edge]) % options


@borrowing
def weigh_table_by_logs(factors: Factors, messages: Messages, table: Number) -> None:
    """Compute for each choice of a table the logarithms of the distribution that it has without it."""
    for edge in range(factors.table_starts[table], factors.table_starts[table + 1]):
        start, first = factors.value_starts[factors.table_choices[edge]], factors.message_starts[edge]
        options, total = factors.message_starts[edge + 1] - first, -inf
        for option in range(options):
            cavity = without(messages.beliefs, messages.bans, start + option, messages.table[first + option])
            messages.cavities[first + option] = cavity
            total = log_add(total, cavity)
        for option in range(options):
            if messages.cavities[first + option] > -inf:
                messages.cavities[first + option] -= total


@borrowing
def tell_table_by_logs(factors: Factors, messages: Messages, table: Number) -> None:
    """Compute a table's new messages to the options of its choices, as logarithms."""
    weigh_table_by_logs(factors, messages, table)
    start, end = np.int64(factors.table_starts[table]), np.int64(factors.table_starts[table + 1])
    for told in range(factors.message_starts[start], factors.message_starts[end]):
        messages.new_table[told] = -inf
    for cell in range(factors.table_sizes[table]):
        bit = factors.cells[factors.cell_starts[table] + cell]
        for told in range(start, end):
            worth = factors.log_if_true[table] if bit else factors.log_if_false[table]
            for edge in range(start, end):
                if edge != told:
                    worth += messages.cavities[messages_place(factors, edge, cell)]
            place = messages_place(factors, told, cell)
            messages.new_table[place] = log_add(messages.new_table[place], worth)


@borrowing
def read_table(factors: Factors, messages: Messages, table: Number) -> tuple[float, float]:
    """Return the probability that a table holds, and the logarithm of its part of Z."""
    weigh_table_by_logs(factors, messages, table)
    true = false = -inf
    for cell in range(factors.table_sizes[table]):
        bit = factors.cells[factors.cell_starts[table] + cell]
        worth = factors.log_if_true[table] if bit else factors.log_if_false[table]
        for edge in range(factors.table_starts[table], factors.table_starts[table + 1]):
            worth += messages.cavities[messages_place(factors, edge, cell)]
        if bit:
            true = log_add(true, worth)
        else:
            false = log_add(false, worth)
    total = log_add(true, false)
    return (exp(true - total) if total > -inf else 1.0), total


def warm_up() -> None:
    """Compile the functions of this file that other kernels call."""
    factors = smallest_factors()
    read_clause(factors, room_for_messages(factors), 0)
