"""Value and all derivatives of a circuit in a ring, by one pass up and one down (Darwiche 2003, section 4).

For exact fractions and balls, where float logarithms do not do: signed weights cancel. The derivative by the
weight of a symbol's true atoms, times that weight and divided by the value, is their expected number.
"""

from __future__ import annotations

from functools import partial
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

from mlnlab.circuits.first_order.first_order_circuit import (
    SIGNED,
    Counting,
    FirstOrderCircuit,
    InclusionExclusion,
    Power,
    Product,
    SizeCase,
    Sum,
)
from mlnlab.circuits.first_order.fold import (
    Bodies,
    Key,
    Weights,
    all_values,
    atom_value,
    leaf_value,
    resolve_call,
    run_of_calls,
    run_of_powers,
)
from mlnlab.circuits.first_order.multiplying_out import (
    CountingProduct,
    MultipliedOut,
    binomials,
    run_of_counts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mlnlab.algebra.semirings import Semiring


class Derivatives(NamedTuple):
    """A circuit's value, and its derivatives by the weights of true and false atoms of each symbol."""

    value: Any
    true: tuple[Any, ...]
    false: tuple[Any, ...]


class Passes(NamedTuple):
    """The results of a pass up and one down: values and adjoints by definition and sizes."""

    known: dict[Key, Any]
    adjoints: dict[Key, Any]
    found: Derivatives


def derivatives(circuit: Bodies, sizes: Sequence[int], ring: Semiring[Any], weights: Weights) -> Derivatives:
    """Return value and derivatives; the pass up keeps every value that it needs."""
    bodies: Bodies = MultipliedOut(circuit) if isinstance(circuit, FirstOrderCircuit) else circuit
    return both_passes(bodies, sizes, ring, weights).found


def both_passes(circuit: Bodies, sizes: Sequence[int], ring: Semiring[Any], weights: Weights) -> Passes:
    """Return all values, and the derivative of the circuit's value by each of them."""
    root = (circuit.root, tuple(sizes))
    known = all_values(circuit, sizes, ring, weights)
    adjoints: dict[Key, Any] = {root: ring.one}
    true, false = [ring.zero] * len(weights.true), [ring.zero] * len(weights.false)
    down = _Down(known, ring, weights, adjoints, true, false)
    for key in reversed(known):
        if key in adjoints:
            down.body(circuit.body(*key), key[1], adjoints[key])
    return Passes(known, adjoints, Derivatives(known[root], tuple(true), tuple(false)))


class _Down:
    """Hands adjoints from a definition down to its parts; a mutable local of one pass."""

    def __init__(
        self, known: dict[Key, Any], ring: Semiring[Any], weights: Weights, adjoints: dict[Key, Any],
        true: list[Any], false: list[Any],
    ) -> None:  # fmt: skip
        self.known, self.ring, self.weights, self.adjoints = known, ring, weights, adjoints
        self.true, self.false = true, false

    def body(self, body: object, sizes: tuple[int, ...], adjoint: Any) -> None:  # noqa: ANN401
        ring = self.ring
        match body:
            case Product():
                self.product(body, sizes, adjoint)
            case Sum(terms):
                for term in terms:
                    self.product(term, sizes, adjoint)
            case InclusionExclusion(first, second, both):
                self.product(first, sizes, adjoint)
                self.product(second, sizes, adjoint)
                self.product(both, sizes, ring.multiple(adjoint, -1))
            case Power(call, count):
                times = count.at(sizes)
                if times:
                    key = resolve_call(call, sizes)
                    slope = ring.multiple(ring.power(self.known[key], times - 1), times)
                    self.add(key, ring.multiply(adjoint, slope))
            case Counting(subdomain, call):
                for chosen in range(sizes[subdomain] + 1):
                    self.add(
                        resolve_call(call, sizes, chosen),
                        ring.multiple(adjoint, comb(sizes[subdomain], chosen)),
                    )
            case CountingProduct():
                self.share_adjoint(body, sizes, adjoint)
            case SizeCase(subdomain, minimum, large, small):
                self.product(large if sizes[subdomain] >= minimum else small, sizes, adjoint)

    def product(self, part: Product, sizes: tuple[int, ...], adjoint: Any) -> None:  # noqa: ANN401
        """Give each factor the product of the others, found by products from both ends, without division."""
        ring = self.ring
        if any(leaf.sign == "impossible" and leaf.times.at(sizes) for leaf in part.leaves):
            return
        leaves = [leaf for leaf in part.leaves if leaf.times.at(sizes)]
        keys = [resolve_call(call, sizes) for call in part.calls]
        values = [leaf_value(leaf, sizes, ring, self.weights) for leaf in leaves]
        values += [self.known[key] for key in keys]
        others = _others(values, ring.one, ring.multiply)
        for leaf, other in zip(leaves, others, strict=False):
            self.leaf(leaf.symbol, leaf.sign, leaf.times.at(sizes), ring.multiply(adjoint, other))
        for key, other in zip(keys, others[len(leaves) :], strict=True):
            self.add(key, ring.multiply(adjoint, other))

    def share_adjoint(self, body: CountingProduct, sizes: tuple[int, ...], adjoint: Any) -> None:  # noqa: ANN401
        """Give each factor of each term the product of the others, a run of terms at a time."""
        ring, elements = self.ring, sizes[body.subdomain]
        bars = [leaf for leaf in body.product.leaves if leaf.sign == "impossible"]
        leaves = [leaf for leaf in body.product.leaves if leaf.sign != "impossible"]
        counts = [run_of_counts(leaf, sizes, elements) for leaf in leaves]
        keys = run_of_calls(body.product, sizes, elements)
        terms = [ring.multiple(adjoint, binomial) for binomial in binomials(elements)]
        for bar in bars:
            barred = run_of_counts(bar, sizes, elements)
            terms = [ring.zero if times else term for term, times in zip(terms, barred, strict=True)]
        runs = [
            run_of_powers(atom_value(leaf, ring, self.weights), run, ring)
            for leaf, run in zip(leaves, counts, strict=True)
        ]
        runs += [[ring.zero if key is None else self.known[key] for key in run] for run in keys]
        others = _others([terms, *runs], [ring.one] * (elements + 1), partial(_times, ring))[1:]
        for leaf, run, other in zip(leaves, counts, others, strict=False):
            for times, term in zip(run, other, strict=True):
                if times:
                    self.leaf(leaf.symbol, leaf.sign, times, term)
        for of_call, other in zip(keys, others[len(leaves) :], strict=True):
            for key, term in zip(of_call, other, strict=True):
                if key is not None:
                    self.add(key, term)

    def leaf(self, symbol: int, sign: str, times: int, adjoint: Any) -> None:  # noqa: ANN401
        if symbol == SIGNED:  # what these weigh is no parameter
            return
        ring = self.ring
        true, false = self.weights.true[symbol], self.weights.false[symbol]
        base = true if sign == "true" else false if sign == "false" else ring.add(true, false)
        slope = ring.multiply(adjoint, ring.multiple(ring.power(base, times - 1), times))
        if sign != "false":
            self.true[symbol] = ring.add(self.true[symbol], slope)
        if sign != "true":
            self.false[symbol] = ring.add(self.false[symbol], slope)

    def add(self, key: Key, adjoint: Any) -> None:  # noqa: ANN401
        before = self.adjoints.get(key)
        self.adjoints[key] = adjoint if before is None else self.ring.add(before, adjoint)


def _times(ring: Semiring[Any], left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
    return list(map(ring.multiply, left, right))


def _others(values: Sequence[Any], one: Any, multiply: Callable[[Any, Any], Any]) -> list[Any]:  # noqa: ANN401
    """Return for each value the product of all others."""
    before, after = [one], [one]
    for value in values:
        before.append(multiply(before[-1], value))
    for value in reversed(values):
        after.append(multiply(after[-1], value))
    return [multiply(before[n], after[len(values) - 1 - n]) for n in range(len(values))]
