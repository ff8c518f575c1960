"""Figures 2 and 3 of Sarkhel et al. (2016) made anew: over sampling fractions, and over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.chart.axes import value_axis
from mlnlab.display.chart.curves import Chart, vertical_axis
from mlnlab.display.chart.plots import Line, Plot
from mlnlab.experiments.approximate_counting.counting_tables import STOPPED, CountingPieces

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    Curves = Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]]

_SECONDS = "seconds of learning"
_EMPTY = "There is nothing to draw: no piece of work has learned weights."
_FIGURES = {
    "figure-2": ("converged", "changes", "Convergence of scalable learning", ("seconds", "|Δw|")),
    "figure-3": ("cll", "clls", "Accuracy of scalable learning", ("CLL", "CLL")),
}


def counting_chart(pieces: CountingPieces, figure: str) -> Chart:
    """Return a figure: on the left over the sampling fraction k, on the right over seconds of learning.

    Upright lines stand where Alchemy and Tuffy stopped in the paper.
    """
    by_fraction, by_time, title, names = _FIGURES[figure]
    plots = [
        _plot(names[0], pieces.by_fraction(by_fraction), "sampling fraction k", log=figure == "figure-2"),
        _plot(names[1], pieces.by_time(by_time), _SECONDS, log=figure == "figure-2"),
    ]
    drawn = tuple(plot for plot in plots if plot is not None)
    words = f"{names[0]} over sampling fractions, and {names[1]} over seconds."
    return Chart(title, drawn, words, _EMPTY, height=220.0, beside=True)


def _plot(name: str, curves: Curves, across: str, *, log: bool) -> Plot | None:
    """Return curves as a plot; none where no value is known."""
    lines = tuple(
        Line(learner, places[known], values[known], mark="circle")
        for learner, (places, values) in curves.items()
        if (known := np.isfinite(values)).any()
    )
    if not lines:
        return None
    vertical = vertical_axis(lines, log=log)
    if across == _SECONDS:
        ends = [float(end) for line in lines for end in (line.across.min(), line.across.max())]
        return Plot(name, lines, value_axis(min(ends), max(ends), log=True), vertical, across, named=False)
    levels = np.concatenate([line.values for line in lines])
    reach = np.array([levels.min(), levels.max()])
    stopped = (Line(f"{rival} stopped", np.full(2, k), reach) for rival, k in STOPPED)
    return Plot(name, (*lines, *stopped), value_axis(0.0, 1.0), vertical, across, named=False)
