"""Sums over all worlds of a question, in stretches that fit a core's cache.

A world is a number in a mixed radix: one digit for each choice. The choices are split into *low* ones, which
vary inside a stretch, and *high* ones, which are fixed in it. Tables of the features are merged into a few
clusters; the log-weight of a stretch is a sum of gathers from the clusters' tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.grounding.question.features import MOST_CELLS, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.question.features import Features, Wide
    from mlnlab.grounding.question.question import Question

STRETCH = 1 << 18  # worlds in one stretch: 2 MB of log-weights stay in a core's second cache


class Sweep(NamedTuple):
    """The sum over all worlds: log Z, and for each cluster the probability of each of its cells."""

    log_z: float
    cells: tuple[NDArray[np.float64], ...]
    wide: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Worlds:
    """All worlds of a question: clusters of features, and how worlds are numbered."""

    question: Question
    features: Features
    sizes: tuple[int, ...]
    clusters: tuple[Cluster, ...]
    low: tuple[int, ...]
    high: tuple[int, ...]
    gathers: tuple[NDArray[np.intp], ...]

    @property
    def number(self) -> int:
        """The number of worlds, possible or not."""
        return prod(self.sizes)


Only = Mapping[int, tuple[int, ...]]  # for some choices, the options to which a sum is restricted


def all_worlds(question: Question, features: Features, apart: int | None = None) -> Worlds:
    """Return the worlds, numbered, with the features in clusters."""
    sizes = tuple(choice.options for choice in question.choices)
    merged = clusters(features.tables, sizes)
    low: list[int] = []
    for choice in range(len(sizes)):
        if choice != apart and prod(sizes[c] for c in low) * sizes[choice] <= STRETCH:
            low.append(choice)
    high = tuple(c for c in range(len(sizes)) if c not in set(low))
    gathers = tuple(_gather(cluster, low, sizes) for cluster in merged)
    return Worlds(question, features, sizes, merged, tuple(low), high, gathers)


def _gather(cluster: Cluster, low: Sequence[int], sizes: Sequence[int]) -> NDArray[np.intp]:
    """Return, for each world of a stretch, the offset of its cell due to the low choices."""
    cells = np.zeros(1, np.intp)
    for choice in low:
        step = _stride(cluster, choice)
        cells = (cells[:, None] + step * np.arange(sizes[choice], dtype=np.intp)).ravel()
    return cells


def _stride(cluster: Cluster, choice: int) -> int:
    if choice not in cluster.scope:
        return 0
    return prod(cluster.shape[cluster.scope.index(choice) + 1 :])


class Stretch(NamedTuple):
    """The worlds that share their high digits: for each cluster the offset of its cells."""

    digits: tuple[int, ...]
    offsets: tuple[int, ...]


def stretches(worlds: Worlds, only: Only | None = None) -> Iterator[Stretch]:
    """Yield the stretches; ``only`` restricts digits."""
    ranges = [(only or {}).get(c, range(worlds.sizes[c])) for c in worlds.high]
    strides = [[_stride(cluster, c) for c in worlds.high] for cluster in worlds.clusters]
    for digits in product(*ranges):
        offsets = tuple(sum(d * s for d, s in zip(digits, row, strict=True)) for row in strides)
        yield Stretch(digits, offsets)


def sweep(worlds: Worlds, weights: NDArray[np.float64], only: Only | None = None) -> Sweep:
    """Sum exp(log-weight) over all worlds (those with digits in ``only``), keeping every cluster's cells."""
    accumulator = _Accumulator(worlds)
    for stretch, log_weights in weigh_worlds(worlds, weights, only):
        accumulator.add(stretch, log_weights)
    return accumulator.result(float(sum_decided_weights(worlds, weights)))


def sum_decided_weights(worlds: Worlds, weights: NDArray[np.float64]) -> float:
    """Return the log-weight that evidence alone has decided."""
    decided = worlds.features.decided
    hard = weights == -np.inf
    if np.any(decided[hard] > 0):
        return -np.inf
    return float(np.dot(weights[~hard], decided[~hard]))


