"""Counts as a plotly figure: of each formula's groundings, how large a share holds and is violated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.counts import number_text, ratio
from mlnlab.display.mathematics import formula_text
from mlnlab.display.plotting_look import empty_figure, plot_text
from mlnlab.display.scene.look import COLOURS
from mlnlab.errors import ArgumentError
from mlnlab.logic.printing import marks_of

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from mlnlab.counting.counts import Counts

MOST_BARS = 60


def counts_figure(counts: Counts) -> go.Figure:
    """Draw a bar for each formula, from the share that holds to the share that is violated."""
    if not len(counts):
        raise ArgumentError("There is nothing to draw: the model has no formulas.")
    names = [formula_text(w.formula, marks_of(w)) for w in counts.formulas[:MOST_BARS]]
    figure = empty_figure(_title(len(counts)), rows=len(names) + 1)
    for name, numbers, hue in (("true", counts.numbers, "blue"), ("violated", counts.false, "orange")):
        figure.add_bar(
            name=name,
            x=[ratio(part, all_) for part, all_ in zip(numbers, counts.groundings, strict=True)][:MOST_BARS],
            y=list(range(len(names))),
            orientation="h",
            marker={"color": COLOURS[hue].middle},
            customdata=[
                f"{plot_text(formula, 200)}<br>{number_text(part)} of {number_text(all_)} {name}"
                for formula, part, all_ in zip(names, numbers, counts.groundings, strict=False)
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
    figure.update_layout(barmode="stack")
    figure.update_xaxes(range=[0, 1], title="share of the groundings")
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[plot_text(name) for name in names],
        autorange="reversed",
        ticklabelstandoff=6,
    )
    return figure


def _title(formulas: int) -> str:
    some = f" of the first {MOST_BARS} of {formulas:,} formulas" if formulas > MOST_BARS else ""
    return f"True groundings{some}"
