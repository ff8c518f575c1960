"""Draw the plane of two weights: contour lines of (pseudo-)likelihoods, and the ways of learners."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.axes import Axis, place_axis, value_words
from mlnlab.display.chart.curves import Chart
from mlnlab.display.chart.plots import Line, Plot, style_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.studies.contours import Contours, Surface

    Numbers = NDArray[np.float64]

LEVELS = 12
_HEIGHT = 334.0
_GAP = (np.nan, np.nan)
Point = tuple[float, float]
# Of each case (which corners are above the level, as bits: lower left, lower right, upper right, upper left)
# the edges that a piece joins: 0 below, 1 right, 2 above, 3 left.
_CASES: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((3, 0),), 2: ((0, 1),), 3: ((3, 1),), 4: ((1, 2),), 6: ((0, 2),), 7: ((3, 2),),
    8: ((2, 3),), 9: ((2, 0),), 11: ((2, 1),), 12: ((1, 3),), 13: ((1, 0),), 14: ((0, 3),),
    5: ((3, 0), (1, 2)), 10: ((0, 1), (2, 3)),
}  # fmt: skip
_SADDLES = {5: ((3, 2), (1, 0)), 10: ((0, 3), (2, 1))}  # where the middle is above the level


def contours_chart(contours: Contours) -> Chart:
    """Return a plane for each surface, side by side, with all ways on each."""
    plots = tuple(_plane(contours, surface) for surface in contours.surfaces)
    ways = count_of(len(contours.ways), "way")
    described = f"{count_of(len(contours.surfaces), 'surface')} over two weights, with {ways}."
    return Chart("Contours", plots, described, height=_HEIGHT, beside=True)


def _plane(contours: Contours, surface: Surface) -> Plot:
    across, up = (place_axis(float(grid[0]), float(grid[-1])) for grid in (contours.first, contours.second))
    lines = [
        *_levels(contours, surface),
        *(_draw_way(contours, place, across, up) for place in range(len(contours.ways))),
    ]
    first, second = surface.optimum
    if across.low <= first <= across.high and up.low <= second <= up.high:
        told = f"of the {surface.name} at {first:.4g}, {second:.4g}: {surface.best:,.6g}"
        at = np.array([first]), np.array([second])
        lines.append(
            Line("optimum of the surface", *at, kind="points", mark="diamond", look="orange", told=told)
        )
    one, other = map(in_symbols, contours.formulas)
    return Plot(surface.name, tuple(lines), across, up, f"→ {one}   ↑ {other}", named=False)


def _levels(contours: Contours, surface: Surface) -> Iterator[Line]:
    """Yield the contour lines, from the level nearest to the optimum outwards."""
    known = surface.values[np.isfinite(surface.values)]
    best = max(surface.best, float(known.max(initial=-np.inf)))
    # The lowest corner may be far below all that matters: levels go down to the ninth tenth.
    levels = levels_below(best, float(np.quantile(known, 0.1)), LEVELS) if len(known) else []
    for place, level in enumerate(levels):
        # Pieces one after the other, a gap after each.
        pieces = np.array([(*ends, _GAP) for ends in contour_pieces(surface.values, level)]).reshape(-1, 2)
        name, look = f"{surface.name} {level:,.5g}", "blue" if place < 2 else "grey thin"
        x, y = (
            np.interp(part, range(len(grid)), grid)
            for part, grid in zip(pieces.T, (contours.first, contours.second), strict=True)
        )
        yield Line(name, x, y, look=look, listed=False, told="contour line")


def _draw_way(contours: Contours, place: int, across: Axis, up: Axis) -> Line:
    """Return a way as a line with a dot for each step; a point outside the plane is drawn at its edge."""
    way = contours.ways[place]
    x, y = (np.clip(way.points[:, side], axis.low, axis.high) for side, axis in enumerate((across, up)))
    # What all of them climb need not be said of each.
    alike = len({one.objective for one in contours.ways}) == 1
    last = way.points[-1]
    told = f"{way.objective}, {count_of(len(x) - 1, 'step')} to {last[0]:.4g}, {last[1]:.4g}"
    name = way.name if alike else f"{way.name}: {way.objective}"
    return Line(name, x, y, mark="dot", look=style_of(place + 1), told=told)


def contours_card(contours: Contours) -> Card:
    """Return the card of the plane of two weights."""
    rows = [
        (
            f"optimum of the {one.name}",
            value_words(one.optimum[0]),
            value_words(one.optimum[1]),
            f"{one.best:,.6g}",
        )
        for one in contours.surfaces
    ]
    rows += [
        (
            f"end of {shorten_text(way.name)}",
            value_words(float(way.points[-1][0])),
            value_words(float(way.points[-1][1])),
            "",
        )
        for way in contours.ways
    ]
    headings, name = ("", "first weight", "second weight", "value"), "optima and ends"
    return Card(
        "Two weights",
        " and ".join(shorten_text(in_symbols(name), 80) for name in contours.formulas),
        lead=(shorten_text(contours.remark, 600),),
        picture=contours_chart(contours).scene(),
        alternative="Contour lines over two weights; the table has the optima.",
        table=table_of(headings, rows, len(rows), "points", numbers=(1, 2, 3), name=name),
    )


# --- lines ----------------------------------------------------------------------------------------
# Marching squares: each cell of the grid is crossed by at most two straight pieces of a level's line; where a
# piece meets an edge is found by linear interpolation. A saddle is resolved by the mean of its corners.


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