def weigh_worlds(
    worlds: Worlds, weights: NDArray[np.float64], only: Only | None = None
) -> Iterator[tuple[Stretch, NDArray[np.float64]]]:
    """Yield every stretch with the log-weights of its worlds."""
    tables = [cluster.log_weights(weights) for cluster in worlds.clusters]
    high = set(worlds.high)
    moving = [not high.isdisjoint(cluster.scope) for cluster in worlds.clusters]
    length = prod(worlds.sizes[c] for c in worlds.low)
    base = np.zeros(length)
    for table, cells, moves in zip(tables, worlds.gathers, moving, strict=True):
        if not moves:
            base += table[cells]
    _impose(base, worlds, only)
    truths = _WideTruths(worlds)
    for stretch in stretches(worlds, only):
        total = base.copy()
        for table, cells, moves, offset in zip(tables, worlds.gathers, moving, stretch.offsets, strict=True):
            if moves:
                total += table[offset:].take(cells)
        for wide in worlds.features.wide:
            _add_wide(total, truths.of(wide, stretch), weights[wide.column])
        yield stretch, total


def _impose(base: NDArray[np.float64], worlds: Worlds, only: Only | None) -> None:
    """Make worlds impossible whose low digits are not among the allowed ones."""
    for choice, options in (only or {}).items():
        if choice in worlds.low:
            base[~np.isin(_digit(worlds, choice), options)] = -np.inf


def _digit(worlds: Worlds, choice: int) -> NDArray[np.intp]:
    """Return the digit of a low choice for each world of a stretch."""
    place = worlds.low.index(choice)
    after = prod(worlds.sizes[c] for c in worlds.low[place + 1 :])
    before = prod(worlds.sizes[c] for c in worlds.low[:place])
    return np.tile(np.repeat(np.arange(worlds.sizes[choice]), after), before)


class _WideTruths:
    """Truth values of wide groundings in all worlds of a stretch; those of low choices are kept."""

    def __init__(self, worlds: Worlds) -> None:
        self.worlds = worlds
        self.kept: dict[tuple[int, int], NDArray[np.bool_]] = {}
        self.places = {
            tuple(atom): (number, option)
            for number, choice in enumerate(worlds.question.choices)
            for option, atom in enumerate(choice.atoms)
        }

    def of(self, wide: Wide, stretch: Stretch) -> NDArray[np.bool_] | bool:
        def look_up(predicate: str, arguments: tuple[str, ...]) -> NDArray[np.bool_] | bool:
            place = self.places.get((predicate, arguments))
            if place is None:
                return self.worlds.question.holds(predicate, arguments)
            number, option = place
            if number not in self.worlds.low:
                return stretch.digits[self.worlds.high.index(number)] == option
            if place not in self.kept:
                self.kept[place] = _digit(self.worlds, number) == option
            return self.kept[place]

        return wide.evaluate(look_up)


def _add_wide(total: NDArray[np.float64], truths: NDArray[np.bool_] | bool, weight: float) -> None:
    if weight == -np.inf:
        total[truths] = -np.inf
    elif weight:
        total += weight * truths


class _Accumulator:
    """Sums of exp(log-weight), scaled by the largest log-weight met so far."""

    def __init__(self, worlds: Worlds) -> None:
        self.worlds = worlds
        self.peak = -np.inf
        self.sum = 0.0
        self.stretch_sum = np.zeros(prod(worlds.sizes[c] for c in worlds.low))
        self.moving = [not set(worlds.high).isdisjoint(cluster.scope) for cluster in worlds.clusters]
        self.cells = [np.zeros(prod(cluster.shape)) for cluster in worlds.clusters]
        self.wide = np.zeros(len(worlds.features.wide))
        self.truths = _WideTruths(worlds)

    def add(self, stretch: Stretch, log_weights: NDArray[np.float64]) -> None:
        peak = float(log_weights.max(initial=-np.inf))
        if peak == -np.inf:
            return
        if peak > self.peak:
            self._rescale(np.exp(self.peak - peak))
            self.peak = peak
        log_weights -= self.peak
        weights = np.exp(log_weights, out=log_weights)
        self.sum += float(weights.sum())
        self.stretch_sum += weights
        for place, moves in enumerate(self.moving):
            if moves:
                self._scatter(place, stretch.offsets[place], weights)
        for place, wide in enumerate(self.worlds.features.wide):
            self.wide[place] += float(weights[self.truths.of(wide, stretch)].sum())

    def _rescale(self, factor: float) -> None:
        self.sum *= factor
        self.stretch_sum *= factor
        self.wide *= factor
        self.cells = [cells * factor for cells in self.cells]

    def _scatter(self, place: int, offset: int, weights: NDArray[np.float64]) -> None:
        found = np.bincount(self.worlds.gathers[place], weights)
        self.cells[place][offset : offset + len(found)] += found

    def result(self, decided: float) -> Sweep:
        if self.sum == 0 or decided == -np.inf:
            return Sweep(-np.inf, (), np.zeros(0))
        for place, moves in enumerate(self.moving):
            if not moves:
                self._scatter(place, 0, self.stretch_sum)
        cells = tuple(cells / self.sum for cells in self.cells)
        return Sweep(decided + self.peak + float(np.log(self.sum)), cells, self.wide / self.sum)


