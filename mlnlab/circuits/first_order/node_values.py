"""Evaluate the definitions of a circuit at some sizes and weights, and the effect of each on log Z.

The derivative of log Z by the logarithm of a definition's value is how often a random world goes through it,
where no weight is negative: all of them for the root, a share for a case, many times below a power. A
definition below a counting node has a value for each size k of the subset; the one reported is at the
k on which log Z depends most, together with the probability of each k.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import comb, inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.circuits.first_order.derivatives import both_passes
from mlnlab.circuits.first_order.first_order_circuit import Call, Counting, FirstOrderCircuit
from mlnlab.circuits.first_order.fold import Bodies, Key, Weights, resolve_call
from mlnlab.circuits.first_order.log_nodes import Linear, Node, Term
from mlnlab.circuits.first_order.log_space import LogPass, LogResult
from mlnlab.circuits.first_order.sizes import Size, of_subdomain
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.algebra.semirings import Semiring

    Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class NodeValue:
    """A definition's value at its most important sizes, and the derivative of log Z by all its values.

    ``value`` is the logarithm of the value without its sign; ``uses`` the derivative of log Z by logarithms.
    ``chosen``, of a counting node: how probable each size k of the subset is, with signs as they are.
    """

    sizes: tuple[int, ...]
    value: float
    is_negative: bool
    uses: float
    different: int  # sizes at which it has a value
    chosen: Values | None = None


def log_node_values(
    circuit: FirstOrderCircuit, sizes: Sequence[int], true: Values, false: Values
) -> tuple[LogResult, dict[int, NodeValue]]:
    """Return log Z with its derivatives, and all definitions' values, in logarithms of floats."""
    if circuit.recursive() or circuit.is_signed or not circuit.is_complete:
        raise ArgumentError("A circuit with domain recursion or signs is evaluated size by size.")
    one = _NodePass(circuit, true[:, None], false[:, None], [np.array([float(size)]) for size in sizes])
    plain = tuple(map(of_subdomain, range(len(sizes))))
    (top,) = one.call_definition(Call(circuit.root, plain), plain)
    if np.isnan(top.node.value).any():
        raise ArgumentError("A weight is not a number, or too large to count with.")
    value, error = np.broadcast_to(top.node.value, (1,)), np.broadcast_to(top.node.error, (1,))
    return LogResult(value, error, *one.down(top.node)), one.node_values()


def ring_node_values(
    bodies: Bodies, sizes: Sequence[int], ring: Semiring[Any], weights: Weights,
    told: Callable[[Any], Any] = lambda value: value, plain: Mapping[Key, Any] | None = None,
) -> tuple[Any, dict[int, NodeValue]]:  # fmt: skip
    """Return value, and all definitions' values in balls, where signs cancel.

    Where elements of the ring are series, ``told`` picks what counts of one, and ``plain`` has the values of
    definitions as balls.
    """
    known, adjoints, found = both_passes(bodies, sizes, ring, weights)
    whole = told(found.value)
    by_number: dict[int, list[Key]] = {}
    for key in known:
        by_number.setdefault(key[0], []).append(key)
    flows = {key: float((told(adjoints[key] * known[key]) / whole).mid()) for key in known if key in adjoints}
    values = {}
    for number, keys in by_number.items():
        most = max(keys, key=lambda key: abs(flows.get(key, 0.0)))
        body = bodies.body(*most)
        # At some sizes a definition may be made of other things than at others.
        alike = [key for key in keys if bodies.body(*key) == body]
        chosen = _chosen_shares(body, alike, known, adjoints, told) if isinstance(body, Counting) else None
        log, is_negative = _logarithm((plain or known)[most])
        uses = sum(flows.get(key, 0.0) for key in keys)
        values[number] = NodeValue(most[1], log, is_negative, uses, len(keys), chosen)
    return whole, values


