"""Counting cyclic conjunctions by conditioning on one variable, so that the rest is a forest.

For each constant of the pivot variable, the constants that the other variables can still take are few: they
are kept as lists with weights, and a message from one variable to the next runs along the true atoms between
them (cutset conditioning; Dechter, "Constraint Processing", section 10.1).

An instruction is (kind, how, edge, from, to): the neighbours of the pivot along an edge, or a message along
an edge from one variable, arrive at another one, where they either begin its list or are met with it; the
last instruction adds up instead of writing a list.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Starts = tuple[NDArray[np.uint32], ...]
    Weights = NDArray[Any]  # int64, or float64 for estimates
    Number = Any  # of the weights' kind, or a place in an array

MOST_EDGES = 8
MOST_VARIABLES = 8
PIVOT = 0  # from the pivot's neighbours
MESSAGE = 1  # from another variable's list
WEIGH = 2  # multiply a variable's list by its weights
BEGIN, MEET, ADD = 0, 1, 2  # what is done on arrival


@compiled
def _begin(
    targets: NDArray[np.uint32],
    first: Number,
    last: Number,
    value: Number,
    to: Number,
    stamp: Number,
    stamps: NDArray[np.uint32],
    values: Weights,
    lists: NDArray[np.uint32],
    lengths: NDArray[np.int64],
) -> None:
    """Bring a value to a stretch of neighbours, which are put into the list where they are new."""
    for place in range(first, last):
        target = targets[place]
        if stamps[to, target] == stamp:
            values[to, target] += value
        else:
            stamps[to, target] = stamp
            values[to, target] = value
            lists[to, lengths[to]] = target
            lengths[to] += 1


@compiled
def _meet(
    targets: NDArray[np.uint32],
    first: Number,
    last: Number,
    value: Number,
    to: Number,
    stamp: Number,
    stamps: NDArray[np.uint32],
    met: Weights,
    met_stamps: NDArray[np.uint32],
) -> None:
    """Bring a value to those of a stretch of neighbours that are in the list already."""
    for place in range(first, last):
        target = targets[place]
        if stamps[to, target] == stamp:
            if met_stamps[target] == stamp:
                met[target] += value
            else:
                met_stamps[target] = stamp
                met[target] = value


@compiled
def _add(
    targets: NDArray[np.uint32],
    first: Number,
    last: Number,
    to: Number,
    stamp: Number,
    stamps: NDArray[np.uint32],
    values: Weights,
) -> Number:
    """Sum the values of those neighbours in a range that are in the list."""
    total = values[0, 0] - values[0, 0]
    for place in range(first, last):
        target = targets[place]
        if stamps[to, target] == stamp:
            total += values[to, target]
    return total


@compiled
def _keep_met(
    to: Number,
    stamp: Number,
    stamps: NDArray[np.uint32],
    values: Weights,
    lists: NDArray[np.uint32],
    lengths: NDArray[np.int64],
    met: Weights,
    met_stamps: NDArray[np.uint32],
) -> None:
    """Multiply a list's values by those just met; items that were not met leave the list."""
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
def count_bindings(
    program: NDArray[np.int64],
    starts: Starts,
    targets: Starts,
    weights: Weights,
    pivot_weights: Weights,
    begin: int,
    end: int,
    width: int,
) -> Number:
    """Return the weighted number of bindings whose pivot is one of the constants from begin to end.

    ``weights`` has a line for each variable, read where the program weighs it.
    """
    stamps = np.zeros((MOST_VARIABLES, width), np.uint32)
    values = np.zeros((MOST_VARIABLES, width), pivot_weights.dtype)
    lists = np.zeros((MOST_VARIABLES, width), np.uint32)
    lengths = np.zeros(MOST_VARIABLES, np.int64)
    met, met_stamps = np.zeros(width, pivot_weights.dtype), np.zeros(width, np.uint32)
    one = np.ones(1, pivot_weights.dtype)
    total = one[0] - one[0]
    for pivot in range(begin, end):
        stamp = np.uint32(pivot + 1)
        for variable in range(MOST_VARIABLES):
            lengths[variable] = 0
        for step in range(len(program)):
            kind, how, edge, source = program[step, 0], program[step, 1], program[step, 2], program[step, 3]
            to = np.uint32(program[step, 4])
            arriving = 1 if kind == PIVOT else lengths[source]
            if kind == WEIGH:
                for place in range(lengths[to]):
                    values[to, lists[to, place]] *= weights[to, lists[to, place]]
                continue
            for place in range(arriving):
                item = np.uint32(pivot) if kind == PIVOT else lists[source, place]
                value = one[0] if kind == PIVOT else values[source, item]
                first, last = starts[edge][item], starts[edge][item + np.uint32(1)]
                if how == ADD:
                    added = _add(targets[edge], first, last, to, stamp, stamps, values)
                    total += pivot_weights[pivot] * value * added
                elif how == BEGIN:
                    _begin(targets[edge], first, last, value, to, stamp, stamps, values, lists, lengths)
                else:
                    _meet(targets[edge], first, last, value, to, stamp, stamps, met, met_stamps)
            if how == MEET:
                _keep_met(to, stamp, stamps, values, lists, lengths, met, met_stamps)
            if how != ADD and lengths[to] == 0:
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
        count_bindings(program, *edges, ones.reshape(1, 1), ones, 0, 1, 1)
