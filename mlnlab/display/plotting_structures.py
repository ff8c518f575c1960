"""Figures of evaluations of learned structures: precision over recall, a curve for each system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.plotting_look import empty_figure, plot_text
from mlnlab.display.scene.look import COLOURS, HUES
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mlnlab.experiments.structure_results import StructureEvaluation

_MOST_SYSTEMS = 12
_DASHES = ("solid", "dash", "dot", "dashdot")


def structure_evaluation_figure(found: StructureEvaluation, predicate: str | None = None) -> go.Figure:
    """Draw the precision-recall curve of each system over the test atoms of all folds."""
    finished = [name for name in found.systems if any(one.finished for one in found.validated.by(name))]
    curves = [(name, found.curve(name, predicate)) for name in finished[:_MOST_SYSTEMS]]
    if not any(curve.positives for _, curve in curves):
        raise ArgumentError("There is no curve to draw: no test atom is true, or no system finished.")
    of = "all test atoms" if predicate is None else plot_text(predicate)
    figure = empty_figure(f"Precision and recall on {of}", rows=16)
    for number, (name, curve) in enumerate(curves):
        recall, precision = curve.interpolated()
        figure.add_scatter(
            x=recall, y=precision, mode="lines", name=f"{plot_text(name, 60)} (AUC {curve.area:.3f})",
            line={"color": COLOURS[HUES[number % (len(HUES) - 1)]].middle, "dash": _DASHES[number % 4]},
            hovertemplate=f"recall %{{x:.3f}}, precision %{{y:.3f}}<extra>{plot_text(name, 60)}</extra>",
        )  # fmt: skip
    figure.update_xaxes(range=[0, 1.01], title="recall")
    figure.update_yaxes(range=[-0.02, 1.05], title="precision")
    return figure.update_layout(showlegend=True)
