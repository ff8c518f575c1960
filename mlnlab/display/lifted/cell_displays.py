"""Two-variable models by cells, as they show themselves: the table of 1-types, and the matrix of pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import Element, count_of, shorten_text
from mlnlab.display.card.pictures import scene_image
from mlnlab.display.card.style import card, quiet, title
from mlnlab.display.lifted.cell_pictures import cell_scene
from mlnlab.display.lifted.circuits.circuit_details import numbers_tables
from mlnlab.errors import MlnlabError
from mlnlab.lifted.ask.cell_rows import CellRows, cell_rows

if TYPE_CHECKING:
    from mlnlab.lifted.ask.cell_shares import CellNumbers
    from mlnlab.lifted.ask.cell_theory import CellTheory

MOST_SHOWN = 3  # components
MOST_CELLS = 20  # of one of them


def cell_theory_card(theory: CellTheory) -> Card:
    """Return the card of a model that is compiled to cells."""
    cost = f"about n^{theory.order} terms" if theory.order else "no sum over sizes"
    facts = f"{count_of(theory.compiled.cells, 'cell')}, {cost}"
    try:
        parts = [one for one in cell_rows(theory) if len(one.cells) > 1]
    except (MlnlabError, OverflowError):  # weights that are not known, or whose exponentials are not
        unknown = "Their numbers are shown once all formulas have weights of usual size."
        return Card("Cells", facts, lead=(unknown,))
    more = len(parts) - MOST_SHOWN
    tables = [_component(part) for part in parts[:MOST_SHOWN]]
    return Card(
        "Cells",
        facts,
        lead=tuple(listed for listed, _ in tables),
        remarks=(
            f"and {count_of(more, 'further component')}" if more > 0 else "",
            "w: weight of the rest of an element's atoms; r: weight of the atoms between two elements.",
            "From: Beame et al. (2015); van Bremen and Kuželka (2021).",
        ),
        folds=tuple(("r between cells", between) for _, between in tables),
    )


def cells_markup(theory: CellTheory, numbers: CellNumbers) -> Element:
    """Return the picture and the numbers as tables, for where there is no kernel."""
    scene = cell_scene(numbers.parts)
    return card(
        title("Cells", scene.description),
        scene_image(scene, "Cells with their weights and shares, and r between each two of them."),
        *numbers_tables(theory.mln, numbers.all),
        quiet("Sliders need a kernel."),
    )


def _component(rows: CellRows) -> tuple[Table, Table]:
    """Return the cells of a component, and r between each two of them."""
    cells = rows.cells[:MOST_CELLS]
    names = [str(number + 1) for number in range(len(cells))]
    listed = (
        (
            name,
            cell.type,
            shorten_text(" ^ ".join(cell.literals) or "all", 80),
            f"{cell.weight:.4g}",
            _how(cell.open),
        )
        for name, cell in zip(names, cells, strict=True)
    )
    matrix = (
        (name, *(_number(value) for value in row[:MOST_CELLS]))
        for name, row in zip(names, rows.pairs, strict=False)
    )
    headings = ("cell", "type", "1-type", "w", "elements")
    return (
        table_of(headings, listed, len(rows.cells), "cells", numbers=(0, 3)),
        table_of(("", *names), matrix, len(cells), "cells", numbers=range(len(names) + 1)),
    )


def _number(value: float) -> str:
    return f"{value:.0f}" if 100 <= abs(value) < 1e6 else f"{value:.3g}"


def _how(is_open: bool) -> str:
    return "summed over" if is_open else "in a power"
