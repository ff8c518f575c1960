"""Show a sample data set: its subject, its model, its databases, and that there are exact answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import count_of, element, shorten_text
from mlnlab.display.model.models import formulas_table
from mlnlab.display.model.vocabularies import predicates_table

if TYPE_CHECKING:
    from mlnlab.experiments.samples import Sample

_LONGEST_DESCRIPTION = 600


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
