"""Counting cyclic conjunctions by conditioning on one variable, so that the rest is a forest.

For each constant of the pivot variable, the constants that the other variables can still take are few: they
are kept as lists with weights, and a message from one variable to the next runs along the true atoms between
them (cutset conditioning; Dechter, "Constraint Processing", section 10.1).

An instruction is (kind, how, edge, from, to): the neighbours of the pivot along an edge, or a message along
an edge from one variable, arrive at another one, where they either begin its list or are met with it; the
last instruction adds up instead of writing a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    Starts = tuple[NDArray[np.uint32], ...]
    Weights = NDArray[Any]  # int64, or float64 for estimates
    Number = Any  # of the weights' kind

MOST_EDGES = 8
MOST_VARIABLES = 8
PIVOT = 0  # from the pivot's neighbours
MESSAGE = 1  # from another variable's list
WEIGH = 2  # multiply a variable's list by its weights
BEGIN, MEET, ADD = 0, 1, 2  # what is done on arrival


@compiled
def _arrive(
    targets: NDArray[np.uint32],
    first: Number,
    last: Number,
    value: Number,
    how: int,
    to: int,
    stamp: int,
    stamps: NDArray[np.int64],
    values: Weights,
    lists: NDArray[np.uint32],
    lengths: NDArray[np.int64],
    met: Weights,
    met_stamps: NDArray[np.int64],
) -> Number:
    """Bring a value to a stretch of neighbours; return what it adds to the sum, if this is the last step."""
    total = value - value
    for place in range(first, last):
        target = targets[place]
        if how == BEGIN:
            if stamps[to, target] != stamp:
                stamps[to, target] = stamp
                values[to, target] = value
                lists[to, lengths[to]] = target
                lengths[to] += 1
            else:
                values[to, target] += value
        elif stamps[to, target] == stamp:
            if how == ADD:
                total += value * values[to, target]
            elif met_stamps[target] == stamp:
                met[target] += value
            else:
                met_stamps[target] = stamp
                met[target] = value
    return total


@compiled
def _keep_met(
    to: int,
    stamp: int,
    stamps: NDArray[np.int64],
    values: Weights,
    lists: NDArray[np.uint32],
    lengths: NDArray[np.int64],
    met: Weights,
    met_stamps: NDArray[np.int64],
) -> None:
    """Multiply a list by what has just met it; what was not met leaves the list."""
    kept = 0
    for place in range(lengths[to]):
        item = lists[to, place]
        if met_stamps[item] == stamp:
            values[to, item] *= met[item]
            met_stamps[item] = 0
            lists[to, kept] = item
            kept += 1
        else:
            stamps[to, item] = 0
    lengths[to] = kept


@compiled
def conditioned(
    program: NDArray[np.int64],
    starts: Starts,
    targets: Starts,
    weights: tuple[Weights, ...],
    pivot_weights: Weights,
    begin: int,
    end: int,
    width: int,
) -> Number:
    """Return the weighted number of bindings whose pivot is one of the constants from begin to end."""
    stamps = np.zeros((MOST_VARIABLES, width), np.int64)
    values = np.zeros((MOST_VARIABLES, width), pivot_weights.dtype)
    lists = np.zeros((MOST_VARIABLES, width), np.uint32)
    lengths = np.zeros(MOST_VARIABLES, np.int64)
    met, met_stamps = np.zeros(width, pivot_weights.dtype), np.zeros(width, np.int64)
    one = np.ones(1, pivot_weights.dtype)[0]
    total = one - one
    for pivot in range(begin, end):
        stamp = pivot + 1
        for variable in range(MOST_VARIABLES):
            lengths[variable] = 0
        for step in range(len(program)):
            kind, how, edge, source, to = program[step]
            added = one - one
            if kind == WEIGH:
                for place in range(lengths[to]):
                    values[to, lists[to, place]] *= weights[to][lists[to, place]]
            elif kind == PIVOT:
                first, last = np.int64(starts[edge][pivot]), np.int64(starts[edge][pivot + 1])
                added = _arrive(targets[edge], first, last, one, how, to, stamp,
                                stamps, values, lists, lengths, met, met_stamps)  # fmt: skip
            else:
                for place in range(lengths[source]):
                    item = np.int64(lists[source, place])
                    first, last = np.int64(starts[edge][item]), np.int64(starts[edge][item + 1])
                    added += _arrive(targets[edge], first, last, values[source, item], how, to, stamp,
                                     stamps, values, lists, lengths, met, met_stamps)  # fmt: skip
            if how == MEET and kind != WEIGH:
                _keep_met(to, stamp, stamps, values, lists, lengths, met, met_stamps)
            if how == ADD:
                total += pivot_weights[pivot] * added
            elif lengths[to] == 0:
                break
    return total


def warm_up() -> None:
    """Compile every kernel of this file."""
    starts, targets = np.array([0, 1], np.uint32), np.zeros(1, np.uint32)
    starts.flags.writeable = targets.flags.writeable = False
    program = np.array([[PIVOT, BEGIN, 0, 0, 0], [PIVOT, ADD, 0, 0, 0]], np.int64)
    for kind in (np.int64, np.float64):
        ones = np.ones(1, kind)
        edges = (starts,) * MOST_EDGES, (targets,) * MOST_EDGES
        conditioned(program, *edges, (ones,) * MOST_VARIABLES, ones, 0, 1, 1)
