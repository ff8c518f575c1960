"""Two-variable models by cells, as they show themselves: the table of 1-types, and the matrix of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, log
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.display.card.cards import Card, Table, scene_image, table_of
from mlnlab.display.card.markup import Element, count_of, shorten_text
from mlnlab.display.card.style import card, quiet, title
from mlnlab.display.lifted.circuits.circuit_boxes import number_text
from mlnlab.display.lifted.circuits.circuit_details import numbers_tables
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Rectangle, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text, text_width
from mlnlab.errors import MlnlabError
from mlnlab.lifted.ask.cell_rows import CellRow, CellRows, cell_rows

if TYPE_CHECKING:
    from mlnlab.lifted.ask.cell_shares import CellNumbers, CellShares
    from mlnlab.lifted.ask.cell_theory import CellTheory

MOST_SHOWN = 3  # components
MOST_CELLS = 20  # of one of them
MOST_PARTS, _MOST_CELLS_DRAWN = 3, 14  # drawn: components, and cells of each
_ROW, _BOX, _BAR = 34.0, 48.0, 110.0
_PAIRS = "r between two elements, by their cells"
_LEAST, _LONG = 1e-9, 1e5
_TYPE, _LITERALS, _WIDEST = 34.0, 100.0, 230.0


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


# --- pictures -------------------------------------------------------------------------------------
# A square is the larger the further log r is from its mean: orange above, blue below, so that it is seen
# which cells attract each other. The kinds and number of items follow from the cells alone: sliders send few
# bytes.


def cell_scene(parts: Sequence[CellShares]) -> Scene:
    """Return components one below the other, each as a table with a matrix beside it."""
    items: list[Item] = []
    y, width = 6.0, 300.0
    drawn = [one for one in parts if len(one.rows.cells) > 1] or list(parts[:1])
    for number, one in enumerate(drawn[:MOST_PARTS]):
        made, right = _draw_component(one, number, y)
        items += made
        width = max(width, right)
        y += 58 + _ROW * min(len(one.rows.cells), _MOST_CELLS_DRAWN)
    words = f"{sum(len(one.rows.cells) for one in drawn)} cells"
    return Scene(width + 8, y, (Layer("cells", tuple(items)),), "Cells", f"{words}.")


class _Columns(NamedTuple):
    """Where the columns of a component begin; ``weights`` is where they end."""

    middle: float  # the width of the 1-types
    weights: float
    shares: float
    matrix: float


def _draw_component(part: CellShares, number: int, top: float) -> tuple[list[Item], float]:
    cells = part.rows.cells[:_MOST_CELLS_DRAWN]
    middle = min(_WIDEST, max(90.0, *(text_width(_literals(cell), "small") for cell in cells)))
    weights = _LITERALS + middle + 66
    at = _Columns(middle, weights, weights + 26, weights + 26 + _BAR + 92)
    items = [
        _head(8, top, "cell"), _head(_TYPE, top, "type"), _head(_LITERALS, top, "1-type"),
        _head(weights, top, "w", "end"), _head(at.shares, top, "expected elements"),
        _head(at.matrix, top, _PAIRS),
    ]  # fmt: skip
    scale = _scale(part)
    for row in range(len(cells)):
        y = top + 50 + _ROW * row
        items.append(_cell(part, (number, row), at, y))
        items.append(_head(at.matrix + _BOX * row + _BOX / 2, top + 16, str(row + 1), "middle"))
        for column in range(len(cells)):
            r, x = part.rows.pairs[row][column], at.matrix + _BOX * column
            items.append(_square(r, scale, x, y - 22, (number, row, column)))
    return items, at.matrix + max(_BOX * len(cells), text_width(_PAIRS, "small"))


def _cell(part: CellShares, place: tuple[int, int], at: _Columns, y: float) -> Item:
    """Return the row of a cell; merged cells are marked."""
    row = place[1]
    cell, text = part.rows.cells[row], _literals(part.rows.cells[row])
    merged = f"{cell.merged} cells that are one" if cell.merged > 1 else ""
    children = (
        Text(x=8, y=y, text=str(row + 1), look="words small strong"),
        Text(x=_TYPE, y=y, text=fit_text(cell.type, 60, "small"), look="words small"),
        Text(
            x=_LITERALS, y=y - 6 * bool(merged), text=fit_text(text, at.middle, "small"), look="words small"
        ),
        Text(x=_LITERALS, y=y + 7, text=merged, look="quiet small"),
        Text(x=at.weights, y=y, text=f"{cell.weight:.4g}", anchor="end", look="number small"),
        *_share(part.elements[row], part.of[row], at.shares, y),
    )
    return Group(id=numbered_id("cell", *place), children=children, tooltip=_tip(cell, text, row))


def _literals(cell: CellRow) -> str:
    return " ^ ".join(cell.literals) or "all"


def _head(x: float, y: float, text: str, anchor: str = "start") -> Item:
    return Text(x=x, y=y + 8, text=text, anchor=anchor, look="quiet small")  # type: ignore[arg-type]


def _tip(cell: CellRow, text: str, row: int) -> str:
    how = "summed over" if cell.open else "in a power, no sum"
    merged = f"{cell.merged} cells whose rows of r are proportional" if cell.merged > 1 else ""
    return tooltip(f"cell {row + 1}: {text}", f"of type {cell.type}", f"elements are {how}", merged)


def _share(elements: float, of: int, x: float, y: float) -> list[Item]:
    known = isfinite(elements)
    share = min(max(elements / of, 0.0), 1.0) if known and of else 0.0
    said = f"{number_text(elements)} of {number_text(float(of))}" if known else "signs cancel"
    return [
        Rectangle(x=x, y=y - 10, width=_BAR - 40, height=12, look="shaded"),
        Rectangle(x=x, y=y - 10, width=share * (_BAR - 40), height=12, look="bar blue"),
        Text(x=x + _BAR - 34, y=y, text=fit_text(said, 116, "small"), look="number small"),
    ]


class _Scale(NamedTuple):
    """Around which log r squares are drawn: a factor of all pairs makes no difference to anything."""

    middle: float
    reach: float


def _scale(part: CellShares) -> _Scale:
    pairs = [r for row in part.rows.pairs[:_MOST_CELLS_DRAWN] for r in row[:_MOST_CELLS_DRAWN]]
    found = [log(abs(r)) for r in pairs if r]
    middle = sum(found) / len(found) if found else 0.0
    return _Scale(middle, max([0.01, *(abs(one - middle) for one in found)]))


def _square(value: float, scale: _Scale, x: float, y: float, place: tuple[int, int, int]) -> Item:
    """Return r of two cells: a square by its distance, and the number; both hues stay, one without size."""
    far = (log(abs(value)) - scale.middle) / scale.reach if value else -1.0
    side = (_ROW - 3) * abs(far) ** 0.5 if abs(far) > _LEAST else 0.0
    centre, middle = x + _BOX / 2, y + _ROW / 2
    squares = (
        Rectangle(x=centre - s / 2, y=middle - s / 2, width=s, height=s, look=f"bar {hue} washed")
        for hue, s in (("orange", side * (far > 0)), ("blue", side * (far < 0)))
    )
    words = fit_text(_short_number(value), _BOX - 4, "small")
    return Group(
        id=numbered_id("pair", *place),
        tooltip=f"r = {value:.6g} between cells {place[1] + 1} and {place[2] + 1}",
        children=(
            Rectangle(x=x, y=y, width=_BOX, height=_ROW, look="frame"),
            *squares,
            Text(x=centre, y=middle + 4, text=words, anchor="middle", look="label small"),
        ),
    )


def _short_number(value: float) -> str:
    return f"{value:.0f}" if 100 <= abs(value) < _LONG else f"{value:.3g}"
