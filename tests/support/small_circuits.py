"""Random arithmetic circuits over few variables, and their sums by plain enumeration."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np

from mlnlab.circuits.propositional.arithmetic_circuit import (
    INDICATOR,
    PARAMETER,
    PRODUCT,
    SUM,
    ArithmeticCircuit,
)
from mlnlab.factors.graphs.random_variables import RandomVariable


class Drawing:
    """The nodes of a circuit while it is drawn."""

    def __init__(self, rng, sizes, zeros=0.1):
        self.rng, self.sizes, self.zeros, self.nodes, self.known = rng, sizes, zeros, [], {}

    def add(self, kind, children=(), variable=-1, value=-1, number=0.0):
        self.nodes.append((kind, tuple(children), variable, value, number))
        return len(self.nodes) - 1

    def indicator(self, variable, value):
        key = "indicator", variable, value
        if key not in self.known:
            self.known[key] = self.add(INDICATOR, (), variable, value)
        return self.known[key]

    def over(self, scope):
        """Draw a node over some variables: a sum over the values of one, each times parts over the rest."""
        if self.known.get(scope) is not None and self.rng.random() < 0.5:
            return self.known[scope]
        variable, *rest = self.rng.permutation(scope).tolist()
        cases = []
        for value in range(self.sizes[variable]):
            number = 0.0 if self.rng.random() < self.zeros else self.rng.random() + 0.01
            parameter = self.add(PARAMETER, (), variable, value, number)
            cut = int(self.rng.integers(0, len(rest) + 1))
            parts = [self.over(tuple(sorted(part))) for part in (rest[:cut], rest[cut:]) if part]
            cases.append(self.add(PRODUCT, (self.indicator(variable, value), parameter, *parts)))
        self.known[scope] = self.add(SUM, cases)
        return self.known[scope]

    def circuit(self):
        kinds, children, variable, value, numbers = zip(*self.nodes, strict=True)
        ends = np.cumsum([0, *map(len, children)])
        variables = tuple(RandomVariable.numbered(f"X{n}", size) for n, size in enumerate(self.sizes))
        return ArithmeticCircuit(
            variables, np.array(kinds), ends, np.array(sum(children, ()), np.uint32), np.array(variable),
            np.array(value), np.array(numbers),
        )  # fmt: skip


def random_circuit(seed, variables=5, zeros=0.1):
    """Return a smooth, decomposable, deterministic circuit over variables of two or three values."""
    rng = np.random.default_rng(seed)
    drawing = Drawing(rng, rng.integers(2, 4, variables).tolist(), zeros)
    root = drawing.over(tuple(range(variables)))
    assert root == len(drawing.nodes) - 1
    return drawing.circuit()


def plain_value(circuit, indicator, add=sum, times=prod):
    """Return the root's value, given the value of each indicator by variable and value."""
    found = []
    for node, kind in enumerate(circuit.kinds.tolist()):
        below = circuit.children[circuit.first_child[node] : circuit.first_child[node + 1]].tolist()
        match kind:
            case 0:
                found.append(indicator(int(circuit.variable[node]), int(circuit.value[node])))
            case 1:
                found.append(float(circuit.parameters[node]))
            case 2:
                found.append(add([found[child] for child in below]))
            case _:
                found.append(times([found[child] for child in below]))
    return found[-1]


def all_weights(circuit):
    """Return the value at each assignment, an axis for each variable."""
    shape = [variable.size for variable in circuit.variables]
    weights = np.zeros(shape)
    for values in product(*map(range, shape)):
        weights[values] = plain_value(circuit, lambda v, x, values=values: float(values[v] == x))
    return weights
