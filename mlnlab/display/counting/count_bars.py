"""Counts: how many groundings of each formula are true, in bars and as a table."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.formula_markup import formula_markup, formula_text, weight_markup
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.bars import Bar, BarChart, Series
from mlnlab.display.model.databases import share
from mlnlab.logic.formulas.printing import marks_of

if TYPE_CHECKING:
    from mlnlab.counting.counts.counting_plan import CountingPlan
    from mlnlab.counting.counts.counts import Counts
    from mlnlab.display.scene.items import Scene
    from mlnlab.learning.objectives.relaxed_objective import CountingError

MOST_BARS, MOST_IN_FIGURE = 40, 60
_LONGEST_NUMBER = 30  # digits with commas; longer ones are told by their length


def number_text(number: float) -> str:
    """Return a number that fits a cell; a count may have thousands of digits, and an estimate has few."""
    if not isinstance(number, int):
        return f"about {number:,.6g}"
    text = f"{number:,}" if number < 10**_LONGEST_NUMBER else ""
    return text or f"about 10^{number.bit_length() * 0.30103:,.0f}"


def ratio(part: float, whole: int) -> float:
    """Return a share between 0 and 1; of nothing it is 0. The numbers may be larger than any float."""
    return part / whole if whole else 0.0


def counts_chart(counts: Counts) -> BarChart:
    """Return bars of the shares of each formula's groundings that hold, and that are violated."""
    labels = tuple(formula_text(w.formula, marks_of(w)) for w in counts.formulas[:MOST_IN_FIGURE])
    series = tuple(
        Series(
            name,
            tuple(
                Bar(label, ratio(part, total), share(part, total),
                    tip=f"{number_text(part)} of {number_text(total)} {verb}")
                for label, part, total in zip(labels, numbers, counts.groundings, strict=False)
            ),
            hue,
        )
        for name, verb, numbers, hue in (
            ("true", "hold", counts.numbers, "blue"),
            ("violated", "are violated", counts.false, "orange"),
        )
    )  # fmt: skip
    some = (
        f" of the first {MOST_IN_FIGURE} of {len(counts):,} formulas" if len(counts) > MOST_IN_FIGURE else ""
    )
    return BarChart(
        f"True groundings{some}",
        labels,
        series,
        "share of the groundings",
        "There is nothing to draw: the model has no formulas.",
        "The share of each formula's groundings that hold.",
        stacked=True,
    )


def counts_scene(counts: Counts) -> Scene | None:
    """Return a bar for each formula: the share of its groundings that hold; none where there are many."""
    return counts_chart(counts).scene() if 0 < len(counts) <= MOST_BARS else None


def counts_card(counts: Counts) -> Card:
    """Return the card of counts."""
    total = sum(counts.groundings)
    return Card(
        "True groundings",
        f"{number_text(total)} groundings of {count_of(len(counts), 'formula')}",
        picture=counts_scene(counts),
        undrawn="" if len(counts) else "The model has no formulas.",
        table=_table(counts) if len(counts) else None,
        remarks=()
        if all(counts.exact)
        else ('Numbers marked "about" are estimates, and their error is not known.',),
    )


def _table(counts: Counts) -> Table:
    quadruples = zip(counts.formulas, counts.numbers, counts.false, counts.groundings, strict=True)
    rows = (
        (
            f"{place}",
            weight_markup(weighted.weight),
            formula_markup(weighted.formula, marks_of(weighted)),
            number_text(true),
            number_text(false),
            number_text(total),
            share(true, total),
        )
        for place, (weighted, true, false, total) in enumerate(quadruples)
    )
    headings = ("", "weight", "formula", "true", "violated", "groundings", "share that holds")
    where = "to_frame() has them all"
    return table_of(headings, rows, len(counts), "formulas", numbers=(0, 1, 3, 4, 5, 6), where=where)


# --- which counter, and how good it is --------------------------------------------------------------


def counting_plan_card(plan: CountingPlan) -> Card:
    """Return the card of the estimated costs of either counter."""
    rows = (
        (in_symbols(shorten_text(one.formula, 160)), _milliseconds(one.planned),
         f"{_milliseconds(one.clusters)}{', exact' * one.clusters_are_exact}", one.cheaper)
        for one in plan.formulas
    )  # fmt: skip
    number = len(plan.formulas)
    headings = ("formula", "planned", "ijgp", "cheaper")
    table = table_of(headings, rows, number, "formulas", numbers=(1, 2), where="to_frame() has them all")
    words = "Estimated milliseconds of one count; nothing has been counted."
    return Card("Counting plan", count_of(number, "formula"), table=table, remarks=(words,))


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.3g} ms" if isfinite(seconds) else "refused"


def counting_error_card(error: CountingError) -> Card:
    """Return the card of the error of approximate counts."""
    where = f"all {error.worlds:,} worlds" if error.is_exact else f"{count_of(error.worlds, 'world')}, drawn"
    rows = ((str(number), f"{one:,.6g}") for number, one in enumerate(error.by_formula.tolist()))
    total = len(error.by_formula)
    table = table_of(("formula", "largest error"), rows, total, "formulas", numbers=(0, 1))
    guess = "In worlds that were not drawn it may be larger." if not error.is_exact else ""
    bounds = "error.lemma_1(weights) and error.theorem_1(alpha, beta) are the bounds that follow."
    facts = f"ε = {error.epsilon:,.6g} in {where}"
    return Card("Error of counts", facts, table=table, remarks=(*filter(None, (guess,)), bounds))
