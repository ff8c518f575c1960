"""Show learned weights in a cell: each formula's weight and gap, the run, and reasons for doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.formula_markup import formula_markup
from mlnlab.display.card.markup import Node, count_of, element, shorten_text
from mlnlab.display.chart.axes import value_words
from mlnlab.display.chart.bars import WIDTH, Bar, BarChart, Series
from mlnlab.display.learning.learning_pictures import caption
from mlnlab.display.learning.learning_plots import learning_plots, plots_items
from mlnlab.display.learning.learning_view import LearningView, gap_rows, learning_view
from mlnlab.display.runs.run_cards import settings_table
from mlnlab.display.scene.items import Layer, Scene, Text
from mlnlab.errors import MlnlabError
from mlnlab.learning.problems.free_weights import FIXED
from mlnlab.logic.formulas.printing import marks_of, to_text
from mlnlab.logic.formulas.weights import Hard

if TYPE_CHECKING:
    from mlnlab.learning.ask.learned_weights import LearnedWeights
    from mlnlab.learning.ask.learner import WeightLearner

_MOST_FOR_ERRORS = 400  # parameters: the Hessian is inverted
_MOST_CHARACTERS = 120_000


# --- what was learned -----------------------------------------------------------------------------

MOST_BARS = 60


def learned_scene(learned: LearnedWeights) -> Scene:
    """Return the formulas with their gaps, and the curves of the run."""
    view = _view(learned)
    step, end = learned.trace[-1], learned.at_weights
    largest = float(np.abs(end.gap).max(initial=0.0))
    axis = view.axis(view.moments(step, learned.trace), largest)
    rows, bottom = gap_rows(view.rows(end), axis, 4.0, pick=False)
    if learned.averaged:
        words = f"The weights are the {learned.averaged}, and the gaps are those at that average."
        rows.append(Text(id="averaged", x=8, y=bottom + 8, text=words, look="quiet small"))
        bottom += 16
    plots = learning_plots(view, step, learned.trace, None)
    plots = [plot for plot in plots if plot.title.startswith(_CURVES)]
    items, bottom = plots_items(plots, bottom + 10, view.changes(step, learned.trace))
    told = f"{caption(replace(step, state=end))}{f', {learned.averaged}' * bool(learned.averaged)}."
    return Scene(WIDTH, bottom, (Layer("drawn", (*rows, *items)),), "Learned weights", told)


_CURVES = ("objective", "largest gap", "weights")


def _view(learned: LearnedWeights) -> LearningView:
    return learning_view(learned.data, learned.problem, averages=bool(learned.averaged), returned=True)


def learned_card(learned: LearnedWeights) -> Card:
    """Return the card of learned weights."""
    return Card(
        "Learned weights",
        _summary(learned),
        lead=(
            *(f"! {shorten_text(sentence, 600)}" for sentence in learned.diagnostics),
            f"Ended: {learned.state.ended}." if learned.state.ended else "",
        ),
        picture=learned_scene(learned),
        alternative="Weights and gaps of formulas; the table below has the numbers.",
        table=_table(learned, standard_errors(learned)),
        remarks=(
            element(
                "div", "learned.mln is the model, ", element("code", "learned.to_frame()"), " the table, ",
                element("code", "ml.stepper(learned.trace)"), " the run again.", kind="quiet",
            ),
        ),
    )  # fmt: skip


def learned_chart(learned: LearnedWeights) -> BarChart:
    """Return the weights as bars, the largest of them where there are many."""
    order = sorted(np.argsort(-np.abs(learned.weights), kind="stable")[:MOST_BARS].tolist())
    errors = standard_errors(learned)
    bars = tuple(
        Bar(
            to_text(learned.data.formulas[number].formula),
            float(learned.weights[number]),
            f"weight {learned.weights[number]:.5g}; in the data {learned.observed[number]:.6g}, expected"
            f" {learned.expected[number]:.6g}, gap {learned.gap[number]:.3g}",
            error=0.0 if errors is None else errors[number],
        )
        for number in order
    )
    return BarChart(
        f"Weights by {learned.method}",
        tuple(bar.label for bar in bars),
        (Series("weight", bars),),
        f"weight, {learned.averaged}" if learned.averaged else "weight",
        "There is nothing to draw: the model has no formulas.",
        signed=True,
    )


def _summary(learned: LearnedWeights) -> str:
    steps = count_of(learned.state.iteration, "step")
    value = "" if isnan(learned.objective) else f", objective {learned.objective:,.6g}"
    gap = value_words(float(np.abs(learned.gap).max(initial=0.0)))
    averaged = f", {learned.averaged}" if learned.averaged else ""
    return f"{learned.method}; {steps} in {learned.seconds:.3g} s{averaged}{value}, largest gap {gap}"


def standard_errors(learned: LearnedWeights) -> Sequence[float] | None:
    """Return the standard error of each weight, where there is a formula for it and it costs little."""
    find = getattr(learned, "standard_errors", None)
    if (
        find is None
        or learned.problem.free.number > _MOST_FOR_ERRORS
        or not learned.problem.objective.has_value
        or not learned.has_quick_errors
    ):
        return None
    try:
        errors: list[float] = np.asarray(find(), np.float64).tolist()
    except (MlnlabError, np.linalg.LinAlgError):  # weights are shown also where their errors are not known
        return None
    return errors


def _table(learned: LearnedWeights, errors: Sequence[float] | None) -> Table:
    headings = (
        "",
        "formula",
        "weight",
        *(("±",) if errors is not None else ()),
        "in the data",
        "expected",
        "gap",
    )
    numbers = tuple(place for place in range(len(headings)) if place != 1)
    total = len(learned.data.formulas)
    rows = (_cells(learned, number, errors) for number in range(total))
    averaged = f" ({learned.averaged})" if learned.averaged else ""
    return table_of(
        headings, rows, total, "formulas", numbers=numbers, where="to_frame() has them all",
        name=f"weights{averaged}, counts and gaps", most_characters=_MOST_CHARACTERS,
    )  # fmt: skip


def _cells(learned: LearnedWeights, number: int, errors: Sequence[float] | None) -> tuple[Node, ...]:
    weighted, state = learned.data.formulas[number], learned.at_weights
    hard = isinstance(weighted.weight, Hard)
    weight = "hard" if hard else f"{learned.weights[number]:.4f}"
    if not hard and learned.problem.free.parameter[number] == FIXED:
        weight += " (fixed)"
    error = () if errors is None else (_error(errors[number]),)
    counts = (value_words(float(state.observed[number])), value_words(float(state.expected[number])))
    return (
        str(number), formula_markup(weighted.formula, marks_of(weighted)), weight, *error, *counts,
        f"{state.gap[number]:.2g}",
    )  # fmt: skip


def _error(value: float) -> str:
    return "" if isnan(value) else f"{value:.2g}"


# --- a learner that has not begun -----------------------------------------------------------------


def learner_card(learner: WeightLearner) -> Card:
    """Return the card of a learner: its problem, its settings, and ways to watch it."""
    return Card(
        f"Weight learner {learner.preset.name}",
        _question(learner),
        table=settings_table(learner.params),
        remarks=(
            element(
                "div", "Nothing has been learned yet. Watch and steer it: ",
                element("code", "ml.live(learner)"), " · step by step: ",
                element("code", "ml.stepper(learner)"), " · several against time: ",
                element("code", "ml.race({...})"), kind="quiet",
            ),
            f"Needs: {learner.optimizer.needs}. From: {learner.optimizer.citation}.",
        ),
    )  # fmt: skip


def _question(learner: WeightLearner) -> str:
    formulas, databases = len(learner.data.formulas), len(learner.data.examples)
    asked = ", ".join(shorten_text(name, 40) for name in learner.data.query[:5]) or "all predicates"
    return (
        f"{learner.description}; {count_of(learner.problem.free.number, 'weight')} of"
        f" {count_of(formulas, 'formula')} from {count_of(databases, 'database')}; predicted: {asked}"
    )
