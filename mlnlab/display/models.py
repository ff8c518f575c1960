"""A Markov logic network: the table of its formulas, the problems found, its vocabulary folded away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.findings import findings_markup, findings_text, summary_of
from mlnlab.display.markup import Element, count_of, element, shortened
from mlnlab.display.mathematics import formula_markup, weight_markup, weighted_text
from mlnlab.display.style import card, folded, quiet, title
from mlnlab.display.tables import MOST_ROWS, bounded_table
from mlnlab.display.vocabularies import predicates_table, sizes_in_words, types_table
from mlnlab.logic.printing import marks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.logic.weights import WeightedFormula
    from mlnlab.model.mln import MLN

_MOST_CHARACTERS = 120_000  # of markup: the formulas are what a model is about
_SEMANTICS = {
    "textbook": "textbook semantics: one feature for each grounding of a formula's free variables",
    "alchemy": "Alchemy's semantics: formulas are split into clauses, the weight divided among them",
}


def formulas_table(formulas: Sequence[WeightedFormula]) -> Element:
    """Return the table of formulas: number, weight, mathematics."""
    rows = (
        (str(number), weight_markup(weighted.weight), formula_markup(weighted.formula, marks_of(weighted)))
        for number, weighted in enumerate(formulas)
    )
    return bounded_table(
        ("", "weight", "formula"), rows, len(formulas), "formulas",
        numbers=(0, 1), where="to_text() has them all", most_characters=_MOST_CHARACTERS,
    )  # fmt: skip


def model_title(mln: MLN) -> str:
    """Return the headline of a model."""
    return f"Markov logic network {_name(mln)}".rstrip()


def _name(mln: MLN) -> str:
    """Return the model's name; those in angle brackets only say that there is none."""
    return "" if mln.name.startswith("<") else shortened(mln.name)


def _sizes(mln: MLN) -> str:
    return f"{count_of(len(mln.formulas), 'formula')}, {sizes_in_words(mln.vocabulary)}"


def model_display(mln: MLN) -> Element:
    """Return the display of a model."""
    sizes = _sizes(mln)
    vocabulary = folded("predicates and types", predicates_table(mln.vocabulary), types_table(mln.vocabulary))
    return card(
        title(model_title(mln), sizes),
        quiet(_SEMANTICS[mln.semantics]),
        formulas_table(mln.formulas) if mln.formulas else quiet("It has no formulas yet."),
        *_problems(mln),
        vocabulary,
    )


def _problems(mln: MLN) -> list[Element]:
    if not mln.diagnostics:
        return []
    headline = element("div", f"Found while reading: {summary_of(mln.diagnostics)}", kind="title")
    return [headline, *findings_markup(mln.diagnostics)]


def model_text(mln: MLN) -> str:
    """Return a model as text."""
    lines = [f"{n:>3}  {weighted_text(f)}" for n, f in enumerate(mln.formulas[:MOST_ROWS])]
    rest = len(mln.formulas) - MOST_ROWS
    more = [f"... and {rest:,} more formulas"] if rest > 0 else []
    problems = [findings_text(mln.diagnostics)] if mln.diagnostics else []
    return "\n".join([f"<MLN {_name(mln)}".rstrip() + f": {_sizes(mln)}>", *lines, *more, *problems])


def formulas_display(formulas: Sequence[WeightedFormula]) -> Element:
    """Return the display of a list of weighted formulas."""
    return card(title(count_of(len(formulas), "formula")), formulas_table(formulas))


def formulas_text(formulas: Sequence[WeightedFormula]) -> str:
    """Return weighted formulas as text, one a line."""
    return "\n".join(map(weighted_text, formulas[:MOST_ROWS]))
