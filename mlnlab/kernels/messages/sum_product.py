"""Messages between choices and their factors: the sum-product rule for clauses and tables.

Kschischang, Frey and Loeliger, Factor graphs and the sum-product algorithm (2001). A clause sends one number
to each of its choices: with w its weight, and P the product over its other choices of the probability that
they falsify it, an option that falsifies the clause is worth (1 - P) + exp(-w) P where one that satisfies it
is worth 1. Both 1 - P and P are sums of positive numbers, so that nothing cancels. A table sends a number for
each option. Messages are logarithms, beliefs are sums of them; the arrays are those of
:mod:`mlnlab.kernels.messages.sum_product_graph`. Where a number is near the ends of what a float can hold, it
is computed once more by logarithms (:mod:`mlnlab.kernels.messages.sum_product_logs`).
"""

from __future__ import annotations

from math import exp, inf, log
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.compiled import borrowing, inlined
from mlnlab.kernels.messages.sum_product_graph import (
    Factors,
    Messages,
    add_up,
    hear,
    room_for_messages,
    smallest_factors,
    without,
)
from mlnlab.kernels.messages.sum_product_logs import (
    messages_place,
    read_clause,
    read_table,
    tell_edge_by_logs,
    tell_table_by_logs,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]

_1 = np.uint32(1)
SMALL, LARGE = 1e-280, 1e280  # beyond, sums of products of floats may have lost what mattered
DECISIVE = 1e6  # the difference between a finite message and an infinite one
ROUNDING = 2e-15  # of a message: less than that of it is no news


@inlined
def difference(new: float, old: float) -> float:
    """Return by how much a message changes."""
    if new == old:
        return 0.0
    if new == -inf or old == -inf:
        return DECISIVE
    change = abs(new - old)
    return change if change > ROUNDING * abs(new) else 0.0


@inlined
def damp_message(told: float, old: float, damping: float) -> float:
    """Return a message that keeps a share of the old one, unless one of them is infinite."""
    if told == -inf or old == -inf:
        return told
    return (1.0 - damping) * told + damping * old


# --- clauses --------------------------------------------------------------------------------------


@inlined
def weigh_clause(factors: Factors, messages: Messages, clause: Number) -> None:
    """Compute how probably each choice falsifies a clause without it, and how probably it satisfies it."""
    value_starts = factors.value_starts
    for edge in range(factors.clause_starts[clause], factors.clause_starts[clause + 1]):
        choice, bit = factors.clause_choices[edge], factors.bit_starts[edge]
        start, options = value_starts[choice], value_starts[choice + _1] - value_starts[choice]
        own, most = messages.clause[edge], -inf
        for option in range(options):
            most = max(
                most,
                without(
                    messages.beliefs,
                    messages.bans,
                    start + option,
                    own if factors.bits[bit + option] else 0.0,
                ),
            )
        falsified = satisfied = 0.0
        for option in range(options):
            falsifies = factors.bits[bit + option] != 0
            worth = exp(
                without(messages.beliefs, messages.bans, start + option, own if falsifies else 0.0) - most
            )
            falsified += worth if falsifies else 0.0
            satisfied += 0.0 if falsifies else worth
        total = falsified + satisfied
        messages.falsifying[edge] = falsified / total
        messages.satisfying[edge] = satisfied / total


@inlined
def tell_clause(factors: Factors, messages: Messages, clause: Number, damping: float) -> float:
    """Compute a clause's new messages; return by how much they change at most."""
    weigh_clause(factors, messages, clause)
    start, end = factors.clause_starts[clause], factors.clause_starts[clause + 1]
    falsifying, satisfying, change = messages.falsifying, messages.satisfying, 0.0
    all_false, some_true = 1.0, 0.0  # the choices in front of the edge
    for edge in range(start, end):
        others, worth = all_false, some_true
        for other in range(edge + _1, end):
            worth += others * satisfying[other]
            others *= falsifying[other]
        worth += others * factors.if_falsified[clause]
        told = log(worth) if SMALL < worth < LARGE else tell_edge_by_logs(factors, messages, clause, edge)
        told = damp_message(told, messages.clause[edge], damping)
        messages.new_clause[edge] = told
        change = max(change, difference(told, messages.clause[edge]))
        some_true += all_false * satisfying[edge]
        all_false *= falsifying[edge]
    return change


@inlined
def take_clause(factors: Factors, messages: Messages, clause: Number) -> None:
    """Let the choices hear a clause's new messages."""
    for edge in range(factors.clause_starts[clause], factors.clause_starts[clause + 1]):
        choice, bit = factors.clause_choices[edge], factors.bit_starts[edge]
        start, options = factors.value_starts[choice], factors.value_starts[choice + _1]
        old, new = messages.clause[edge], messages.new_clause[edge]
        for option in range(options - start):
            if factors.bits[bit + option]:
                hear(messages.beliefs, messages.bans, start + option, factors.counts[edge], old, new)
        messages.clause[edge] = new


# --- tables ---------------------------------------------------------------------------------------


