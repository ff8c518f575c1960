"""Sums over numbers of elements in cells, in logarithms: boxes of terms, and bounds that drop most of them.

Terms concentrate. All choices of numbers are a box; a box is halved along its longest side until it is
small, then its terms are added. Before that a bound is computed of every term in it: the terms' logarithm
is a concave function plus a quadratic and logarithms of sums of exponentials
(:mod:`mlnlab.lifted.cells.cell_problems`), all bounded from the box's centre (the last by the lemma of
Hoeffding 1963). Boxes that cannot matter are dropped, and what they could have held at most is added to the
error.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.lifted.cells.cell_bounds import Boxes, bounds_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from mlnlab.lifted.cells.cell_problems import Problem

    Values = NDArray[np.float64]
    from numpy.typing import NDArray


# --- a large term of a sum over numbers of elements in cells, by climbing -----------------------

# Then bounds drop boxes early.

MOST_MOVES = 300
MOST_CLIMBING = 2e8  # multiplications, some 0.2 seconds: of many cells not every start is climbed from


def large_term(problem: Problem, work: float = MOST_CLIMBING) -> float:
    """Return the logarithm of the largest term that climbing meets, within some work, from a few starts."""
    moves = _moves(problem)
    best = -np.inf
    left = work / problem.work_of_a_term
    for start in _starts(problem):
        point, value = start, _values(problem, start[None])[0]
        for _ in range(MOST_MOVES):
            left -= len(moves)
            if not len(moves) or left < 0:
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
        values[possible] = problem.terms(problem.complete_points(points[possible]))[0]
    return values


def _starts(problem: Problem) -> Values:
    """Return numbers of elements in open cells: the same number in each, and all of a kind in one cell."""
    at = problem.at
    kinds = at.kind[at.open]
    sizes = problem.sizes[kinds]
    corners = np.diag(sizes)
    cells = np.array([(at.kind == kind).sum() for kind in kinds])
    even = np.floor(sizes / np.maximum(cells, 1))
    return np.vstack([even[None], np.zeros((1, len(sizes))), corners])


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


SMALL = 512  # terms of a box that is not halved again
LARGE = 1e5  # terms, of which one of the largest is searched for first
AT_ONCE = 1 << 13  # boxes
POINTS = 1 << 17  # terms
MOST_BOXES = 1 << 20  # that are looked into before a sum of too many terms is refused
_TERMS_A_BOX = 30  # a small budget of terms is one of boxes, too
NEGLIGIBLE = 50.0  # a box is dropped where all its terms together are below e^-50 of the largest term
EPSILON = float(np.finfo(float).eps)


class Moments(NamedTuple):
    """Expected numbers under the distribution over terms; q is how many elements are in closed cells."""

    e: Values
    ee: Values  # E[e_k e_l]
    q: Values
    eq: Values  # E[e_k q_j]


@dataclass(frozen=True, slots=True, eq=False)
class SumState:
    """The progress of a sum: log of its value, log bound of the dropped terms, terms, boxes left."""

    value: float
    dropped: float
    terms: int
    waiting: int
    moments: Moments

    def metrics(self) -> Mapping[str, float]:
        """Return how far the sum is."""
        return {"log Z so far": self.value, "terms": self.terms, "boxes left": self.waiting}


@dataclass(slots=True, eq=False)
class Total:
    """Sums of terms, all divided by the largest one so far; a mutable local of one sum."""

    peak: float
    mass: float
    moments: list[Values]
    terms: int = 0
    dropped: float = -inf
    best: float = -inf

    def add(self, logs: Values, e: Values, q: Values, *, moments: bool) -> None:
        """Add terms, by their logarithms."""
        top = float(logs.max(initial=-inf))
        self.terms += len(logs)
        if top == -inf:
            return
        if top > self.peak:
            scale = np.exp(self.peak - top) if self.peak > -inf else 0.0
            self.mass *= scale
            self.moments = [moment * scale for moment in self.moments]
            self.peak = top
        self.best = max(self.best, top)
        shares = np.exp(logs - self.peak)
        self.mass += float(shares.sum())
        if moments:
            weighted = shares[:, None] * e
            parts = (weighted.sum(axis=0), weighted.T @ e, shares @ q, weighted.T @ q)
            self.moments = [before + now for before, now in zip(self.moments, parts, strict=True)]

    def state(self, waiting: int) -> SumState:
        """Return how far the sum is."""
        value = self.peak + float(np.log(self.mass)) if self.mass > 0 else -inf
        moments = Moments(*(moment / (self.mass or 1.0) for moment in self.moments))
        return SumState(value, self.dropped, self.terms, waiting, moments)


@dataclass(frozen=True, slots=True, eq=False)
class CellSum:
    """A sum over numbers of elements: a source of states, to be watched or stopped."""

    problem: Problem
    moments: bool = True
    budget: float = inf
    negligible: float = NEGLIGIBLE

    def __iter__(self) -> Iterator[SumState]:
        total = Total(-inf, 0.0, _no_moments(self.problem))
        for boxes, waiting in self.small_boxes(total):
            self._add(total, boxes)
            yield total.state(waiting)
        yield total.state(0)

    def terms_that_matter(self, enough: float, work: float) -> float:
        """Estimate how many terms a sum adds, by bounds alone: at most, if this is more than ``enough``.

        Boxes are looked into, the largest first, until so few terms are left, or some work is done.
        """
        problem, total = self.problem, Total(-inf, 0.0, [])
        widths, waiting = self._begin_boxes(total, min(work / 2, MOST_CLIMBING))
        volumes = [float(np.prod(width.astype(float))) for width in widths]
        boxes, small = work / 2 / problem.work_of_a_box, 0.0
        while True:
            left = small + sum(volumes[level] * len(chunk) for level, chunk, _ in waiting)
            if left <= enough or boxes < 1 or not waiting:
                return left
            level, corners, bounds = waiting.pop(0)
            if len(corners) > boxes:
                waiting.insert(0, (level, corners[int(boxes) :], bounds[int(boxes) :]))
                corners, bounds = corners[: int(boxes)], bounds[: int(boxes)]
            kept = self._select_boxes(total, bounds)
            if level == len(widths) - 1:
                small += volumes[level] * int(kept.sum())
                continue
            boxes -= 2 * int(kept.sum())
            waiting += self._halve_boxes(total, corners[kept], widths, level) if kept.any() else []

    def _begin_boxes(
        self, total: Total, climbing: float = MOST_CLIMBING
    ) -> tuple[list[NDArray[np.int64]], list[tuple[int, Values, Values]]]:
        """Return the shapes of boxes, level by level, and the box of all choices."""
        open_ = self.problem.at.open
        widths = _schedule(self.problem.sizes[self.problem.at.kind[open_]].astype(np.int64))
        if np.prod(widths[0].astype(float)) > LARGE:
            total.best = large_term(self.problem, climbing)
        return widths, [(0, np.zeros((1, len(open_))), np.full(1, inf))]

    def small_boxes(self, total: Total) -> Iterator[tuple[Boxes, int]]:
        """Yield the small boxes that matter and the number of larger ones waiting; bound the dropped ones."""
        widths, waiting = self._begin_boxes(total)
        volumes = [float(np.prod(width.astype(float))) for width in widths]
        boxes, most = 0, min(MOST_BOXES, self.budget / _TERMS_A_BOX)
        while waiting:
            left = sum(volumes[level] * len(chunk) for level, chunk, _ in waiting)
            if left > self.budget and boxes > most:
                raise _too_large(left, self.budget)
            # The deepest boxes cost no memory; where too much is left, the largest are looked into first.
            level, corners, bounds = waiting.pop(0 if left > self.budget else -1)
            boxes += len(corners)
            kept = self._select_boxes(total, bounds)
            corners = corners[kept]
            if len(corners) and level == len(widths) - 1:
                yield Boxes(corners, widths[-1]), sum(len(one[1]) for one in waiting)
            elif len(corners):
                waiting += self._halve_boxes(total, corners, widths, level)

    def _select_boxes(self, total: Total, bounds: Values) -> NDArray[np.bool_]:
        """Return which boxes still matter, and account for the others."""
        kept: NDArray[np.bool_] = bounds > total.best - self.negligible
        gone = bounds[~kept]
        if len(gone):
            total.dropped = float(np.logaddexp.reduce([total.dropped, *gone.tolist()]))
        return kept

    def _halve_boxes(
        self, total: Total, corners: Values, widths: list[NDArray[np.int64]], level: int
    ) -> list[tuple[int, Values, Values]]:
        """Return the halves of boxes that matter, in chunks, those with the largest bounds last."""
        before, after = widths[level], widths[level + 1]
        axis = int(np.flatnonzero(before != after)[0])
        second = corners.copy()
        second[:, axis] += after[axis]
        both = np.concatenate([corners, second])
        found, best = bounds_of(self.problem, Boxes(both, after))
        total.best = max(total.best, best)
        kept = self._select_boxes(total, found)
        both, found = both[kept], found[kept]
        order = np.argsort(found, kind="stable")
        return [
            (level + 1, both[part], found[part])
            for part in np.array_split(order, max(1, -(-len(order) // AT_ONCE)))
            if len(part)
        ]

    def _add(self, total: Total, boxes: Boxes) -> None:
        """Add the terms of small boxes."""
        for points in points_of(boxes):
            e = self.problem.complete_points(points)
            logs, q = self.problem.terms(e)
            total.add(logs, e, q, moments=self.moments)


def points_of(boxes: Boxes) -> Iterator[Values]:
    """Yield the numbers of elements in open cells that small boxes hold, some boxes at a time."""
    width = boxes.width
    grid = np.indices(tuple(width)).reshape(len(width), int(np.prod(width))).T.astype(float)
    chunk = max(1, POINTS // max(1, len(grid)))
    for start in range(0, len(boxes.corners), chunk):
        points = boxes.corners[start : start + chunk, None] + grid[None]
        yield points.reshape(points.shape[0] * points.shape[1], len(width))


def _too_large(left: float, budget: float) -> TooLargeError:
    return TooLargeError(
        f"The sum over numbers of elements in cells has {left:.3g} terms that may matter; at most"
        f" {budget:.3g} are allowed.", left,
        ["ask about smaller domains", "drop formulas that relate many predicates", "raise budget=",
         "sample with ml.infer(..., method='mc-sat')"],
    )  # fmt: skip


def _schedule(sizes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the shapes of boxes, from that of all choices to small ones: the longest side is halved."""
    width = np.array([1 << int(size).bit_length() for size in sizes], dtype=np.int64)
    found = [width]
    while np.prod(width.astype(float)) > SMALL:
        width = width.copy()
        width[int(width.argmax())] //= 2
        found.append(width)
    return found


def _no_moments(problem: Problem) -> list[Values]:
    k, j = len(problem.linear), len(problem.closed)
    return [np.zeros(k), np.zeros((k, k)), np.zeros(j), np.zeros((k, j))]
