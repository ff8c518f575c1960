"""Learned weights in a cell: each formula's weight and gap, how learning went, and what to doubt."""

from __future__ import annotations

from dataclasses import fields
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.display.axes import value_words
from mlnlab.display.bars import WIDTH
from mlnlab.display.learning_pictures import caption
from mlnlab.display.learning_plots import learning_plots, plots_items
from mlnlab.display.learning_rows import gap_rows
from mlnlab.display.learning_view import LearningView, learning_view
from mlnlab.display.markup import Element, Node, count_of, element, shortened
from mlnlab.display.mathematics import formula_markup
from mlnlab.display.running import part_in_words
from mlnlab.display.scene.items import Layer, Scene
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import MOST_ROWS, bounded_table
from mlnlab.learning.free_weights import FIXED
from mlnlab.logic.printing import marks_of
from mlnlab.logic.weights import Hard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.learning.learned_weights import LearnedWeights
    from mlnlab.learning.learner import WeightLearner

_MOST_FOR_ERRORS = 400  # parameters: the Hessian is inverted
_MOST_CHARACTERS = 120_000


# --- what was learned -----------------------------------------------------------------------------


def learned_scene(learned: LearnedWeights) -> Scene:
    """Return the formulas with their gaps, and the curves of the run."""
    view = _view(learned)
    step = learned.trace[-1]
    rows, bottom = gap_rows(
        view.rows(step.state), view.axis(view.moments(step, learned.trace)), 4.0, pick=False
    )
    plots = [plot for plot in learning_plots(view, step, learned.trace, None) if plot.title in _CURVES]
    items, end = plots_items(plots, bottom + 10, view.changes(step, learned.trace))
    return Scene(WIDTH, end, (Layer("drawn", (*rows, *items)),), "Learned weights", f"{caption(step)}.")


_CURVES = {"objective", "largest gap", "largest gap, with its noise", "weights"}


def _view(learned: LearnedWeights) -> LearningView:
    return learning_view(learned.data, learned.problem)


def learned_display(learned: LearnedWeights) -> Element:
    """Return the display of learned weights."""
    errors = standard_errors(learned)
    return card(
        title("Learned weights", _summary(learned)),
        *(quiet(f"! {shortened(sentence, 600)}") for sentence in learned.diagnostics),
        quiet(f"Ended: {learned.state.ended}.") if learned.state.ended else None,
        scene_image(learned_scene(learned), "Weights and gaps of formulas; the table below has the numbers."),
        folded("weights, counts and gaps", _table(learned, errors)),
        element(
            "div", "learned.mln is the model, ", element("code", "learned.to_frame()"), " the table, ",
            element("code", "ml.stepper(learned.trace)"), " the run again.", kind="quiet",
        ),
    )  # fmt: skip


def _summary(learned: LearnedWeights) -> str:
    steps = count_of(learned.state.iteration, "step")
    value = "" if isnan(learned.objective) else f", objective {learned.objective:,.6g}"
    gap = value_words(float(np.abs(learned.gap).max(initial=0.0)))
    return f"{learned.method}; {steps} in {learned.seconds:.3g} s{value}, largest gap {gap}"


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
    except Exception:  # noqa: BLE001 - weights are shown also where nothing is known of their errors
        return None
    return errors


def _table(learned: LearnedWeights, errors: Sequence[float] | None) -> Element:
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
    return bounded_table(
        headings, rows, total, "formulas", numbers=numbers, where="to_frame() has them all",
        most_characters=_MOST_CHARACTERS,
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


def learned_text(learned: LearnedWeights) -> str:
    """Return learned weights as text: a line for each formula."""
    view, weights = _view(learned), learned.weights
    lines = [
        f"{weights[number]:>10.4f}  {view.label(number)}  (gap {learned.gap[number]:.2g})"
        for number in range(min(len(weights), MOST_ROWS))
    ]
    rest = len(weights) - len(lines)
    more = [f"... and {rest:,} more formulas"] if rest else []
    doubts = [f"! {shortened(sentence, 600)}" for sentence in learned.diagnostics]
    return "\n".join([repr(learned), *lines, *more, *doubts])


# --- a learner that has not begun -----------------------------------------------------------------


def learner_display(learner: WeightLearner) -> Element:
    """Return the display of a learner: what would be learned, how, and how to watch it."""
    settings = [(field.name, getattr(learner.params, field.name)) for field in fields(learner.params)]
    rows = ((name, part_in_words(value)) for name, value in settings)
    return card(
        title(f"Weight learner {learner.preset.name}", _question(learner)),
        bounded_table(("setting", "value"), rows, len(settings), "settings"),
        element(
            "div", "Nothing has been learned yet. Watch and steer it: ", element("code", "ml.live(learner)"),
            " · step by step: ", element("code", "ml.stepper(learner)"), " · several against time: ",
            element("code", "ml.race({...})"), kind="quiet",
        ),
        quiet(f"Needs: {learner.optimizer.needs}. From: {learner.optimizer.citation}."),
    )  # fmt: skip


def _question(learner: WeightLearner) -> str:
    formulas, databases = len(learner.data.formulas), len(learner.data.examples)
    asked = ", ".join(shortened(name, 40) for name in learner.data.query[:5]) or "all predicates"
    return (
        f"{learner.description}; {count_of(learner.problem.free.number, 'weight')} of"
        f" {count_of(formulas, 'formula')} from {count_of(databases, 'database')}; predicted: {asked}"
    )


def learner_text(learner: WeightLearner) -> str:
    """Return a learner as text."""
    return f"{learner!r}\n  {_question(learner)}"
