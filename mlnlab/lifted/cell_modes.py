"""A large term of a sum over numbers of elements in cells, by climbing: then bounds drop boxes early."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.lifted.cell_problems import Problem

    Values = NDArray[np.float64]

MOST_MOVES = 300


def large_term(problem: Problem) -> float:
    """Return the logarithm of the largest term that climbing from the corners and the middle meets."""
    moves = _moves(problem)
    best = -np.inf
    for start in _starts(problem):
        point, value = start, _values(problem, start[None])[0]
        for _ in range(MOST_MOVES):
            if not len(moves):
                break
            values = _values(problem, point + moves)
            step = int(values.argmax())
            if values[step] <= value:
                break
            point, value = point + moves[step], values[step]
        best = max(best, float(value))
    return best


def _values(problem: Problem, points: Values) -> Values:
    possible = (points >= 0).all(axis=1)
    values = np.full(len(points), -np.inf)
    if possible.any():
        values[possible] = problem.terms(problem.completed(points[possible]))[0]
    return values


def _starts(problem: Problem) -> Values:
    """Return numbers of elements in open cells: all of a kind in one cell, and the same number in each."""
    at = problem.at
    kinds = at.kind[at.open]
    sizes = problem.sizes[kinds]
    corners = np.diag(sizes)
    cells = np.array([(at.kind == kind).sum() for kind in kinds])
    even = np.floor(sizes / np.maximum(cells, 1))
    return np.vstack([np.zeros((1, len(sizes))), corners, even[None]])


def _moves(problem: Problem) -> Values:
    """Return moves of 1, 2, 4, ... elements from one cell to another, or to and from the rest."""
    at = problem.at
    kinds = at.kind[at.open]
    found = []
    for one, kind in enumerate(kinds):
        steps = 2.0 ** np.arange(int(problem.sizes[kind]).bit_length())
        for step in steps:
            found += [(one, one, float(step)), (one, one, -float(step))]
            found += [(one, int(n), float(step)) for n in np.flatnonzero(kinds == kind) if n != one]
    moves = np.zeros((len(found), len(kinds)))
    for row, (one, other, step) in enumerate(found):
        moves[row, one] += step
        if other != one:
            moves[row, other] -= step
    return moves
