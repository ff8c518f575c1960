"""A forest over variables in the kernels' arrays, and weighted products laid out on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import TooLargeError
from mlnlab.factors.trees.tree_messages import inward_schedule
from mlnlab.kernels.messages.forest_ascent import (
    NONE,
    Forest,
    Products,
    Room,
    expectations,
    find_stops,
    spread,
    walk_forest,
)
from mlnlab.kernels.messages.sum_product_graph import make_read_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.inference.messages.weighted_products import WeightedProducts

    Reals = NDArray[np.float64]
    Numbers = NDArray[np.int64]

MOST_STOPS = 50_000_000  # variables that products pass, together: about 2 GB


@dataclass(frozen=True, eq=False)
class Approximation:
    """Products on a forest, whose expectations are taken under a distribution that is the forest."""

    forest: Forest
    products: Products

    def room(self, conditionals: Reals) -> Room:
        """Return room to work, with the distribution of each variable in it."""
        ups = int(self.products.up_starts[-1]) if len(self.products.up_starts) else 0
        lifts = int(self.products.lift_starts[-1]) if len(self.products.lift_starts) else 0
        values = int(self.forest.value_starts[-1])
        widest = int(np.diff(self.forest.value_starts.astype(np.int64)).max())
        room = Room(
            np.zeros(values), np.zeros(values), np.zeros(ups), np.zeros(lifts), np.zeros(lifts),
            np.zeros(widest),
        )  # fmt: skip
        spread(self.forest, conditionals, room.marginals)
        return room

    def compute_expectations(self, conditionals: Reals) -> tuple[float, Reals, Reals]:
        """Return expected log-weight plus entropy, the values' marginals, and the products' expectations."""
        conditionals = conditionals.copy()  # the walk's other purpose is to change them
        room = self.room(conditionals)
        bound = walk_forest(self.forest, self.products, conditionals, room, False)
        found = np.zeros(len(self.products.weights))
        expectations(self.forest, self.products, room, found)
        return bound, room.marginals[:-1], found

    def sweep_conditionals(self, conditionals: Reals) -> Reals:
        """Return the conditionals after each was made the best one, given all others."""
        found = conditionals.copy()
        room = self.room(found)
        walk_forest(self.forest, self.products, found, room, False)
        walk_forest(self.forest, self.products, found, room, True)
        return found

    @cached_property
    def parent_values(self) -> Numbers:
        """Of each cell of a conditional, the value of the parent that it is given."""
        starts, tables = self.forest.value_starts.astype(np.int64), self.forest.table_starts.astype(np.int64)
        sizes, cells = np.diff(starts), np.diff(tables)
        own = np.arange(tables[-1]) - np.repeat(tables[:-1], cells)
        above = starts[self.forest.parents.astype(np.int64)]
        return np.asarray(np.repeat(above, cells) + own // np.repeat(sizes, cells))

    def from_marginals(self, marginals: Reals) -> Reals:
        """Return conditionals that do not depend on the parent."""
        starts, tables = self.forest.value_starts.astype(np.int64), self.forest.table_starts.astype(np.int64)
        sizes, cells = np.diff(starts), np.diff(tables)
        own = np.arange(tables[-1]) - np.repeat(tables[:-1], cells)
        values = np.repeat(starts[:-1], cells) + own % np.repeat(sizes, cells)
        return np.asarray(np.append(marginals, 1.0)[values])

    def joint(self, conditionals: Reals, marginals: Reals) -> Reals:
        """Return the probability of each pair of values of a variable and its parent."""
        return np.asarray(np.append(marginals, 1.0)[self.parent_values] * conditionals)


def approximation(products: WeightedProducts, branches: Sequence[tuple[int, int]]) -> Approximation:
    """Return products on the forest with these branches; every part of it hangs on one root."""
    forest = forest_of(products.sizes, branches)
    return Approximation(forest, products_on(forest, products))


def forest_of(sizes: Numbers, branches: Sequence[tuple[int, int]]) -> Forest:
    """Return variables below their parents; the root of all is one more variable, of one value."""
    count = len(sizes)
    near: list[list[int]] = [[] for _ in range(count)]
    for one, other in branches:
        near[one].append(other)
        near[other].append(one)
    _, edges = inward_schedule(near)
    parents = np.full(count + 1, count, np.int64)
    for child, parent in edges:
        parents[child] = parent
    values = np.append(sizes, 1)
    cells = values * values[parents]
    return Forest(_starts(values), _words(parents), _starts(cells), _words(_walk(parents)))


def _walk(parents: Numbers) -> Numbers:
    """Return the walk through the forest, from the root to the root."""
    count = len(parents)
    below: list[list[int]] = [[] for _ in range(count)]
    for child, parent in enumerate(parents[:-1].tolist()):
        below[parent].append(child)
    steps, waiting = [], [2 * (count - 1)]
    while waiting:
        step = waiting.pop()
        steps.append(step)
        if step % 2 == 0:
            waiting.append(step + 1)
            waiting += [2 * child for child in reversed(below[step // 2])]
    return np.array(steps, np.int64)


def depths_of(forest: Forest) -> Numbers:
    """Return how many branches each variable is below the root."""
    parents, depths = forest.parents.tolist(), np.zeros(len(forest.parents), np.int64)
    for step in forest.walk.tolist():
        if step % 2 == 0 and step // 2 != len(parents) - 1:
            depths[step // 2] = depths[parents[step // 2]] + 1
    return depths


# --- products on a forest -------------------------------------------------------------------------


def products_on(forest: Forest, products: WeightedProducts) -> Products:
    """Return where each product stops: at the smallest part of the forest that holds its variables."""
    depths, size = depths_of(forest), len(forest.parents)
    owners, variables = _stops(forest, depths, products)
    order = np.lexsort((owners, variables))
    owners, variables = owners[order], variables[order]
    keys = variables * max(1, len(products.weights)) + owners
    lowest = np.full(len(products.weights), size)
    np.minimum.at(lowest, owners, depths[variables])
    is_top = depths[variables] == lowest[owners]
    parents = forest.parents.astype(np.int64)
    above = np.searchsorted(keys, parents[variables] * max(1, len(products.weights)) + owners)
    above = np.where(is_top, NONE, above)
    children = np.flatnonzero(~is_top)
    children = children[np.argsort(above[children], kind="stable")]
    tops = np.zeros(len(products.weights), np.int64)
    tops[owners[is_top]] = np.flatnonzero(is_top)
    starts = forest.value_starts.astype(np.int64)
    values = np.asarray(starts[1:] - starts[:-1])
    seen = np.where(is_top, 0, values[parents[variables]])
    return Products(
        products.weights,
        _words(tops),
        _starts(np.bincount(variables, minlength=size)),
        _words(owners),
        _words(above),
        _starts(np.bincount(above[children], minlength=len(owners))),
        _words(children),
        _words(_worths_at(keys, products)),
        products.worths,
        _starts(values[variables]),
        _starts(seen),
    )


def _stops(forest: Forest, depths: Numbers, products: WeightedProducts) -> tuple[Numbers, Numbers]:
    """Return pairs of a product and a variable that it passes."""
    known = forest.parents, _words(depths), products.starts, products.variables
    count = find_stops(*known, np.full(len(depths), -1), np.zeros(0, np.uint32))
    if count > MOST_STOPS:
        raise TooLargeError(
            f"On this tree, factors would have to be followed through {count:,} variables together (up to "
            f"{MOST_STOPS:,}).", float(count),
            ["choose a tree of shorter branches, or none, by tree=", "give more evidence",
             "ask for mean-field or belief-propagation"],
        )  # fmt: skip
    found = np.zeros(2 * count, np.uint32)
    find_stops(*known, np.full(len(depths), -1), found)
    return found[::2].astype(np.int64), found[1::2].astype(np.int64)


def _worths_at(keys: Numbers, products: WeightedProducts) -> Numbers:
    """Return of each stop where its worths are; NONE where the product only passes by."""
    found = np.full(len(keys), NONE, np.int64)
    starts = products.starts.astype(np.int64)
    owners = np.repeat(np.arange(len(products.weights)), starts[1:] - starts[:-1])
    wanted = products.variables.astype(np.int64) * max(1, len(products.weights)) + owners
    found[np.searchsorted(keys, wanted)] = products.worth_starts
    return found


def _starts(sizes: Numbers) -> NDArray[np.uint32]:
    return _words(np.concatenate([[0], np.cumsum(np.asarray(sizes, np.int64))]))


def _words(numbers: Numbers) -> NDArray[np.uint32]:
    return make_read_only(np.ascontiguousarray(numbers, np.uint32))
