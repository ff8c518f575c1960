"""Likelihood and pseudo-likelihood over a learner's run: where the one misleads about the other.

At the weights of each step both gradients are drawn beside each other, of one formula over the steps and of
all at the step that is looked at (Van den Broeck, Meert and Davis 2013, "Results and discussion").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.axes import place_axis, value_words
from mlnlab.display.chart.bars import BAR, ROW, WIDTH
from mlnlab.display.chart.curves import vertical_axis
from mlnlab.display.chart.plots import Line, Plot
from mlnlab.display.inference.samplers.samplers_view import History
from mlnlab.display.learning.learning_plots import plots_items
from mlnlab.display.scene.building import numbered_id, tooltip
from mlnlab.display.scene.items import Group, Item, Layer, Rectangle, Scene, Text
from mlnlab.display.scene.text_fitting import fit_text
from mlnlab.errors import MlnlabError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.display.learning.learning_view import LearningView
    from mlnlab.display.runs.runs import Draw
    from mlnlab.learning.problems.training_data import TrainingData
    from mlnlab.learning.studies.lifted_gradients import BothLikelihoods, GradientComparison
    from mlnlab.steps.recordings.trace import Trace
    from mlnlab.steps.step import Step

    Numbers = NDArray[np.float64]

MOST_SECONDS = 0.2  # of a step: a picture waits for some hundred
MOST_ROWS = 12
_SMALL = 1e-3  # of the counts: a gradient that is as good as 0
_NAMES, _LINES = ("likelihood", "pseudo-likelihood"), ("likelihood", "pseudo")
_ZEROS, _NUMBERS, _HALF, _TEXT = (366.0, 546.0), (474.0, WIDTH - 4.0), 46.0, 290.0


class _Row(NamedTuple):
    step: int
    found: GradientComparison


@dataclass(frozen=True, eq=False)
class GradientView:
    """Both likelihoods of a learner's data, built when they are first drawn, and their values at steps."""

    data: TrainingData
    history: History[_Row] = field(init=False)

    def __post_init__(self) -> None:
        """Cache the comparisons, so that each step is compared once."""
        object.__setattr__(self, "history", History(self._read))

    @cached_property
    def both(self) -> BothLikelihoods | str:
        """The likelihoods, or the sentence why they cannot be compared."""
        from mlnlab.learning.studies.lifted_gradients import both_likelihoods

        try:
            found = both_likelihoods(self.data)
        except MlnlabError as problem:
            return str(problem).partition("\n")[0]
        if found.seconds > MOST_SECONDS:
            return f"To compare them would take about {found.seconds:,.1f} seconds for each step."
        return found

    def _read(self, step: Step[Any]) -> _Row:
        both = self.both
        assert not isinstance(both, str)  # noqa: S101 - then nothing is read
        return _Row(step.index, both.at(step.state.weights))


def gradients_part(view: LearningView, gradients: GradientView, chosen: int | None) -> Draw:
    """Return a function that draws both gradients of the chosen formula, else of the fastest-moving one."""

    def draw(step: Step[Any], trace: Trace[Any]) -> Scene:
        both = gradients.both
        if isinstance(both, str):
            return _refusal(both)
        rows = gradients.history.until(step, trace)
        found = rows[-1].found
        formula = int(np.abs(found.likelihood).argmax()) if chosen is None else chosen
        label = fit_text(f"formula {formula}: {view.label(formula)}", WIDTH - 16, "strong")
        said, counts = verdict(found, formula), _counts(found, formula)
        plots = _plots(rows, formula, float(max(trace.indices[-1] if len(trace) else 0, step.index, 5)))
        curves, top = plots_items(plots, 62, view.changes(step, trace))
        said_of_all = "Gradients at this step, without priors; where they differ most"
        rows_drawn, bottom = list_rows(view.label, found, top, said_of_all)
        words = [
            Text(id="named", x=8, y=18, text=label, look="words strong"),
            Text(id="verdict", x=8, y=36, text=fit_text(said, WIDTH - 16), look="words"),
            Text(id="counts", x=8, y=52, text=fit_text(counts, WIDTH - 16, "small"), look="quiet small"),
        ]
        drawn = Layer("drawn", (*words, *curves, *rows_drawn))
        return Scene(WIDTH, bottom, (drawn,), "Likelihood and pseudo-likelihood", said)

    return draw


def verdict(found: GradientComparison, formula: int) -> str:
    """Say how both likelihoods would change a formula's weight."""
    observed = float(found.observed[formula])
    pulls = [float(one[formula]) for one in (found.likelihood, found.pseudo)]
    small = [abs(pull) <= _SMALL * max(1.0, observed) for pull in pulls]
    ways = ["raise" if pull > 0 else "lower" for pull in pulls]
    if all(small):
        return "This weight suits both."
    if small[1]:
        return f"The pseudo-likelihood is content, the likelihood would {ways[0]} the weight."
    if small[0]:
        return f"The likelihood is content, the pseudo-likelihood would {ways[1]} the weight."
    if ways[0] == ways[1]:
        return f"Both would {ways[0]} the weight."
    return f"The likelihood would {ways[0]} the weight, the pseudo-likelihood {ways[1]} it."


def _counts(found: GradientComparison, formula: int) -> str:
    true, expected = (value_words(float(one[formula])) for one in (found.observed, found.expected))
    return f"In the data {true} groundings are true; at these weights {expected} are expected to be."


def _refusal(sentence: str) -> Scene:
    text = fit_text(sentence, WIDTH - 16)
    items = (
        Text(x=8, y=18, text="The likelihood is not known here.", look="words strong"),
        Text(x=8, y=38, text=text, look="words", tooltip=tooltip("why", sentence)),
    )
    return Scene(WIDTH, 56, (Layer("drawn", items),), "Likelihood and pseudo-likelihood", sentence)