def _chosen_shares(
    body: Counting, keys: Sequence[Key], known: Mapping[Key, Any], adjoints: Mapping[Key, Any],
    told: Callable[[Any], Any],
) -> Values:  # fmt: skip
    """Return how much hangs on each k, for all sizes of a counting definition together."""
    total: list[Any] = [0] * (1 + max(sizes[body.subdomain] for _, sizes in keys))
    for key in keys:
        elements = key[1][body.subdomain]
        for k in range(elements + 1) if key in adjoints else ():
            total[k] += told(adjoints[key] * known[resolve_call(body.call, key[1], k)] * comb(elements, k))
    whole = sum(total)
    return np.array([float((part / whole).mid()) if whole != 0 and part != 0 else 0.0 for part in total])


def _logarithm(ball: Any) -> tuple[float, bool]:  # noqa: ANN401 - flint's types have no stubs
    if ball == 0:
        return -inf, False
    size = abs(ball)
    return (float(size.log().mid()) if size > 0 else nan), bool(ball < 0)


@dataclass(slots=True, eq=False)
class _NodePass(LogPass):
    """A pass that gives every definition a node of its own, and keeps its flow on the way down."""

    nodes: dict[tuple[int, tuple[Size, ...]], Node] = field(default_factory=dict)
    flows: dict[tuple[int, tuple[Size, ...]], Values] = field(default_factory=dict)
    chosen_flows: dict[int, list[Values]] = field(default_factory=dict)
    path: list[int] = field(default_factory=list)

    def call_definition(self, call: Call, sizes: Sequence[Size], chosen: Size | None = None) -> Linear:
        """Return a definition's value for some sizes, as one node."""
        key = (call.definition, tuple(size.within(sizes, chosen) for size in call.sizes))
        counting = self.path[-1] if self.path else -1
        if key not in self.nodes:
            self.path.append(call.definition)
            linear = LogPass.call_definition(self, call, sizes, chosen)
            self.path.pop()
            self.nodes[key] = self._record_flow(self.sum_values(linear), key)
        one = Term(np.ones(1), self.nodes[key])
        if chosen is None:
            return [one]
        # A node between the counting one and what it calls has the axis of k also where the latter has not.
        axis = np.ones_like(self.variables[chosen.terms[0][0]])
        between = self.sum_values([Term(axis, self.nodes[key])])
        self._hear_chosen(between, counting)
        return [Term(np.ones(1), between)]

    def _record_flow(self, node: Node, key: tuple[int, tuple[Size, ...]]) -> Node:
        inner = node.back

        def back(adjoint: Values) -> None:
            self.flows[key] = np.broadcast_to(adjoint, node.value.shape)
            inner(adjoint)

        node.back = back
        return node

    def _hear_chosen(self, node: Node, counting: int) -> None:
        inner = node.back

        def back(adjoint: Values) -> None:
            flow = np.broadcast_to(adjoint, node.value.shape)
            self.chosen_flows.setdefault(counting, []).append(flow.reshape(len(flow), -1).sum(axis=1))
            inner(adjoint)

        node.back = back

    def node_values(self) -> dict[int, NodeValue]:
        """Return the value and the flow of each definition after the pass down."""
        found: dict[int, list[tuple[tuple[Size, ...], Values, Values]]] = {}
        for (number, sizes), node in self.nodes.items():
            flow = self.flows.get((number, sizes), np.zeros_like(node.value))
            found.setdefault(number, []).append((sizes, node.value, flow))
        return {number: self._summary(number, parts) for number, parts in found.items()}

    def _summary(self, number: int, parts: Sequence[tuple[tuple[Size, ...], Values, Values]]) -> NodeValue:
        most = [float(np.abs(flow).max(initial=0.0)) for _, _, flow in parts]
        sizes, value, flow = parts[int(np.argmax(most))]
        at = np.unravel_index(int(np.argmax(np.abs(flow))), flow.shape)
        here = tuple(int(np.broadcast_to(self.array(size), flow.shape)[at]) for size in sizes)
        uses = float(sum(flow.sum() for _, _, flow in parts))
        different = sum(flow.size for _, _, flow in parts)
        return NodeValue(here, float(value[at]), False, uses, different, self._normalise_flows(number))

    def _normalise_flows(self, number: int) -> Values | None:
        flows = self.chosen_flows.get(number)
        if flows is None:
            return None
        total = np.zeros(max(map(len, flows)))
        for flow in flows:
            total[: len(flow)] += flow
        whole = total.sum()
        return total / whole if whole else total
