"""Bounds of all terms in a box, from its centre (see :mod:`mlnlab.lifted.cells.cell_sums`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.lifted.cells.cell_problems import Problem

    Values = NDArray[np.float64]

ROUNDING = 1e-13  # of what is added, more than float64 loses


class Boxes(NamedTuple):
    """Boxes of one shape: the lowest numbers in open cells, and how many numbers follow each."""

    corners: Values  # (boxes, open cells)
    width: NDArray[np.int64]


def bounds_of(problem: Problem, boxes: Boxes) -> tuple[Values, float]:
    """Return a bound of each box's sum, and the largest term at a centre."""
    low, high = _ranges(problem, boxes)
    possible = (low <= high).all(axis=1) & ~_mark_forbidden_boxes(problem, low)
    bounds = np.full(len(low), -np.inf)
    best = -np.inf
    if possible.any():
        low, high = low[possible], high[possible]
        bounds[possible] = _bounds(problem, low, high) + np.log(boxes.width).sum()
        middle = np.floor((low + high) / 2)[:, problem.at.open]
        logs, _ = problem.terms(problem.complete_points(middle))
        best = float(logs.max(initial=-np.inf))
    return bounds, best


def _ranges(problem: Problem, boxes: Boxes) -> tuple[Values, Values]:
    """Return the lowest and highest numbers of each coordinate, where those of a kind sum to its size."""
    at, sizes = problem.at, problem.sizes
    low = np.zeros((len(boxes.corners), len(at.kind)))
    high = np.tile(sizes[at.kind], (len(boxes.corners), 1))
    low[:, at.open] = boxes.corners
    high[:, at.open] = np.minimum(high[:, at.open], boxes.corners + boxes.width - 1)
    single = np.diag(problem.never)
    high[:, single] = np.minimum(high[:, single], 1.0)
    for kind, size in enumerate(sizes):
        own = at.kind == kind
        rest = at.rest[kind]
        others = own.copy()
        others[rest] = False
        low[:, rest] = np.maximum(0.0, size - high[:, others].sum(axis=1))
        high[:, rest] = np.minimum(high[:, rest], size - low[:, others].sum(axis=1))
        spare = size - low[:, own].sum(axis=1, keepdims=True)
        high[:, own] = np.minimum(high[:, own], low[:, own] + spare)
    return low, high


def _mark_forbidden_boxes(problem: Problem, low: Values) -> NDArray[np.bool_]:
    """Return where two coordinates are at least 1 that cannot be, or all closed cells are barred."""
    present = (low >= 1).astype(float)
    off = problem.never & ~np.eye(len(problem.never), dtype=bool)
    gone: NDArray[np.bool_] = np.einsum("bk,kl,bl->b", present, off.astype(float), present) > 0
    barred = present @ problem.bars.astype(float) > 0
    for kind, rest in enumerate(problem.at.rest):
        members = problem.at.member_kind == kind
        gone |= barred[:, members].all(axis=1) & (low[:, rest] >= 1)
    return gone


def _bounds(problem: Problem, low: Values, high: Values) -> Values:
    """Return an upper bound for each box of terms: the tangent at the centre, plus a curvature bound."""
    from scipy.special import gammaln, psi

    at = problem.at
    centre, half = (low + high) / 2, (high - low) / 2
    bent = centre @ problem.quadratic
    pulled = problem.closed_weights(centre, (low >= 1).astype(float))
    value = centre @ problem.linear + 0.5 * (bent * centre).sum(axis=1) - gammaln(centre + 1).sum(axis=1)
    size = np.abs(problem.linear) @ centre.T + 0.5 * (np.abs(bent) * centre).sum(axis=1)
    slope = problem.linear + bent - psi(centre + 1)
    curved = 0.5 * ((half @ np.abs(problem.quadratic)) * half).sum(axis=1)
    for kind, rest in enumerate(at.rest):
        members = at.member_kind == kind
        own = pulled[:, members]
        if problem.bars.any():  # where all closed cells are barred there is no rest: any weight will do
            free = (problem.closed + centre @ problem.slopes)[:, members]
            own = np.where(np.isneginf(own).all(axis=1, keepdims=True), free, own)
        top = own.max(axis=1, keepdims=True)
        safe = np.where(np.isfinite(top), top, 0.0)
        parts = np.exp(own - safe)
        mass = parts.sum(axis=1, keepdims=True)
        log = (safe + np.log(np.maximum(mass, 1e-300)))[:, 0]
        slopes = problem.slopes[:, members]
        value += centre[:, rest] * log
        size += centre[:, rest] * np.abs(log)
        slope[:, rest] += log
        mean = (parts / np.maximum(mass, 1e-300)) @ slopes.T
        slope += centre[:, [rest]] * mean
        spread = half @ (slopes.max(axis=1) - slopes.min(axis=1))
        more = np.einsum("bk,bkj->bj", half, np.abs(slopes[None] - mean[:, :, None]))
        least = np.minimum(spread**2 / 8, np.logaddexp.reduce(own + more, axis=1) - log)
        curved += centre[:, rest] * least + half[:, rest] * (half @ np.abs(slopes).max(axis=1))
    for kind, number in enumerate(problem.sizes):
        own = at.kind == kind
        value += _steepest(slope[:, own], half[:, own], number - centre[:, own].sum(axis=1))
    total: Values = value + curved + problem.constant + ROUNDING * (size + problem.magnitude) + 1e-9
    return np.where(np.isnan(total), np.inf, total)  # what no bound is known of is never dropped


def _steepest(slope: Values, half: Values, missing: Values) -> Values:
    """Return the maximum of slope · d where |d| <= half and the d sum to ``missing``.

    For any multiplier this is at most (slope - multiplier) · d + multiplier · missing; the best is a slope.
    """
    found = np.full(len(slope), np.inf)
    for column in range(slope.shape[1]):
        multiplier = slope[:, [column]]
        most = (np.abs(slope - multiplier) * half).sum(axis=1) + multiplier[:, 0] * missing
        found = np.minimum(found, most)
    return found
