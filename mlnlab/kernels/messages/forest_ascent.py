"""Coordinate ascent over distributions that are a forest: each conditional in turn, given all others.

    q(x) = product over variables v of q(x_v | x_parent(v))

The model's log-weight is a sum of weights times products of functions of one variable each. Under a forest
the expectation of such a product is passed along the branches between its variables: what is below a branch
goes up it, what is around goes down. With both in hand, the best q(x_v | x_parent) is proportional to exp of
what x_v can expect (Wiegerinck, Variational approximations between mean field theory and the junction tree
algorithm, 2000, Eq. 13). One walk over the forest, in at each branch and out again, renews all conditionals.

    variable v   values        value_starts[v] : value_starts[v + 1]; the last is the root, of one value
                 conditional   table_starts[v] + x_parent * values + x_v
                 stops         stop_starts[v] : stop_starts[v + 1], one for each product that passes v
    stop s       worths        worths[worth_starts[s] + x_v], or none where the product only passes by
                 ups           ups[up_starts[s] + x_v], what to expect of all below it
                 lifts         lifts[lift_starts[s] + x_parent], the same seen from above; around[] the rest
"""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.kernels.compiled import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = int | np.integer[Any]
    Reals = NDArray[np.float64]
    Words = NDArray[np.uint32]

NONE = (1 << 32) - 1  # where a product only passes by, and above a root


class Forest(NamedTuple):
    """Variables below their parents, and the walk: 2 v on the way in, 2 v + 1 on the way out; read-only."""

    value_starts: NDArray[np.uint32]
    parents: NDArray[np.uint32]
    table_starts: NDArray[np.uint32]
    walk: NDArray[np.uint32]


class Products(NamedTuple):
    """Weighted products of functions of one variable each, stop by stop; read-only."""

    weights: NDArray[np.float64]
    tops: NDArray[np.uint32]  # of each product the stop that is above its others
    stop_starts: NDArray[np.uint32]
    owners: NDArray[np.uint32]
    above: NDArray[np.uint32]  # the stop at the parent, NONE at the top
    below_starts: NDArray[np.uint32]
    below: NDArray[np.uint32]
    worth_starts: NDArray[np.uint32]
    worths: NDArray[np.float64]
    up_starts: NDArray[np.uint32]
    lift_starts: NDArray[np.uint32]


class Room(NamedTuple):
    """The working arrays of a walk."""

    marginals: NDArray[np.float64]
    expected: NDArray[np.float64]  # of each value, what the variables below it bring, entropy included
    ups: NDArray[np.float64]
    lifts: NDArray[np.float64]
    around: NDArray[np.float64]
    scores: NDArray[np.float64]


@compiled
def spread(forest: Forest, conditionals: Reals, marginals: Reals) -> None:
    """Compute the distribution of each variable from that of its parent, from the root on."""
    marginals[len(marginals) - 1] = 1.0
    for step in forest.walk:
        variable = np.int64(step >> np.uint32(1))
        if step & np.uint32(1) or variable == len(forest.parents) - 1:
            continue
        start = np.int64(forest.value_starts[variable])
        size = np.int64(forest.value_starts[variable + 1]) - start
        parent = np.int64(forest.parents[variable])
        above = np.int64(forest.value_starts[parent])
        table = np.int64(forest.table_starts[variable])
        for value in range(size):
            total = 0.0
            for seen in range(np.int64(forest.value_starts[parent + 1]) - above):
                total += marginals[above + seen] * conditionals[table + seen * size + value]
            marginals[start + value] = total


@compiled
def gather_below(forest: Forest, products: Products, room: Room, variable: Number) -> None:
    """Compute each product's expectation over a variable and all below it, given the variable's values."""
    size = np.int64(forest.value_starts[variable + 1]) - np.int64(forest.value_starts[variable])
    first = np.int64(forest.value_starts[variable])
    for stop in range(np.int64(products.stop_starts[variable]), np.int64(products.stop_starts[variable + 1])):
        up, worth = np.int64(products.up_starts[stop]), np.int64(products.worth_starts[stop])
        for value in range(size):
            found = 1.0
            if worth != NONE:
                found = products.worths[worth + value]
            for place in range(
                np.int64(products.below_starts[stop]), np.int64(products.below_starts[stop + 1])
            ):
                found *= room.lifts[np.int64(products.lift_starts[products.below[place]]) + value]
            room.ups[up + value] = found
        if products.above[stop] == NONE:
            for value in range(size):
                weight = products.weights[products.owners[stop]]
                room.expected[first + value] += weight * room.ups[up + value]


