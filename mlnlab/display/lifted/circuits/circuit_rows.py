"""Where the boxes of a circuit stand: in rows as high as these, close together where lines go straight."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.nodelink.layouts.layered import layered_layout
from mlnlab.display.scene.building import numbered_id
from mlnlab.display.scene.items import Group, Item, Path, Text
from mlnlab.display.scene.paths import arrow_head, smooth_downward
from mlnlab.display.scene.text_fitting import fit_text, text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Reals = NDArray[np.float64]

_MARGIN, _ACROSS, _DOWN = 14.0, 30.0, 100.0
_NEAR, _USUAL, _LOW = 30.0, 46.0, 20.0  # between rows; the height of a row without boxes
_STRAIGHT = 6.0  # pixels that a line may lean
_LABEL = 130.0
_ASIDE = 44.0  # between lines that end at one box


class Standing(NamedTuple):
    """A box: its size, and in which row."""

    width: float
    height: float
    row: int


class Line(NamedTuple):
    """A call between two boxes, by their places, with its words."""

    source: int
    target: int
    words: str


class Placed(NamedTuple):
    """The middles of boxes, the points of lines from box to box, and the size of it all."""

    places: tuple[tuple[float, float], ...]
    routes: tuple[Reals, ...]
    size: tuple[float, float]


def in_rows(boxes: Sequence[Standing], lines: Sequence[Line]) -> Placed:
    """Return where boxes stand whose rows are known, and how lines run between them."""
    widths = np.array([box.width for box in boxes])
    layout = layered_layout(
        [box.row for box in boxes], [line[:2] for line in lines], across=widths + _ACROSS, down=_DOWN
    )
    level = [
        np.round((route[:, 1] - layout.places[:, 1].min()) / _DOWN).astype(int) for route in layout.routes
    ]
    tops, heights = _rows(boxes, layout.routes, level)
    ends = [
        (route[-1, 0] - _room(line), route[-1, 0])
        if _from_right(route)
        else (0.0, route[-1, 0] + _room(line))
        for line, route in zip(lines, layout.routes, strict=True)
    ]
    left = min([*(layout.places[:, 0] - widths / 2), *(low for low, _ in ends)], default=0.0)
    shift = _MARGIN - float(left)
    middle = [top + height / 2 for top, height in zip(tops, heights, strict=True)]
    places = tuple(
        (float(x) + shift, middle[box.row]) for (x, _), box in zip(layout.places, boxes, strict=True)
    )
    routes = []
    beside = _beside_each_other(lines, layout.routes)
    for line, route, rows, aside in zip(lines, layout.routes, level, beside, strict=True):
        points = np.column_stack([route[:, 0] + shift, [middle[row] for row in rows]])
        points[-1, 0] += aside * min(_ASIDE, boxes[line.target].width / 3)
        points[0, 1] += boxes[line.source].height / 2
        points[-1, 1] -= boxes[line.target].height / 2 + 1
        routes.append(points)
    right = [x + box.width / 2 for (x, _), box in zip(places, boxes, strict=True)]
    width = max([*right, *(high + shift for _, high in ends)], default=0.0) + _MARGIN
    return Placed(places, tuple(routes), (width, tops[-1] + heights[-1] + 20.0 if tops else 0.0))


def _rows(
    boxes: Sequence[Standing], routes: Sequence[Reals], level: Sequence[NDArray[np.int64]]
) -> tuple[list[float], list[float]]:
    """Return where each row begins, and how high it is."""
    heights = [_LOW] * (1 + max((box.row for box in boxes), default=-1))
    for row in range(len(heights)):
        heights[row] = max([box.height for box in boxes if box.row == row], default=_LOW)
    leaning = {
        int(rows[n])
        for route, rows in zip(routes, level, strict=True)
        for n in np.flatnonzero(np.abs(np.diff(route[:, 0])) > _STRAIGHT)
    }
    tops, y = [], _MARGIN
    for row, height in enumerate(heights):
        tops.append(y)
        y += height + (_USUAL if row in leaning else _NEAR)
    return tops, heights


def _beside_each_other(lines: Sequence[Line], routes: Sequence[Reals]) -> list[float]:
    """Return how far from the middle of their box lines end: those of one box side by side, as they come."""
    found = [0.0] * len(lines)
    for target in {line.target for line in lines}:
        own = [n for n, line in enumerate(lines) if line.target == target]
        own.sort(key=lambda n: float(routes[n][-2, 0]))
        for place, n in enumerate(own):
            found[n] = place - (len(own) - 1) / 2 if len(own) > 1 else 0.0
    return found


def _from_right(route: Reals) -> bool:
    """Tell whether a line comes in from the right, where its words would stand."""
    return bool(route[-2, 0] > route[-1, 0] + _STRAIGHT)


def _room(line: Line) -> float:
    return 10 + min(_LABEL, text_width(line.words, "small"))


def line_item(number: int, line: Line, points: Reals, *, arrow: bool = True) -> Item:
    """Return a call as a line with an arrow head, and its words beside that."""
    corners = [(float(x), float(y)) for x, y in points]
    x, y = corners[-1]
    parts: list[Item] = [Path(path=smooth_downward(corners), look="link")]
    if arrow:
        parts.append(Path(path=arrow_head((x, y), (x, y - 10)), look="bar grey"))
    if line.words:
        text = fit_text(line.words, _LABEL, "small")
        if _from_right(points):
            parts.append(Text(x=x - 6, y=y - 9, text=text, anchor="end", look="quiet small"))
        else:
            parts.append(Text(x=x + 6, y=y - 9, text=text, look="quiet small"))
    return Group(id=numbered_id("call", number), children=tuple(parts))
