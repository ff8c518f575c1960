"""A sample data set: what it is about, its model, its databases, and that there are exact answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mlnlab.display.markup import Element, count_of, element, shortened
from mlnlab.display.models import formulas_table
from mlnlab.display.style import card, quiet, title
from mlnlab.display.tables import bounded_table
from mlnlab.display.vocabularies import predicates_table

if TYPE_CHECKING:
    from mlnlab.experiments.samples.loading import Sample
    from mlnlab.model.mln import MLN

_LONGEST_DESCRIPTION = 600


def sample_display(sample: Sample) -> Element:
    """Return the display of a sample data set."""
    headings = ("database", "true atoms", "constants")
    rows = (
        (shortened(name), f"{db.number_of_facts():,}", f"{sum(map(len, db.vocabulary.types.values())):,}")
        for name, db in sample.databases.items()
    )
    return card(
        title(f"Sample {shortened(sample.name)}", count_of(len(sample.databases), "database")),
        element("div", shortened(sample.description, _LONGEST_DESCRIPTION)),
        _model(sample.mln),
        bounded_table(headings, rows, len(sample.databases), "databases", numbers=(1, 2)),
        quiet(_parts(sample)),
    )


def _model(mln: MLN) -> Element:
    return formulas_table(mln.formulas) if mln.formulas else predicates_table(mln.vocabulary)


def _parts(sample: Sample) -> str:
    """Say how to get at the parts."""
    answers = ", .answers (exact, computed by other means)" if sample.answers else ""
    return f"Its parts: .mln, .db (the first database), .databases[name]{answers}."


def sample_text(sample: Sample) -> str:
    """Return a sample as text."""
    return shortened(repr(sample), 2 * _LONGEST_DESCRIPTION)
