"""Show Markov logic networks, the differences of two, and sample data sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import MOST_ROWS, Card, Table, table_of
from mlnlab.display.card.findings import found_while_reading
from mlnlab.display.card.formula_markup import formula_markup, weight_markup, weighted_text
from mlnlab.display.card.markup import Element, Node, count_of, element, shorten_text
from mlnlab.display.model.vocabularies import predicates_table, sizes_in_words, types_table
from mlnlab.logic.formulas.printing import marks_of

if TYPE_CHECKING:
    from mlnlab.experiments.samples import Sample
    from mlnlab.logic.formulas.weights import WeightedFormula
    from mlnlab.model.mln.differences import Difference
    from mlnlab.model.mln.mln import MLN

_MOST_CHARACTERS = 120_000  # of markup: the formulas are what a model is about
_SEMANTICS = {
    "textbook": "textbook semantics: one feature for each grounding of a formula's free variables",
    "alchemy": "Alchemy's semantics: formulas are split into clauses, the weight divided among them",
}
_LONGEST_DESCRIPTION = 600


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


# --- differences ----------------------------------------------------------------------------------


def _change(sign: str, word: str, kind: str = "") -> Element:
    return element("span", f"{sign} {word}", kind=kind)


def _mark_addition() -> Element:
    return _change("+", "added", "added")


def _mark_removal() -> Element:
    return _change("−", "removed", "removed")


def _rows(difference: Difference) -> Iterator[tuple[Node, Node, Node]]:
    for text in difference.changed:
        yield _change("~", "changed"), "", shorten_text(text, 200)
    for text in difference.declared:
        yield _mark_addition(), "declaration", shorten_text(text, 200)
    for text in difference.undeclared:
        yield _mark_removal(), "declaration", shorten_text(text, 200)
    for weighted in difference.added:
        yield (
            _mark_addition(),
            weight_markup(weighted.weight),
            formula_markup(weighted.formula, marks_of(weighted)),
        )
    for weighted in difference.removed:
        shown = formula_markup(weighted.formula, marks_of(weighted))
        yield _mark_removal(), weight_markup(weighted.weight), shown
    for weighted, old, new in difference.reweighted:
        weights = element("span", weight_markup(old), " → ", weight_markup(new))
        yield _change("~", "reweighted"), weights, formula_markup(weighted.formula, marks_of(weighted))


def difference_card(difference: Difference) -> Card:
    """Return the card of a difference."""
    rows = list(_rows(difference))
    if not rows:
        return Card("No difference", plain=str(difference))
    return Card(
        "Difference",
        count_of(len(rows), "change"),
        table=table_of(("", "weight", "formula"), rows, len(rows), "changes", where="str() has them all"),
        plain=str(difference),
    )


# --- samples --------------------------------------------------------------------------------------


def sample_card(sample: Sample) -> Card:
    """Return the card of a sample data set."""
    headings = ("database", "true atoms", "constants")
    rows = (
        (shorten_text(name), f"{db.number_of_facts():,}", f"{sum(map(len, db.vocabulary.types.values())):,}")
        for name, db in sample.databases.items()
    )
    formulas, vocabulary = sample.mln.formulas, sample.mln.vocabulary
    return Card(
        f"Sample {shorten_text(sample.name)}",
        count_of(len(sample.databases), "database"),
        lead=(
            element("div", shorten_text(sample.description, _LONGEST_DESCRIPTION)),
            formulas_table(formulas) if formulas else predicates_table(vocabulary),
        ),
        table=table_of(headings, rows, len(sample.databases), "databases", numbers=(1, 2)),
        remarks=(_parts(sample),),
    )


def _parts(sample: Sample) -> str:
    """Say how to get at the parts."""
    answers = ", .answers (exact, computed by other means)" if sample.answers else ""
    return f"Its parts: .mln, .db (the first database), .databases[name]{answers}."
