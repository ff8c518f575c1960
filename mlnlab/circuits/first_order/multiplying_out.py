"""Products that only one definition calls are multiplied out there, so that no value of theirs is kept.

A circuit that rules made is full of them, and below a counting node each has a value for every size of the
subset, often many more than the definitions that they call. Multiplied out, a counting node is a sum of
products of runs: one value of each factor for every k.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from math import comb, perm
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.circuits.first_order.first_order_circuit import (
    Call,
    Counting,
    InclusionExclusion,
    Leaf,
    Product,
    SizeCase,
    Sum,
    calls_of,
)
from mlnlab.circuits.first_order.sizes import CHOSEN, Count, Size

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.circuits.first_order.first_order_circuit import Body, FirstOrderCircuit


class CountingProduct(NamedTuple):
    """``sum over k of C(n, k) · product(k)``: sizes in the product may name k."""

    subdomain: int
    product: Product


class MultipliedOut:
    """A circuit's bodies with products multiplied out; none is made before it is asked for."""

    def __init__(self, circuit: FirstOrderCircuit) -> None:
        self.root, self._definitions = circuit.root, circuit.definitions
        self._callers = Counter(call.definition for d in self._definitions for call in calls_of(d.body))
        self._bodies: dict[int, Body | CountingProduct] = {}

    def body(self, number: int, sizes: Sequence[int]) -> Body | CountingProduct:  # noqa: ARG002 - as others
        """Return the body of a definition."""
        if number not in self._bodies:
            self._bodies[number] = self._multiply_out(self._definitions[number].body)
        return self._bodies[number]

    def _multiply_out(self, body: Body) -> Body | CountingProduct:
        match body:
            case Product():
                return self._flat(body)
            case Sum(terms):
                return Sum(tuple(map(self._flat, terms)))
            case InclusionExclusion(first, second, both):
                return InclusionExclusion(self._flat(first), self._flat(second), self._flat(both))
            case SizeCase(subdomain, minimum, large, small):
                return SizeCase(subdomain, minimum, self._flat(large), self._flat(small))
            case Counting(subdomain, call):
                inner = self._flat(Product((), (call,)))
                return body if inner.calls == (call,) else CountingProduct(subdomain, inner)
            case _:
                return body

    def _flat(self, product: Product) -> Product:
        """Return a product with the products that it alone calls in their place."""
        leaves, calls = list(product.leaves), []
        for call in product.calls:
            body = self._definitions[call.definition].body
            if isinstance(body, Product) and self._callers[call.definition] == 1:
                inner = self._flat(body)
                leaves += [leaf._replace(times=_count_within(leaf.times, call)) for leaf in inner.leaves]
                calls += [
                    Call(one.definition, tuple(size.within(call.sizes) for size in one.sizes))
                    for one in inner.calls
                ]
            else:
                calls.append(call)
        return Product(tuple(leaves), tuple(calls))


def _count_within(count: Count, call: Call) -> Count:
    return Count(tuple((size.within(call.sizes), m) for size, m in count.falling), count.divided)


# --- runs: one number for each k from 0 to n ------------------------------------------------------


@lru_cache(maxsize=256)
def binomials(elements: int) -> tuple[int, ...]:
    """Return C(n, k) for each k."""
    return tuple(comb(elements, k) for k in range(elements + 1))


def run_of_keys(call: Call, sizes: Sequence[int], elements: int) -> list[tuple[int, tuple[int, ...]]]:
    """Return which value a call asks for, for each k."""
    if not call.sizes:
        return [(call.definition, ())] * (elements + 1)
    runs = [_run(size, sizes, elements) for size in call.sizes]
    return [(call.definition, key) for key in zip(*runs, strict=True)]


def run_of_counts(leaf: Leaf, sizes: Sequence[int], elements: int) -> list[int]:
    """Return how many atoms a leaf has, for each k."""
    total = [1] * (elements + 1)
    for size, times in leaf.times.falling:
        run: Sequence[int] = _run(size, sizes, elements)
        total = list(map(mul, total, [perm(max(n, 0), times) for n in run] if times > 1 else run))
    return [count // leaf.times.divided for count in total]


def _run(size: Size, sizes: Sequence[int], elements: int) -> Sequence[int]:
    first = size.at(sizes, 0)
    step = dict(size.terms).get(CHOSEN, 0)
    return range(first, first + step * (elements + 1), step) if step else [first] * (elements + 1)
