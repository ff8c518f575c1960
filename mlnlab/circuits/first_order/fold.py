"""One fold over a first-order circuit, in any semiring, at whole numbers as sizes.

Values of a definition are kept by its sizes, so that what is shared is computed once and domain recursion
ends. There is no recursion of Python's, which would not be deep enough.
"""

from __future__ import annotations

from functools import reduce
from math import comb
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from mlnlab.circuits.first_order.first_order_circuit import (
    SIGNED,
    Counting,
    FirstOrderCircuit,
    InclusionExclusion,
    Power,
    Product,
    SizeCase,
    Sum,
    Unfolded,
)
from mlnlab.circuits.first_order.multiplying_out import (
    CountingProduct,
    MultipliedOut,
    binomials,
    run_of_counts,
    run_of_keys,
)
from mlnlab.errors import TooLargeError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlnlab.algebra.semirings import Semiring
    from mlnlab.circuits.first_order.first_order_circuit import Body, Call, Leaf

V = TypeVar("V")
Key = tuple[int, tuple[int, ...]]

MOST_VALUES = 1_000_000


class Weights(NamedTuple):
    """The weights of an atom of each symbol, where it is true and where it is false, in a semiring."""

    true: Sequence[object]
    false: Sequence[object]


class Bodies(Protocol):
    """A circuit, or a compiler of a circuit's definitions on demand."""

    @property
    def root(self) -> int:
        """The definition that is asked for."""

    def body(self, number: int, sizes: Sequence[int]) -> Body | CountingProduct:
        """Return the body of a definition, for sizes of its subdomains."""


def fold(circuit: Bodies, sizes: Sequence[int], semiring: Semiring[V], weights: Weights) -> V:
    """Return the value of a circuit for sizes of its root's subdomains."""
    bodies: Bodies = MultipliedOut(circuit) if isinstance(circuit, FirstOrderCircuit) else circuit
    return all_values(bodies, sizes, semiring, weights)[circuit.root, tuple(sizes)]


def all_values(
    circuit: Bodies, sizes: Sequence[int], semiring: Semiring[V], weights: Weights
) -> dict[Key, V]:
    """Return all values that a circuit's value is made of, each after those that it is made of itself."""
    known: dict[Key, V] = {}
    waiting: list[Key] = [(circuit.root, tuple(sizes))]
    while waiting:
        refuse_many(len(known))
        key = waiting[-1]
        if key in known:
            waiting.pop()
            continue
        body = circuit.body(*key)
        missing = [child for child in list_needed_values(body, key[1]) if child not in known]
        if missing:
            waiting += missing
            continue
        known[waiting.pop()] = value_of(body, key[1], known, semiring, weights)
    return known


def refuse_many(values: int) -> None:
    """Refuse to go on where a count needs more values than it should."""
    if values > MOST_VALUES:
        raise TooLargeError(
            f"The count takes more than {MOST_VALUES:,} values for these sizes.", float(values),
            ["ask about smaller domains", "sample with ml.infer(..., method='mc-sat')"],
        )  # fmt: skip


def list_needed_values(body: Body | CountingProduct, sizes: tuple[int, ...]) -> list[Key]:
    """Return which values a body is made of; a power of no elements needs none."""
    match body:
        case Product():
            return _keys(body, sizes)
        case Sum(terms):
            return [key for term in terms for key in _keys(term, sizes)]
        case InclusionExclusion(first, second, both):
            return [key for term in (first, second, both) for key in _keys(term, sizes)]
        case Power(call, count):
            return [resolve_call(call, sizes)] if count.at(sizes) else []
        case Counting(subdomain, call):
            return [resolve_call(call, sizes, chosen) for chosen in range(sizes[subdomain] + 1)]
        case CountingProduct(subdomain, product):
            return [key for run in run_of_calls(product, sizes, sizes[subdomain]) for key in run if key]
        case SizeCase(subdomain, minimum, large, small):
            return _keys(large if sizes[subdomain] >= minimum else small, sizes)
        case Unfolded():
            return []


def _keys(product: Product, sizes: tuple[int, ...]) -> list[Key]:
    """Return a product's calls; an impossible product needs no more values."""
    if any(leaf.sign == "impossible" and leaf.times.at(sizes) for leaf in product.leaves):
        return []
    return [resolve_call(call, sizes) for call in product.calls]


