"""The plane of two weights: contour lines of the likelihood and the pseudo-likelihood, and learners' ways."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.axes import Axis, place_axis, value_words
from mlnlab.display.chart.plots import Box, Line, Plot, inner_box, plot_items, style_of
from mlnlab.display.learning.studies.contour_lines import contour_pieces, levels_below
from mlnlab.display.scene.building import Entry, legend, mark, numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Path, Scene, Text
from mlnlab.display.scene.paths import polyline, segments
from mlnlab.display.scene.text_fitting import fit_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.studies.contours import Contours, Surface, Way

LEVELS = 12
_WIDTH, _HEIGHT, _TOP, _ROOM = 330.0, 320.0, 8.0, 14.0
_MOST_DOTS = 200


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
