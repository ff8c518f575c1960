"""Truth values as tables: of a predicate's atoms, and with each ground atom in turn made true or false."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.nodes import Run
from mlnlab.counting.thresholds import COMPARE
from mlnlab.logic.formulas import Cardinality, Constant, Variable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.counting.facts import Facts
    from mlnlab.counting.formula_networks import WithGiven
    from mlnlab.counting.nodes import Scan


def scattered(rows: NDArray[np.uint32], shape: Sequence[int]) -> NDArray[np.bool_]:
    """Return a table that is true at the listed rows."""
    found = np.zeros(shape, bool)
    if len(rows):
        found[tuple(rows.T)] = True
    return found


def truth_with_given(
    source: WithGiven, scan: Scan | None, facts: Facts, shape: Sequence[int]
) -> NDArray[np.bool_]:
    """Return where a part holds, by its own variables and then by the arguments of the given atom."""
    part, given = source.part, source.given
    if isinstance(part, Cardinality):
        rows = facts.rows(part.predicate)
        others = len(rows) - scattered(rows, shape).astype(np.int64)
        return np.asarray(COMPARE[part.relation](others + int(given.true), part.bound), bool)
    if scan is None:  # an atom of a constant that is not there
        return np.zeros((), bool)
    own = len(shape) - len(given.arguments)
    holds = scattered(scan.rows(Run(facts)), shape[:own])
    holds = holds.reshape((*shape[:own], *(1,) * len(given.arguments)))
    places = dict(zip(_different(part.arguments), range(own), strict=True))
    same = np.ones((), bool)
    for position, argument in enumerate(part.arguments):
        size = shape[own + position]
        axes = [1] * len(shape)
        axes[own + position] = size
        if isinstance(argument, Variable):
            axes[places[argument]] = size
            same = same & np.eye(size, dtype=bool).reshape(axes)
        elif isinstance(argument, Constant):
            number = facts.vocabulary.domain(given.arguments[position].type).number(argument.name)
            same = same & (np.arange(size) == number).reshape(axes)
    found = holds | same if given.true else holds & ~same
    return np.asarray(np.broadcast_to(found, shape))


def _different(arguments: Sequence[object]) -> list[Variable]:
    return list(dict.fromkeys(argument for argument in arguments if isinstance(argument, Variable)))
