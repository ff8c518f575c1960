"""Figure 4.1 made anew as one drawing: CLL and AUC over the logarithm of learning time, a line a learner."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.chart.axes import value_axis
from mlnlab.display.chart.curves import plots_scene, vertical_axis
from mlnlab.display.chart.plots import Line, Plot
from mlnlab.experiments.reproduce.figure_4_1_scores import ALL, Figure
from mlnlab.learning.ask.tuning import MEASURES

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.learning.ask.held_out import Measure


def figure_4_1_scene(found: Figure) -> Scene:
    """Return a plot for each measure and each judged set of atoms."""
    plots = [_plot(found, measure, of) for of in found.judged for measure in MEASURES]
    folds = len({piece.fold for piece in found.pieces})
    described = f"{len(found.learners)} learners on {folds} folds of {found.task}, over seconds of learning."
    return plots_scene(plots, f"CLL and AUC on {found.task}", described)


def _plot(found: Figure, measure: Measure, of: str) -> Plot:
    series = found.curve(measure, of).series
    lines = tuple(Line(one.name, one.across("seconds"), one.values) for one in series)
    ends = np.array([[line.across[0], line.across[-1]] for line in lines])
    across = value_axis(float(ends[:, 0].min()), float(ends[:, 1].max()), log=True)
    words = "all predicates" if of == ALL else of
    return Plot(
        f"{measure.upper()} of {words}",
        lines,
        across,
        vertical_axis(lines),
        "seconds",
        named=False,
    )
