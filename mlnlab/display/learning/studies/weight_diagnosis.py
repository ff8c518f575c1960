"""Show how well data determine weights: standard errors, the posterior, and the condition of the problem."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, isnan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.formula_markup import formula_text
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.axes import Axis, place_axis, value_axis
from mlnlab.display.chart.bars import ROW, WIDTH
from mlnlab.display.chart.curves import plots_scene, vertical_axis
from mlnlab.display.chart.plots import Line, Plot
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Circle, Group, Item, Layer, Path, Scene, Text
from mlnlab.display.scene.paths import segments
from mlnlab.display.scene.text_fitting import fit_text
from mlnlab.logic.formulas.printing import marks_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.learning.diagnosis.conditioning import Condition
    from mlnlab.learning.diagnosis.uncertainty import StandardErrors
    from mlnlab.learning.studies.weight_samples import WeightPosterior

    Numbers = NDArray[np.float64]

MOST_DRAWN = 40
_LABEL_END, _NUMBER_END, _LEFT, _RIGHT, _HEAD = 262.0, 322.0, 346.0, WIDTH - 14.0, 18.0
_NORMAL = 1.96  # standard errors on each side: 95 % of a normal distribution
_NONE = "no standard error: fixed, at a bound or at its prior's mean, or left open by the data"
_FULL = "a single rate for all directions suffers from this: optimisers that rescale or conjugate steps help"
_DIAGONAL = "a single rate for all weights suffers from this: a rate for each weight helps"


class Interval(NamedTuple):
    """A weight's row: its value as a dot, a box from ``near`` to ``far``, a line from ``low`` to ``high``."""

    label: str
    value: float
    low: float
    near: float
    far: float
    high: float
    told: str
    known: bool = True


def intervals_scene(
    rows: Sequence[Interval], axis: Axis, headings: tuple[str, str], title: str, description: str
) -> Scene:
    """Return a row for each weight; the headings stand above the values and above the intervals."""
    bottom = _HEAD + len(rows) * ROW + 2
    zero = _place(axis, 0.0)
    items: list[Item] = [
        Text(x=8, y=11, text="formula", look="quiet small"),
        Text(x=_NUMBER_END, y=11, text=headings[0], look="quiet small", anchor="end"),
        Text(x=_RIGHT, y=11, text=headings[1], look="quiet small", anchor="end"),
        Path(path=segments([((zero, _HEAD - 2), (zero, bottom))]), look="frame"),
        Path(path=segments([((_LEFT, bottom), (_RIGHT, bottom))]), look="frame"),
        *(
            Text(x=_place(axis, tick), y=bottom + 14, text=words, look="number small", anchor="middle")
            for tick, words in zip(axis.ticks, axis.words, strict=True)
        ),
        *(_row(row, number, axis) for number, row in enumerate(rows)),
    ]
    return Scene(WIDTH, bottom + 20, (Layer("drawn", tuple(items)),), title, description)


def _place(axis: Axis, value: float) -> float:
    return _LEFT + axis.share(value) * (_RIGHT - _LEFT)


def _row(row: Interval, number: int, axis: Axis) -> Group:
    ends = (row.low, row.near, row.value, row.far, row.high)
    low, near, middle, far, high = (_place(axis, end) for end in ends)
    return Group(
        id=numbered_id("weight", number), y=_HEAD + number * ROW + 7, tooltip=tooltip(row.label, row.told),
        children=(
            Text(x=8, y=4.5, text=fit_text(row.label, _LABEL_END - 8), look="words"),
            Text(x=_NUMBER_END, y=4.5, text=f"{row.value:+.3f}", look="number", anchor="end"),
            Path(path=segments([((low, 0), (high, 0))]), look="curve blue"),
            Path(path=f"M{near:.1f} -3H{far:.1f}V3H{near:.1f}Z", look="bar blue"),
            Circle(x=middle, y=0, radius=4 if row.known else 2.5, look="disc orange"),
        ),
    )  # fmt: skip


def _say_undrawn(number: int) -> str:
    return f"{MOST_DRAWN} of {number:,} weights are drawn; the table has more." * (number > MOST_DRAWN)


# --- the posterior --------------------------------------------------------------------------------


def posterior_scene(posterior: WeightPosterior) -> Scene:
    """Return a row for each weight: its mean as a dot, half of the samples as a box, 95 % as a line."""
    found = [posterior.quantile(share)[:MOST_DRAWN] for share in (0.025, 0.25, 0.75, 0.975)]
    axis = value_axis(min(0.0, float(found[0].min())), max(0.0, float(found[3].max())))
    quantiles = zip(*(one.tolist() for one in found), strict=True)
    rows = [_posterior_row(posterior, number, *ends) for number, ends in enumerate(quantiles)]
    description = f"{count_of(len(rows), 'weight')}, each with its mean and intervals."
    headings = "mean", "mean, half and 95 % of the samples"
    return intervals_scene(rows, axis, headings, "Posterior of weights", description)


def _posterior_row(
    posterior: WeightPosterior, number: int, low: float, near: float, far: float, high: float
) -> Interval:
    weighted, mean = posterior.data.formulas[number], float(posterior.mean[number])
    label = formula_text(weighted.formula, marks_of(weighted))
    told = f"mean {mean:.4g}, 95 % between {low:.4g} and {high:.4g}"
    return Interval(label, mean, low, near, far, high, told)


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
        remarks=(_say_undrawn(weights),),
    )


