"""Log Z and all its derivatives: one pass up and one down, vectorised over sizes below counting nodes.

Values are held by their logarithms, so weights must not be negative. Products and powers are linear there:
they stay lists of counts until a sum needs their value, which is then one product of matrices. A counting
node gives its call an axis of its own, of length n + 1, and sums it away; what depends on no chosen size has
no such axis. Every value carries a bound of its rounding error. The derivative of log Z by the logarithm of
a symbol's weight is the expected number of its true atoms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, assert_never

import numpy as np

from mlnlab.circuits.first_order import (
    Body,
    Counting,
    InclusionExclusion,
    Power,
    Product,
    SizeCase,
    Sum,
    Unfolded,
)
from mlnlab.circuits.sizes import Size, of_subdomain
from mlnlab.errors import ArgumentError, TooLargeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from mlnlab.circuits.first_order import Call, FirstOrderCircuit, Leaf
    from mlnlab.circuits.sizes import Count

    Values = NDArray[np.float64]

EPSILON = float(np.finfo(np.float64).eps)
MOST_NUMBERS = 1 << 28  # held at once for the pass down: 2 GB


@dataclass(frozen=True, slots=True, eq=False)
class LogResult:
    """log Z for each column of sizes, a bound of its error, and the derivatives by all log-weights."""

    value: Values  # (columns,)
    error: Values
    true: Values  # (symbols, columns): expected numbers of true atoms
    false: Values


@dataclass(slots=True, eq=False)
class _Node:
    """A value of the pass up; ``back`` hands its adjoint to what it was made of."""

    value: Values  # axes of chosen sizes, the innermost first; then columns
    error: Values
    back: Callable[[Values], None]
    adjoint: Values | None = None


class _Term(NamedTuple):
    times: Values
    node: _Node


_Linear = list[_Term]  # the sum of count · value


@dataclass(slots=True, eq=False)
class _Pass:
    circuit: FirstOrderCircuit
    true: Values  # (symbols, columns)
    false: Values
    variables: list[Values]  # sizes of the root's subdomains, then chosen ones
    known: dict[tuple[int, tuple[Size, ...]], _Linear] = field(default_factory=dict)
    leaves: dict[tuple[int, str], _Node] = field(default_factory=dict)
    arrays: dict[Size, Values] = field(default_factory=dict)
    chosen: dict[tuple[int, int], int] = field(default_factory=dict)  # (axis, length): variable
    order: list[_Node] = field(default_factory=list)
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

    def called(self, call: Call, sizes: Sequence[Size], chosen: Size | None = None) -> _Linear:
        """Return a definition's value for some sizes."""
        key = (call.definition, tuple(size.within(sizes, chosen) for size in call.sizes))
        if key not in self.known:
            self.known[key] = self.body(self.circuit.definitions[key[0]].body, key[1])
        return self.known[key]

    def body(self, body: Body, sizes: tuple[Size, ...]) -> _Linear:
        """Return the value of a definition's node."""
        match body:
            case Product():
                return self.product(body, sizes)
            case Power(call, count):
                times = self.count(count, sizes)
                return [_Term(term.times * times, term.node) for term in self.called(call, sizes)]
            case Sum(terms):
                node = self.sum([self.valued(self.product(term, sizes)) for term in terms])
            case InclusionExclusion(first, second, both):
                parts = [self.valued(self.product(part, sizes)) for part in (first, second, both)]
                node = self.difference(*parts)
            case Counting(subdomain, call):
                node = self.counting(subdomain, call, sizes)
            case SizeCase():
                cases = [self.valued(self.product(part, sizes)) for part in (body.large, body.small)]
                node = self.case(self.array(sizes[body.subdomain]) >= body.minimum, *cases)
            case Unfolded():
                raise LookupError("This part of the circuit is compiled only when sizes are known.")
            case _:
                assert_never(body)
        return [_Term(np.ones(1), node)]

    def product(self, part: Product, sizes: Sequence[Size]) -> _Linear:
        """Return all factors' terms, those of one node together."""
        terms = [term for call in part.calls for term in self.called(call, sizes)]
        terms += [_Term(self.count(leaf.times, sizes), self.leaf(leaf)) for leaf in part.leaves]
        merged: dict[int, _Term] = {}
        for times, node in terms:
            before = merged.get(id(node))
            merged[id(node)] = _Term(times if before is None else before.times + times, node)
        return list(merged.values())

    def leaf(self, leaf: Leaf) -> _Node:
        """Return the logarithm of what one atom of a leaf weighs."""
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
            self.leaves[key] = _Node(value, 3 * EPSILON * np.abs(_finite(value)), lambda _: None)
        return self.leaves[key]

    def made(self, value: Values, error: Values, back: Callable[[Values], None]) -> _Node:
        """Keep a node for the pass down."""
        self.numbers += value.size
        if self.numbers > MOST_NUMBERS:
            _refuse(8 * self.numbers)
        node = _Node(value, error, back)
        self.order.append(node)
        return node

    def valued(self, linear: _Linear) -> _Node:
        """Return the value of a list of counts, times what they count, as one node."""
        value, error, back = _weighed(linear)
        return self.made(value, error, back)

    def sum(self, terms: Sequence[_Node]) -> _Node:
        """Return the logarithm of a sum."""
        value = terms[0].value
        for term in terms[1:]:
            value = np.logaddexp(value, term.value)
        error = np.maximum.reduce(np.broadcast_arrays(*(t.error for t in terms)))
        error = error + 4 * EPSILON * (1 + np.abs(_finite(value)))

        def back(adjoint: Values) -> None:
            for term in terms:
                _add(term, adjoint * _share(term.value, value))

        return self.made(value, error, back)

    def difference(self, first: _Node, second: _Node, both: _Node) -> _Node:
        """Return log(first + second - both); what cancels is in the error's bound."""
        plus = np.logaddexp(first.value, second.value)
        with np.errstate(divide="ignore", invalid="ignore"):
            rest = np.where(np.isfinite(both.value), -np.expm1(both.value - plus), 1.0)
            value = np.where(np.isfinite(plus), plus + np.log(np.maximum(rest, 0.0)), plus)
            grown = np.where(rest > 0, 1.0 / np.maximum(rest, EPSILON**2), 0.0)
        errors = np.maximum(np.maximum(first.error, second.error), both.error)
        error = 3 * grown * (errors + 4 * EPSILON * (1 + np.abs(_finite(plus))))

        def back(adjoint: Values) -> None:
            _add(first, adjoint * _share(first.value, value))
            _add(second, adjoint * _share(second.value, value))
            _add(both, -adjoint * _share(both.value, value))

        return self.made(value, error, back)

    def case(self, enough: NDArray[np.bool_], large: _Node, small: _Node) -> _Node:
        """Return one of two values, by a size."""
        value = np.where(enough, large.value, small.value)

        def back(adjoint: Values) -> None:
            _add(large, np.where(enough, adjoint, 0.0))
            _add(small, np.where(enough, 0.0, adjoint))

        return self.made(value, np.where(enough, large.error, small.error), back)

    def counting(self, subdomain: int, call: Call, sizes: Sequence[Size]) -> _Node:
        """Sum over k: a new axis before all that the sizes depend on."""
        from scipy.special import gammaln

        elements = self.array(sizes[subdomain])
        axis = max(self.array(size).ndim for size in sizes)
        length = int(elements.max()) + 1
        if (axis, length) not in self.chosen:
            self.chosen[axis, length] = len(self.variables)
            self.variables.append(np.arange(length, dtype=float).reshape(-1, *(1,) * axis))
        k = self.variables[self.chosen[axis, length]]
        linear = self.called(call, sizes, of_subdomain(self.chosen[axis, length]))
        _refuse_large(self.numbers, (k.shape, elements.shape), linear)
        rest = np.maximum(elements - k, 0.0)
        parts = gammaln(elements + 1), gammaln(k + 1), gammaln(rest + 1)
        ways = np.where(k <= elements, parts[0] - parts[1] - parts[2], -np.inf)
        inner, lost, inner_back = _weighed(linear)
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
        error = error + 4 * EPSILON * (np.abs(_finite(value)) + np.log2(length + 1) + 1)
        return self.made(value, error, lambda adjoint: inner_back(shares * adjoint))

    # --- down

    def down(self, top: _Node) -> tuple[Values, Values]:
        """Return the derivatives of log Z by the logarithms of what true and false atoms weigh."""
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
            share = _share(self.true[symbol], node.value) if sign == "free" else float(sign == "true")
            true[symbol] += adjoint * share
            false[symbol] += adjoint * (1.0 - share)
        return true, false


