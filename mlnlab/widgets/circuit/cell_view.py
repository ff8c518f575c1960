"""The view of a model compiled to cells: 1-types, their shares and r of each two, with live sliders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlnlab.display.lifted.cell_displays import cell_scene, cells_markup
from mlnlab.display.lifted.circuits.circuit_details import numbers_json
from mlnlab.lifted.ask.cell_shares import CellNumbers, cell_numbers
from mlnlab.widgets.circuit.circuit_sliders import Sliders, Weights, sliders_of
from mlnlab.widgets.circuit.circuit_sliding import SlidingView

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mlnlab.display.card.markup import Element
    from mlnlab.lifted.ask.cell_theory import CellTheory

_HINT = (
    "w: weight of the rest of an element's atoms. r: weight of the atoms between two elements; a square is"
    " orange where it is above the mean, and blue below."
)


class CellView(SlidingView):
    """Cells to look at and to move; ``numbers`` are those of the last weights and sizes that were taken."""

    def __init__(
        self, cells: CellTheory, sizes: Mapping[str, int] | None = None, weights: Weights | None = None
    ) -> None:
        sliders = sliders_of(cells, sizes or {}, weights)  # raises before there is anything to be closed
        numbers = _numbers(cells, sliders)
        super().__init__()
        self._cells, self._sliders, self._found = cells, sliders, numbers
        self._drawn = cell_scene(numbers.parts)
        self._settle()

    @property
    def cells(self) -> CellTheory:
        """The cells that are shown."""
        return self._cells

    @property
    def numbers(self) -> CellNumbers:
        """All numbers that are shown."""
        return self._found

    @property
    def sizes(self) -> dict[str, int]:
        """Where the sliders of the domains stand."""
        return dict(self._sliders.sizes)

    def _move(self, sliders: Sliders) -> None:
        self._found = _numbers(self._cells, sliders)
        self._drawn = cell_scene(self._found.parts)

    def _values(self) -> dict[str, Any]:
        return numbers_json(self._cells.mln, self._found.all)

    def _switches(self) -> dict[str, Any]:
        return {"hint": _HINT}

    def _shown_sizes(self) -> str:
        return ", ".join(f"{type_} = {size:,}" for type_, size in self._found.all.sizes.items())

    def static_markup(self) -> Element | None:
        """Return the picture and the numbers as a card."""
        return cells_markup(self._cells, self._found)

    def __repr__(self) -> str:
        told = self._shown_sizes() or "no domains"
        return f"<Exploring {self._cells!r}; {told}: {self._found.all.log_z!r}>"


def _numbers(cells: CellTheory, sliders: Sliders) -> CellNumbers:
    return cell_numbers(cells, dict(sliders.sizes), list(sliders.weights))
