"""Figures for analysis: ``ml.plot(x)`` turns a result into a plotly figure that suits light and dark pages.

A figure cannot know the colours of the page it will stand in: backgrounds are clear, lines and letters have
middle tones that can be read on both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from mlnlab.display.explanations import strides_of
from mlnlab.display.markup import fit, shortened
from mlnlab.display.probabilities import by_probability, facts_among
from mlnlab.display.scene.look import COLOURS, FONT, HUES
from mlnlab.errors import ArgumentError
from mlnlab.inference.explanation import Explanation
from mlnlab.inference.marginals import Marginals

if TYPE_CHECKING:
    import plotly.graph_objects as go

MOST_BARS = 60
_ROW = 24  # pixels
_LONGEST_NAME = 40


def plot(value: object) -> go.Figure:
    r"""Return a plotly figure of marginals or of an explanation.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\n1.5 Smokes(x)")
    >>> db = ml.Database.from_text("?Smokes(Anna)", mln)
    >>> figure = ml.plot(ml.infer(mln, db, query=["Smokes"]))
    """
    for kind, draw in _PLOTS.items():
        if isinstance(value, kind):
            return draw(value)
    known = " or ".join(kind.__name__ for kind in _PLOTS)
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
    figure = _empty(f"Probabilities by {marginals.method}", rows=len(ordered))
    names = [name for name, _ in ordered]
    figure.add_bar(
        x=[value for _, value in ordered],
        y=list(range(len(ordered))),
        orientation="h",
        marker={"color": [COLOURS["grey" if name in known else "blue"].middle for name in names]},
        error_x=_error_bars(marginals, names),
        customdata=[_text(name, 200) + (" (a fact)" if name in known else "") for name in names],
        hovertemplate="%{customdata}<br>%{x:.4f}<extra></extra>",
    )
    figure.update_xaxes(range=[0, 1], title="probability")
    return _with_names(figure, names)


def _error_bars(marginals: Marginals, names: Sequence[str]) -> dict[str, Any] | None:
    """Return how far the probabilities may be off, where that can be seen."""
    errors = [marginals.error(name) for name in names]
    return {"type": "data", "array": errors, "thickness": 1.2} if max(errors, default=0) > 1e-3 else None


def _spread_figure(values: Sequence[float]) -> go.Figure:
    figure = _empty(f"How {len(values):,} probabilities spread", rows=14)
    bins = {"start": 0, "end": 1.0001, "size": 0.05}
    figure.add_histogram(x=values, xbins=bins, marker={"color": COLOURS["blue"].middle})
    figure.update_xaxes(range=[0, 1], title="probability")
    figure.update_yaxes(title="queries")
    return figure


def _explanation_figure(explanation: Explanation) -> go.Figure:
    """Draw a waterfall of the shares of the log-odds, as in the explanation's own display."""
    if not (isfinite(explanation.log_odds) and isfinite(explanation.base)):
        raise ArgumentError(f"{_text(explanation.atom)} is certain, so that its log-odds have no shares.")
    strides = strides_of(explanation)
    figure = _empty(f"Why {_text(explanation.atom)}?", rows=len(strides) + 1)
    figure.add_waterfall(
        orientation="h",
        measure=["total" if stride.total else "relative" for stride in strides],
        x=[stride.stop - stride.start for stride in strides],
        y=list(range(len(strides))),
        text=[stride.words for stride in strides],
        textposition="outside",
        cliponaxis=False,
        customdata=[_text(stride.label, 200) for stride in strides],
        hovertemplate="%{customdata}<br>%{text}<extra></extra>",
        increasing={"marker": {"color": COLOURS["blue"].middle}},
        decreasing={"marker": {"color": COLOURS["orange"].middle}},
        totals={"marker": {"color": COLOURS["grey"].middle}},
        connector={"line": {"color": COLOURS["line"].middle, "width": 1}},
    )
    figure.update_xaxes(title="log-odds", zeroline=True)
    return _with_names(figure, [stride.label for stride in strides])


_PLOTS: Mapping[type, Callable[[Any], Any]] = {
    Marginals: _marginals_figure,
    Explanation: _explanation_figure,
}


def _text(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return a name as plotly may have it: it reads tags in texts and typesets what stands in dollars."""
    shown = shortened(fit(text), longest).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return shown.replace("$", "&#36;")


def _with_names(figure: go.Figure, names: Sequence[str]) -> go.Figure:
    """Write names beside rows; rows are numbered, because two long names may look the same when cut."""
    figure.update_yaxes(
        tickvals=list(range(len(names))),
        ticktext=[_text(name) for name in names],
        autorange="reversed",
        ticklabelstandoff=6,
    )
    return figure


def _empty(title: str, rows: int) -> go.Figure:
    import plotly.graph_objects as go

    return go.Figure(layout={"title": {"text": title}, "height": 110 + _ROW * rows, "template": theme()})


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
