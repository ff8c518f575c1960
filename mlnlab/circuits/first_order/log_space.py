"""Log Z and all its derivatives: one pass up and one down, vectorised over sizes below counting nodes.

Values are held by their logarithms, so weights must not be negative. Products and powers are linear there:
they stay lists of counts until a sum needs their value, which is then one product of matrices. A counting
node gives its call an axis of its own, of length n + 1, and sums it away; what depends on no chosen size has
no such axis. Every value carries a bound of its rounding error. The derivative of log Z by the logarithm of
a symbol's weight is the expected number of its true atoms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

import numpy as np

from mlnlab.circuits.first_order.first_order_circuit import (
    Body,
    Counting,
    InclusionExclusion,
    Power,
    Product,
    SizeCase,
    Sum,
    Unfolded,
)
from mlnlab.circuits.first_order.log_nodes import (
    EPSILON,
    MOST_NUMBERS,
    Linear,
    Node,
    Term,
    add,
    finite,
    refuse,
    refuse_large,
    share,
    sum_linear,
)
from mlnlab.circuits.first_order.sizes import Count, Size, of_subdomain
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mlnlab.circuits.first_order.first_order_circuit import Call, FirstOrderCircuit, Leaf

    Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LogResult:
    """log Z for each column of sizes, a bound of its error, and the derivatives by all log-weights."""

    value: Values  # (columns,)
    error: Values
    true: Values  # (symbols, columns): expected numbers of true atoms
    false: Values


@dataclass(slots=True, eq=False)
class LogPass:
    """One pass up, which leaves nodes for the pass down; a mutable local of one evaluation."""

    circuit: FirstOrderCircuit
    true: Values  # (symbols, columns)
    false: Values
    variables: list[Values]  # sizes of the root's subdomains, then chosen ones
    known: dict[tuple[int, tuple[Size, ...]], Linear] = field(default_factory=dict)
    leaves: dict[tuple[int, str], Node] = field(default_factory=dict)
    arrays: dict[Size, Values] = field(default_factory=dict)
    chosen: dict[tuple[int, int], int] = field(default_factory=dict)  # (axis, length): variable
    order: list[Node] = field(default_factory=list)
    numbers: int = 0

    # --- sizes

    def array(self, size: Size) -> Values:
        """Return a size for all cases; those that do not count may have less than 0 elements."""
        if size not in self.arrays:
            total: Values = np.full(1, float(size.constant))
            for variable, times in size.terms:
                total = total + times * self.variables[variable]
            self.arrays[size] = np.maximum(total, 0.0)
        return self.arrays[size]

    def count(self, count: Count, sizes: Sequence[Size]) -> Values:
        """Return a number of atoms for all cases."""
        total: Values = np.ones(1)
        for size, times in count.falling:
            elements = self.array(size.within(sizes))
            for down in range(times):
                total = total * np.maximum(elements - down, 0.0)
        return total / count.divided

    # --- up

    def call_definition(self, call: Call, sizes: Sequence[Size], chosen: Size | None = None) -> Linear:
        """Return a definition's value for some sizes."""
        key = (call.definition, tuple(size.within(sizes, chosen) for size in call.sizes))
        if key not in self.known:
            self.known[key] = self.body(self.circuit.definitions[key[0]].body, key[1])
        return self.known[key]

    def body(self, body: Body, sizes: tuple[Size, ...]) -> Linear:
        """Return the value of a definition's node."""
        match body:
            case Product():
                return self.product(body, sizes)
            case Power(call, count):
                times = self.count(count, sizes)
                return [Term(term.times * times, term.node) for term in self.call_definition(call, sizes)]
            case Sum(terms):
                node = self.sum([self.sum_values(self.product(term, sizes)) for term in terms])
            case InclusionExclusion(first, second, both):
                parts = [self.sum_values(self.product(part, sizes)) for part in (first, second, both)]
                node = self.difference(*parts)
            case Counting(subdomain, call):
                node = self.counting(subdomain, call, sizes)
            case SizeCase():
                cases = [self.sum_values(self.product(part, sizes)) for part in (body.large, body.small)]
                node = self.case(self.array(sizes[body.subdomain]) >= body.minimum, *cases)
            case Unfolded():
                raise LookupError("This part of the circuit is compiled only when sizes are known.")
            case _:
                assert_never(body)
        return [Term(np.ones(1), node)]

    def product(self, part: Product, sizes: Sequence[Size]) -> Linear:
        """Return all factors' terms, those of one node together."""
        terms = [term for call in part.calls for term in self.call_definition(call, sizes)]
        terms += [Term(self.count(leaf.times, sizes), self.leaf(leaf)) for leaf in part.leaves]
        merged: dict[int, Term] = {}
        for times, node in terms:
            before = merged.get(id(node))
            merged[id(node)] = Term(times if before is None else before.times + times, node)
        return list(merged.values())

    def leaf(self, leaf: Leaf) -> Node:
        """Return the log weight of one atom of a leaf."""
        key = (leaf.symbol, leaf.sign)
        if key not in self.leaves:
            if leaf.sign == "impossible":
                value: Values = np.full(1, -np.inf)
            else:
                true, false = self.true[leaf.symbol], self.false[leaf.symbol]
                value = (
                    true
                    if leaf.sign == "true"
                    else false
                    if leaf.sign == "false"
                    else np.logaddexp(true, false)
                )
            self.leaves[key] = Node(value, 3 * EPSILON * np.abs(finite(value)), lambda _: None)
        return self.leaves[key]

    def keep_node(self, value: Values, error: Values, back: Callable[[Values], None]) -> Node:
        """Keep a node for the pass down."""
        self.numbers += value.size
        if self.numbers > MOST_NUMBERS:
            refuse(8 * self.numbers)
        node = Node(value, error, back)
        self.order.append(node)
        return node

    def sum_values(self, linear: Linear) -> Node:
        """Return the sum of counts times their values, as one node."""
        value, error, back = sum_linear(linear)
        return self.keep_node(value, error, back)

    def sum(self, terms: Sequence[Node]) -> Node:
        """Return the logarithm of a sum."""
        value = terms[0].value
        for term in terms[1:]:
            value = np.logaddexp(value, term.value)
        error = np.maximum.reduce(np.broadcast_arrays(*(t.error for t in terms)))
        error = error + 4 * EPSILON * (1 + np.abs(finite(value)))

        def back(adjoint: Values) -> None:
            for term in terms:
                add(term, adjoint * share(term.value, value))

        return self.keep_node(value, error, back)

    def difference(self, first: Node, second: Node, both: Node) -> Node:
        """Return log(first + second - both); the error's bound includes cancellation."""
        plus = np.logaddexp(first.value, second.value)
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = np.where(np.isfinite(both.value), -np.expm1(both.value - plus), 1.0)
            value = np.where(np.isfinite(plus), plus + np.log(np.maximum(rest, 0.0)), plus)
            grown = np.where(rest > 0, 1.0 / np.maximum(rest, EPSILON**2), 0.0)
        errors = np.maximum(np.maximum(first.error, second.error), both.error)
        error = 3 * grown * (errors + 4 * EPSILON * (1 + np.abs(finite(plus))))

        def back(adjoint: Values) -> None:
            add(first, adjoint * share(first.value, value))
            add(second, adjoint * share(second.value, value))
            add(both, -adjoint * share(both.value, value))

        return self.keep_node(value, error, back)

    def case(self, enough: NDArray[np.bool_], large: Node, small: Node) -> Node:
        """Return one of two values, by a size."""
        value = np.where(enough, large.value, small.value)

        def back(adjoint: Values) -> None:
            add(large, np.where(enough, adjoint, 0.0))
            add(small, np.where(enough, 0.0, adjoint))

        return self.keep_node(value, np.where(enough, large.error, small.error), back)

    def counting(self, subdomain: int, call: Call, sizes: Sequence[Size]) -> Node:
        """Sum over k: a new axis before all that the sizes depend on."""
        from scipy.special import gammaln

        elements = self.array(sizes[subdomain])
        axis = max(self.array(size).ndim for size in sizes)
        length = int(elements.max()) + 1
        if (axis, length) not in self.chosen:
            self.chosen[axis, length] = len(self.variables)
            self.variables.append(np.arange(length, dtype=float).reshape(-1, *(1,) * axis))
        k = self.variables[self.chosen[axis, length]]
        linear = self.call_definition(call, sizes, of_subdomain(self.chosen[axis, length]))
        refuse_large(self.numbers, (k.shape, elements.shape), linear)
        rest = np.maximum(elements - k, 0.0)
        parts = gammaln(elements + 1), gammaln(k + 1), gammaln(rest + 1)
        ways = np.where(k <= elements, parts[0] - parts[1] - parts[2], -np.inf)
        inner, lost, inner_back = sum_linear(linear)
        total = ways + inner
        peak = total.max(axis=0)
        total -= np.where(np.isfinite(peak), peak, 0.0)
        shares = np.exp(total, out=total)
        sums = shares.sum(axis=0)
        with np.errstate(divide="ignore"):
            value = np.where(sums > 0, peak + np.log(sums), -np.inf)
        shares /= np.where(sums > 0, sums, 1.0)
        lost = lost + 4 * EPSILON * (parts[0] + parts[1] + parts[2] + 1)
        error = np.einsum("k...,k...->...", *np.broadcast_arrays(shares, lost))
        error = error + 4 * EPSILON * (np.abs(finite(value)) + np.log2(length + 1) + 1)
        return self.keep_node(value, error, lambda adjoint: inner_back(shares * adjoint))

    # --- down

    def down(self, top: Node) -> tuple[Values, Values]:
        """Return the derivatives of log Z by the log weights of true and false atoms."""
        columns = self.true.shape[1]
        top.adjoint = np.ones(columns)
        for node in reversed(self.order):
            if node.adjoint is not None:
                node.back(node.adjoint)
                node.adjoint = None
        true, false = np.zeros_like(self.true), np.zeros_like(self.false)
        for (symbol, sign), node in self.leaves.items():
            if node.adjoint is None or sign == "impossible":
                continue
            adjoint = np.broadcast_to(node.adjoint, (columns,))
            truth = share(self.true[symbol], node.value) if sign == "free" else float(sign == "true")
            true[symbol] += adjoint * truth
            false[symbol] += adjoint * (1.0 - truth)
        return true, false


def log_value(
    circuit: FirstOrderCircuit, sizes: Sequence[Sequence[int]], true: Values, false: Values,
    *, derivatives: bool = True,
) -> LogResult:  # fmt: skip
    """Return log Z for columns of sizes, ``sizes[subdomain][column]``, and weights, ``true[symbol, column]``.

    A subdomain whose size is the same in all columns may have one number.
    """
    if circuit.recursive() or circuit.is_signed or not circuit.is_complete:
        raise ArgumentError("A circuit with domain recursion or signs is evaluated size by size.")
    columns = true.shape[1]
    one = LogPass(circuit, true, false, [np.asarray(size, dtype=float) for size in sizes])
    root = circuit.definitions[circuit.root]
    top = one.sum_values(one.body(root.body, tuple(of_subdomain(b) for b in range(root.subdomains))))
    value, error = np.broadcast_to(top.value, (columns,)), np.broadcast_to(top.error, (columns,))
    if np.isnan(value).any():
        raise ArgumentError("A weight is not a number, or too large to count with.")
    grad_true, grad_false = one.down(top) if derivatives else (np.zeros_like(true), np.zeros_like(false))
    return LogResult(value, error, grad_true, grad_false)