@borrowing
def weigh_table(factors: Factors, messages: Messages, table: Number) -> None:
    """Compute for each choice of a table the distribution that it has without it."""
    for edge in range(factors.table_starts[table], factors.table_starts[table + 1]):
        start, first = factors.value_starts[factors.table_choices[edge]], factors.message_starts[edge]
        options = factors.message_starts[edge + 1] - first
        most, total = -inf, 0.0
        for option in range(options):
            cavity = without(messages.beliefs, messages.bans, start + option, messages.table[first + option])
            messages.cavities[first + option] = cavity
            most = max(most, cavity)
        for option in range(options):
            worth = exp(messages.cavities[first + option] - most)
            messages.cavities[first + option] = worth
            total += worth
        for option in range(options):
            messages.cavities[first + option] /= total


@borrowing
def tell_table(factors: Factors, messages: Messages, table: Number, damping: float) -> float:
    """Compute a table's new messages; return by how much they change at most."""
    weigh_table(factors, messages, table)
    start, end = np.int64(factors.table_starts[table]), np.int64(factors.table_starts[table + 1])
    first, last = factors.message_starts[start], factors.message_starts[end]
    cavities, new, before = messages.cavities, messages.new_table, messages.before
    for told in range(first, last):
        new[told] = 0.0
    for cell in range(factors.table_sizes[table]):
        bit = factors.cells[factors.cell_starts[table] + cell]
        worth = factors.if_true[table] if bit else factors.if_false[table]
        product = worth
        for edge in range(start, end):  # products of the cavities in front of each edge
            before[edge - start] = product
            place = np.int64(messages_place(factors, edge, cell))
            messages.digits[edge - start] = place
            product *= cavities[place]
        product = 1.0
        for edge in range(end - 1, start - 1, -1):
            place = np.int64(messages.digits[edge - start])
            new[place] += before[edge - start] * product
            product *= cavities[place]
    small = False
    for told in range(first, last):
        small = small or new[told] < SMALL
    if small:
        tell_table_by_logs(factors, messages, table)
    change = 0.0
    for edge in range(start, end):
        change = max(change, settle_message(factors, messages, edge, damping, small))
    return change


@borrowing
def settle_message(
    factors: Factors, messages: Messages, edge: Number, damping: float, are_logs: bool
) -> float:  # fmt: skip
    """Turn sums into a message whose greatest number is 0, and damp it; return by how much it changes."""
    first, last = factors.message_starts[edge], factors.message_starts[edge + 1]
    new, most, change = messages.new_table, -inf, 0.0
    for place in range(first, last):
        most = max(most, new[place])
    for place in range(first, last):
        told = 0.0
        if not are_logs:
            told = log(new[place] / most)
        elif most > -inf:
            told = new[place] - most
        new[place] = damp_message(told, messages.table[place], damping)
        change = max(change, difference(new[place], messages.table[place]))
    return change


@borrowing
def take_table(factors: Factors, messages: Messages, table: Number) -> None:
    """Let the choices hear a table's new messages."""
    for edge in range(factors.table_starts[table], factors.table_starts[table + 1]):
        start, first = factors.value_starts[factors.table_choices[edge]], factors.message_starts[edge]
        for option in range(factors.message_starts[edge + 1] - first):
            old, new = messages.table[first + option], messages.new_table[first + option]
            hear(messages.beliefs, messages.bans, start + option, factors.table_counts[edge], old, new)
            messages.table[first + option] = new


# --- sweeps ---------------------------------------------------------------------------------------


@inlined
def take(factors: Factors, messages: Messages, factor: Number) -> None:
    """Let the choices hear a factor's new messages."""
    if factor < len(factors.if_falsified):
        take_clause(factors, messages, factor)
    else:
        take_table(factors, messages, factor - len(factors.if_falsified))


@borrowing
def sweep_factors(factors: Factors, messages: Messages, damping: float, at_once: bool) -> float:
    """Let each factor speak once, all at once or in turn; return the largest change of a message."""
    clauses, tables = len(factors.if_falsified), len(factors.if_true)
    add_up(factors, messages)
    largest = 0.0
    for factor in range(clauses + tables):
        if factor < clauses:
            change = tell_clause(factors, messages, factor, damping)
        else:
            change = tell_table(factors, messages, factor - clauses, damping)
        messages.changes[factor] = change
        largest = max(largest, change)
        if not at_once:
            take(factors, messages, factor)
    if at_once:
        for factor in range(clauses + tables):
            take(factors, messages, factor)
    return largest


@borrowing
def read_factors(
    factors: Factors, messages: Messages, truths: NDArray[np.float64], log_sums: NDArray[np.float64]
) -> None:
    """Compute the probability that each clause or table holds, and the logarithm of its part of Z.

    The cavities are left as logarithms.
    """
    clauses = len(factors.if_falsified)
    for clause in range(clauses):
        truths[clause], log_sums[clause] = read_clause(factors, messages, clause)
    for table in range(len(factors.if_true)):
        truths[clauses + table], log_sums[clauses + table] = read_table(factors, messages, table)


def warm_up() -> None:
    """Compile every kernel of this file."""
    factors = smallest_factors()
    messages = room_for_messages(factors)
    sweep_factors(factors, messages, 0.5, at_once=False)
    read_factors(factors, messages, np.zeros(1), np.zeros(1))
