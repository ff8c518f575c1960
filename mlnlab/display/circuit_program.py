"""What a page needs to evaluate a compiled model by itself, once for all weights and sizes: lists of numbers.

The page's evaluator, ``static/circuit_numbers.js``, counts in logarithms of floats without bounds of errors.
So it gets a program only of circuits that floats do for; and none of large ones, which would take longer than
a frame, and which each saved notebook would carry.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.circuits.circuit_json import circuit_json
from mlnlab.logic.substitution import free_variables
from mlnlab.logic.weights import Soft, ToLearn, weight_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.lifted.lift import LiftedCircuit
    from mlnlab.lifted.weighted_theory import WeightedTheory
    from mlnlab.logic.weights import WeightedFormula

MOST_TEXT = 120_000  # characters of a program; longer ones are left to Python


def circuit_program(circuit: LiftedCircuit) -> dict[str, Any]:
    """Return a model's circuit with what its atoms weigh, or nothing where a page would not be right.

    Where signs cancel, a definition calls itself, or compiling ends only when sizes are known, Python alone
    has numbers that can be believed; where sorts are taken apart, it shares out what atoms of one symbol are.
    """
    if not circuit.by_floats or circuit.weighted.stands:
        return {}
    weighted, types = circuit.weighted, list(circuit.mln.vocabulary.types)
    program = {
        "format": "mlnlab-program", "version": 1, "circuit": circuit_json(circuit.circuit),
        "symbols": len(weighted.shattered.symbols),
        "least": [len(domain) for domain in circuit.mln.vocabulary.types.values()],
        "subdomains": [
            _subdomain(weighted, type_, group, types)
            for type_, group in zip(circuit.types, circuit.groups, strict=True)
        ],
        "true": _entries(weighted.true), "false": _entries(weighted.false),
        "groundings": [_types_of(one, types) for one in circuit.mln.formulas],
        "marginals": [
            n for n, symbol in enumerate(weighted.shattered.symbols)
            if symbol.predicate in circuit.mln.vocabulary.predicates
        ],
    }  # fmt: skip
    return program if len(json.dumps(program, separators=(",", ":"))) <= MOST_TEXT else {}


def _subdomain(weighted: WeightedTheory, type_: str, group: int, types: list[str]) -> list[int]:
    """Return the type of a subdomain and how many of its constants stand elsewhere, or -1 and its size."""
    groups = weighted.evidence.groups_of(type_)
    if group:
        return [-1, len(groups[group].members)]
    listed = sum(len(one.members) for one in groups[1:])
    return [types.index(type_), len(weighted.constants.get(type_, ())) + listed]


def _entries(matrix: NDArray[np.float64]) -> list[list[float]]:
    """Return the entries of a matrix that are not 0: symbol, formula, how often it counts."""
    return [[int(n), int(i), float(matrix[n, i])] for n, i in np.argwhere(matrix)]


def _types_of(one: WeightedFormula, types: list[str]) -> list[int] | None:
    """Return the types of a hard formula's variables, whose sizes are its groundings; nothing of others."""
    if isinstance(one.weight, Soft | ToLearn) or weight_value(one.weight) is not None:
        return None
    return [types.index(variable.type) for variable in free_variables(one.formula)]
