"""Build arithmetic circuits node by node: equal nodes are one, and nested sums and products are joined."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from mlnlab.circuits.propositional.arithmetic_circuit import ArithmeticCircuit
from mlnlab.circuits.propositional.circuit_arrays import INDICATOR, PARAMETER, PRODUCT, SUM
from mlnlab.factors.graphs.random_variables import RandomVariable

Term = frozenset[int] | None  # the product of some nodes, not yet a node itself; None is zero
ONE: Term = frozenset()


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
        self.edges = 0
        self._known: dict[Hashable, int] = {}
        self.indicators = [
            [self._add(INDICATOR, (), number, value) for value in range(variable.size)]
            for number, variable in enumerate(variables)
        ]

    def parameter(self, key: Hashable, number: float, variable: int = -1, value: int = -1) -> Term:
        """Return the parameter of a key; no node stands for a parameter of 0.

        No product may have a parameter twice, so that the key must name its distribution or factor.
        """
        if number == 0:
            return None
        if key not in self._known:
            self._known[key] = self._add(PARAMETER, (), variable, value, number)
        node = self._known[key]
        if self.value[node] != value:
            self.value[node] = -1  # it is the probability of several values
        return frozenset((node,))

    def product(self, factors: Iterable[int]) -> int:
        """Return the node of a product, two by two from the oldest factor on, which shares beginnings."""
        first, *others = sorted(factors)
        for factor in others:
            first = self._find(PRODUCT, (first, factor))
        return first

    def add(self, terms: Iterable[Term]) -> Term:
        """Return the sum of some products as a product: the factors that all of them have stand before it."""
        parts = [term for term in terms if term is not None]
        if len(parts) < 2:
            return parts[0] if parts else None
        common = frozenset.intersection(*parts)
        return common | {self._find(SUM, tuple(sorted(self.product(part - common) for part in parts)))}

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
        return len(self.kinds) - 1

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
