"""Messages between choices and their factors: the sum-product rule for clauses and tables.

Kschischang, Frey and Loeliger, Factor graphs and the sum-product algorithm (2001). A clause sends one number
to each of its choices: with w its weight, and P the product over its other choices of the probability that
they falsify it, an option that falsifies the clause is worth 1 + (exp(-w) - 1) P as much as one that
satisfies it. A table sends a number for each option. Messages are logarithms, beliefs are sums of them; the
arrays are those of :mod:`mlnlab.kernels.belief_propagation_graph`.
"""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.kernels.belief_propagation_graph import (
    Factors,
    Messages,
    add_up,
    room_for_messages,
    smallest_factors,
)
from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Number = int | np.integer[Any]

_1 = np.uint32(1)
LEAST = 1e-250  # of a message: less would become an infinite logarithm


# --- clauses --------------------------------------------------------------------------------------


@compiled
def weigh_clause(factors: Factors, messages: Messages, clause: Number) -> float:
    """Compute how probably each choice falsifies a clause without it; return the product."""
    beliefs, value_starts, product = messages.beliefs, factors.value_starts, 1.0
    for edge in range(factors.clause_starts[clause], factors.clause_starts[clause + 1]):
        choice, bit = factors.clause_choices[edge], factors.bit_starts[edge]
        start, options = value_starts[choice], value_starts[choice + _1] - value_starts[choice]
        own, most = messages.clause[edge], -1e300
        for option in range(options):
            said = own if factors.bits[bit + option] else 0.0
            most = max(most, beliefs[start + option] - said)
        total = falsified = 0.0
        for option in range(options):
            falsifies = factors.bits[bit + option] != 0
            worth = exp(beliefs[start + option] - (own if falsifies else 0.0) - most)
            total += worth
            falsified += worth if falsifies else 0.0
        messages.falsifying[edge] = falsified / total
        product *= falsified / total
    return product


@compiled
def tell_clause(factors: Factors, messages: Messages, clause: Number, damping: float) -> float:
    """Compute a clause's new messages; return by how much they change at most."""
    weigh_clause(factors, messages, clause)
    start, end = factors.clause_starts[clause], factors.clause_starts[clause + 1]
    falsifying, before, change = messages.falsifying, 1.0, 0.0
    for edge in range(start, end):
        others = before
        for other in range(edge + 1, end):
            others *= falsifying[other]
        worth = max(1.0 + factors.shrinking[clause] * others, LEAST)
        told = (1.0 - damping) * log(worth) + damping * messages.clause[edge]
        messages.new_clause[edge] = told
        change = max(change, abs(told - messages.clause[edge]))
        before *= falsifying[edge]
    return change


@compiled
def take_clause(factors: Factors, messages: Messages, clause: Number) -> None:
    """Let the choices hear a clause's new messages."""
    for edge in range(factors.clause_starts[clause], factors.clause_starts[clause + 1]):
        choice, bit = factors.clause_choices[edge], factors.bit_starts[edge]
        start, options = factors.value_starts[choice], factors.value_starts[choice + _1]
        change = factors.counts[edge] * (messages.new_clause[edge] - messages.clause[edge])
        for option in range(options - start):
            if factors.bits[bit + option]:
                messages.beliefs[start + option] += change
        messages.clause[edge] = messages.new_clause[edge]


# --- tables ---------------------------------------------------------------------------------------


@compiled
def weigh_table(factors: Factors, messages: Messages, table: Number) -> None:
    """Compute for each choice of a table the distribution that it has without it."""
    for edge in range(factors.table_starts[table], factors.table_starts[table + 1]):
        start, first = factors.value_starts[factors.table_choices[edge]], factors.message_starts[edge]
        options = factors.message_starts[edge + 1] - first
        most, total = -1e300, 0.0
        for option in range(options):
            cavity = messages.beliefs[start + option] - messages.table[first + option]
            messages.cavities[first + option] = cavity
            most = max(most, cavity)
        for option in range(options):
            worth = exp(messages.cavities[first + option] - most)
            messages.cavities[first + option] = worth
            total += worth
        for option in range(options):
            messages.cavities[first + option] /= total


