"""Pass derivatives down arithmetic circuits, and walk from the root along chosen or drawn children.

Eq. (1) of the downward pass, for node n with parents m: df/dn = sum over sums m of df/dm
+ sum over products m of df/dm * (product of the other children of m); Darwiche (2003), section 4.
Nothing is divided, so that values of 0 do no harm.
"""

from __future__ import annotations

from math import exp, inf, log1p
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.circuits.upward_passes import SUM, Program, smallest_program
from mlnlab.kernels.compiled import compiled
from mlnlab.kernels.random_numbers import next_uniform, streams

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]
    Reals = NDArray[np.float64]


@compiled
def lower_derivatives(program: Program, values: Reals, derivatives: Reals, room: Reals) -> None:
    """Compute the derivative of the root by each node; ``room`` is for one product's children."""
    children = program.children
    for node in range(len(derivatives)):
        derivatives[node] = 0.0
    derivatives[program.root[0]] = 1.0
    for run in range(len(program.run_kinds) - 1, -1, -1):
        edge, arity = np.int64(program.run_edges[run]), np.int64(program.run_arities[run])
        adding = program.run_kinds[run] == SUM
        for node in range(np.int64(program.run_starts[run]), np.int64(program.run_starts[run + 1])):
            above = derivatives[node]
            if adding:
                for place in range(edge, edge + arity):
                    derivatives[children[place]] += above
            elif arity == 2:
                derivatives[children[edge]] += above * values[children[edge + 1]]
                derivatives[children[edge + 1]] += above * values[children[edge]]
            else:
                before = above
                for place in range(arity):
                    room[place] = before
                    before *= values[children[edge + place]]
                after = 1.0
                for place in range(arity - 1, -1, -1):
                    derivatives[children[edge + place]] += room[place] * after
                    after *= values[children[edge + place]]
            edge += arity


@compiled
def add_logs(left: float, right: float) -> float:
    """Return the logarithm of a sum, given the logarithms."""
    low, high = min(left, right), max(left, right)
    return high if low == -inf else high + log1p(exp(low - high))


@compiled
def lower_logs(program: Program, logs: Reals, derivatives: Reals, room: Reals) -> None:
    """Compute the logarithm of the derivative of the root by each node, from the logarithms of values."""
    children = program.children
    for node in range(len(derivatives)):
        derivatives[node] = -inf
    derivatives[program.root[0]] = 0.0
    for run in range(len(program.run_kinds) - 1, -1, -1):
        edge, arity = np.int64(program.run_edges[run]), np.int64(program.run_arities[run])
        adding = program.run_kinds[run] == SUM
        for node in range(np.int64(program.run_starts[run]), np.int64(program.run_starts[run + 1])):
            above = derivatives[node]
            if adding:
                for place in range(edge, edge + arity):
                    derivatives[children[place]] = add_logs(derivatives[children[place]], above)
            else:
                before = above
                for place in range(arity):
                    room[place] = before
                    before += logs[children[edge + place]]
                after = 0.0
                for place in range(arity - 1, -1, -1):
                    child = children[edge + place]
                    derivatives[child] = add_logs(derivatives[child], room[place] + after)
                    after += logs[child]
            edge += arity


@compiled
def find_run(program: Program, node: Number) -> int:
    """Return the run that holds a sum or product."""
    low, high = 0, len(program.run_kinds)
    while high - low > 1:
        middle = (low + high) // 2
        if node < np.int64(program.run_starts[middle]):
            high = middle
        else:
            low = middle
    return low


@compiled
def draw_rows(
    program: Program,
    logs: Reals,
    random: NDArray[np.uint64],
    rows: NDArray[np.int32],
    seen: NDArray[np.uint32],
    stack: NDArray[np.uint32],
) -> None:
    """Draw rows from the root down: of a sum one child, in proportion to its value, of a product all.

    ``seen`` begins with zeros: no node is met twice on a row, so that ``stack`` needs a place for each edge.
    """
    children, leaves = program.children, np.int64(program.run_starts[0])
    for number in range(len(rows)):
        stack[0], height = program.root[0], 1
        while height:
            height -= 1
            node = np.int64(stack[height])
            if seen[node] == number + 1:
                continue
            seen[node] = number + 1
            if node < len(program.indicator_values):
                rows[number, program.indicator_variables[node]] = program.indicator_values[node]
            if node < leaves:
                continue
            run = find_run(program, node)
            arity = np.int64(program.run_arities[run])
            edge = np.int64(program.run_edges[run]) + (node - np.int64(program.run_starts[run])) * arity
            if program.run_kinds[run] == SUM:
                left, picked = next_uniform(random), np.int64(0)
                for place in range(arity):
                    share = exp(logs[children[edge + place]] - logs[node])
                    if share > 0.0:
                        picked = np.int64(place)
                        left -= share
                        if left < 0.0:
                            break
                stack[height] = children[edge + picked]
                height += 1
            else:
                for place in range(edge, edge + arity):
                    stack[height] = children[place]
                    height += 1


@compiled
def trace_maximum(
    program: Program,
    logs: Reals,
    row: NDArray[np.int32],
    marked: NDArray[np.uint8],
    stack: NDArray[np.uint32],
) -> None:
    """Follow the largest child of each sum, the first of equals, and all children of each product."""
    children, leaves = program.children, np.int64(program.run_starts[0])
    stack[0], height = program.root[0], 1
    while height:
        height -= 1
        node = np.int64(stack[height])
        if marked[node]:
            continue
        marked[node] = 1
        if node < len(program.indicator_values):
            row[program.indicator_variables[node]] = program.indicator_values[node]
        if node < leaves:
            continue
        run = find_run(program, node)
        arity = np.int64(program.run_arities[run])
        edge = np.int64(program.run_edges[run]) + (node - np.int64(program.run_starts[run])) * arity
        if program.run_kinds[run] == SUM:
            best = np.int64(0)
            for place in range(1, arity):
                if logs[children[edge + place]] > logs[children[edge + best]]:
                    best = np.int64(place)
            stack[height] = children[edge + best]
            height += 1
        else:
            for place in range(edge, edge + arity):
                stack[height] = children[place]
                height += 1


def warm_up() -> None:
    """Compile every kernel of this file."""
    program, values = smallest_program()
    room, row = np.zeros(len(values)), np.zeros((1, 1), np.int32)
    lower_derivatives(program, values, np.zeros(len(values)), room)
    lower_logs(program, values, np.zeros(len(values)), room)
    stack = np.zeros(len(values), np.uint32)
    draw_rows(program, np.zeros(len(values)), streams(0, 1)[0], row, stack.copy(), stack)
    trace_maximum(program, values, row[0], np.zeros(len(values), np.uint8), stack)
