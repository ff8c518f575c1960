"""Build arithmetic circuits node by node: equal nodes are one, and nested sums and products are joined."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from mlnlab.circuits.propositional.arithmetic_circuit import ArithmeticCircuit
from mlnlab.circuits.propositional.circuit_arrays import INDICATOR, PARAMETER, PRODUCT, SUM
from mlnlab.factors.graphs.random_variables import RandomVariable

ZERO, ONE = -1, -2  # in the place of nodes: they vanish from sums and products


class CircuitBuilder:
    """Nodes as they are made, children before their parents; a node that is there already is found again."""

    def __init__(self, variables: Sequence[RandomVariable]) -> None:
        """Begin with an indicator for each value of each variable."""
        self.variables = tuple(variables)
        self.kinds: list[int] = []
        self.children: list[tuple[int, ...]] = []
        self.variable: list[int] = []
        self.value: list[int] = []
        self.parameters: list[float] = []
        self.factors: list[frozenset[int]] = []  # of a product all that it multiplies, of others themselves
        self.edges = 0
        self._known: dict[Hashable, int] = {}
        self.indicators = [
            [self._add(INDICATOR, (), number, value) for value in range(variable.size)]
            for number, variable in enumerate(variables)
        ]

    def parameter(self, key: Hashable, number: float, variable: int = -1, value: int = -1) -> int:
        """Return the parameter of a key; a parameter of 0 is no node.

        No product may have a parameter twice, so that the key must name its distribution or factor.
        """
        if number == 0:
            return ZERO
        if key not in self._known:
            self._known[key] = self._add(PARAMETER, (), variable, value, number)
        node = self._known[key]
        if self.value[node] != value:
            self.value[node] = -1  # it is the probability of several values
        return node

    def multiply(self, left: int, right: int) -> int:
        """Return the product of two nodes."""
        if ZERO in {left, right}:
            return ZERO
        if ONE in {left, right}:
            return right if left == ONE else left
        return self._find(PRODUCT, (left, right) if left < right else (right, left))

    def add(self, nodes: Sequence[int]) -> int:
        """Return the sum of some nodes; the factors that all of them have stand before it."""
        parts = sorted(node for node in nodes if node != ZERO)
        if len(parts) < 2:
            return parts[0] if parts else ZERO
        common = frozenset.intersection(*(self.factors[part] for part in parts))
        if not common:
            return self._find(SUM, tuple(parts))
        others = (self._part_of(part, self.factors[part] - common) for part in parts)
        found = self._find(SUM, tuple(sorted(others)))
        return self.multiply(found, self._part_of(parts[0], common))

    def _part_of(self, node: int, factors: frozenset[int]) -> int:
        """Return the product of some of the factors of a product, made of its own parts."""
        if self.factors[node] <= factors:
            return node
        if self.factors[node].isdisjoint(factors):
            return ONE
        left, right = self.children[node]
        return self.multiply(self._part_of(left, factors), self._part_of(right, factors))

    def _find(self, kind: int, children: tuple[int, ...]) -> int:
        key = kind, children
        node = self._known.get(key)
        if node is None:
            node = self._known[key] = self._add(kind, children)
            self.edges += len(children)
        return node

    def _add(
        self, kind: int, children: tuple[int, ...], variable: int = -1, value: int = -1, number: float = 0.0
    ) -> int:
        self.kinds.append(kind)
        self.children.append(children)
        self.variable.append(variable)
        self.value.append(value)
        self.parameters.append(number)
        node = len(self.kinds) - 1
        self.factors.append(
            frozenset().union(*(self.factors[child] for child in children))
            if kind == PRODUCT
            else frozenset((node,))
        )
        return node

    def circuit(self, root: int) -> ArithmeticCircuit:
        """Return the circuit below a node; a sum in one sum alone is joined to it, and so are products."""
        parents = self._count_parents(root)
        parts: dict[int, list[int]] = {}  # of each node that stays, its children
        for node in range(root + 1):
            if parents[node]:
                below: list[int] = []
                for child in self.children[node]:
                    joined = self.kinds[child] == self.kinds[node] and parents[child] == 1
                    below += parts.pop(child) if joined else [child]
                parts[node] = below
        places = {node: place for place, node in enumerate(parts)}
        kept = list(parts)
        return ArithmeticCircuit(
            self.variables,
            np.array([self.kinds[node] for node in kept]),
            np.cumsum([0, *map(len, parts.values())]),
            np.array([places[child] for below in parts.values() for child in below], np.uint32),
            np.array([self.variable[node] for node in kept]),
            np.array([self.value[node] for node in kept]),
            np.array([self.parameters[node] for node in kept]),
        )

    def _count_parents(self, root: int) -> list[int]:
        """Return by how many nodes below the root each is used; the root counts as used."""
        parents = [0] * len(self.kinds)
        parents[root] = 1
        for node in range(root, -1, -1):
            if parents[node]:
                for child in self.children[node]:
                    parents[child] += 1
        return parents
