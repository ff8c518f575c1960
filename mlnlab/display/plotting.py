"""Figures for analysis: ``ml.plot(x)`` turns a result into a plotly figure that suits light and dark pages.

A figure cannot know the colours of the page it will stand in: backgrounds are clear, lines and letters have
middle tones that can be read on both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from mlnlab.counting.counts import Counts
from mlnlab.display.explanations import strides_of
from mlnlab.display.plotting_counts import counts_figure
from mlnlab.display.plotting_curves import (
    calibration_figure,
    comparison_figure,
    learning_curve_figure,
    trace_figure,
)
from mlnlab.display.plotting_evaluations import evaluation_figure
from mlnlab.display.plotting_folds import cross_validation_figure
from mlnlab.display.plotting_growth import growth_figure, learning_growth_figure
from mlnlab.display.plotting_learning import contours_figure, learned_figure
from mlnlab.display.plotting_lifted import lifted_scaling_figure
from mlnlab.display.plotting_look import empty_figure, plot_text, with_names
from mlnlab.display.plotting_sensitivities import sensitivities_figure
from mlnlab.display.plotting_structures import structure_evaluation_figure
from mlnlab.display.probabilities import by_probability, facts_among
from mlnlab.display.scene.look import COLOURS
from mlnlab.errors import ArgumentError
from mlnlab.evaluation.calibration import Calibration, calibration
from mlnlab.evaluation.evaluating import Evaluation
from mlnlab.experiments.bench.counting_growth import CountingGrowth
from mlnlab.experiments.bench.learning_growth import LearningGrowth
from mlnlab.experiments.figure_2 import LiftedScaling
from mlnlab.experiments.structure_results import StructureEvaluation
from mlnlab.experiments.validated import CrossValidation
from mlnlab.inference.explanation import Explanation
from mlnlab.inference.marginals import Marginals
from mlnlab.inference.sensitivity import Sensitivities
from mlnlab.learning.contours import Contours
from mlnlab.learning.learned_weights import LearnedWeights
from mlnlab.steps.comparison import Comparison
from mlnlab.steps.learning_curve import LearningCurve
from mlnlab.steps.trace import Trace

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mlnlab.model.database import Database

MOST_BARS = 60


def plot(value: object, *, truth: Database | None = None) -> go.Figure:
    r"""Return a plotly figure of a result: probabilities, why, what would change one, runs, counts, scores.

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
        if not isinstance(value, Marginals):
            raise ArgumentError(
                f"truth= is for marginals, from ml.infer(...), not for {type(value).__name__}."
            )
        value = calibration(value, truth)
    for kind, draw in _PLOTS.items():
        if isinstance(value, kind):
            return draw(value)
    *names, last = (kind.__name__ for kind in _PLOTS)
    known = f"{', '.join(names)} or {last}"
    raise ArgumentError(
        f"ml.plot() draws {known}, not {type(value).__name__}; what shows itself in a cell needs no plot."
    )


def _marginals_figure(marginals: Marginals) -> go.Figure:
    """Draw bars of probabilities; where there are many, how they spread."""
    known = facts_among(marginals)
    computed = [(name, value) for name, value in by_probability(marginals) if name not in known]
    if len(computed) > MOST_BARS:
        return _spread_figure([value for _, value in computed])
    ordered = [*computed, *((name, marginals[name]) for name in marginals if name in known)][:MOST_BARS]
    figure = empty_figure(f"Probabilities by {marginals.method}", rows=len(ordered))
    names = [name for name, _ in ordered]
    figure.add_bar(
        x=[value for _, value in ordered],
        y=list(range(len(ordered))),
        orientation="h",
        marker={"color": [COLOURS["grey" if name in known else "blue"].middle for name in names]},
        error_x=_error_bars(marginals, names),
        customdata=[plot_text(name, 200) + (" (a fact)" if name in known else "") for name in names],
        hovertemplate="%{customdata}<br>%{x:.4f}<extra></extra>",
    )
    figure.update_xaxes(range=[0, 1], title="probability")
    return with_names(figure, names)


def _error_bars(marginals: Marginals, names: Sequence[str]) -> dict[str, Any] | None:
    """Return how far the probabilities may be off, where that can be seen."""
    errors = [marginals.error(name) for name in names]
    return {"type": "data", "array": errors, "thickness": 1.2} if max(errors, default=0) > 1e-3 else None


def _spread_figure(values: Sequence[float]) -> go.Figure:
    figure = empty_figure(f"How {len(values):,} probabilities spread", rows=14)
    bins = {"start": 0, "end": 1.0001, "size": 0.05}
    figure.add_histogram(x=values, xbins=bins, marker={"color": COLOURS["blue"].middle})
    figure.update_xaxes(range=[0, 1], title="probability")
    figure.update_yaxes(title="queries")
    return figure


def _explanation_figure(explanation: Explanation) -> go.Figure:
    """Draw a waterfall of the shares of the log-odds, as in the explanation's own display."""
    if not (isfinite(explanation.log_odds) and isfinite(explanation.base)):
        raise ArgumentError(f"{plot_text(explanation.atom)} is certain, so that its log-odds have no shares.")
    strides = strides_of(explanation)
    figure = empty_figure(f"Why {plot_text(explanation.atom)}?", rows=len(strides) + 1)
    figure.add_waterfall(
        orientation="h",
        measure=["total" if stride.total else "relative" for stride in strides],
        x=[stride.stop - stride.start for stride in strides],
        y=list(range(len(strides))),
        text=[stride.words for stride in strides],
        textposition="outside",
        cliponaxis=False,
        customdata=[plot_text(stride.label, 200) for stride in strides],
        hovertemplate="%{customdata}<br>%{text}<extra></extra>",
        increasing={"marker": {"color": COLOURS["blue"].middle}},
        decreasing={"marker": {"color": COLOURS["orange"].middle}},
        totals={"marker": {"color": COLOURS["grey"].middle}},
        connector={"line": {"color": COLOURS["line"].middle, "width": 1}},
    )
    figure.update_xaxes(title="log-odds", zeroline=True)
    return with_names(figure, [stride.label for stride in strides])


_PLOTS: Mapping[type, Callable[[Any], Any]] = {
    Marginals: _marginals_figure,
    Explanation: _explanation_figure,
    Sensitivities: sensitivities_figure,
    LearningCurve: learning_curve_figure,
    Trace: trace_figure,
    Comparison: comparison_figure,
    Counts: counts_figure,
    CountingGrowth: growth_figure,
    LearningGrowth: learning_growth_figure,
    LiftedScaling: lifted_scaling_figure,
    Calibration: calibration_figure,
    Contours: contours_figure,
    Evaluation: evaluation_figure,
    LearnedWeights: learned_figure,
    CrossValidation: cross_validation_figure,
    StructureEvaluation: structure_evaluation_figure,
}
