"""What a saved notebook keeps of a run: the picture of one step, the step's name in it, and its numbers.

The picture may be that of a later step than the text around it: a page lets the notebook save what is seen
last, while the HTML is that of the moment when the cell ran. So each part says of which step it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mlnlab.display.markup import Element, element
from mlnlab.display.scene.items import Layer, Scene, Text
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.scene.text_fitting import fitted
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import bounded_table

if TYPE_CHECKING:
    from mlnlab.display.runs import RunPicture, Table
    from mlnlab.steps.step import Step

_MOST_ROWS = 200
_LINE, _BASE, _MARGIN = 22.0, 14.0, 8.0
_LOOK = "quiet small"


def signature(step: Step[Any], caption: str, scene: Scene) -> Scene:
    """Return the line under a picture that says which step it shows, with the height of both."""
    place = f"step {step.index:,}"
    words = caption if caption.startswith(place) else " · ".join(filter(None, (place, caption)))
    line = Text(
        x=_MARGIN,
        y=scene.height + _BASE,
        text=fitted(words, scene.width - 2 * _MARGIN, _LOOK),
        look=_LOOK,
    )
    return Scene(scene.width, scene.height + _LINE, (Layer("signature", (line,), zooms=False),), "")


def signed(scene: Scene, line: Scene) -> Scene:
    """Return a picture with the line under it; run_view.js does the same."""
    return replace(scene, height=line.height, layers=(*scene.layers, *line.layers))


def still_markup(picture: RunPicture, step: Step[Any], scene: Scene) -> Element:
    """Return a signed picture with what there is to say of its step."""
    table = picture.table(step)
    named = f"step {step.index:,}"
    return card(
        title(picture.title),
        scene_image(scene, "The picture of one step; the table below says the same."),
        None if table is None else folded(f"{named} as a table", _rows(table)),
        *(quiet(f"At {named}: {remark}") for remark in picture.remarks(step)),
    )


def _rows(table: Table) -> Element:
    headings = tuple(column.name for column in table.columns)
    numbers = tuple(place for place, column in enumerate(table.columns) if column.number)
    rows = (tuple(_cell(value) for value in row) for row in table.rows[: _MOST_ROWS + 1])
    return element("div", bounded_table(headings, rows, len(table.rows), "rows", numbers=numbers))


def _cell(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.6g}"