@compiled
def lift(forest: Forest, products: Products, conditionals: Reals, room: Room, variable: Number) -> None:
    """Pass the expectations below a variable up to its parent, for each of the parent's values."""
    start, parent = np.int64(forest.value_starts[variable]), np.int64(forest.parents[variable])
    size, table = np.int64(forest.value_starts[variable + 1]) - start, np.int64(forest.table_starts[variable])
    above = np.int64(forest.value_starts[parent])
    seen_values = np.int64(forest.value_starts[parent + 1]) - above
    for stop in range(np.int64(products.stop_starts[variable]), np.int64(products.stop_starts[variable + 1])):
        if products.above[stop] != NONE:
            up, place = np.int64(products.up_starts[stop]), np.int64(products.lift_starts[stop])
            for seen in range(seen_values):
                total = 0.0
                for value in range(size):
                    total += conditionals[table + seen * size + value] * room.ups[up + value]
                room.lifts[place + seen] = total
    for seen in range(seen_values):
        total = 0.0
        for value in range(size):
            share = conditionals[table + seen * size + value]
            if share > 0.0:
                total += share * (room.expected[start + value] - log(share))
        room.expected[above + seen] += total


@compiled
def look_around(
    forest: Forest, products: Products, conditionals: Reals, room: Room, variable: Number
) -> None:
    """Compute each product's expectation over all that is not below a variable, given the parent's values."""
    parent = np.int64(forest.parents[variable])
    start, table = np.int64(forest.value_starts[parent]), np.int64(forest.table_starts[parent])
    size = np.int64(forest.value_starts[parent + 1]) - start
    higher = np.int64(forest.value_starts[np.int64(forest.parents[parent])])
    higher_values = np.int64(forest.value_starts[np.int64(forest.parents[parent]) + 1]) - higher
    for stop in range(np.int64(products.stop_starts[variable]), np.int64(products.stop_starts[variable + 1])):
        over = np.int64(products.above[stop])
        if over == NONE:
            continue
        worth, place = np.int64(products.worth_starts[over]), np.int64(products.lift_starts[over])
        for value in range(size):
            found = 1.0
            if worth != NONE:
                found = products.worths[worth + value]
            for beside in range(
                np.int64(products.below_starts[over]), np.int64(products.below_starts[over + 1])
            ):
                if products.below[beside] != stop:
                    found *= room.lifts[np.int64(products.lift_starts[products.below[beside]]) + value]
            if products.above[over] != NONE and room.marginals[start + value] > 0.0:
                total = 0.0
                for seen in range(higher_values):
                    joint = room.marginals[higher + seen] * conditionals[table + seen * size + value]
                    total += joint * room.around[place + seen]
                found *= total / room.marginals[start + value]
            room.around[np.int64(products.lift_starts[stop]) + value] = found


@compiled
def renew(forest: Forest, products: Products, conditionals: Reals, room: Room, variable: Number) -> None:
    """Give a variable its best conditional, in proportion to exp of expected log-weights, Eq. (13)."""
    start, parent = np.int64(forest.value_starts[variable]), np.int64(forest.parents[variable])
    size, table = np.int64(forest.value_starts[variable + 1]) - start, np.int64(forest.table_starts[variable])
    first, end = np.int64(products.stop_starts[variable]), np.int64(products.stop_starts[variable + 1])
    seen_values = np.int64(forest.value_starts[parent + 1]) - np.int64(forest.value_starts[parent])
    for seen in range(seen_values):
        for value in range(size):
            room.scores[value] = room.expected[start + value]
        for stop in range(first, end):
            if products.above[stop] != NONE:
                around = room.around[np.int64(products.lift_starts[stop]) + seen]
                around *= products.weights[products.owners[stop]]
                for value in range(size):
                    room.scores[value] += around * room.ups[np.int64(products.up_starts[stop]) + value]
        most, total = room.scores[0], 0.0
        for value in range(1, size):
            most = max(most, room.scores[value])
        for value in range(size):
            room.scores[value] = exp(room.scores[value] - most)
            total += room.scores[value]
        for value in range(size):
            conditionals[table + seen * size + value] = room.scores[value] / total