# --- standard errors ------------------------------------------------------------------------------


def errors_scene(errors: StandardErrors) -> Scene:
    """Return a row for each weight: a dot, one standard error around it as a box, and 95 % as a line."""
    rows = [_error_row(errors, number) for number in range(min(len(errors), MOST_DRAWN))]
    words = f"{count_of(len(rows), 'weight')}, each with its standard error."
    headings = "weight", "one standard error, and 95 %"
    return intervals_scene(rows, _error_axis(rows), headings, "Standard errors", words)


def _error_axis(rows: Sequence[Interval]) -> Axis:
    """Return an axis over all intervals and zero, so that readers see which intervals hold zero."""
    ends = np.array([0.0, *(end for row in rows for end in (row.low, row.high))])
    known = ends[np.isfinite(ends)]
    return value_axis(float(known.min()), float(known.max()))


def _error_row(errors: StandardErrors, number: int) -> Interval:
    weight, error = float(errors.weights[number]), errors[number]
    known = isfinite(error)
    reach = error if known else 0.0
    low, near, far, high = (weight + share * reach for share in (-_NORMAL, -1.0, 1.0, _NORMAL))
    told = f"{weight:.4g} ± {error:.3g}" if known else f"{weight:.4g}, {_NONE}"
    return Interval(in_symbols(errors.formulas[number]), weight, low, near, far, high, told, known)


def errors_card(errors: StandardErrors) -> Card:
    """Return the card of standard errors."""
    lost = int(np.isnan(errors.values).sum())
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
        remarks=(_say_undrawn(len(errors)),),
    )  # fmt: skip


def _cells(errors: StandardErrors, number: int) -> tuple[str, ...]:
    weight, error = float(errors.weights[number]), errors[number]
    formula = shorten_text(in_symbols(errors.formulas[number]), 200)
    if isnan(error):
        return str(number), formula, f"{weight:.4f}", "–", "", ""
    ends = (f"{weight + side * _NORMAL * error:.4f}" for side in (-1, 1))
    return str(number), formula, f"{weight:.4f}", f"{error:.4g}", *ends


# --- the condition of the problem -----------------------------------------------------------------


def condition_scene(condition: Condition) -> Scene:
    """Return variances and eigenvalues, the largest first, over a logarithmic axis."""
    lines = [_sorted_line("variances", condition.variances)]
    if condition.eigenvalues is not None:
        lines.append(_sorted_line("eigenvalues", condition.eigenvalues))
    across = place_axis(1, float(max(len(condition.variances), 2)), whole=True)
    plot = Plot(
        "variances of the counts and eigenvalues of the Hessian" if len(lines) == 2
        else "variances of the counts",
        tuple(lines), across, vertical_axis(lines, log=True), across="rank",
    )  # fmt: skip
    return plots_scene([plot], "Condition", f"{_summary(condition)}.")


def _sorted_line(name: str, values: Numbers) -> Line:
    """Return values from the largest on; zeros have no place on a logarithmic axis."""
    shown = np.sort(values)[::-1]
    places = np.arange(1, len(shown) + 1, dtype=np.float64)
    return Line(name, places, np.where(shown > 0, shown, np.nan))


def _summary(condition: Condition) -> str:
    of = "with the prior" if condition.with_prior else "of the data alone, without the prior"
    return f"{count_of(len(condition.variances), 'weight')}, {of}"


def condition_card(condition: Condition) -> Card:
    """Return the card of a condition."""
    rows = (
        ("eigenvalues of the Hessian", _ratio(condition.full), _FULL),
        ("variances of the counts, its diagonal", _ratio(condition.diagonal), _DIAGONAL),
    )
    flat = condition.flat_directions
    where = f"In {count_of(flat, 'direction')} the objective does not change at all"
    return Card(
        "Condition of the problem",
        _summary(condition),
        lead=(
            table_of(("largest to smallest", "ratio", ""), rows, len(rows), "ratios", numbers=(1,)),
            "There are too many weights to take the Hessian apart." * (condition.eigenvalues is None),
            f"{where}: the data leave weights open there." if flat else "",
        ),
        picture=condition_scene(condition),
        alternative="Variances and eigenvalues; the table has the numbers.",
        folds=(("variances and eigenvalues", _values(condition)),),
    )


def _values(condition: Condition) -> Table:
    """Return a table of the values that are drawn."""
    columns = [np.sort(condition.variances)[::-1].tolist()]
    if condition.eigenvalues is not None:
        columns.append(np.sort(condition.eigenvalues)[::-1].tolist())
    headings = ("", "variance", "eigenvalue")[: 1 + len(columns)]
    rows = (
        (str(place), *(f"{value:.4g}" for value in values))
        for place, values in enumerate(zip(*columns, strict=True), 1)
    )
    return table_of(headings, rows, len(columns[0]), "values", numbers=range(len(headings)))


def _ratio(value: float) -> str:
    if isnan(value):
        return "–"
    return f"{value:,.4g}" if isfinite(value) else "∞"
