"""The posterior of weights in a cell: of each weight where it lies, and how far to believe the samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.formula_markup import formula_text
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.axes import value_axis
from mlnlab.display.chart.bars import ROW, WIDTH
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text
from mlnlab.logic.formulas.printing import marks_of

if TYPE_CHECKING:
    from mlnlab.display.chart.axes import Axis
    from mlnlab.learning.studies.weight_samples import WeightPosterior

MOST_DRAWN = 40
_LABEL_END, _MEAN_END, _LEFT, _RIGHT, _HEAD = 262.0, 322.0, 346.0, WIDTH - 14.0, 18.0


def posterior_scene(posterior: WeightPosterior) -> Scene:
    """Return a row for each weight: its mean as a dot, half of the samples as a box, 95 % as a line."""
    found = [posterior.quantile(share)[:MOST_DRAWN] for share in (0.025, 0.25, 0.75, 0.975)]
    axis = value_axis(min(0.0, float(found[0].min())), max(0.0, float(found[3].max())))
    bottom = _HEAD + len(found[0]) * ROW + 2
    words = "mean, half and 95 % of the samples"
    items: list[Item] = [
        Text(x=8, y=11, text="formula", look="quiet small"),
        Text(x=_MEAN_END, y=11, text="mean", look="quiet small", anchor="end"),
        Text(x=_RIGHT, y=11, text=words, look="quiet small", anchor="end"),
        *_axis(axis, bottom),
    ]
    for number, ends in enumerate(zip(*(one.tolist() for one in found), strict=True)):
        items.append(_row(posterior, number, ends, axis))
    description = f"{count_of(len(found[0]), 'weight')}, each with its mean and intervals."
    return Scene(WIDTH, bottom + 20, (Layer("drawn", tuple(items)),), "Posterior of weights", description)


def _place(axis: Axis, value: float) -> float:
    return _LEFT + axis.share(value) * (_RIGHT - _LEFT)


def _axis(axis: Axis, bottom: float) -> list[Item]:
    places = [(_place(axis, tick), words) for tick, words in zip(axis.ticks, axis.words, strict=True)]
    zero = _place(axis, 0.0)
    return [
        Path(path=segments([((zero, _HEAD - 2), (zero, bottom))]), look="frame"),
        Path(path=segments([((_LEFT, bottom), (_RIGHT, bottom))]), look="frame"),
        *(Text(x=x, y=bottom + 14, text=words, look="number small", anchor="middle") for x, words in places),
    ]


def _row(
    posterior: WeightPosterior, number: int, ends: tuple[float, float, float, float], axis: Axis
) -> Group:
    low, quarter, three_quarters, high = (_place(axis, end) for end in ends)
    weighted, mean = posterior.data.formulas[number], float(posterior.mean[number])
    label = formula_text(weighted.formula, marks_of(weighted))
    told = f"mean {mean:.4g}, 95 % between {ends[0]:.4g} and {ends[3]:.4g}"
    return Group(
        id=numbered_id("weight", number), y=_HEAD + number * ROW + 7, tooltip=tooltip(label, told),
        children=(
            Text(x=8, y=4.5, text=fit_text(label, _LABEL_END - 8), look="words"),
            Text(x=_MEAN_END, y=4.5, text=f"{mean:+.3f}", look="number", anchor="end"),
            Path(path=segments([((low, 0), (high, 0))]), look="curve blue"),
            Path(path=f"M{quarter:.1f} -3H{three_quarters:.1f}V3H{quarter:.1f}Z", look="bar blue"),
            Circle(x=_place(axis, mean), y=0, radius=4, look="disc orange"),
        ),
    )  # fmt: skip


def posterior_card(posterior: WeightPosterior) -> Card:
    """Return the card of a posterior."""
    chains, samples, weights = posterior.samples.shape
    sizes = posterior.effective_sizes
    frame = posterior.to_frame()
    headings = ("", *(name.replace("_", " ") for name in frame.columns))
    rows = (
        (str(number), shorten_text(row[0], 200), *(f"{value:.4g}" for value in row[1:]))
        for number, row in enumerate(frame.itertuples(index=False, name=None))
    )
    numbers = tuple(place for place in range(len(headings)) if place != 1)
    more = f"{MOST_DRAWN} of {weights:,} weights are drawn; the table has more."
    return Card(
        "Posterior of weights",
        f"{count_of(chains, 'chain')} of {samples:,} samples of {count_of(weights, 'weight')};"
        f" R-hat at most {posterior.r_hats.max(initial=1.0):.3f},"
        f" worth {sizes.min(initial=np.inf):,.0f} independent samples or more",
        lead=tuple(f"! {sentence}" for sentence in posterior.warnings),
        picture=posterior_scene(posterior),
        alternative="Means and intervals of weights; the table has the numbers.",
        table=table_of(
            headings, rows, weights, "weights", numbers=numbers, name="means, deviations and quantiles"
        ),
        remarks=(more,) if weights > MOST_DRAWN else (),
    )
