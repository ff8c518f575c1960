"""Evaluate arithmetic circuits upward: values, their logarithms, largest products, and many rows at once.

A circuit's nodes are sorted into runs of one level, one operation and one number of children, so that a run
is a loop without branches:

    node          indicators | parameters | run 0 | run 1 | ...
    run r         nodes run_starts[r] : run_starts[r + 1], each with run_arities[r] children
                  the first node's children begin at children[run_edges[r]], the others' follow
    indicator i   is 1 where its variable has its value or is not observed: row[variable] < 0
    block         values[node * LANES + lane], a lane for each row

Lowd's thesis, section 5.4; Darwiche, A differential approach to inference in Bayesian networks (2003).
"""

from __future__ import annotations

from math import exp, inf, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

SUM = 2  # as in ``arithmetic_circuit.py``; any other operation is a product
_ONE, _TWO = np.uint64(1), np.uint64(2)
LANES = 8  # rows that are evaluated at once


class Program(NamedTuple):
    """A circuit in the order of its evaluation; read-only."""

    run_kinds: NDArray[np.uint8]
    run_arities: NDArray[np.uint32]
    run_starts: NDArray[np.uint32]
    run_edges: NDArray[np.uint32]
    children: NDArray[np.uint32]
    indicator_variables: NDArray[np.uint32]
    indicator_values: NDArray[np.int32]
    root: NDArray[np.uint32]  # one number


