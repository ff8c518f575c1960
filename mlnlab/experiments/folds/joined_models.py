"""One list of formulas for several databases: ``+x`` written out over the constants of all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mlnlab.logic.formulas.substitution import free_variables
from mlnlab.logic.formulas.weights import Hard
from mlnlab.logic.vocabulary import NamedDomain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN


def expanded_together(mln: MLN, databases: Sequence[Database]) -> MLN:
    """Return the model with its marks written out over the constants of all databases together.

    Its own vocabulary keeps no constant of any of them but those that formulas now mention by name, so that
    it fits each database by itself.
    """
    marked = {
        variable.type
        for weighted in mln.formulas
        for variable in free_variables(weighted.formula)
        if variable.name in weighted.per_constant
    }
    vocabulary = mln.vocabulary
    for type_ in sorted(marked):
        names = dict.fromkeys([*vocabulary.domain(type_), *(c for db in databases for c in db.domain(type_))])
        vocabulary = vocabulary.with_domain(type_, NamedDomain(tuple(names)))
    return replace(mln, vocabulary=vocabulary).expand()


def add_constants(model: MLN, database: Database) -> Database:
    """Return the database with the constants that the model names and it lacks; nothing is true of them."""
    vocabulary = database.vocabulary
    for type_, domain in model.vocabulary.types.items():
        own = vocabulary.domain(type_)
        missing = [name for name in domain if name not in own]
        if missing:
            vocabulary = vocabulary.with_domain(type_, NamedDomain((*own, *missing)))
    return replace(database, vocabulary=vocabulary)


def grounded_weights(model: MLN, weight: float = 0.0) -> MLN:
    """Return the model with one weight everywhere, hard formulas left hard, so that it can be grounded."""
    return model.with_weights([None if isinstance(one.weight, Hard) else weight for one in model.formulas])
