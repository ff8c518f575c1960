"""Write a compiled model as lists of numbers, which a page evaluates itself at all weights and sizes.

The page's evaluator, ``static/circuit_numbers.js``, counts in logarithms of floats without bounds of errors.
So it gets programs only of circuits for which floats suffice, and not of large ones: these would take longer
than a frame, and make each saved notebook large.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.circuits.circuit_json import circuit_json
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.weights import Soft, ToLearn, weight_value

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.lifted.ask.lift import LiftedCircuit
    from mlnlab.lifted.theory.weighted_theory import WeightedTheory
    from mlnlab.logic.formulas.weights import WeightedFormula

MOST_TEXT = 120_000  # characters of a program; longer ones are left to Python


def circuit_program(circuit: LiftedCircuit) -> dict[str, Any]:
    """Return a model's circuit with its atoms' weights, or nothing where a page would compute wrong numbers.

    Where signs cancel, a definition calls itself, or compiling ends only when sizes are known, Python alone
    has reliable numbers; where sorts are taken apart, it shares out what atoms of one symbol are.
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
