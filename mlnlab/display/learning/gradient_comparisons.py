"""Likelihood beside pseudo-likelihood at some weights, in a cell: each formula's two gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.symbols import in_symbols
from mlnlab.display.chart.axes import value_words
from mlnlab.display.chart.bars import WIDTH
from mlnlab.display.learning.learning_gradients import list_rows, verdict
from mlnlab.display.scene.items import Layer, Scene

if TYPE_CHECKING:
    from mlnlab.learning.studies.lifted_gradients import GradientComparison


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