def run_of_calls(product: Product, sizes: tuple[int, ...], elements: int) -> list[list[Key | None]]:
    """Return which values the calls of a product ask for, for each k; none where it is impossible."""
    impossible = {
        k
        for leaf in product.leaves
        if leaf.sign == "impossible"
        for k, times in enumerate(run_of_counts(leaf, sizes, elements))
        if times
    }
    runs: list[list[Key | None]] = [[*run_of_keys(call, sizes, elements)] for call in product.calls]
    return (
        [[None if k in impossible else key for k, key in enumerate(run)] for run in runs]
        if impossible
        else runs
    )


def resolve_call(call: Call, sizes: tuple[int, ...], chosen: int = 0) -> Key:
    """Return which value a call asks for."""
    return call.definition, tuple(size.at(sizes, chosen) for size in call.sizes)


def value_of(
    body: Body | CountingProduct,
    sizes: tuple[int, ...],
    known: Mapping[Key, V],
    semiring: Semiring[V],
    weights: Weights,
) -> V:
    """Return the value of a body whose calls have values."""

    def product(part: Product) -> V:
        total = semiring.one
        for leaf in part.leaves:
            total = semiring.multiply(total, leaf_value(leaf, sizes, semiring, weights))
        for key in _keys(part, sizes):
            total = semiring.multiply(total, known[key])
        return total

    match body:
        case Product():
            return product(body)
        case Sum(terms):
            total = semiring.zero
            for term in terms:
                total = semiring.add(total, product(term))
            return total
        case InclusionExclusion(first, second, both):
            return semiring.add(product(first), semiring.subtract(product(second), product(both)))
        case Power(call, count):
            times = count.at(sizes)
            return semiring.power(known[resolve_call(call, sizes)], times) if times else semiring.one
        case Counting(subdomain, call):
            total = semiring.zero
            for chosen in range(sizes[subdomain] + 1):
                part = known[resolve_call(call, sizes, chosen)]
                total = semiring.add(total, semiring.multiple(part, comb(sizes[subdomain], chosen)))
            return total
        case CountingProduct():
            return _sum_products(body, sizes, known, semiring, weights)
        case SizeCase(subdomain, minimum, large, small):
            return product(large if sizes[subdomain] >= minimum else small)
        case Unfolded():
            raise LookupError("This part of the circuit is compiled only when sizes are known.")


def _sum_products(
    body: CountingProduct, sizes: tuple[int, ...], known: Mapping[Key, V], semiring: Semiring[V],
    weights: Weights,
) -> V:  # fmt: skip
    """Return the sum over k of products; factors of 1 are left out."""
    elements = sizes[body.subdomain]
    terms = list(map(semiring.multiple, [semiring.one] * (elements + 1), binomials(elements)))
    for leaf in body.product.leaves:
        one = semiring.zero if leaf.sign == "impossible" else atom_value(leaf, semiring, weights)
        is_one = one == semiring.one  # a ball that only contains 1 is neither equal nor unequal to it
        if not is_one:
            powers = run_of_powers(one, run_of_counts(leaf, sizes, elements), semiring)
            terms = list(map(semiring.multiply, terms, powers))
    for run in run_of_calls(body.product, sizes, elements):
        values = [semiring.zero if key is None else known[key] for key in run]
        terms = list(map(semiring.multiply, terms, values))
    return reduce(semiring.add, terms)


def run_of_powers(one: V, counts: Sequence[int], semiring: Semiring[V]) -> list[V]:
    """Return powers of a value; no atoms are worth 1, whatever one of them is."""
    return [semiring.power(one, times) if times else semiring.one for times in counts]


def leaf_value(leaf: Leaf, sizes: Sequence[int], semiring: Semiring[V], weights: Weights) -> V:
    """Return the value of the atoms of a leaf."""
    times = leaf.times.at(sizes)
    if not times:
        return semiring.one
    if leaf.sign == "impossible":
        return semiring.zero
    return semiring.power(atom_value(leaf, semiring, weights), times)


def atom_value(leaf: Leaf, semiring: Semiring[V], weights: Weights) -> V:
    """Return the value of one atom of a leaf."""
    true, false = atom_weights(leaf.symbol, semiring, weights)
    return true if leaf.sign == "true" else false if leaf.sign == "false" else semiring.add(true, false)


def atom_weights(symbol: int, semiring: Semiring[V], weights: Weights) -> tuple[V, V]:
    """Return the weights of an atom of a symbol, where it is true and where it is false."""
    if symbol == SIGNED:
        return semiring.subtract(semiring.zero, semiring.one), semiring.one
    return weights.true[symbol], weights.false[symbol]  # type: ignore[return-value]  # of the same semiring