def _weighed(linear: _Linear) -> tuple[Values, Values, Callable[[Values], None]]:
    """Return the sum of count · value, a bound of its error, and what hands its adjoint on.

    Values without axes are weighed all at once, a matrix of counts by a matrix of values.
    """
    flat = [
        t
        for t in linear
        if t.node.value.ndim == 1 and t.times.shape[-1] == 1 and np.isfinite(t.node.value).all()
    ]
    others = [t for t in linear if not any(t is one for one in flat)]
    value: Values = np.zeros(1)
    error: Values = np.zeros(1)
    matrix = np.zeros((0, 1))
    if flat:
        counts = np.broadcast_arrays(*(term.times[..., 0] for term in flat))
        shape = counts[0].shape
        matrix = np.stack([count.ravel() for count in counts], axis=1)
        width = max(term.node.value.size for term in flat)
        bases = np.stack([np.broadcast_to(term.node.value, (width,)) for term in flat])
        errors = np.stack([np.broadcast_to(term.node.error, (width,)) for term in flat])
        value = (matrix @ bases).reshape(*shape, width)
        lost = errors + (len(flat) + 2) * EPSILON * np.abs(bases)
        error = (matrix @ lost).reshape(*shape, width)
    for term in others:
        value = value + _times(term.times, term.node.value)
        error = error + term.times * (term.node.error + 3 * EPSILON * np.abs(_finite(term.node.value)))

    def back(adjoint: Values) -> None:
        if flat:
            spread = np.broadcast_to(adjoint, np.broadcast_shapes(adjoint.shape, value.shape))
            for term, part in zip(flat, matrix.T @ spread.reshape(len(matrix), -1), strict=True):
                _add(term.node, part)
        for term in others:
            _add(term.node, adjoint * term.times)

    return value, error, back


