"""The sum over numbers of elements in cells, written as one function of a vector.

Its coordinates e are the numbers of elements in open cells, and for each kind of the rest, which its closed
cells share. With logarithms rho of the pairs' weights the logarithm of a term is

    sum of lin_k e_k + 1/2 e' Q e - sum of log e_k! + sum over kinds of e_rest log(sum over closed j of
    exp(a_j + (e B)_j)) + constant,

where the coordinates of each kind sum to its size. So rows of Q and of B may be moved by what depends on one
coordinate only; they are centred, which makes them small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.lifted.cells.cell_merging import MergedCells

    Values = NDArray[np.float64]


class Tables(NamedTuple):
    """Logarithms of the weights of merged cells, and of pairs of them, in both orders of two kinds."""

    weights: Sequence[Values]
    pairs: Mapping[tuple[int, int], Values]


@dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """The kinds and cells of coordinates and of closed cells."""

    kind: NDArray[np.intp]  # of each coordinate
    cell: NDArray[np.intp]  # the merged cell; of a rest, the reference of the closed ones
    rest: NDArray[np.intp]  # of each kind, the coordinate of its rest
    member_kind: NDArray[np.intp]  # of each closed cell
    member_cell: NDArray[np.intp]

    @property
    def open(self) -> NDArray[np.intp]:
        """The coordinates that are chosen."""
        return np.setdiff1d(np.arange(len(self.kind)), self.rest)

    def member_rest(self) -> NDArray[np.intp]:
        """Return of each closed cell, the coordinate of the rest that it shares."""
        return self.rest[self.member_kind]


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """The function that is summed; ``never`` says which coordinates cannot both count."""

    at: Coordinates
    sizes: NDArray[np.float64]  # of each kind
    linear: Values
    quadratic: Values
    closed: Values  # a
    slopes: Values  # B
    never: NDArray[np.bool_]  # (coordinates, coordinates); on the diagonal: not two of them
    bars: NDArray[np.bool_]  # (coordinates, closed): an element of the one forbids the other
    constant: float
    magnitude: float  # of the numbers that were added to each other

    @property
    def work_of_a_term(self) -> float:
        """About how many multiplications a term takes; measured: a nanosecond each."""
        return float((len(self.linear) + 50) * (len(self.linear) + len(self.closed)))

    @property
    def work_of_a_box(self) -> float:
        """About how many multiplications the bound of a box takes."""
        return self.work_of_a_term * len(self.linear)

    def complete_points(self, points: Values) -> Values:
        """Return all coordinates for numbers of elements in open cells; the rests may come out negative."""
        e = np.zeros((len(points), len(self.linear)))
        e[:, self.at.open] = points
        for kind, rest in enumerate(self.at.rest):
            own = self.at.kind == kind
            e[:, rest] = self.sizes[kind] - e[:, own].sum(axis=1)
        return e

    def closed_weights(self, e: Values, present: Values) -> Values:
        """Return the log weights of closed cells beside the numbers ``e``, -inf for barred cells."""
        weights: Values = self.closed + e @ self.slopes
        if self.bars.any():
            weights = np.where(present @ self.bars.astype(float) > 0, -np.inf, weights)
        return weights

    def terms(self, e: Values) -> tuple[Values, Values]:
        """Return the logarithm of each term, and how many elements of its rests are in each closed cell."""
        from scipy.special import gammaln

        possible = (e >= 0).all(axis=1)
        e = np.maximum(e, 0.0)
        present = (e > 0).astype(float)
        off = self.never & ~np.eye(len(self.never), dtype=bool)
        if off.any():
            possible &= (present @ off.astype(float) * present).sum(axis=1) == 0
        possible &= (e[:, np.diag(self.never)] <= 1).all(axis=1)
        value = e @ self.linear + 0.5 * ((e @ self.quadratic) * e).sum(axis=1) - gammaln(e + 1).sum(axis=1)
        q = self.closed_weights(e, present)
        for kind, rest in enumerate(self.at.rest):
            members = np.flatnonzero(self.at.member_kind == kind)
            top = q[:, members].max(axis=1, keepdims=True)
            safe = np.where(np.isfinite(top), top, 0.0)
            parts = np.exp(q[:, members] - safe)
            mass = parts.sum(axis=1, keepdims=True)
            with np.errstate(divide="ignore"):
                log = safe[:, 0] + np.log(mass[:, 0])
            number = e[:, rest]
            value += np.where(number > 0, number * np.where(number > 0, log, 0.0), 0.0)
            q[:, members] = number[:, None] * parts / np.where(mass > 0, mass, 1.0)
        return np.where(possible, value + self.constant, -np.inf), q


def coordinates(merged: MergedCells) -> Coordinates:
    """Return the coordinates of the sum for merged cells: open cells, and a rest for each kind."""
    kind: list[int] = []
    cell: list[int] = []
    rest: list[int] = []
    for number, one in enumerate(merged.kinds):
        rest.append(len(kind) + len(one.open))
        kind += [number] * (len(one.open) + 1)
        cell += [*one.open, one.closed[0]]
    members = [(number, j) for number, one in enumerate(merged.kinds) for j in one.closed]
    columns = [np.array(part, dtype=np.intp) for part in zip(*members, strict=True)]
    return Coordinates(np.array(kind), np.array(cell), np.array(rest), *columns)


def made_problem(merged: MergedCells, tables: Tables, sizes: Sequence[int]) -> Problem:
    """Return the sum for numbers of elements of each kind."""
    from scipy.special import gammaln

    at = coordinates(merged)
    number = np.array(sizes, dtype=float)
    between = np.array([[tables.pairs[a, b][i, j] for b, j in _places(at)] for a, i in _places(at)])
    impossible = np.isneginf(between)
    between = np.where(impossible, 0.0, between)
    is_rest = np.isin(np.arange(len(at.kind)), at.rest)
    apart = is_rest[:, None] != is_rest[None]
    quadratic = np.where(apart, 0.0, between)
    weights = np.array([tables.weights[a][i] for a, i in _places(at)])
    linear = np.where(is_rest, 0.0, weights) - 0.5 * np.diag(quadratic)
    closed, slopes, bars = _closed_part(at, tables, between, is_rest)
    never = impossible & ~apart
    magnitude = float((np.abs(between) @ number[at.kind]).max(initial=0.0) * number.sum())
    magnitude += float(np.abs(np.where(np.isfinite(weights), weights, 0.0)).max(initial=0.0) * number.sum())
    constant = float(gammaln(number + 1).sum())
    made = Problem(at, number, linear, quadratic, closed, slopes, never, bars, constant, magnitude)
    return _centre_slopes(made)


def _places(at: Coordinates) -> list[tuple[int, int]]:
    return list(zip(at.kind.tolist(), at.cell.tolist(), strict=True))


def _closed_part(
    at: Coordinates, tables: Tables, between: Values, is_rest: NDArray[np.bool_]
) -> tuple[Values, Values, NDArray[np.bool_]]:
    """Return a and B: how the weight of each closed cell depends on all coordinates."""
    closed = np.array([tables.weights[a][j] for a, j in zip(at.member_kind, at.member_cell, strict=True)])
    slopes = np.zeros((len(at.kind), len(closed)))
    for place, (kind, cell) in enumerate(zip(at.member_kind.tolist(), at.member_cell.tolist(), strict=True)):
        for k, (other, own) in enumerate(_places(at)):
            slopes[k, place] = tables.pairs[other, kind][own, cell]
            if is_rest[k] and cell == at.cell[at.rest[kind]]:
                slopes[k, place] = 0.0
            elif is_rest[k]:
                slopes[k, place] -= between[k, at.rest[kind]]
        closed[place] -= slopes[at.rest[kind], place]
    bars = np.isneginf(slopes)
    return closed, np.where(bars, 0.0, slopes), bars


def _centre_slopes(problem: Problem) -> Problem:
    """Centre the slopes of closed cells and the quadratic blocks; other terms take up their means."""
    at, sizes = problem.at, problem.sizes
    linear, quadratic = problem.linear.copy(), problem.quadratic.copy()
    closed, slopes = problem.closed.copy(), problem.slopes.copy()
    for kind, rest in enumerate(at.rest):
        members = np.flatnonzero(at.member_kind == kind)
        alive = ~problem.bars[:, members]
        common = (slopes[:, members] * alive).sum(axis=1) / np.maximum(alive.sum(axis=1), 1)
        slopes[:, members] = np.where(alive, slopes[:, members] - common[:, None], 0.0)
        quadratic[:, rest] += common
        quadratic[rest] += common
    groups = [np.flatnonzero(at.kind == kind) for kind in range(len(sizes))]
    for a, first in enumerate(groups):
        means = slopes[first].mean(axis=0)
        slopes[first] -= means
        closed += sizes[a] * means
        for b, second in enumerate(groups):
            block = quadratic[np.ix_(first, second)]
            rows = block.mean(axis=1) - 0.5 * block.mean()
            columns = block.mean(axis=0) - 0.5 * block.mean()
            linear[first] += 0.5 * sizes[b] * rows
            linear[second] += 0.5 * sizes[a] * columns
            quadratic[np.ix_(first, second)] = block - rows[:, None] - columns
    return Problem(
        at, sizes, linear, quadratic, closed, slopes, problem.never, problem.bars, problem.constant,
        problem.magnitude,
    )  # fmt: skip
