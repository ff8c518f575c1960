"""A Markov logic network: the table of its formulas, the problems found, its vocabulary folded away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.findings import found_while_reading
from mlnlab.display.card.formula_markup import formula_markup, weight_markup, weighted_text
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.card.static_tables import MOST_ROWS
from mlnlab.display.model.vocabularies import predicates_table, sizes_in_words, types_table
from mlnlab.logic.formulas.printing import marks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.logic.formulas.weights import WeightedFormula
    from mlnlab.model.mln.mln import MLN

_MOST_CHARACTERS = 120_000  # of markup: the formulas are what a model is about
_SEMANTICS = {
    "textbook": "textbook semantics: one feature for each grounding of a formula's free variables",
    "alchemy": "Alchemy's semantics: formulas are split into clauses, the weight divided among them",
}


def formulas_table(formulas: Sequence[WeightedFormula]) -> Table:
    """Return the table of formulas: number, weight, mathematics."""
    rows = (
        (str(number), weight_markup(weighted.weight), formula_markup(weighted.formula, marks_of(weighted)))
        for number, weighted in enumerate(formulas)
    )
    return table_of(
        ("", "weight", "formula"), rows, len(formulas), "formulas",
        numbers=(0, 1), where="to_text() has them all", most_characters=_MOST_CHARACTERS,
    )  # fmt: skip


def model_title(mln: MLN) -> str:
    """Return the headline of a model."""
    return f"Markov logic network {_name(mln)}".rstrip()


def _name(mln: MLN) -> str:
    """Return the model's name; those in angle brackets only say that there is none."""
    return "" if mln.name.startswith("<") else shorten_text(mln.name)


def model_card(mln: MLN) -> Card:
    """Return the card of a model."""
    return Card(
        model_title(mln),
        f"{count_of(len(mln.formulas), 'formula')}, {sizes_in_words(mln.vocabulary)}",
        lead=(_SEMANTICS[mln.semantics], "" if mln.formulas else "It has no formulas yet."),
        table=formulas_table(mln.formulas) if mln.formulas else None,
        remarks=found_while_reading(mln.diagnostics),
        folds=(
            ("predicates", predicates_table(mln.vocabulary)),
            ("types", types_table(mln.vocabulary)),
        ),
    )


def formulas_card(formulas: Sequence[WeightedFormula]) -> Card:
    """Return the card of a list of weighted formulas."""
    lines = "\n".join(map(weighted_text, formulas[:MOST_ROWS]))
    return Card(count_of(len(formulas), "formula"), table=formulas_table(formulas), plain=lines)
