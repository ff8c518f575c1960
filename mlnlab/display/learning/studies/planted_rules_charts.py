"""Chart how many planted rules each structure learner finds again, and how much else, against noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card
from mlnlab.display.chart.axes import value_axis
from mlnlab.display.chart.curves import Chart
from mlnlab.display.chart.plots import Line, Plot
from mlnlab.display.runs.run_cards import frame_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.experiments.studies.planted_rules import PlantedRules

_TITLE, _EMPTY = "Planted rules, found again", "There is nothing to draw: nothing was measured."


def planted_rules_chart(found: PlantedRules) -> Chart:
    """Return precision and recall over noise, a line for each learner."""
    if not found.points:
        return Chart(_TITLE, (), empty=_EMPTY)
    plots = tuple(_plot(found, measure) for measure in ("precision", "recall"))
    return Chart(_TITLE, plots, "Over the share of concluded atoms that were exchanged.", _EMPTY)


def _plot(found: PlantedRules, measure: str) -> Plot:
    def column(name: str, field: str) -> NDArray[np.float64]:
        return np.array([getattr(point, field) for point in found.by(name)], np.float64)

    lines = tuple(
        Line(name, column(name, "noise"), column(name, measure), column(name, f"{measure}_error"))
        for name in found.learners
    )
    most = max(point.noise for point in found.points)
    return Plot(measure, lines, value_axis(0.0, most), value_axis(0.0, 1.0), across="noise")


def planted_rules_card(found: PlantedRules) -> Card:
    """Return the card of the study, a row for each learner and level of noise."""
    table = frame_table(found.to_frame(), "rows")
    return Card(_TITLE, picture=planted_rules_chart(found).scene(), undrawn=_EMPTY, table=table)