def expected_counts(worlds: Worlds, found: Sweep) -> NDArray[np.float64]:
    """Return E[n_i] for each column (lecture notes, eq. 34, 42), groundings decided by evidence included."""
    expected = worlds.features.decided.astype(float)
    if not found.cells:  # no world is possible, nothing is expected
        return expected
    for cluster, cells in zip(worlds.clusters, found.cells, strict=True):
        grid = cells.reshape(cluster.shape)
        for table in cluster.tables:
            others = tuple(i for i, c in enumerate(cluster.scope) if c not in table.scope)
            expected[table.column] += float((grid.sum(axis=others) * table.counts).sum())
    for wide, probability in zip(worlds.features.wide, found.wide, strict=True):
        expected[wide.column] += probability
    return expected


def option_probabilities(worlds: Worlds, found: Sweep) -> list[NDArray[np.float64]]:
    """Return, for each choice, the probability of each of its options."""
    result: list[NDArray[np.float64]] = []
    homes = {c: place for place, cluster in reversed(list(enumerate(worlds.clusters))) for c in cluster.scope}
    for choice in range(len(worlds.sizes)):
        cluster, cells = worlds.clusters[homes[choice]], found.cells[homes[choice]]
        axis = cluster.scope.index(choice)
        others = tuple(i for i in range(len(cluster.scope)) if i != axis)
        result.append(cells.reshape(cluster.shape).sum(axis=others))
    return result


# --- clusters of choices ------------------------------------------------------------------------

# Many tables of features are merged into a few, from which a sum over worlds gathers.


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Some choices, and the tables of features over subsets of them."""

    scope: tuple[int, ...]
    shape: tuple[int, ...]
    tables: tuple[Table, ...]

    def log_weights(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of w_i g_ij over the cluster's features, for each cell (lecture notes, eq. 13)."""
        total = np.zeros(self.shape)
        for table in self.tables:
            weight = weights[table.column]
            aligned = table.counts.reshape(
                [n if c in table.scope else 1 for c, n in zip(self.scope, self.shape, strict=True)]
            )
            if weight == -np.inf:  # a hard formula: cells that violate any grounding are impossible
                total += np.where(aligned > 0, -np.inf, 0.0)
            elif weight:
                total += weight * aligned
        return total.ravel()


def clusters(tables: Sequence[Table], sizes: Sequence[int]) -> tuple[Cluster, ...]:
    """Merge tables into few clusters of at most ``MOST_CELLS`` cells, each choice being in at least one."""
    scopes = sorted(
        {table.scope for table in tables} | {(c,) for c in range(len(sizes))}, key=len, reverse=True
    )
    merged: list[set[int]] = []
    for scope in scopes:
        best = None
        for place, members in enumerate(merged):
            union = members | set(scope)
            if prod(sizes[c] for c in union) <= MOST_CELLS or union == members:
                overlap = len(members) + len(scope) - len(union)
                if best is None or overlap > best[0]:
                    best = (overlap, place)
        if best is None:
            merged.append(set(scope))
        else:
            merged[best[1]] |= set(scope)
    homes = [next(p for p, members in enumerate(merged) if members.issuperset(t.scope)) for t in tables]
    return tuple(
        Cluster(
            order,
            tuple(sizes[c] for c in order),
            tuple(t for t, h in zip(tables, homes, strict=True) if h == place),
        )
        for place, members in enumerate(merged)
        for order in [tuple(sorted(members))]
    )
