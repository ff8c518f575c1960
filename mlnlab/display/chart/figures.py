"""Draw charts as plotly figures: curves with their points under the mouse, bars with their words."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.display.card.markup import fit, shorten_text
from mlnlab.display.chart.curve_paths import telling_places
from mlnlab.display.chart.curves import MOST_LINES, Chart
from mlnlab.display.chart.plots import MARKS, Line, Plot
from mlnlab.display.scene.look import COLOURS, FONT, HUES
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from numpy.typing import NDArray

    from mlnlab.display.chart.axes import Axis
    from mlnlab.display.chart.bars import BarChart, Series, Waterfall

MOST_POINTS = 4_000  # of a curve; of more, the highest and the lowest of each stretch are drawn
_MOST_MARKED = 12  # points of a curve that have marks
_DASHES = {"dashed": "dash", "dotted": "dot", "dotdash": "dashdot"}
_SYMBOLS = {"dot": "circle", "circle": "circle", "square": "square", "diamond": "diamond",
            "triangle": "triangle-up", "dash": "line-ew-open"}  # fmt: skip
_SIZES: dict[str, dict[str, Any]] = {
    "dot": {"size": 4}, "dash": {"size": 30, "line": {"width": 2}}, **{mark: {"size": 8} for mark in MARKS},
}  # fmt: skip
_ROWS, _ROWS_OF_MANY = 13.0, 8.0
_BETWEEN = 0.25  # plots, as a share of one
_DECADES = 30.0
ROW = 24  # pixels of a row of bars
_LONGEST_NAME = 40


def chart_figure(chart: Chart) -> go.Figure:
    """Draw the plots of a chart: below each other over the same horizontal axis, or beside each other."""
    plots = chart.plots
    if not any(np.isfinite(line.values).any() for plot in plots for line in plot.lines):
        raise ArgumentError(chart.empty)
    rows = max(_ROWS, (chart.height or 0) / 16) * (1 if len(plots) == 1 or chart.beside else 0)
    figure = empty_figure(plot_text(chart.title, 200), rows=rows or _ROWS_OF_MANY * len(plots))
    named: set[str] = set()
    for place, plot in enumerate(plots):
        own = str(place + 1) if place else ""
        across = own if chart.beside else ""
        _add_plot(figure, plot, across, own, named)
        begin, end = _share(place, len(plots))
        domain = [0.0, 1.0] if chart.beside else [1 - end, 1 - begin]
        figure.update_layout({f"yaxis{own}": _vertical(plot, across, domain)})
        if chart.beside or place == len(plots) - 1:
            domain = [begin, end] if chart.beside else [0.0, 1.0]
            figure.update_layout({f"xaxis{across}": _horizontal(plot, own, domain, chart.note)})
    figure.update_layout(showlegend=len(named) > 1)
    return figure.update_layout(legend={"orientation": "h", "y": -0.2}) if chart.beside else figure


def _share(place: int, total: int) -> tuple[float, float]:
    """Return from where to where one of several plots reaches, with gaps between them."""
    length = 1 / (total + (total - 1) * _BETWEEN)
    begin = place * (1 + _BETWEEN) * length
    return begin, begin + length


def _vertical(plot: Plot, anchor: str, domain: list[float]) -> dict[str, Any]:
    return {
        "domain": domain,
        "title": {"text": plot_text(plot.title)},
        "range": _range(plot.vertical),
        "exponentformat": "power",
        "anchor": f"x{anchor}",
        **_scale(plot.vertical),
    }


def _horizontal(plot: Plot, anchor: str, domain: list[float], note: str) -> dict[str, Any]:
    axis = plot.horizontal
    names: dict[str, Any] = {}
    if axis.named:
        names = {"tickvals": axis.ticks, "ticktext": list(map(plot_text, axis.words)), "range": _range(axis)}
    below = f"<br>{plot_text(note, 300)}" if note else ""
    title = {"text": plot_text(plot.across, 120) + below}
    return {"domain": domain, "title": title, "anchor": f"y{anchor}", **_scale(axis), **names}


def _scale(axis: Axis) -> dict[str, Any]:
    """Return a linear scale, or a logarithmic one; over several powers of ten it has no numbers between."""
    if not axis.log:
        return {"type": "linear"}
    return {"type": "log", "dtick": 1 if axis.high > _DECADES * axis.low else None}


def _range(axis: Axis) -> list[float]:
    return [log10(axis.low), log10(axis.high)] if axis.log else [axis.low, axis.high]


def _add_plot(figure: go.Figure, plot: Plot, across: str, own: str, named: set[str]) -> None:
    """Add the curves of a plot, each name to the legend once, and the level that is marked."""
    axes = {"xaxis": f"x{across}", "yaxis": f"y{own}"}
    for place, line in enumerate(plot.lines[:MOST_LINES]):
        legend = {"showlegend": line.listed and line.name not in named, "legendgroup": plot_text(line.name)}
        named |= {line.name} if line.listed else set()
        (_add_bars if line.kind == "bars" else _add_line)(figure, plot, place, {**axes, **legend})
    if plot.level is not None:
        grey = {"color": COLOURS["grey"].middle, "dash": "dot", "width": 1.2}
        figure.add_shape(
            type="line", xref="paper", x0=0, x1=1, yref=axes["yaxis"], y0=plot.level, y1=plot.level, line=grey
        )


def _add_line(figure: go.Figure, plot: Plot, place: int, axes: dict[str, Any]) -> None:
    """Add a curve with its marks and whiskers, or around it its band."""
    line, (hue, *words) = plot.lines[place], plot.look(place).split()
    colour = COLOURS[hue].middle
    ordered = bool((np.diff(line.across) >= 0).all())  # the way of a line across a plane is not thinned
    chosen = telling_places(line.values, MOST_POINTS) if ordered else np.arange(len(line.values))
    x, y = line.across[chosen], line.values[chosen]
    low, high = (edge[chosen] for edge in line.edges())
    if line.errors is not None and not line.has_whiskers:
        figure.add_scatter(
            x=np.concatenate([x, x[::-1]]), y=np.concatenate([high, low[::-1]]),
            fill="toself", fillcolor=colour, opacity=0.15, line={"width": 0}, mode="lines", hoverinfo="skip",
            **{**axes, "showlegend": False},
        )  # fmt: skip
    has_marks = line.mark or line.kind == "points" or len(chosen) <= _MOST_MARKED
    dash = next((_DASHES[word] for word in words if word in _DASHES), "solid")
    modes = (
        "lines" * (line.kind == "line" and len(chosen) > 1),
        "markers" * bool(has_marks),
        "text" * bool(line.words),
    )
    name, tips = plot_text(line.name, 60), _tips(plot, line, chosen)
    figure.add_scatter(
        x=x,
        y=y,
        mode="+".join(filter(None, modes)),
        line={"color": colour, "dash": dash, "width": 1.1 if "thin" in words else 1.8},
        marker={"color": colour, "symbol": _SYMBOLS.get(line.mark), **_SIZES.get(line.mark, {})},
        error_y=_whiskers(y, low, high) if line.errors is not None and line.has_whiskers else None,
        text=line.words or None,
        textposition="top left",
        cliponaxis=False if line.mark else None,
        name=f"{name} ({plot_text(line.detail, 60)})" if line.detail else name,
        customdata=None if tips is None else [plot_text(tip, 200) for tip in tips],
        hovertemplate=f"{name}<br>{'' if plot.horizontal.named else plot_text(plot.across) + ' %{x:,}<br>'}"
        f"%{{y:.6g}}{'<br>%{customdata}' * (tips is not None)}<extra></extra>",
        **axes,
    )


def _tips(plot: Plot, line: Line, chosen: NDArray[np.intp]) -> list[str] | None:
    """Return further words of points: those of the line, or the names below them."""
    if line.tips is not None:
        return line.tips(chosen)
    axis = plot.horizontal
    return [axis.words[round(x)] for x in line.across[chosen].tolist()] if axis.named else None


def _whiskers(y: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]) -> dict[str, Any]:
    return {"type": "data", "symmetric": False, "thickness": 1.2, "array": high - y, "arrayminus": y - low}


def _add_bars(figure: go.Figure, plot: Plot, place: int, axes: dict[str, Any]) -> None:
    """Add upright bars with their words."""
    line, every = plot.lines[place], np.arange(len(plot.lines[place].values))
    tips = _tips(plot, line, every) or line.words or [f"{value:,.6g}" for value in line.values.tolist()]
    figure.add_bar(
        x=line.across, y=line.values, text=line.words or None, textposition="outside",
        name=plot_text(line.name), marker={"color": COLOURS[plot.look(place).split()[0]].middle},
        customdata=[plot_text(tip, 200) for tip in tips], hovertemplate="%{customdata}<extra></extra>",
        cliponaxis=False, **axes,
    )  # fmt: skip


# --- bars -----------------------------------------------------------------------------------------


def bars_figure(chart: BarChart) -> go.Figure:
    """Draw each series of a chart as horizontal bars, with their words for whoever points at them."""
    if not chart.labels:
        raise ArgumentError(plot_text(chart.empty, 200))
    several = len(chart.series) > 1
    figure = empty_figure(plot_text(chart.title, 200), rows=len(chart.labels) + several)
    for series in chart.series:
        _add_series(figure, series)
    figure.update_layout(barmode="stack" if chart.stacked else "overlay")
    if several:
        figure.update_layout(
            legend={"orientation": "h", "traceorder": "normal", "y": 1.0, "yanchor": "bottom"}
        )
    figure.update_xaxes(title=chart.across, zeroline=True, range=None if chart.signed else [0, 1])
    return with_names(figure, chart.labels)


def _add_series(figure: go.Figure, series: Series) -> None:
    errors = [bar.error if isfinite(bar.error) else 0.0 for bar in series.bars]
    figure.add_bar(
        name=series.name,
        x=[bar.value for bar in series.bars],
        y=list(range(len(series.bars)) if series.rows is None else series.rows),
        orientation="h",
        width=series.thickness,
        marker={"color": [COLOURS["grey" if bar.known else series.hue].middle for bar in series.bars]},
        # Errors are drawn where they can be seen; of an approximation nobody knows them.
        error_x={"type": "data", "array": errors, "thickness": 1.2}
        if max(errors, default=0) > 1e-3
        else None,
        customdata=[
            f"{plot_text(bar.label, 200)}<br>{plot_text(bar.tip or bar.words, 200)}" for bar in series.bars
        ],
        hovertemplate="%{customdata}<extra></extra>",
    )


def waterfall_figure(chart: Waterfall) -> go.Figure:
    """Draw strides as horizontal bars, each from where the one above ended."""
    if not chart.strides:
        raise ArgumentError(plot_text(chart.empty, 200))
    figure = empty_figure(plot_text(chart.title, 200), rows=len(chart.strides) + 1)
    figure.add_waterfall(
        orientation="h",
        measure=["total" if stride.total else "relative" for stride in chart.strides],
        x=[stride.stop - stride.start for stride in chart.strides],
        y=list(range(len(chart.strides))),
        text=[stride.words for stride in chart.strides],
        textposition="outside",
        cliponaxis=False,
        customdata=[plot_text(stride.label, 200) for stride in chart.strides],
        hovertemplate="%{customdata}<br>%{text}<extra></extra>",
        increasing={"marker": {"color": COLOURS["blue"].middle}},
        decreasing={"marker": {"color": COLOURS["orange"].middle}},
        totals={"marker": {"color": COLOURS["grey"].middle}},
        connector={"line": {"color": COLOURS["line"].middle, "width": 1}},
    )
    figure.update_xaxes(title=chart.across, zeroline=True)
    return with_names(figure, [stride.label for stride in chart.strides])


# --- look -----------------------------------------------------------------------------------------


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
