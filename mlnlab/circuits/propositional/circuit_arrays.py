"""Hold the nodes of arithmetic circuits in flat arrays, checked before a compiled loop follows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError, CircuitError
from mlnlab.factors.graphs.random_variables import RandomVariable, show_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

INDICATOR, PARAMETER, SUM, PRODUCT = 0, 1, 2, 3


@dataclass(frozen=True, slots=True, eq=False)
class CircuitArrays:
    """Nodes in flat arrays, children before their parents, the root last: see ``ArithmeticCircuit``."""

    variables: tuple[RandomVariable, ...]
    kinds: NDArray[np.uint8]  # INDICATOR, PARAMETER, SUM or PRODUCT
    first_child: NDArray[np.uint32]  # one more than there are nodes
    children: NDArray[np.uint32]
    variable: NDArray[np.int32]  # of an indicator, or of a parameter's distribution; -1 where there is none
    value: NDArray[np.int32]  # of an indicator; of a parameter's variable, where known; otherwise -1
    parameters: NDArray[np.float64]  # of parameter nodes; 0 elsewhere
    prepared: dict[str, Any] = field(init=False, repr=False, default_factory=dict)  # made at first use

    def __post_init__(self) -> None:
        """Check the arrays, and keep read-only copies of them."""
        types = (np.uint8, np.uint32, np.uint32, np.int32, np.int32, np.float64)
        for name, type_ in zip(_ARRAYS, types, strict=True):
            object.__setattr__(self, name, _own_copy(getattr(self, name), type_, name))
        object.__setattr__(self, "variables", tuple(self.variables))
        _check_arrays(self)
        for name in _ARRAYS:
            getattr(self, name).flags.writeable = False

    @property
    def edges(self) -> int:
        """The number of edges."""
        return len(self.children)

    def __len__(self) -> int:
        return len(self.kinds)


_ARRAYS = ("kinds", "first_child", "children", "variable", "value", "parameters")


def _own_copy(given: object, type_: type, name: str) -> NDArray[Any]:
    array = np.asarray(given)
    if array.ndim != 1 or array.dtype.kind not in "iufb":
        raise ArgumentError(f"{name} of a circuit must be one row of numbers.")
    whole = np.issubdtype(type_, np.integer)
    if len(array) and whole and not np.iinfo(type_).min <= array.min() <= array.max() <= np.iinfo(type_).max:
        raise ArgumentError(f"{name} of a circuit has a number that does not fit in {np.dtype(type_).name}.")
    return np.array(array, type_)


def _check_arrays(circuit: CircuitArrays) -> None:
    """Refuse arrays that are not those of a circuit, before a compiled loop follows them."""
    nodes, first, kinds = len(circuit.kinds), circuit.first_child.astype(np.int64), circuit.kinds
    rows = (circuit.kinds, circuit.variable, circuit.value, circuit.parameters)
    if not nodes or len(first) != nodes + 1 or len({len(row) for row in rows}) > 1:
        raise CircuitError("A circuit has at least one node, and its arrays have an entry for each node.")
    if first[0] != 0 or first[-1] != circuit.edges or (np.diff(first) < 0).any():
        raise CircuitError("first_child of a circuit must ascend from 0 to the number of edges.")
    parents = np.repeat(np.arange(nodes), np.diff(first))
    _refuse_node(parents[circuit.children >= parents], "has a child that does not come before it")
    _refuse_node(np.flatnonzero(kinds > PRODUCT), "is neither an indicator, a parameter, a sum nor a product")
    _refuse_node(np.flatnonzero((kinds <= PARAMETER) & (np.diff(first) > 0)), "is a leaf with children")
    _refuse_node(
        np.flatnonzero((kinds > PARAMETER) & (np.diff(first) == 0)), "is a sum or product of nothing"
    )
    sizes = np.array([variable.size for variable in circuit.variables], np.int64)
    own, value = circuit.variable, circuit.value
    _refuse_node(np.flatnonzero((own < -1) | (own >= len(sizes))), "names a variable that there is not")
    known = np.flatnonzero((kinds == INDICATOR) | ((own >= 0) & (value != -1)))
    _refuse_node(known[own[known] < 0], "is an indicator without a variable")
    _refuse_node(known[(value[known] < 0) | (value[known] >= sizes[own[known]])], "has a value out of range")
    numbers = circuit.parameters
    _refuse_node(
        np.flatnonzero(~((numbers >= 0) & (numbers < np.inf))), "has a parameter below 0 or not finite"
    )


def _refuse_node(nodes: NDArray[Any], fault: str) -> None:
    if len(nodes):
        raise CircuitError(f"Node {int(nodes[0]):,} of the circuit {fault}.")


def name_node(circuit: CircuitArrays, node: int) -> str:
    """Return the words by which an error names a node."""
    kind = ("indicator", "parameter", "sum", "product")[circuit.kinds[node]]
    of = int(circuit.variable[node])
    if circuit.kinds[node] == INDICATOR:
        variable = circuit.variables[of]
        return f"indicator {node:,} ({show_name(variable.name)} = {variable.values[circuit.value[node]]})"
    return f"{kind} {node:,}"