@compiled
def find_levels(first_child: NDArray[np.uint32], children: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return how far above the leaves each node is; children come before their parents."""
    levels = np.zeros(len(first_child) - 1, np.uint32)
    for node in range(len(levels)):
        for edge in range(np.int64(first_child[node]), np.int64(first_child[node + 1])):
            levels[node] = max(levels[node], levels[children[edge]] + np.uint32(1))
    return levels


@compiled
def observe_row(program: Program, row: NDArray[np.int32], values: Reals, no: float, yes: float) -> None:
    """Set the indicators to a row of values, of which negative ones are missing."""
    for node in range(len(program.indicator_values)):
        seen = row[program.indicator_variables[node]]
        values[node] = yes if seen < 0 or seen == program.indicator_values[node] else no


@compiled
def raise_values(program: Program, values: Reals) -> None:
    """Compute the value of each sum and product from the leaves up.

    Unsigned numbers spare the look whether an index counts from the end: a tenth of the time.
    """
    children = program.children
    for run in range(len(program.run_kinds)):
        first, end = np.uint64(program.run_starts[run]), np.uint64(program.run_starts[run + 1])
        edge, arity = np.uint64(program.run_edges[run]), np.uint64(program.run_arities[run])
        adding = program.run_kinds[run] == SUM
        if adding and arity == _TWO:
            for node in range(first, end):
                values[node] = values[children[edge]] + values[children[edge + _ONE]]
                edge += _TWO
        elif arity == _TWO:
            for node in range(first, end):
                values[node] = values[children[edge]] * values[children[edge + _ONE]]
                edge += _TWO
        elif adding:
            for node in range(first, end):
                total = 0.0
                for place in range(edge, edge + arity):
                    total += values[children[place]]
                values[node] = total
                edge += arity
        else:
            for node in range(first, end):
                total = 1.0
                for place in range(edge, edge + arity):
                    total *= values[children[place]]
                values[node] = total
                edge += arity


@compiled
def evaluate_row(program: Program, row: NDArray[np.int32], values: Reals) -> float:
    """Return the probability of a row, the parameters being in their places already."""
    observe_row(program, row, values, 0.0, 1.0)
    raise_values(program, values)
    return float(values[program.root[0]])


@compiled
def raise_block(program: Program, values: Reals) -> None:
    """Compute the values of all sums and products for each lane; up to three children are one expression."""
    children = program.children
    for run in range(len(program.run_kinds)):
        edge, arity = np.int64(program.run_edges[run]), np.int64(program.run_arities[run])
        adding = program.run_kinds[run] == SUM
        for node in range(np.int64(program.run_starts[run]), np.int64(program.run_starts[run + 1])):
            out, one = node * LANES, np.int64(children[edge]) * LANES
            two = np.int64(children[edge + (arity > 1)]) * LANES
            three = np.int64(children[edge + (2 if arity > 2 else 0)]) * LANES
            if arity == 1:
                for lane in range(LANES):
                    values[out + lane] = values[one + lane]
            elif arity == 2 and adding:
                for lane in range(LANES):
                    values[out + lane] = values[one + lane] + values[two + lane]
            elif arity == 2:
                for lane in range(LANES):
                    values[out + lane] = values[one + lane] * values[two + lane]
            elif adding:
                for lane in range(LANES):
                    values[out + lane] = values[one + lane] + values[two + lane] + values[three + lane]
            else:
                for lane in range(LANES):
                    values[out + lane] = values[one + lane] * values[two + lane] * values[three + lane]
            for place in range(edge + 3, edge + arity):
                more = np.int64(children[place]) * LANES
                if adding:
                    for lane in range(LANES):
                        values[out + lane] += values[more + lane]
                else:
                    for lane in range(LANES):
                        values[out + lane] *= values[more + lane]
            edge += arity


@compiled
def evaluate_rows(program: Program, rows: NDArray[np.int32], values: Reals, found: Reals) -> None:
    """Compute the probability of each row, a block at a time."""
    root = np.int64(program.root[0]) * LANES
    for base in range(0, len(rows), LANES):
        observe_block(program, rows, base, values)
        raise_block(program, values)
        for lane in range(min(LANES, len(rows) - base)):
            found[base + lane] = values[root + lane]


@compiled
def observe_block(program: Program, rows: NDArray[np.int32], base: int, values: Reals) -> None:
    """Set the indicators to the rows of a block; lanes beyond the last row repeat it."""
    last = len(rows) - 1
    for node in range(len(program.indicator_values)):
        variable, value = program.indicator_variables[node], program.indicator_values[node]
        for lane in range(LANES):
            seen = rows[min(base + lane, last), variable]
            values[node * LANES + lane] = 1.0 if seen < 0 or seen == value else 0.0


@compiled
def raise_logs(program: Program, logs: Reals) -> None:
    """Compute the logarithm of each node's value; minus infinity is the logarithm of 0."""
    children = program.children
    for run in range(len(program.run_kinds)):
        edge, arity = np.int64(program.run_edges[run]), np.int64(program.run_arities[run])
        adding = program.run_kinds[run] == SUM
        for node in range(np.int64(program.run_starts[run]), np.int64(program.run_starts[run + 1])):
            total, most = 0.0, -inf
            if adding:
                for place in range(edge, edge + arity):
                    most = max(most, logs[children[place]])
                if most > -inf:
                    for place in range(edge, edge + arity):
                        total += exp(logs[children[place]] - most)
                    total = most + log(total)
                else:
                    total = -inf
            else:
                for place in range(edge, edge + arity):
                    total += logs[children[place]]
            logs[node] = total
            edge += arity


@compiled
def raise_maxima(program: Program, logs: Reals) -> None:
    """Compute the logarithm of each node's largest term: sums become maxima."""
    children = program.children
    for run in range(len(program.run_kinds)):
        edge, arity = np.int64(program.run_edges[run]), np.int64(program.run_arities[run])
        adding = program.run_kinds[run] == SUM
        for node in range(np.int64(program.run_starts[run]), np.int64(program.run_starts[run + 1])):
            total = -inf if adding else 0.0
            for place in range(edge, edge + arity):
                if adding:
                    total = max(total, logs[children[place]])
                else:
                    total += logs[children[place]]
            logs[node] = total
            edge += arity


def smallest_program() -> tuple[Program, Reals]:
    """Return the circuit of one fair coin, with room for its values."""
    lists = [[2, 2], [4, 6, 7], [0, 4], [0, 2, 1, 3, 4, 5], [0, 0], [6]]
    arities, starts, edges, children, variables, root = (np.array(one, np.uint32) for one in lists)
    kinds, values = np.array([3, 2], np.uint8), np.array([0, 1], np.int32)
    program = Program(kinds, arities, starts, edges, children, variables, values, root)
    for array in program:
        array.flags.writeable = False
    return program, np.array([1, 1, 0.5, 0.5, 0, 0, 0])


def warm_up() -> None:
    """Compile every kernel of this file."""
    program, values = smallest_program()
    find_levels(np.zeros(2, np.uint32), np.zeros(0, np.uint32))
    row = np.full(1, -1, np.int32)
    evaluate_row(program, row, values)
    evaluate_rows(program, row.reshape(1, 1), np.ones(len(values) * LANES), np.zeros(1))
    raise_logs(program, np.zeros(len(values)))
    raise_maxima(program, np.zeros(len(values)))
