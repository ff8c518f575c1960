"""Check Definition 3 of Lowd's thesis (section 5.5.2) on arithmetic circuits, and name the node that fails.

A circuit is smooth if all children of a sum are above indicators, and parameters, of the same variables;
decomposable if no two children of a product are above the same variable; deterministic if for each sum some
variable has indicators below each child, and the children share none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.circuits.propositional.circuit_arrays import (
    INDICATOR,
    PARAMETER,
    SUM,
    CircuitArrays,
    name_node,
)
from mlnlab.errors import CircuitError
from mlnlab.factors.graphs.random_variables import show_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BITS = 64


def check_smooth(circuit: CircuitArrays) -> None:
    """Raise an error unless the circuit is smooth and decomposable in its indicators."""
    _check_scopes(circuit, INDICATOR)


def check_parameters(circuit: CircuitArrays) -> None:
    """Raise an error unless the circuit is smooth and decomposable in its parameters' variables."""
    _check_scopes(circuit, PARAMETER)


def _check_scopes(circuit: CircuitArrays, kind: int) -> None:
    from mlnlab.kernels.circuits.circuit_checks import NONE, find_uneven

    leaves = np.flatnonzero((circuit.kinds == kind) & (circuit.variable >= 0))
    for first in range(0, len(circuit.variables), _BITS):
        masks = np.zeros(len(circuit), np.uint64)
        bits = circuit.variable[leaves] - first
        here = (bits >= 0) & (bits < _BITS)
        masks[leaves[here]] = np.uint64(1) << bits[here].astype(np.uint64)
        found = find_uneven(circuit.kinds, circuit.first_child, circuit.children, masks)
        if found != NONE:
            raise _scope_error(circuit, found, masks, first, kind)
        absent = ~int(masks[-1]) & ((1 << min(_BITS, len(circuit.variables) - first)) - 1)
        if kind == INDICATOR and absent:
            name = _variable_name(circuit, first, absent)
            raise CircuitError(f"The circuit's root is above no indicator of {name}.")


def _scope_error(
    circuit: CircuitArrays, found: int, masks: NDArray[np.uint64], first: int, kind: int
) -> CircuitError:
    twice = 0
    what = "indicators" if kind == INDICATOR else "parameters"
    node, smooth = (found, False) if found >= 0 else (-found - 2, True)
    below = [int(masks[child]) for child in _children(circuit, node)]
    if smooth:
        seen = 0
        for mask in below:
            twice, seen = seen & mask, seen | mask
            if twice:
                break
        name = _variable_name(circuit, first, twice)
        return CircuitError(
            f"The circuit is not decomposable: two children of {name_node(circuit, node)} are above "
            f"{what} of {name}."
        )
    apart = next(below[0] ^ mask for mask in below if mask != below[0])
    name = _variable_name(circuit, first, apart)
    return CircuitError(
        f"The circuit is not smooth: some children of {name_node(circuit, node)} are above {what} of "
        f"{name}, and others are not."
    )


def _children(circuit: CircuitArrays, node: int) -> NDArray[np.uint32]:
    return circuit.children[circuit.first_child[node] : circuit.first_child[node + 1]]


def _variable_name(circuit: CircuitArrays, first: int, mask: int) -> str:
    return show_name(circuit.variables[first + (mask & -mask).bit_length() - 1].name)


def check_deterministic(circuit: CircuitArrays) -> None:
    """Raise an error unless each sum of a smooth circuit has a variable that keeps its children apart."""
    from mlnlab.kernels.circuits.circuit_checks import find_told_apart

    require_properties(circuit, "smooth")
    leaves = np.flatnonzero(circuit.kinds == INDICATOR)
    told_apart = np.zeros(len(circuit), np.uint8)
    for starts, words in _packs([variable.size for variable in circuit.variables]):
        masks = np.zeros((len(circuit), words), np.uint64)
        blocks = np.zeros((len(starts), words), np.uint64)
        for block, (variable, start) in enumerate(starts.items()):
            own = start + np.arange(circuit.variables[variable].size)
            np.bitwise_or.at(blocks[block], own // _BITS, np.uint64(1) << (own % _BITS).astype(np.uint64))
        places = np.array([starts.get(variable, -1) for variable in range(len(circuit.variables))], np.int64)
        here = leaves[places[circuit.variable[leaves]] >= 0]
        bits = places[circuit.variable[here]] + circuit.value[here]
        masks[here, bits // _BITS] = np.uint64(1) << (bits % _BITS).astype(np.uint64)
        find_told_apart(circuit.kinds, circuit.first_child, circuit.children, masks, blocks, told_apart)
    wrong = np.flatnonzero((circuit.kinds == SUM) & (np.diff(circuit.first_child) > 1) & (told_apart == 0))
    if len(wrong):
        raise CircuitError(
            f"The circuit is not deterministic: no variable keeps the children of "
            f"{name_node(circuit, int(wrong[0]))} apart, by other indicators below each of them."
        )


def _packs(sizes: list[int]) -> Iterator[tuple[dict[int, int], int]]:
    """Yield variables with the places of their first bits, as many as fit in a word, and the words needed."""
    pack: dict[int, int] = {}
    filled = 0
    for variable, size in enumerate(sizes):
        if pack and filled + size > _BITS:
            yield pack, -(-filled // _BITS)
            pack, filled = {}, 0
        pack[variable] = filled
        filled += size
    if pack:
        yield pack, -(-filled // _BITS)


_CHECKS: Mapping[str, Callable[[CircuitArrays], None]] = {
    "smooth": check_smooth,
    "deterministic": check_deterministic,
    "parameters": check_parameters,
}


def require_properties(circuit: CircuitArrays, *properties: str) -> None:
    """Raise an error unless the circuit has the properties; each is looked for once."""
    for name in properties:
        if name not in circuit.prepared:
            _CHECKS[name](circuit)
            circuit.prepared[name] = True
