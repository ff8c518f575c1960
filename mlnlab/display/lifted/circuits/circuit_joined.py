"""Conjunctions that follow one another are drawn as one box, with all sizes in terms of the first one's."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mlnlab.circuits.first_order import Body, Call, Product, calls_of
from mlnlab.circuits.sizes import Count

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from mlnlab.circuits.first_order import Leaf
    from mlnlab.circuits.sizes import Size


class Joined(NamedTuple):
    """The definitions in one box: their numbers, the first one naming it, and their joint body."""

    numbers: tuple[int, ...]
    body: Body | None


def joined_bodies(bodies: Mapping[int, Body | None], apart: Collection[int] = ()) -> dict[int, Joined]:
    """Return bodies as they are drawn; definitions ``apart`` have boxes of their own."""
    callers: dict[int, int] = {}
    for body in bodies.values():
        for call in () if body is None else calls_of(body):
            callers[call.definition] = callers.get(call.definition, 0) + 1
    into = {
        number: body.calls[0].definition
        for number, body in bodies.items()
        if isinstance(body, Product) and len(body.calls) == 1 and number not in apart
    }
    into = {
        number: inner
        for number, inner in into.items()
        if isinstance(bodies[inner], Product) and callers[inner] == 1 and inner not in apart and inner
    }
    inside = set(into.values())
    return {number: _join_products(number, bodies, into) for number in bodies if number not in inside}


def _join_products(number: int, bodies: Mapping[int, Body | None], into: Mapping[int, int]) -> Joined:
    numbers, body = [number], bodies[number]
    while numbers[-1] in into and isinstance(body, Product):
        inner = bodies[into[numbers[-1]]]
        assert isinstance(inner, Product)  # noqa: S101 - so they were chosen
        sizes = body.calls[0].sizes
        leaves = (*body.leaves, *(_within(leaf, sizes) for leaf in inner.leaves))
        body = Product(leaves, tuple(_call_within(call, sizes) for call in inner.calls))
        numbers.append(into[numbers[-1]])
    return Joined(tuple(numbers), body)


def _within(leaf: Leaf, sizes: tuple[Size, ...]) -> Leaf:
    times = Count(tuple((size.within(sizes), m) for size, m in leaf.times.falling), leaf.times.divided)
    return leaf._replace(times=times)


def _call_within(call: Call, sizes: tuple[Size, ...]) -> Call:
    return Call(call.definition, tuple(size.within(sizes) for size in call.sizes))
