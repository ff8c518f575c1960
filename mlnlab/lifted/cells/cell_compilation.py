"""Compiling a two-variable theory to cells: nothing of it depends on weights or sizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.lifted.cells.cell_components import Parts, made_parts
from mlnlab.lifted.cells.cell_merging import MergedCells, merged_cells
from mlnlab.lifted.cells.cell_numbers import PRIME
from mlnlab.lifted.cells.cell_tables import Weighed

if TYPE_CHECKING:
    from mlnlab.lifted.cells.cell_factors import TwoVariableModel

POINTS = 2  # random weights at which cells are compared


@dataclass(frozen=True, slots=True, eq=False)
class CompiledCells:
    """The parts of a model, and the cells of each component that are left when equal ones are merged."""

    model: TwoVariableModel
    parts: Parts
    merged: tuple[MergedCells, ...]

    @property
    def order(self) -> int:
        """The power of n that evaluation costs."""
        return max((one.order for one in self.merged), default=0)

    @property
    def cells(self) -> int:
        """The most cells that one component has."""
        return max((sum(len(k.chosen) for k in one.kinds) for one in self.merged), default=0)


def compiled_cells(model: TwoVariableModel, formulas: frozenset[int]) -> CompiledCells:
    """Compile a model, of whose soft formulas only some count."""
    parts = made_parts(model, formulas)
    draw = np.random.default_rng(0)
    weights = [_random_weights(model, draw) for _ in range(POINTS)]
    exactly = bool(model.weighted.tallies)
    merged = tuple(merged_cells(one, weights, exactly=exactly) for one in parts.components)
    return CompiledCells(model, parts, merged)


def _random_weights(
    model: TwoVariableModel, draw: np.random.Generator
) -> dict[Weighed, tuple[object, object]]:
    """Return random weights modulo a prime; auxiliary atoms keep theirs, except those that tallies count."""
    weighted = model.weighted
    counted = {name for tally in weighted.tallies for name, _ in (*tally.true, *tally.false)}
    weights: dict[Weighed, tuple[object, object]] = {Weighed("hard"): (1, 0)}
    for number in range(len(weighted.mln.formulas)):
        weights[Weighed("formula", number)] = (int(draw.integers(2, PRIME)), 1)
    for number, symbol in enumerate(model.symbols):
        own = symbol.predicate in weighted.mln.vocabulary.predicates or symbol.predicate in counted
        pair = tuple(
            f.numerator * pow(f.denominator, -1, PRIME) * (int(draw.integers(2, PRIME)) if own else 1) % PRIME
            for f in weighted.factors[number]
        )
        weights[Weighed("symbol", number)] = (pair[0], pair[1])
    return weights