@compiled
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
    change = 0.0
    for edge in range(start, end):
        change = max(change, settle_message(factors, messages, edge, damping))
    return change


@compiled
def messages_place(factors: Factors, edge: Number, cell: Number) -> Number:
    """Return where the message stands that an edge has for the option that a cell selects."""
    first = np.int64(factors.message_starts[edge])
    options = np.int64(factors.message_starts[edge + 1]) - first
    return first + np.int64(cell) // np.int64(factors.strides[edge]) % options


@compiled
def settle_message(factors: Factors, messages: Messages, edge: Number, damping: float) -> float:
    """Turn sums into a message whose greatest number is 0, and damp it; return by how much it changes."""
    first, last = factors.message_starts[edge], factors.message_starts[edge + 1]
    new, most, change = messages.new_table, 0.0, 0.0
    for place in range(first, last):
        most = max(most, new[place])
    for place in range(first, last):
        told = log(max(new[place] / most if most > 0.0 else 1.0, LEAST))
        new[place] = (1.0 - damping) * told + damping * messages.table[place]
        change = max(change, abs(new[place] - messages.table[place]))
    return change


@compiled
def take_table(factors: Factors, messages: Messages, table: Number) -> None:
    """Let the choices hear a table's new messages."""
    for edge in range(factors.table_starts[table], factors.table_starts[table + 1]):
        start, first = factors.value_starts[factors.table_choices[edge]], factors.message_starts[edge]
        for option in range(factors.message_starts[edge + 1] - first):
            change = messages.new_table[first + option] - messages.table[first + option]
            messages.beliefs[start + option] += factors.table_counts[edge] * change
            messages.table[first + option] = messages.new_table[first + option]


# --- sweeps ---------------------------------------------------------------------------------------


@compiled
def sweep_factors(factors: Factors, messages: Messages, damping: float, at_once: bool) -> float:
    """Let each factor speak once, all at once or in turn; return the largest change of a message."""
    clauses, tables = len(factors.shrinking), len(factors.if_true)
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


@compiled
def take(factors: Factors, messages: Messages, factor: Number) -> None:
    """Let the choices hear a factor's new messages."""
    if factor < len(factors.shrinking):
        take_clause(factors, messages, factor)
    else:
        take_table(factors, messages, factor - len(factors.shrinking))


@compiled
def read_factors(
    factors: Factors, messages: Messages, truths: NDArray[np.float64], log_sums: NDArray[np.float64]
) -> None:
    """Compute the probability that each clause or table holds, and the logarithm of its part of Z."""
    clauses = len(factors.shrinking)
    for clause in range(clauses):
        product = weigh_clause(factors, messages, clause)
        total = 1.0 + factors.shrinking[clause] * product
        truths[clause] = (1.0 - product) / total if total > 0.0 else 1.0
        log_sums[clause] = log(max(total, LEAST))
    for table in range(len(factors.if_true)):
        weigh_table(factors, messages, table)
        true = false = 0.0
        for cell in range(factors.table_sizes[table]):
            product = 1.0
            for edge in range(factors.table_starts[table], factors.table_starts[table + 1]):
                product *= messages.cavities[messages_place(factors, edge, cell)]
            if factors.cells[factors.cell_starts[table] + cell]:
                true += product * factors.if_true[table]
            else:
                false += product * factors.if_false[table]
        truths[clauses + table] = true / (true + false) if true + false > 0.0 else 1.0
        log_sums[clauses + table] = log(max(true + false, LEAST))


def warm_up() -> None:
    """Compile every kernel of this file."""
    factors = smallest_factors()
    messages = room_for_messages(factors)
    sweep_factors(factors, messages, 0.5, at_once=False)
    read_factors(factors, messages, np.zeros(1), np.zeros(1))
