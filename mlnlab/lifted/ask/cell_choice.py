"""Choose between rules and cells: whichever compiles a model to fewer terms."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from mlnlab.errors import ArgumentError, TooLargeError
from mlnlab.lifted.ask.cell_theory import CellTheory, cell_theory
from mlnlab.lifted.cells.cell_factors import TooManyVariablesError
from mlnlab.lifted.compile.compiling import Compilation, NotLiftableError
from mlnlab.steps import budget

if TYPE_CHECKING:
    from mlnlab.lifted.theory.weighted_theory import WeightedTheory

METHODS = ("rules", "cells", "auto")


def chosen_cells(method: str, weighted: WeightedTheory, compilation: Compilation) -> CellTheory | None:
    """Return a model's cells where these are asked for, or cheaper; nothing where rules are to compile it."""
    if method not in METHODS:
        raise ArgumentError(f"A model is compiled by {', '.join(METHODS)}, not by {method!r}.")
    if method == "rules":
        return None
    if method == "cells":
        return cell_theory(weighted)
    try:
        cells = cell_theory(weighted)
    except (TooManyVariablesError, TooLargeError):
        return None
    order = _order_by_rules(compilation)
    if order is None or cells.order < order:
        return cells
    # Sums over cells drop nearly all terms where no sign cancels; a circuit goes through n^order.
    return cells if order > budget.MOST_NESTED and not cells.is_signed else None


def _order_by_rules(compilation: Compilation) -> int | None:
    """Return the power of n that the rules' circuit costs, if they make a small one that is complete."""
    last = None
    work = min(compilation.params.work, float(budget.MOST_TRIED_CLAUSES))
    compilation = replace(compilation, params=replace(compilation.params, work=work))
    try:
        for state in islice(compilation, budget.MOST_TRIED_DEFINITIONS):
            last = state
    except (NotLiftableError, TooLargeError):
        return None
    if last is None or not last.ended:
        return None
    circuit = compilation.circuit(last)
    return circuit.nesting() if circuit.is_complete else None
