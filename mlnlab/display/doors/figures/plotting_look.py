"""The look of plotly's figures, for light and dark pages alike; in their texts data stay text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.markup import fit, shorten_text
from mlnlab.display.scene.look import COLOURS, FONT, HUES

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

ROW = 24  # pixels of a row of bars
_LONGEST_NAME = 40


def plot_text(text: str, longest: int = _LONGEST_NAME) -> str:
    """Escape a name for plotly, which reads tags in texts and typesets text between dollars."""
    shown = shorten_text(fit(text), longest).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return shown.replace("$", "&#36;")


def empty_figure(title: str, rows: float) -> go.Figure:
    """Return a figure without curves, ``rows`` rows high."""
    import plotly.graph_objects as go

    return go.Figure(layout={"title": {"text": title}, "height": 110 + ROW * rows, "template": theme()})


def theme() -> go.layout.Template:
    """Return the look of figures: clear backgrounds, middle tones, our hues."""
    import plotly.graph_objects as go

    letters = COLOURS["text"].middle
    axis = {
        "gridcolor": "rgba(128,128,128,0.25)",
        "linecolor": COLOURS["line"].middle,
        "zerolinecolor": "rgba(128,128,128,0.6)",
        "automargin": True,
        "title": {"font": {"size": 12.5}},
    }
    layout = {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"color": letters, "family": FONT.replace("'", ""), "size": 12.5},
        "title": {"font": {"size": 15}, "x": 0, "xref": "container", "pad": {"l": 12}},
        "colorway": [COLOURS[hue].middle for hue in HUES],
        "xaxis": axis,
        "yaxis": axis,
        "margin": {"t": 44, "r": 40, "b": 44, "l": 16},
        "bargap": 0.35,
        "hoverlabel": {"align": "left"},
    }
    return go.layout.Template(layout=layout)


def with_names(figure: go.Figure, names: Sequence[str]) -> go.Figure:
    """Write names beside rows; rows are numbered, because two long names may look the same when cut."""
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[plot_text(name) for name in names],
        autorange="reversed",
        ticklabelstandoff=6,
    )
    return figure
