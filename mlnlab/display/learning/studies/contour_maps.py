"""Draw the plane of two weights: contour lines of (pseudo-)likelihoods, and the ways of learners."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.axes import Axis, place_axis, value_words
from mlnlab.display.chart.figures import empty_figure, plot_text
from mlnlab.display.chart.plots import Box, Line, Plot, inner_box, plot_items, style_of
from mlnlab.display.scene.building import Entry, legend, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Scene, Text
from mlnlab.display.scene.look import COLOURS, HUES
from mlnlab.display.scene.paths import polyline, segments
from mlnlab.display.scene.text_fitting import fit_text

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from numpy.typing import NDArray

    from mlnlab.learning.studies.contours import Contours, Surface, Way

    Numbers = NDArray[np.float64]

LEVELS = 12
_WIDTH, _HEIGHT, _TOP, _ROOM = 330.0, 320.0, 8.0, 14.0
_MOST_DOTS = 200
Point = tuple[float, float]
# Of each case (which corners are above the level, as bits: lower left, lower right, upper right, upper left)
# the edges that a piece joins: 0 below, 1 right, 2 above, 3 left.
_CASES: dict[int, tuple[tuple[int, int], ...]] = {
    1: ((3, 0),), 2: ((0, 1),), 3: ((3, 1),), 4: ((1, 2),), 6: ((0, 2),), 7: ((3, 2),),
    8: ((2, 3),), 9: ((2, 0),), 11: ((2, 1),), 12: ((1, 3),), 13: ((1, 0),), 14: ((0, 3),),
    5: ((3, 0), (1, 2)), 10: ((0, 1), (2, 3)),
}  # fmt: skip
_SADDLES = {5: ((3, 2), (1, 0)), 10: ((0, 3), (2, 1))}  # where the middle is above the level


def contours_scene(contours: Contours) -> Scene:
    """Return a plane for each surface, side by side, with all ways on each."""
    items: list[Item] = []
    for number, surface in enumerate(contours.surfaces):
        items += _plane(contours, surface, number)
    # What all of them climb need not be said of each.
    alike = len({way.objective for way in contours.ways}) == 1
    entries = [
        Entry(
            Path(path=polyline([(-8, 0), (8, 0)]), look=f"curve {style_of(place + 1)}"),
            way.name if alike else f"{way.name}: {way.objective}",
        )
        for place, way in enumerate(contours.ways)
    ]
    entries.append(Entry(mark("diamond", 4, "disc orange"), "optimum of the surface"))
    width = _WIDTH * max(2, len(contours.surfaces)) + _ROOM
    top = _TOP + _HEIGHT + 26
    explained, taken = legend(entries, 8, top, width - 16)
    layers = (Layer("planes", tuple(items)), Layer("explained", (explained,), zooms=False))
    return Scene(width, top + taken + 6, layers, "Contours", _description(contours))


def _plane(contours: Contours, surface: Surface, number: int) -> list[Item]:
    box = Box(number * (_WIDTH + _ROOM), _TOP, _WIDTH, _HEIGHT)
    across, up = _axis(contours.first), _axis(contours.second)
    plot = Plot(surface.name, (Line("", np.zeros(0), np.zeros(0)),), across, up, across="", named=False)
    inner = inner_box(plot, box)

    def pixel(first: float, second: float) -> tuple[float, float]:
        right, high = across.share(first), up.share(second)
        return inner.x + right * inner.width, inner.y + (1 - high) * inner.height

    items: list[Item] = [*plot_items(plot, box, number), *_lines(surface, inner, number)]
    items += [_path(way, place, inner, across, up, number) for place, way in enumerate(contours.ways)]
    optimum = surface.optimum
    inside = across.low <= optimum[0] <= across.high and up.low <= optimum[1] <= up.high
    x, y = pixel(*optimum) if inside else (inner.x, inner.y)
    told = f"at {optimum[0]:.4g}, {optimum[1]:.4g}: {surface.best:,.6g}"
    shape = mark("diamond", 4 if inside else 0, "disc orange")
    tip = tooltip(f"optimum of the {surface.name}", told)
    items.append(Group(id=numbered_id("optimum", number), x=x, y=y, tooltip=tip, children=(shape,)))
    below = fit_text(
        f"→ {in_symbols(contours.formulas[0])}   ↑ {in_symbols(contours.formulas[1])}", _WIDTH, "small"
    )
    items.append(Text(x=box.x + 8, y=_TOP + _HEIGHT + 14, text=below, look="quiet small"))
    return items


def _axis(grid: NDArray[np.float64]) -> Axis:
    return place_axis(float(grid[0]), float(grid[-1]))


def _lines(surface: Surface, inner: Box, number: int) -> list[Item]:
    """Return the contour lines, from the level nearest to the optimum outwards."""
    known = surface.values[np.isfinite(surface.values)]
    best = max(surface.best, float(known.max(initial=-np.inf)))
    # The lowest corner may be far below all that matters: levels go down to the ninth tenth.
    levels = levels_below(best, float(np.quantile(known, 0.1)), LEVELS) if len(known) else []
    rows, columns = surface.values.shape
    found: list[Item] = []
    for place, level in enumerate(levels):
        pieces = [
            (_place_point(start, inner, columns, rows), _place_point(end, inner, columns, rows))
            for start, end in contour_pieces(surface.values, level)
        ]
        found.append(
            Path(
                id=numbered_id("level", number, place), path=segments(pieces),
                look="curve blue" if place < 2 else "link", tooltip=tooltip(f"{surface.name} {level:,.5g}"),
            )
        )  # fmt: skip
    return found


def _place_point(point: tuple[float, float], inner: Box, columns: int, rows: int) -> tuple[float, float]:
    return inner.x + point[0] / (columns - 1) * inner.width, inner.y + (
        1 - point[1] / (rows - 1)
    ) * inner.height


def _path(way: Way, place: int, inner: Box, across: Axis, up: Axis, number: int) -> Group:
    """Return a way as a line with a dot for each step; a point outside the plane is drawn at its edge."""
    right = np.clip(across.shares(way.points[:, 0]), 0, 1)
    high = np.clip(up.shares(way.points[:, 1]), 0, 1)
    points = list(
        zip(
            (inner.x + right * inner.width).tolist(),
            (inner.y + (1 - high) * inner.height).tolist(),
            strict=True,
        )
    )
    hue = style_of(place + 1).split()[0]
    dots = "".join(
        f"M{x - 1.5:.1f} {y:.1f}a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0 -3 0" for x, y in points[:_MOST_DOTS]
    )
    last = way.points[-1]
    told = f"{count_of(len(points) - 1, 'step')} to {last[0]:.4g}, {last[1]:.4g}"
    return Group(
        id=numbered_id("way", number, place), tooltip=tooltip(way.name, way.objective, told),
        children=(
            Path(path=polyline(points), look=f"curve {style_of(place + 1)}"),
            Path(path=dots, look=f"bar {hue}"),
        ),
    )  # fmt: skip


def _description(contours: Contours) -> str:
    ways = count_of(len(contours.ways), "way")
    return f"{count_of(len(contours.surfaces), 'surface')} over two weights, with {ways}."


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
        picture=contours_scene(contours),
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


# --- figure ---------------------------------------------------------------------------------------


def contours_figure(contours: Contours) -> go.Figure:
    """Draw the first surface as contour lines, with all optima and ways."""
    surface = contours.surfaces[0]
    figure = empty_figure(f"{surface.name} over two weights", rows=20)
    figure.add_contour(
        x=contours.first, y=contours.second, z=surface.values, ncontours=24, showscale=False,
        contours={"coloring": "lines"}, colorscale=[[0, COLOURS["grey"].middle], [1, COLOURS["blue"].middle]],
        hovertemplate="%{x:.3g}, %{y:.3g}: %{z:.5g}<extra></extra>",
    )  # fmt: skip
    for place, way in enumerate(contours.ways):
        hue = COLOURS[HUES[(place + 1) % (len(HUES) - 1)]].middle
        figure.add_scatter(
            x=way.points[:, 0], y=way.points[:, 1], mode="lines+markers", name=plot_text(way.name),
            line={"color": hue}, marker={"size": 4},
        )  # fmt: skip
    for one in contours.surfaces:
        figure.add_scatter(
            x=[one.optimum[0]], y=[one.optimum[1]], mode="markers", name=f"optimum of the {one.name}",
            marker={"symbol": "diamond", "size": 10},
        )  # fmt: skip
    figure.update_xaxes(title=plot_text(contours.formulas[0]))
    figure.update_yaxes(title=plot_text(contours.formulas[1]))
    return figure
