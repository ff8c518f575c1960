"""Paths in SVG's notation, from points."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import hypot

from mlnlab.display.scene.items import round_coordinate

Point = tuple[float, float]


def _words(*values: float) -> str:
    return " ".join(f"{round_coordinate(value)}" for value in values)


def polyline(points: Sequence[Point], *, closed: bool = False) -> str:
    """Return straight lines through points."""
    if not points:
        return ""
    first, *rest = points
    lines = "".join(f"L{_words(*point)}" for point in rest)
    return f"M{_words(*first)}{lines}{'Z' if closed else ''}"


def segments(pairs: Iterable[tuple[Point, Point]]) -> str:
    """Return many straight lines as one path, which is far smaller than as many paths."""
    return "".join(f"M{_words(*start)}L{_words(*end)}" for start, end in pairs)


def band(one: Point, other: Point, half: float) -> str:
    """Return the outline of a band around a line, whose width can change while the line stays."""
    across, down = other[0] - one[0], other[1] - one[1]
    length = hypot(across, down) or 1.0
    x, y = -down / length * half, across / length * half
    corners = ((one, 1), (other, 1), (other, -1), (one, -1))
    return polyline([(point[0] + side * x, point[1] + side * y) for point, side in corners], closed=True)


def bow_curve(start: Point, end: Point, bow: float = 0.0, gap: float = 0.0) -> str:
    """Return a curve between points that bows to its left by a share of its length; both ends leave a gap."""
    (x1, y1), (x2, y2) = start, end
    length = hypot(x2 - x1, y2 - y1) or 1.0
    middle = ((x1 + x2) / 2 + (y2 - y1) * bow, (y1 + y2) / 2 - (x2 - x1) * bow)
    near, far = toward(start, middle, gap), toward(end, middle, gap)
    if gap and length <= 2 * gap:
        near, far = start, end
    return f"M{_words(*near)}Q{_words(*middle, *far)}"


def toward(point: Point, target: Point, distance: float) -> Point:
    """Return the point moved toward another one."""
    length = hypot(target[0] - point[0], target[1] - point[1])
    if length == 0:
        return point
    share = distance / length
    return point[0] + (target[0] - point[0]) * share, point[1] + (target[1] - point[1]) * share


def arrow_head(tip: Point, behind: Point, size: float = 6.0) -> str:
    """Return a filled arrow head that ends in a tip and comes from a point behind it."""
    base = toward(tip, behind, size)
    across = (base[1] - tip[1]) * 0.45, (tip[0] - base[0]) * 0.45
    left = base[0] + across[0], base[1] + across[1]
    right = base[0] - across[0], base[1] - across[1]
    return polyline((tip, left, right), closed=True)


def smooth_downward(points: Sequence[Point]) -> str:
    """Return a curve from layer to layer that leaves and enters every point vertically."""
    first, *rest = points
    parts = [f"M{_words(*first)}"]
    for (x1, y1), (x2, y2) in zip(points, rest, strict=False):
        middle = (y1 + y2) / 2
        parts.append(f"C{_words(x1, middle, x2, middle, x2, y2)}")
    return "".join(parts)


def round_hull(points: Sequence[Point], margin: float) -> str:
    """Return the hull of points with a round margin: a circle around one, a capsule around two."""
    corners = convex_hull(points)
    arc = f"A{_words(margin, margin)} 0 0 1 "
    if len(corners) == 1:
        x, y = corners[0]
        return f"M{_words(x - margin, y)}{arc}{_words(x + margin, y)}{arc}{_words(x - margin, y)}Z"
    parts = []
    for place, (x1, y1) in enumerate(corners):
        x2, y2 = corners[(place + 1) % len(corners)]
        length = hypot(x2 - x1, y2 - y1)
        out = (y2 - y1) / length * margin, (x1 - x2) / length * margin
        begin = _words(x1 + out[0], y1 + out[1])
        parts.append(f"{arc if place else 'M'}{begin}L{_words(x2 + out[0], y2 + out[1])}")
    first, second = corners[0], corners[1]
    length = hypot(second[0] - first[0], second[1] - first[1])
    home = (
        first[0] + (second[1] - first[1]) / length * margin,
        first[1] - (second[0] - first[0]) / length * margin,
    )
    return "".join(parts) + arc + _words(*home) + "Z"


def convex_hull(points: Sequence[Point]) -> list[Point]:
    """Return the corners of the hull of points, clockwise on the screen (Andrew's monotone chain, 1979)."""
    ordered = sorted({(round_coordinate(x), round_coordinate(y)) for x, y in points})
    if len(ordered) <= 2:
        return list(ordered)
    return _chain(ordered)[:-1] + _chain(ordered[::-1])[:-1]


def _chain(ordered: Sequence[Point]) -> list[Point]:
    chain: list[Point] = []
    for point in ordered:
        while len(chain) >= 2 and _turn(chain[-2], chain[-1], point) <= 0:
            chain.pop()
        chain.append(point)
    return chain


def _turn(first: Point, second: Point, third: Point) -> float:
    return (second[0] - first[0]) * (third[1] - first[1]) - (second[1] - first[1]) * (third[0] - first[0])
