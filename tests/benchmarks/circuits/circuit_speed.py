"""Circuits beside the same loops in C: one row, and blocks of rows."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.circuits.propositional.circuit_arrays import INDICATOR, PARAMETER, PRODUCT, SUM, CircuitArrays
from mlnlab.circuits.propositional.circuit_passes import make_program
from mlnlab.factors.graphs.random_variables import RandomVariable
from mlnlab.kernels.circuits.upward_passes import LANES, raise_block, raise_values
from tests.benchmarks.beside_c.measurement import Effort, Measurement, by_turns, compared

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def loops_in_c(call: Callable[..., None], compiler: str, flags: tuple[str, ...], source: Path, folder: Path):
    """Compile the loops and return them by their names."""
    library = folder / "circuit_passes.so"
    call(compiler, *flags, "-shared", "-fPIC", str(source), "-o", str(library))
    loaded = ctypes.CDLL(str(library))
    kinds = (np.uint8, *(np.uint32,) * 4, np.float64)
    for name in ("raise_values", "raise_blocks"):
        function = getattr(loaded, name)
        function.argtypes = [ctypes.c_int64, *map(np.ctypeslib.ndpointer, kinds)]
        function.restype = None
    return {"one row": loaded.raise_values, "blocks": loaded.raise_blocks}


def layered_circuit(edges: int, layers: int = 30, seed: int = 1) -> CircuitArrays:
    """Return sums over products of a lower sum and a leaf, layer by layer, mostly the one below.

    It has the shape of learned circuits but is not smooth, and its values stay near 1: only for the clock.
    """
    rng = np.random.default_rng(seed)
    width = max(4, edges // (12 * layers))
    leaves = 4 * width
    kinds = [np.where(np.arange(leaves) % 2, PARAMETER, INDICATOR)]
    arities, children, below, first = [np.zeros(leaves, np.int64)], [], np.arange(1, leaves, 2), leaves
    for _ in range(layers):
        products = 4 * width
        near = rng.random(products) < 0.9
        chosen = np.where(near, rng.choice(below, products), rng.integers(0, first, products))
        pairs = np.stack([chosen, rng.integers(0, leaves // 2, products) * 2 + 1], axis=1)
        counts = rng.integers(3, 6, width)
        cases = first + rng.integers(0, products, counts.sum())
        kinds += [np.full(products, PRODUCT), np.full(width, SUM)]
        arities += [np.full(products, 2), counts]
        children += [pairs.ravel(), cases]
        below = first + products + np.arange(width)
        first += products + width
    number = first
    parameters = np.zeros(number)
    parameters[1:leaves:2] = 0.25
    variables = np.full(number, -1)
    variables[0:leaves:2] = np.arange(leaves // 2) % 100
    values = np.where(variables >= 0, 0, -1)
    return CircuitArrays(
        tuple(RandomVariable.numbered(f"X{n}", 2) for n in range(100)),
        np.concatenate(kinds),
        np.concatenate([[0], np.cumsum(np.concatenate(arities))]),
        np.concatenate(children),
        variables,
        values,
        parameters,
    )


def edges_per_second(
    name: str, circuit: CircuitArrays, effort: Effort, in_c: Callable[..., None]
) -> Measurement:
    """Evaluate a circuit by turns with C: one row a time, or ``LANES`` rows at once."""
    program, places = make_program(circuit)
    lanes, kernel = (1, raise_values) if name == "one row" else (LANES, raise_block)
    leaves = np.zeros(len(circuit))
    leaves[places] = circuit.parameters
    leaves[: len(program.indicator_values)] = 1.0
    values = np.repeat(leaves, lanes)
    theirs = values.copy()
    times = max(1, effort.updates // (circuit.edges * lanes))
    arrays = (
        len(program.run_kinds), program.run_kinds, program.run_arities, program.run_starts, program.run_edges,
        program.children, theirs,
    )  # fmt: skip

    def ours() -> None:
        for _ in range(times):
            kernel(program, values)

    def others() -> None:
        for _ in range(times):
            in_c(*arrays)

    seconds = by_turns(effort, ours, others)
    work = times * circuit.edges * lanes
    same, memory = bool(np.allclose(values, theirs, rtol=1e-12, atol=0.0)), values.nbytes
    return compared(f"Circuit, {name}", "edges", work, seconds, same_results=same, memory=memory)
