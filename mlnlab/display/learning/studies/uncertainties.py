"""How uncertain learned weights are, in a cell: each weight with its standard error, and how it was found."""

from __future__ import annotations

from math import isfinite, isnan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.axes import value_axis
from mlnlab.display.chart.bars import ROW, WIDTH
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text

if TYPE_CHECKING:
    from mlnlab.display.chart.axes import Axis
    from mlnlab.learning.diagnosis.uncertainty import StandardErrors

MOST_DRAWN = 40
_LABEL_END, _WEIGHT_END, _LEFT, _RIGHT, _HEAD = 262.0, 322.0, 346.0, WIDTH - 14.0, 18.0
_NORMAL = 1.96  # standard errors on each side: 95 % of a normal distribution
_NONE = "no standard error: fixed, at a bound or at its prior's mean, or left open by the data"


def errors_scene(errors: StandardErrors) -> Scene:
    """Return a row for each weight: a dot, one standard error around it as a box, and 95 % as a line."""
    number = min(len(errors), MOST_DRAWN)
    axis = _axis(errors.weights[:number], errors.values[:number])
    bottom = _HEAD + number * ROW + 2
    items: list[Item] = [
        Text(x=8, y=11, text="formula", look="quiet small"),
        Text(x=_WEIGHT_END, y=11, text="weight", look="quiet small", anchor="end"),
        Text(x=_RIGHT, y=11, text="one standard error, and 95 %", look="quiet small", anchor="end"),
        *_ticks(axis, bottom),
    ]
    items += [_row(errors, place, axis) for place in range(number)]
    words = f"{count_of(number, 'weight')}, each with its standard error."
    return Scene(WIDTH, bottom + 20, (Layer("drawn", tuple(items)),), "Standard errors", words)


def _axis(weights: np.ndarray, values: np.ndarray) -> Axis:
    """Return an axis over all intervals and zero, so that readers see which intervals hold zero."""
    reach = _NORMAL * np.where(np.isfinite(values), values, 0.0)
    ends = np.concatenate([weights - reach, weights + reach, [0.0]])
    known = ends[np.isfinite(ends)]
    return value_axis(float(known.min()), float(known.max()))


def _place(axis: Axis, value: float) -> float:
    return _LEFT + axis.share(value) * (_RIGHT - _LEFT)


def _ticks(axis: Axis, bottom: float) -> list[Item]:
    zero = _place(axis, 0.0)
    return [
        Path(path=segments([((zero, _HEAD - 2), (zero, bottom))]), look="frame"),
        Path(path=segments([((_LEFT, bottom), (_RIGHT, bottom))]), look="frame"),
        *(
            Text(x=_place(axis, tick), y=bottom + 14, text=words, look="number small", anchor="middle")
            for tick, words in zip(axis.ticks, axis.words, strict=True)
        ),
    ]


def _row(errors: StandardErrors, number: int, axis: Axis) -> Group:
    weight, error = float(errors.weights[number]), errors[number]
    label, known = in_symbols(errors.formulas[number]), isfinite(error)
    reach = error if known else 0.0
    ends = [_place(axis, weight + share * reach) for share in (-_NORMAL, -1.0, 0.0, 1.0, _NORMAL)]
    low, near, middle, far, high = ends
    told = f"{weight:.4g} ± {error:.3g}" if known else f"{weight:.4g}, {_NONE}"
    return Group(
        id=numbered_id("weight", number), y=_HEAD + number * ROW + 7, tooltip=tooltip(label, told),
        children=(
            Text(x=8, y=4.5, text=fit_text(label, _LABEL_END - 8), look="words"),
            Text(x=_WEIGHT_END, y=4.5, text=f"{weight:+.3f}", look="number", anchor="end"),
            Path(path=segments([((low, 0), (high, 0))]), look="curve blue"),
            Path(path=f"M{near:.1f} -3H{far:.1f}V3H{near:.1f}Z", look="bar blue"),
            Circle(x=middle, y=0, radius=4 if known else 2.5, look="disc orange"),
        ),
    )  # fmt: skip


def errors_card(errors: StandardErrors) -> Card:
    """Return the card of standard errors."""
    lost = int(np.isnan(errors.values).sum())
    more = f"{MOST_DRAWN} of {len(errors):,} weights are drawn; the table has more."
    headings = ("", "formula", "weight", "standard error", "95 % from", "to")
    rows = (_cells(errors, number) for number in range(len(errors)))
    return Card(
        "Standard errors",
        count_of(len(errors), "weight"),
        lead=(
            f"{errors.how[:1].upper()}{errors.how[1:]}.",
            f"{count_of(lost, 'weight')} with {_NONE}." if lost else "",
        ),
        picture=errors_scene(errors),
        alternative="Weights with their standard errors; the table has the numbers.",
        table=table_of(
            headings, rows, len(errors), "weights", numbers=(0, 2, 3, 4, 5),
            where="to_frame() has them all", name="weights and standard errors",
        ),
        remarks=(more,) if len(errors) > MOST_DRAWN else (),
    )  # fmt: skip


def _cells(errors: StandardErrors, number: int) -> tuple[str, ...]:
    weight, error = float(errors.weights[number]), errors[number]
    formula = shorten_text(in_symbols(errors.formulas[number]), 200)
    if isnan(error):
        return str(number), formula, f"{weight:.4f}", "–", "", ""
    ends = (f"{weight + side * _NORMAL * error:.4f}" for side in (-1, 1))
    return str(number), formula, f"{weight:.4f}", f"{error:.4g}", *ends