@compiled
def walk_forest(forest: Forest, products: Products, conditionals: Reals, room: Room, renewing: bool) -> float:
    """Walk over the forest, renewing conditionals or not; return the expected log-weight and the entropy.

    When a conditional is renewed, all that it looks at is up to date: what is below was left a moment ago,
    and what is around has not changed since it was entered.
    """
    root = len(forest.parents) - 1
    for step in forest.walk:
        variable = np.int64(step >> np.uint32(1))
        if not step & np.uint32(1):
            for value in range(
                np.int64(forest.value_starts[variable]), np.int64(forest.value_starts[variable + 1])
            ):
                room.expected[value] = 0.0
            if renewing and variable != root:
                look_around(forest, products, conditionals, room, variable)
            continue
        gather_below(forest, products, room, variable)
        if variable != root:
            if renewing:
                renew(forest, products, conditionals, room, variable)
            lift(forest, products, conditionals, room, variable)
    return float(room.expected[np.int64(forest.value_starts[root])])


@compiled
def expectations(forest: Forest, products: Products, room: Room, found: Reals) -> None:
    """Compute the expectation of each product, after a walk."""
    for variable in range(len(forest.parents)):
        start = np.int64(forest.value_starts[variable])
        for stop in range(
            np.int64(products.stop_starts[variable]), np.int64(products.stop_starts[variable + 1])
        ):
            if products.above[stop] == NONE:
                total = 0.0
                for value in range(np.int64(forest.value_starts[variable + 1]) - start):
                    up = np.int64(products.up_starts[stop]) + value
                    total += room.marginals[start + value] * room.ups[up]
                found[products.owners[stop]] = total


@compiled
def _write_stop(product: Number, at: Number, seen: NDArray[np.int64], stops: Words, count: int) -> int:
    seen[at] = product
    if 2 * count + 1 < len(stops):
        stops[2 * count], stops[2 * count + 1] = product, at
    return count + 1


@compiled
def find_stops(
    parents: Words, depths: Words, starts: Words, variables: Words, seen: NDArray[np.int64], stops: Words
) -> int:
    """Count the variables that products pass, and write down pairs of product and variable if there is room.

    These are the smallest part of the forest that holds a product's variables; ``seen`` is -1 at first.
    """
    count = 0
    for product in range(len(starts) - 1):
        top = np.int64(variables[starts[product]])
        for place in range(np.int64(starts[product]), np.int64(starts[product + 1])):
            at = np.int64(variables[place])
            while seen[at] != product:
                count = _write_stop(product, at, seen, stops, count)
                while top != at and depths[top] >= depths[at]:
                    top = np.int64(parents[top])
                    if seen[top] != product:
                        count = _write_stop(product, top, seen, stops, count)
                if top == at:
                    break
                at = np.int64(parents[at])
    return count


def smallest_forest() -> tuple[Forest, Products, Room]:
    """Return one variable below the root and a product over it, with the types used in earnest."""

    def words(*numbers: int) -> Words:
        array = np.array(numbers, np.uint32)
        array.setflags(write=False)
        return array

    reals = np.ones(2)
    reals.setflags(write=False)
    forest = Forest(words(0, 2, 3), words(1, 1), words(0, 2, 3), words(2, 0, 1, 3))
    products = Products(
        reals[:1], words(0), words(0, 1, 1), words(0), words(NONE), words(0, 0), words(), words(0), reals,
        words(0), words(0),
    )  # fmt: skip
    room = Room(np.zeros(3), np.zeros(3), np.zeros(2), np.zeros(1), np.zeros(1), np.zeros(2))
    return forest, products, room


def warm_up() -> None:
    """Compile every kernel of this file."""
    forest, products, room = smallest_forest()
    conditionals = np.array([0.5, 0.5, 1.0])
    spread(forest, conditionals, room.marginals)
    walk_forest(forest, products, conditionals, room, True)
    expectations(forest, products, room, np.zeros(1))
    depths, stops = np.zeros(2, np.uint32), np.zeros(2, np.uint32)
    find_stops(forest.parents, depths, forest.parents[:2], forest.parents, np.full(2, -1), stops)
