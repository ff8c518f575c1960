"""Figures for analysis: ``ml.plot(x)`` turns a result into a plotly figure that suits light and dark pages.

A figure cannot know the colours of the page it will stand in: backgrounds are clear, lines and letters have
middle tones that can be read on both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.chart.bars import BarChart, Waterfall
from mlnlab.display.chart.curves import Chart
from mlnlab.display.chart.figures import bars_figure, chart_figure, waterfall_figure
from mlnlab.display.doors.display_registry import FIGURES, function_at, home_of, type_names
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mlnlab.model.database.database import Database


def plot(value: object, *, truth: Database | None = None) -> go.Figure:
    r"""Return a plotly figure of a result: probabilities, reasons, sensitivities, runs, counts, scores.

    With ``truth``, a database, marginals are drawn as a reliability diagram: of the atoms with a probability
    of about p, which share is true.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\n1.5 Smokes(x)")
    >>> db = ml.Database.from_text("?Smokes(Anna)", mln)
    >>> marginals = ml.infer(mln, db, query=["Smokes"])
    >>> bars = ml.plot(marginals)
    >>> reliability = ml.plot(marginals, truth=ml.Database.from_text("Smokes(Anna)", mln))
    >>> changes = ml.plot(ml.sensitivities(mln, db, query="Smokes", of="Smokes(Anna)"))
    >>> shares = ml.plot(ml.count(mln, db))
    >>> curves = ml.plot(ml.Trace.of(ml.sampler("gibbs", mln, db, ["Smokes"], samples=100)))
    """
    if truth is not None:
        from mlnlab.evaluation.calibration import calibration
        from mlnlab.inference.answers.marginals import Marginals

        if not isinstance(value, Marginals):
            raise ArgumentError(
                f"truth= is for marginals, from ml.infer(...), not for {type(value).__name__}."
            )
        value = calibration(value, truth)
    home = home_of(type(value), FIGURES)
    if home is None:
        *names, last = type_names(FIGURES)
        known = f"{', '.join(names)} or {last}"
        raise ArgumentError(
            f"ml.plot() draws {known}, not {type(value).__name__}; what a cell shows needs no plot."
        )
    chart: Chart | BarChart | Waterfall = function_at(home)(value)
    match chart:
        case Chart():
            return chart_figure(chart)
        case BarChart():
            return bars_figure(chart)
        case Waterfall():
            return waterfall_figure(chart)
