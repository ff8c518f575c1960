"""Many domain sizes and weights asked of cells, point by point: what no circuit's one pass answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from mlnlab.lifted.sweeps import Asked, Sweep, Swept, points

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mlnlab.lifted.arithmetic import Evaluated
    from mlnlab.lifted.cell_factors import TwoVariableModel


class AskedCells(Asked, Protocol):
    """Cells, by what a sweep asks of them (:class:`mlnlab.lifted.cell_theory.CellTheory`)."""

    @property
    def model(self) -> TwoVariableModel:
        """The model."""

    def answered(self, domains: Mapping[str, int], weights: Sequence[float]) -> tuple[Evaluated, list[float]]:
        """Return log Z, expected numbers of atoms, and E[n_i]."""


def sweep_cells(cells: AskedCells, domains: Swept, weights: Sequence[object] | None = None) -> Sweep:
    """Evaluate cells at many points; a size or a vector of weights given once holds for all of them."""
    sizes, rows = points(cells, domains, weights)
    answers = [cells.answered(one, row.tolist()) for one, row in zip(sizes, rows, strict=True)]
    found = [one for one, _ in answers]
    return Sweep(
        cells, cells.model.symbols, tuple(sizes), rows, np.array([one.value for one in found]),
        np.array([one.error for one in found]), np.array([e for _, e in answers]).reshape(rows.shape),
        np.array([one.true for one in found]).T, np.array([one.false for one in found]).T,
    )  # fmt: skip
