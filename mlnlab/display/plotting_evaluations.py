"""Figures of evaluations: precision over recall, to be zoomed into, with the thresholds under the mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.plotting_look import empty_figure, plot_text
from mlnlab.display.scene.look import COLOURS, HUES
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mlnlab.evaluation.evaluating import Evaluation

_MOST_CURVES = 12
_DASHES = ("solid", "dash", "dot", "dashdot")


def evaluation_figure(evaluation: Evaluation) -> go.Figure:
    """Draw the precision-recall curve of each predicate, and of all atoms together."""
    judged = evaluation.judged
    if not judged.truths.any():
        raise ArgumentError("There is no curve to draw: no hidden atom is true in the database.")
    figure = empty_figure(f"Precision and recall on {len(judged):,} atoms", rows=16)
    names = evaluation.predicates
    parts = [(name, evaluation.of(name)) for name in names[:_MOST_CURVES]]
    every = [] if len(names) == 1 else [("all together", evaluation)]
    for number, (name, part) in enumerate([*every, *parts]):
        recall, precision = part.curve.interpolated()
        if not len(recall):
            continue
        label = f"{plot_text(name, 60)} (AUC {part.auc.value:.3f} ± {part.auc.error:.3f})"
        # A point between two thresholds is reached by a share of the atoms that have the lower one.
        places = np.searchsorted(part.curve.true_positives, recall * part.curve.positives * (1 - 1e-12))
        figure.add_scatter(
            x=recall, y=precision, mode="lines", name=label, customdata=part.curve.thresholds[places],
            line={"color": COLOURS[HUES[number % (len(HUES) - 1)]].middle, "dash": _DASHES[number % 4]},
            hovertemplate="recall %{x:.3f}, precision %{y:.3f}<br>probability from %{customdata:.4f} on"
            f"<extra>{plot_text(name, 60)}</extra>",
        )  # fmt: skip
    figure.add_hline(
        y=float(judged.truths.mean()), line={"color": COLOURS["grey"].middle, "dash": "dot", "width": 1.2}
    )
    figure.update_xaxes(range=[0, 1.01], title="recall (dotted: the precision of guessing)")
    figure.update_yaxes(range=[-0.02, 1.05], title="precision")
    return figure.update_layout(showlegend=True)