def _refuse_large(held: int, own: Sequence[tuple[int, ...]], linear: _Linear) -> None:
    """Refuse arrays that would not fit, before they are made."""
    shapes = [np.broadcast_shapes(term.times.shape, term.node.value.shape) for term in linear]
    size = int(np.prod(np.broadcast_shapes(*own, *shapes), dtype=float))
    if held + 4 * size > MOST_NUMBERS:
        _refuse(8 * (held + 4 * size))


def _refuse(needed: int) -> None:
    raise TooLargeError(
        f"Evaluating the circuit for these sizes takes {needed / 2**30:,.0f} GB and more; at most"
        f" {8 * MOST_NUMBERS / 2**30:.0f} GB are taken.",
        float(needed), ["ask about smaller domains", "sample with ml.infer(..., method='mc-sat')"],
    )  # fmt: skip


def _finite(values: Values) -> Values:
    return np.where(np.isfinite(values), values, 0.0)


def _times(count: Values, value: Values) -> Values:
    """Return count · value, where nothing times minus infinity is nothing."""
    with np.errstate(invalid="ignore"):
        return np.where(count > 0, count * value, 0.0)


def _share(part: Values, whole: Values) -> Values:
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(part) & np.isfinite(whole), np.exp(part - whole), 0.0)


def _add(node: _Node, adjoint: Values) -> None:
    """Add to a node's adjoint, summed over the axes that the node does not have."""
    while adjoint.ndim > node.value.ndim:
        adjoint = adjoint.sum(axis=0)
    shape = node.value.shape[node.value.ndim - adjoint.ndim :]
    spread = tuple(n for n, size in enumerate(shape) if size == 1 < adjoint.shape[n])
    if spread:
        adjoint = adjoint.sum(axis=spread, keepdims=True)
    node.adjoint = adjoint if node.adjoint is None else node.adjoint + adjoint


def log_value(
    circuit: FirstOrderCircuit, sizes: Sequence[Sequence[int]], true: Values, false: Values,
    *, derivatives: bool = True,
) -> LogResult:  # fmt: skip
    """Return log Z for columns of sizes, ``sizes[subdomain][column]``, and weights, ``true[symbol, column]``.

    A subdomain whose size is the same in all columns may have one number.
    """
    if circuit.recursive() or not circuit.is_complete:
        raise ArgumentError("A circuit with domain recursion is evaluated size by size.")
    columns = true.shape[1]
    one = _Pass(circuit, true, false, [np.asarray(size, dtype=float) for size in sizes])
    root = circuit.definitions[circuit.root]
    top = one.valued(one.body(root.body, tuple(of_subdomain(b) for b in range(root.subdomains))))
    value, error = np.broadcast_to(top.value, (columns,)), np.broadcast_to(top.error, (columns,))
    if np.isnan(value).any():
        raise ArgumentError("A weight is not a number, or too large to count with.")
    grad_true, grad_false = one.down(top) if derivatives else (np.zeros_like(true), np.zeros_like(false))
    return LogResult(value, error, grad_true, grad_false)
