"""The figure of what would change a probability: a tornado of facts and weights around how it is now."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from mlnlab.display.plotting_look import empty_figure, plot_text, with_names
from mlnlab.display.scene.look import COLOURS
from mlnlab.display.symbols import in_symbols
from mlnlab.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import plotly.graph_objects as go

    from mlnlab.inference.sensitivity import Sensitivities

MOST_ROWS = 30  # of facts, and of weights
_PER_UNIT = "per unit of weight, at first"
# Each kind of change with its hue and how thick its bar is; the smaller change is drawn over the larger one.
_KINDS: Mapping[str, tuple[str, float]] = {
    "if true": ("blue", 0.8),
    "if false": ("orange", 0.8),
    "if unknown": ("grey", 0.4),
    _PER_UNIT: ("green", 0.8),
}


class _Change(NamedTuple):
    """A bar: its row, what would change, by how much, and its standard error."""

    row: int
    what: str
    kind: str
    change: float
    error: float
    there: str  # in words


def sensitivities_figure(found: Sensitivities) -> go.Figure:
    """Draw a bar for each change of a fact, and one for each weight; those to the right raise it."""
    facts, weights = found.facts[:MOST_ROWS], found.weights[:MOST_ROWS]
    names = [f"{fact.atom} is {fact.value}" for fact in facts]
    names += [f"{in_symbols(weight.formula)} (weight {weight.weight:g})" for weight in weights]
    if not names:
        raise ArgumentError(f"No weight and no fact that was tried changes {plot_text(found.query)}.")
    figure = empty_figure(f"What would change {plot_text(found.query)}?", rows=len(names) + 2)
    changes = list(_changes(found))
    for kind, (hue, width) in _KINDS.items():
        bars = [one for one in changes if one.kind == kind]
        if bars:
            figure.add_bar(
                x=[one.change for one in bars], y=[one.row for one in bars], orientation="h", name=kind,
                width=width, marker={"color": COLOURS[hue].middle}, error_x=_errors(bars),
                customdata=[(plot_text(one.what, 200), one.there) for one in bars],
                hovertemplate="%{customdata[0]}<br>%{customdata[1]}<extra></extra>",
            )  # fmt: skip
    number = len(found.facts) + len(found.weights)
    rest = f"<br>{len(names)} of {number:,} changes are drawn" if number > len(names) else ""
    figure.update_layout(barmode="overlay", legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"})
    figure.update_xaxes(title=f"change of the probability, now {found.probability:.4g}{rest}", zeroline=True)
    return with_names(figure, names)


def _changes(found: Sensitivities) -> Iterator[_Change]:
    for row, fact in enumerate(found.facts[:MOST_ROWS]):
        for value, change in fact.changes.items():
            there = f"if {value}: {fact.probabilities[value]:.4g} ({change:+.3g})"
            what = f"{fact.atom} is {fact.value}"
            yield _Change(row, what, f"if {value}", change, fact.errors[value], there)
    for row, weight in enumerate(found.weights[:MOST_ROWS], min(len(found.facts), MOST_ROWS)):
        there = f"{weight.derivative:+.3g} {_PER_UNIT}"
        yield _Change(row, in_symbols(weight.formula), _PER_UNIT, weight.derivative, weight.error, there)


def _errors(bars: list[_Change]) -> dict[str, object] | None:
    """Return standard errors, where they can be seen; of an approximation nobody knows them."""
    errors = [one.error if isfinite(one.error) else 0.0 for one in bars]
    return {"type": "data", "array": errors, "thickness": 1.2} if max(errors) > 1e-3 else None
