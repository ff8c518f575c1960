"""How ill-conditioned a learning problem is, in a cell: its variances and eigenvalues, the largest first."""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.axes import place_axis
from mlnlab.display.curves import plots_scene, vertical_axis
from mlnlab.display.markup import Element, count_of
from mlnlab.display.plots import Line, Plot
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import bounded_table, table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.display.scene.items import Scene
    from mlnlab.learning.conditioning import Condition

    Numbers = NDArray[np.float64]

_FULL = "what one rate for all directions suffers from: optimisers that rescale or conjugate steps help"
_DIAGONAL = "what one rate for all weights suffers from: a rate for each weight helps"


def condition_scene(condition: Condition) -> Scene:
    """Return variances and eigenvalues, the largest first, over a logarithmic axis."""
    lines = [_sorted_line("variances", condition.variances)]
    if condition.eigenvalues is not None:
        lines.append(_sorted_line("eigenvalues", condition.eigenvalues))
    across = place_axis(1, float(max(len(condition.variances), 2)), whole=True)
    plot = Plot(
        "variances of the counts and eigenvalues of the Hessian" if len(lines) == 2
        else "variances of the counts",
        tuple(lines), across, vertical_axis(lines, log=True), across="rank",
    )  # fmt: skip
    return plots_scene([plot], "Condition", f"{_summary(condition)}.")


def _sorted_line(name: str, values: Numbers) -> Line:
    """Return values from the largest on; zeros have no place on a logarithmic axis."""
    shown = np.sort(values)[::-1]
    places = np.arange(1, len(shown) + 1, dtype=np.float64)
    return Line(name, places, np.where(shown > 0, shown, np.nan))


def _summary(condition: Condition) -> str:
    of = "with the prior" if condition.with_prior else "of the data alone, without the prior"
    return f"{count_of(len(condition.variances), 'weight')}, {of}"


def condition_display(condition: Condition) -> Element:
    """Return the display of a condition."""
    rows = (
        ("eigenvalues of the Hessian", _ratio(condition.full), _FULL),
        ("variances of the counts, its diagonal", _ratio(condition.diagonal), _DIAGONAL),
    )
    flat = condition.flat_directions
    notes = (
        [] if condition.eigenvalues is not None else ["There are too many weights to take the Hessian apart."]
    )
    if flat:
        where = count_of(flat, "direction")
        notes.append(f"In {where} the objective does not change at all: the data leave weights open there.")
    return card(
        title("Condition of the problem", _summary(condition)),
        table(("largest to smallest", "ratio", ""), rows, numbers=(1,)),
        *(quiet(note) for note in notes),
        scene_image(condition_scene(condition), "Variances and eigenvalues; the table has the numbers."),
        folded("variances and eigenvalues", _values(condition)),
    )


def _values(condition: Condition) -> Element:
    """Return a table of the values that are drawn."""
    columns = [np.sort(condition.variances)[::-1].tolist()]
    if condition.eigenvalues is not None:
        columns.append(np.sort(condition.eigenvalues)[::-1].tolist())
    headings = ("", "variance", "eigenvalue")[: 1 + len(columns)]
    rows = (
        (str(place), *(f"{value:.4g}" for value in values))
        for place, values in enumerate(zip(*columns, strict=True), 1)
    )
    return bounded_table(headings, rows, len(columns[0]), "values", numbers=range(len(headings)))


def _ratio(value: float) -> str:
    if isnan(value):
        return "–"
    return f"{value:,.4g}" if isfinite(value) else "∞"


def condition_text(condition: Condition) -> str:
    """Return a condition as text."""
    return f"{condition!r}\n  {_summary(condition)}"
