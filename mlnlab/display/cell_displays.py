"""Two-variable models by cells, as they show themselves: the table of 1-types, and the matrix of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.cell_pictures import cell_scene
from mlnlab.display.circuit_details import numbers_tables
from mlnlab.display.markup import Element, count_of, shortened
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import table
from mlnlab.errors import MlnlabError
from mlnlab.lifted.cell_rows import CellRows, cell_rows

if TYPE_CHECKING:
    from mlnlab.lifted.cell_shares import CellNumbers
    from mlnlab.lifted.cell_theory import CellTheory

MOST_SHOWN = 3  # components
MOST_CELLS = 20  # of one of them


def cell_theory_display(theory: CellTheory) -> Element:
    """Return the display of a model that is compiled to cells."""
    cost = f"about n^{theory.order} terms" if theory.order else "no sum over sizes"
    head = title("Cells", f"{count_of(theory.compiled.cells, 'cell')}, {cost}")
    try:
        parts = [one for one in cell_rows(theory) if len(one.cells) > 1]
    except (MlnlabError, OverflowError):  # weights that are not known, or whose exponentials are not
        return card(head, quiet("Their numbers are shown once all formulas have weights of usual size."))
    shown = [node for part in parts[:MOST_SHOWN] for node in _component(part)]
    more = len(parts) - MOST_SHOWN
    return card(
        head, *shown,
        *([quiet(f"and {count_of(more, 'further component')}")] if more > 0 else []),
        quiet("w: what the rest of an element's atoms weighs; r: what the atoms between two elements weigh."),
        quiet("From: Beame et al. (2015); van Bremen and Kuželka (2021)."),
    )  # fmt: skip


def cells_markup(theory: CellTheory, numbers: CellNumbers) -> Element:
    """Return the picture and the numbers as tables, for where there is no kernel."""
    scene = cell_scene(numbers.parts)
    return card(
        title("Cells", scene.description),
        scene_image(scene, "Cells with their weights and shares, and r between each two of them."),
        *numbers_tables(theory.mln, numbers.all),
        quiet("Sliders need a kernel."),
    )


def _component(rows: CellRows) -> list[Element]:
    cells = rows.cells[:MOST_CELLS]
    names = [str(number + 1) for number in range(len(cells))]
    listed = (
        (
            name,
            cell.type,
            shortened(" ^ ".join(cell.literals) or "all", 80),
            f"{cell.weight:.4g}",
            _how(cell.open),
        )
        for name, cell in zip(names, cells, strict=True)
    )
    matrix = (
        (name, *(_number(value) for value in row[:MOST_CELLS]))
        for name, row in zip(names, rows.pairs, strict=False)
    )
    left = len(rows.cells) - len(cells)
    return [
        table(("cell", "type", "1-type", "w", "elements"), listed, numbers=(0, 3)),
        *([quiet(f"and {count_of(left, 'further cell')}")] if left else []),
        folded("r between cells", table(("", *names), matrix, numbers=range(len(names) + 1))),
    ]


def _number(value: float) -> str:
    return f"{value:.0f}" if 100 <= abs(value) < 1e6 else f"{value:.3g}"


def _how(is_open: bool) -> str:
    return "summed over" if is_open else "in a power"
