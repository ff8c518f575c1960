"""Likelihood beside pseudo-likelihood at some weights, in a cell: each formula's two gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.axes import value_words
from mlnlab.display.bars import WIDTH
from mlnlab.display.learning_gradients import listed, verdict
from mlnlab.display.markup import Element, count_of, shortened
from mlnlab.display.scene.items import Layer, Scene
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.style import card, folded, title
from mlnlab.display.symbols import in_symbols
from mlnlab.display.tables import bounded_table

if TYPE_CHECKING:
    from mlnlab.learning.lifted_gradients import GradientComparison


def comparison_scene(found: GradientComparison) -> Scene:
    """Return both gradients of the formulas on which they differ most, as bars beside each other."""
    words = "Gradients without priors; where they differ most"
    items, bottom = listed(lambda n: in_symbols(found.formulas[n]), found, 0.0, words, pick=False)
    return Scene(WIDTH, bottom, (Layer("drawn", tuple(items)),), "Likelihood and pseudo-likelihood", words)


def comparison_display(found: GradientComparison) -> Element:
    """Return both gradients as a picture and as a table that says what each would do to the weight."""
    frame = found.to_frame()
    order = frame.index.tolist()
    rows = (
        (
            in_symbols(shortened(found.formulas[n])), f"{found.weights[n]:+.3f}",
            value_words(float(found.observed[n])), value_words(float(found.expected[n])),
            f"{found.likelihood[n]:+.4g}", f"{found.pseudo[n]:+.4g}", verdict(found, n),
        )
        for n in order
    )  # fmt: skip
    headings = (
        "formula", "weight", "in the data", "expected", "gradient of the likelihood",
        "of the pseudo-likelihood", "",
    )  # fmt: skip
    return card(
        title("Likelihood beside pseudo-likelihood", _summary(found)),
        scene_image(comparison_scene(found), "Both gradients by formula; the table has the numbers."),
        folded("as a table", bounded_table(headings, rows, len(order), "formulas", numbers=range(1, 6))),
    )


def comparison_text(found: GradientComparison) -> str:
    """Return both gradients as text, a line for each of the first formulas."""
    rows = (
        f"  {found.likelihood[n]:+.4g}  {found.pseudo[n]:+.4g}  {found.formulas[n]}"
        for n in found.to_frame().index.tolist()[:12]
    )
    return "\n".join([repr(found), f"  {_summary(found)}", *rows])


def _summary(found: GradientComparison) -> str:
    return (
        f"{count_of(len(found.formulas), 'formula')}; log-likelihood {found.log_likelihood:,.6g}"
        f" ({found.method}), pseudo-log-likelihood {found.pseudo_log_likelihood:,.6g}"
    )