def _plots(rows: list[_Row], formula: int, last: float) -> list[Plot]:
    across = np.array([row.step for row in rows], np.float64)
    axis = place_axis(0, last, whole=True)

    def plot(title: str, values: list[list[float]], *, log: bool = False, level: float | None = None) -> Plot:
        lines = tuple(
            Line(name, across, np.array(own, np.float64)) for name, own in zip(_LINES, values, strict=True)
        )
        around = () if level is None else (level,)
        return Plot(
            title, lines, axis, vertical_axis(lines, log=log, around=around), marked=rows[-1].step,
            level=level,
        )  # fmt: skip

    both = [[row.found.likelihood for row in rows], [row.found.pseudo for row in rows]]
    values = [[row.found.log_likelihood for row in rows], [row.found.pseudo_log_likelihood for row in rows]]
    lengths = [[float(np.abs(one).max(initial=0.0)) or np.nan for one in side] for side in both]
    return [
        plot("gradient by this weight", [[float(one[formula]) for one in side] for side in both], level=0.0),
        plot("largest gradient by any weight", lengths, log=True),
        *(
            Plot(title, (line,), axis, vertical_axis((line,)), marked=rows[-1].step, named=False, offset=n)
            for n, (title, own) in enumerate(
                zip(("log-likelihood", "pseudo-log-likelihood"), values, strict=True)
            )
            for line in (Line(title, across, np.array(own, np.float64)),)
        ),
    ]


def list_rows(
    label: Callable[[int], str], found: GradientComparison, top: float, words: str, *, pick: bool = True
) -> tuple[list[Item], float]:
    """Return a row for each of the formulas on which both differ most; as many at every step."""
    apart = np.argsort(-np.abs(found.likelihood - found.pseudo), kind="stable")[:MOST_ROWS].tolist()
    both = found.likelihood, found.pseudo
    largest = max(float(np.abs(one[apart]).max(initial=0.0)) for one in both) or 1.0
    items: list[Item] = [Text(x=8, y=top + 12, text=words, look="words strong")]
    items += [
        Text(x=x, y=top + 30, text=name, look="quiet small", anchor="end")
        for name, x in zip(_NAMES, _NUMBERS, strict=True)
    ]
    top += 38
    for place, formula in enumerate(apart):
        pulls = float(found.likelihood[formula]), float(found.pseudo[formula])
        items.append(
            _row(f"{formula}: {label(formula)}", formula, pulls, largest, top + place * ROW, pick=pick)
        )
    return items, top + len(apart) * ROW + 6


def _row(
    label: str, formula: int, pulls: tuple[float, float], largest: float, y: float, *, pick: bool
) -> Group:
    parts: list[Item] = [
        Rectangle(x=2, y=-2, width=WIDTH - 4, height=ROW - 2, look="plate", corner=3),  # to be clicked
        Text(x=8, y=BAR - 1.5, text=fit_text(label, _TEXT), look="words"),
    ]
    for pull, zero, end, hue in zip(pulls, _ZEROS, _NUMBERS, ("blue", "orange"), strict=True):
        reach = pull / largest * _HALF
        parts += [
            Rectangle(x=zero + min(reach, 0.0), y=0, width=abs(reach), height=BAR, look=f"bar {hue}"),
            Rectangle(x=zero, y=-2, width=0.6, height=ROW, look="frame"),
            Text(x=end, y=BAR - 1.5, text=f"{pull:+.3g}", look="number", anchor="end"),
        ]
    said = f"likelihood {pulls[0]:+.5g}, pseudo-likelihood {pulls[1]:+.5g}"
    return Group(
        id=numbered_id("formula", formula), y=y, pick=pick, tooltip=tooltip(label, said),
        children=tuple(parts),
    )  # fmt: skip


# --- comparisons ----------------------------------------------------------------------------------


def comparison_scene(found: GradientComparison) -> Scene:
    """Return both gradients of the formulas on which they differ most, as bars beside each other."""
    words = "Gradients without priors; where they differ most"
    items, bottom = list_rows(lambda n: in_symbols(found.formulas[n]), found, 0.0, words, pick=False)
    return Scene(WIDTH, bottom, (Layer("drawn", tuple(items)),), "Likelihood and pseudo-likelihood", words)


def comparison_card(found: GradientComparison) -> Card:
    """Return both gradients as a picture, and as a table with the effect of each on the weight."""
    order = found.to_frame().index.tolist()
    rows = (
        (
            in_symbols(shorten_text(found.formulas[n])), f"{found.weights[n]:+.3f}",
            value_words(float(found.observed[n])), value_words(float(found.expected[n])),
            f"{found.likelihood[n]:+.4g}", f"{found.pseudo[n]:+.4g}", verdict(found, n),
        )
        for n in order
    )  # fmt: skip
    headings = (
        "formula", "weight", "in the data", "expected", "gradient of the likelihood",
        "of the pseudo-likelihood", "",
    )  # fmt: skip
    return Card(
        "Likelihood beside pseudo-likelihood",
        _summary(found),
        picture=comparison_scene(found),
        alternative="Both gradients by formula; the table has the numbers.",
        table=table_of(headings, rows, len(order), "formulas", numbers=range(1, 6)),
    )


def _summary(found: GradientComparison) -> str:
    return (
        f"{count_of(len(found.formulas), 'formula')}; log-likelihood {found.log_likelihood:,.6g}"
        f" ({found.method}), pseudo-log-likelihood {found.pseudo_log_likelihood:,.6g}"
    )
