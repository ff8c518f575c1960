"""Contour lines of a surface that is known on a grid: marching squares.

Each cell of the grid is crossed by at most two straight pieces of a level's line; where a piece meets an edge
is found by linear interpolation. A saddle is resolved by the mean of its corners.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

Point = tuple[float, float]
# Of each case (which corners are above the level, as bits: lower left, lower right, upper right, upper left)
# the edges that a piece joins: 0 below, 1 right, 2 above, 3 left.
_CASES: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((3, 0),), 2: ((0, 1),), 3: ((3, 1),), 4: ((1, 2),), 6: ((0, 2),), 7: ((3, 2),),
    8: ((2, 3),), 9: ((2, 0),), 11: ((2, 1),), 12: ((1, 3),), 13: ((1, 0),), 14: ((0, 3),),
    5: ((3, 0), (1, 2)), 10: ((0, 1), (2, 3)),
}  # fmt: skip
_SADDLES = {5: ((3, 2), (1, 0)), 10: ((0, 3), (2, 1))}  # where the middle is above the level


def contour_pieces(values: Numbers, level: float) -> list[tuple[Point, Point]]:
    """Return the pieces of a level's line, in places of the grid: (column, row) and parts between."""
    above = values > level
    known = np.isfinite(values)
    cases = (
        above[:-1, :-1] * 1 + above[:-1, 1:] * 2 + above[1:, 1:] * 4 + above[1:, :-1] * 8
    ) * (known[:-1, :-1] & known[:-1, 1:] & known[1:, 1:] & known[1:, :-1])  # fmt: skip
    found: list[tuple[Point, Point]] = []
    for row, column in np.argwhere((cases > 0) & (cases < 15)).tolist():
        case = int(cases[row, column])
        corners = values[row : row + 2, column : column + 2]
        joins = _CASES[case]
        if case in _SADDLES and float(corners.mean()) > level:
            joins = _SADDLES[case]
        for start, end in joins:
            found.append(
                (_crossing(corners, start, level, column, row), _crossing(corners, end, level, column, row))
            )
    return found


def _crossing(corners: Numbers, edge: int, level: float, column: int, row: int) -> Point:
    """Return where a level crosses an edge of a cell."""
    ends = {0: ((0, 0), (0, 1)), 1: ((0, 1), (1, 1)), 2: ((1, 0), (1, 1)), 3: ((0, 0), (1, 0))}[edge]
    (row0, column0), (row1, column1) = ends
    low, high = float(corners[row0, column0]), float(corners[row1, column1])
    share = 0.5 if high == low else min(max((level - low) / (high - low), 0.0), 1.0)
    return column + column0 + share * (column1 - column0), row + row0 + share * (row1 - row0)


def levels_below(best: float, lowest: float, number: int) -> list[float]:
    """Return levels that are close to each other near the top: their distances grow as squares."""
    if not best > lowest:
        return []
    return [best - (best - lowest) * (place / number) ** 2 for place in range(1, number + 1)]
