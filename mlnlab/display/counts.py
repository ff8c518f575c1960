"""Counts: how many groundings of each formula are true, in bars and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.bars import Bar, bar_scene
from mlnlab.display.databases import share
from mlnlab.display.markup import Element, count_of, shortened
from mlnlab.display.mathematics import formula_markup, formula_text, weight_markup
from mlnlab.display.scene.pictures import scene_image
from mlnlab.display.scene.text_fitting import text_width
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import MOST_ROWS, bounded_table
from mlnlab.logic.printing import marks_of

if TYPE_CHECKING:
    from mlnlab.counting.counts import Counts
    from mlnlab.display.scene.items import Scene
    from mlnlab.logic.weights import WeightedFormula

MOST_BARS = 40
_LONGEST_NUMBER = 30  # digits with commas; longer ones are told by their length
_LONGEST = 160


def number_text(number: int) -> str:
    """Return a whole number that fits a cell; a count may have thousands of digits."""
    text = f"{number:,}" if number < 10**_LONGEST_NUMBER else ""
    return text or f"about 10^{number.bit_length() * 0.30103:,.0f}"


def ratio(part: int, whole: int) -> float:
    """Return a share between 0 and 1; of nothing it is 0. The numbers may be larger than any float."""
    return part / whole if whole else 0.0


def counts_scene(counts: Counts) -> Scene | None:
    """Return a bar for each formula: the share of its groundings that hold; none where there are many."""
    if not 0 < len(counts) <= MOST_BARS:
        return None
    triples = zip(counts.formulas, counts.numbers, counts.groundings, strict=True)
    bars = [
        Bar(
            label=formula_text(weighted.formula, marks_of(weighted)),
            value=ratio(true, total),
            words=share(true, total),
            tip=f"{number_text(true)} of {number_text(total)} hold, {number_text(total - true)} are violated",
        )
        for weighted, true, total in triples
    ]
    room = max(text_width(bar.words) for bar in bars) + 12
    return bar_scene(bars, "True groundings", "The share of each formula's groundings that hold.", room)


def counts_display(counts: Counts) -> Element:
    """Return the display of counts."""
    scene = counts_scene(counts)
    total = sum(counts.groundings)
    remark = f"{number_text(total)} groundings of {count_of(len(counts), 'formula')}"
    if not len(counts):
        return card(title("True groundings", remark), quiet("The model has no formulas."))
    picture = None if scene is None else scene_image(scene, f"{scene.title}: {scene.description}")
    table = _table(counts)
    return card(
        title("True groundings", remark), picture, table if picture is None else folded("as a table", table)
    )


def _table(counts: Counts) -> Element:
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
    return bounded_table(headings, rows, len(counts), "formulas", numbers=(0, 1, 3, 4, 5, 6), where=where)


def _formula(weighted: WeightedFormula) -> str:
    return shortened(formula_text(weighted.formula, marks_of(weighted)), _LONGEST)


def counts_text(counts: Counts) -> str:
    """Return counts as text, a line for each formula."""
    triples = zip(counts.formulas, counts.numbers, counts.groundings, strict=True)
    lines = [
        f"  {number_text(true)} of {number_text(total)}  {_formula(weighted)}"
        for weighted, true, total in list(triples)[:MOST_ROWS]
    ]
    left = len(counts) - len(lines)
    rest = [f"  and {count_of(left, 'more formula')}"] if left > 0 else []
    return "\n".join([f"<Counts of {count_of(len(counts), 'formula')}>", *lines, *rest])
