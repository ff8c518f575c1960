"""How ill-conditioned a learning problem is, in a cell: its variances and eigenvalues, the largest first."""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import count_of
from mlnlab.display.chart.axes import place_axis
from mlnlab.display.chart.curves import plots_scene, vertical_axis
from mlnlab.display.chart.plots import Line, Plot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.display.scene.items import Scene
    from mlnlab.learning.diagnosis.conditioning import Condition

    Numbers = NDArray[np.float64]

_FULL = "a single rate for all directions suffers from this: optimisers that rescale or conjugate steps help"
_DIAGONAL = "a single rate for all weights suffers from this: a rate for each weight helps"


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


def condition_card(condition: Condition) -> Card:
    """Return the card of a condition."""
    rows = (
        ("eigenvalues of the Hessian", _ratio(condition.full), _FULL),
        ("variances of the counts, its diagonal", _ratio(condition.diagonal), _DIAGONAL),
    )
    flat = condition.flat_directions
    where = f"In {count_of(flat, 'direction')} the objective does not change at all"
    return Card(
        "Condition of the problem",
        _summary(condition),
        lead=(
            table_of(("largest to smallest", "ratio", ""), rows, len(rows), "ratios", numbers=(1,)),
            "There are too many weights to take the Hessian apart." * (condition.eigenvalues is None),
            f"{where}: the data leave weights open there." if flat else "",
        ),
        picture=condition_scene(condition),
        alternative="Variances and eigenvalues; the table has the numbers.",
        folds=(("variances and eigenvalues", _values(condition)),),
    )


def _values(condition: Condition) -> Table:
    """Return a table of the values that are drawn."""
    columns = [np.sort(condition.variances)[::-1].tolist()]
    if condition.eigenvalues is not None:
        columns.append(np.sort(condition.eigenvalues)[::-1].tolist())
    headings = ("", "variance", "eigenvalue")[: 1 + len(columns)]
    rows = (
        (str(place), *(f"{value:.4g}" for value in values))
        for place, values in enumerate(zip(*columns, strict=True), 1)
    )
    return table_of(headings, rows, len(columns[0]), "values", numbers=range(len(headings)))


def _ratio(value: float) -> str:
    if isnan(value):
        return "–"
    return f"{value:,.4g}" if isfinite(value) else "∞"
