"""Tabulate cells as rows: their literals, their weights, and the matrix of pairs."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.lifted.cells.cell_numbers import ExactNumbers, plain
from mlnlab.lifted.cells.cell_tables import Weighed
from mlnlab.lifted.circuit.lifted_questions import read_weights
from mlnlab.lifted.theory.symbol_names import shown_symbol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlnlab.lifted.ask.cell_theory import CellTheory
    from mlnlab.lifted.cells.cell_merging import MergedCells, MergedKind
    from mlnlab.lifted.cells.cells import Kind

LARGEST = 700.0  # of all weights together, of which e to the power is a float


@dataclass(frozen=True, slots=True)
class CellRow:
    """A cell: its type, the literals that hold in all that is merged to it, and whether it is summed over."""

    type: str
    literals: tuple[str, ...]
    merged: int  # how many cells are one
    open: bool
    weight: float  # of those merged whose rows are equal, together


@dataclass(frozen=True, slots=True)
class CellRows:
    """The cells of one component, and r between each two of them."""

    cells: tuple[CellRow, ...]
    pairs: tuple[tuple[float, ...], ...]


def cell_rows(theory: CellTheory, weights: Sequence[float] | None = None) -> tuple[CellRows, ...]:
    """Return the cells of all components at some weights, those with the most cells first."""
    given = read_weights(theory.mln, weights)
    if float(np.abs(given).sum()) > LARGEST:
        raise ArgumentError(f"Cells are shown where all weights together are at most {LARGEST:g}.")
    weighted = theory.model.weighted
    numbers = ExactNumbers(1.0)
    values: dict[Weighed, tuple[object, object]] = {Weighed("hard"): (numbers.one, numbers.zero)}
    for n, weight in enumerate(given.tolist()):
        values[Weighed("formula", n)] = (plain(exp(weight)), numbers.one)
    logs = weighted.true @ given, weighted.false @ given
    for n, pair in enumerate(weighted.factors):
        true, false = (float(factor) * exp(float(log[n])) for factor, log in zip(pair, logs, strict=True))
        values[Weighed("symbol", n)] = (plain(true), plain(false))
    found = [_component(theory, one, numbers, values) for one in theory.compiled.merged]
    return tuple(sorted(found, key=lambda rows: -len(rows.cells)))


def _component(
    theory: CellTheory, merged: MergedCells, numbers: ExactNumbers,
    values: Mapping[Weighed, tuple[object, object]],
) -> CellRows:  # fmt: skip
    rows: list[CellRow] = []
    places: list[tuple[int, int]] = []
    for number, (kind, one) in enumerate(zip(merged.cells.kinds, merged.kinds, strict=True)):
        weights = [float(w.value) for w in kind.weights.values(numbers, values)]
        for place, cell in enumerate(one.chosen.tolist()):
            places.append((number, cell))
            alike = np.flatnonzero((one.into == place) & ~one.scaled.any(axis=1))
            rows.append(_row(theory, kind, one, place, sum(weights[member] for member in alike)))
    blocks = {pair: table.values(numbers, values) for pair, table in merged.cells.pairs.items()}

    def between(a: int, i: int, b: int, j: int) -> float:
        if (a, b) in blocks:
            return float(blocks[a, b][i, j].value)
        return float(blocks[b, a][j, i].value) if (b, a) in blocks else 1.0

    pairs = tuple(tuple(between(*first, *second) for second in places) for first in places)
    return CellRows(tuple(rows), pairs)


def _row(theory: CellTheory, kind: Kind, one: MergedKind, place: int, weight: float) -> CellRow:
    members = kind.cells[np.flatnonzero(one.into == place)]
    literals = tuple(
        f"{'' if column[0] else '!'}{shown_symbol(theory.model.symbols[symbol])}"
        for symbol, column in zip(kind.bits, members.T, strict=True)
        if len(column) and (column == column[0]).all()
    )
    return CellRow(kind.name[0], literals, len(members), place in one.open, weight)
