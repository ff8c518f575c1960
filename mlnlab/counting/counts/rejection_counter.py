"""Count true groundings approximately by trying some: rejection sampling, for comparison with clusters.

Sarkhel, Venugopal, Pham, Singla and Gogate (AAAI 2016), footnote 3: assignments of the logical variables are
drawn uniformly, and those that falsify the formula are rejected. The share that is left, times the number of
groundings, is an unbiased estimate with a standard error of sqrt(p (1 - p) / bindings) of all groundings: it
tells nothing about rare ones. The same bindings are tried in each world, so that estimates of two worlds that
differ by an atom differ by that atom alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.logic.checked_options import check_options
from mlnlab.logic.forms.normal_forms import nnf
from mlnlab.logic.formulas.formulas import (
    And,
    Atom,
    Constant,
    Equality,
    Formula,
    Not,
    Or,
    Term,
    Truth,
    Variable,
)
from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.steps.free_memory import refuse_beyond_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.counting.facts.sorted_facts import Facts

    Columns: TypeAlias = dict[Variable, NDArray[np.int64]]

_BYTES = 8  # of a variable's value, of an atom's key, and of its place


@dataclass(frozen=True, slots=True)
class RejectionParams:
    """How many bindings are tried, and the seed of these."""

    bindings: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse invalid parameters."""
        check_options(self, bindings=1, seed=0)


def estimate_by_trying(formula: Formula, facts: Facts, params: RejectionParams) -> float:
    r"""Return the estimated number of true groundings.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Friends(person, person)\nFriends(x, y) ^ Friends(y, z) => Friends(x, z)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Bob, Carl)", mln)
    >>> round(ml.count(mln, db, method="rejection", bindings=100_000)[0], 1), ml.count(mln, db)[0]
    (26.0, 26)
    """
    variables = free_variables(formula)
    sizes = [facts.size(variable.type) for variable in variables]
    if not all(sizes):
        return 0.0
    refuse_beyond_memory(
        float(_BYTES * (len(variables) + 2) * params.bindings),
        f"{params.bindings:,} bindings that are tried together", ["try fewer, such as bindings=100_000"],
    )  # fmt: skip
    rng = np.random.default_rng(params.seed)
    tried = {
        variable: rng.integers(0, size, params.bindings)
        for variable, size in zip(variables, sizes, strict=True)
    }
    holds = _holds(nnf(formula), tried, facts, params.bindings)
    return float(prod(sizes)) * int(np.count_nonzero(holds)) / params.bindings


def _holds(formula: Formula, tried: Columns, facts: Facts, number: int) -> NDArray[np.bool_]:
    """Return for which bindings a formula is true."""
    match formula:
        case Truth(value):
            return np.full(number, value)
        case Not(operand):
            return ~_holds(operand, tried, facts, number)
        case And(operands):
            return np.asarray(np.logical_and.reduce([_holds(one, tried, facts, number) for one in operands]))
        case Or(operands):
            return np.asarray(np.logical_or.reduce([_holds(one, tried, facts, number) for one in operands]))
        case Equality(left, right):
            return np.asarray(_names(left, tried, facts, number) == _names(right, tried, facts, number))
        case Atom():
            return _atom_holds(formula, tried, facts, number)
        case _:
            raise ArgumentError(
                f"Rejection sampling tries bindings of literals, and {formula} is not made of them: count it"
                ' with method="planned".'
            )


def _atom_holds(atom: Atom, tried: Columns, facts: Facts, number: int) -> NDArray[np.bool_]:
    keys, known = np.zeros(number, np.int64), np.zeros(len(facts.rows(atom.predicate)), np.int64)
    rows = facts.rows(atom.predicate)
    types = facts.vocabulary[atom.predicate].types
    for column, (argument, type_) in enumerate(zip(atom.arguments, types, strict=True)):
        size = facts.size(type_)
        keys = keys * size + _numbers(argument, type_, tried, facts)
        known = known * size + rows[:, column]
    places = np.searchsorted(known, keys)
    return np.asarray(np.append(known, -1)[places] == keys)


def _numbers(term: Term, type_: str, tried: Columns, facts: Facts) -> NDArray[np.int64] | int:
    match term:
        case Variable():
            return tried[term]
        case Constant(name):
            return facts.vocabulary.domain(type_).number(name)
        case _:
            raise ArgumentError(
                f'Rejection sampling does not calculate {term}: count with method="planned" instead.'
            )


def _names(term: Term, tried: Columns, facts: Facts, number: int) -> NDArray[np.str_]:
    """Return the names of constants: those of two types are the same by their names."""
    if isinstance(term, Constant):
        return np.full(number, term.name)
    type_ = term.type if isinstance(term, Variable) else ""
    numbers = _numbers(term, type_, tried, facts)
    return np.asarray(np.array(list(facts.vocabulary.domain(type_)))[numbers])
