"""Hide the atoms of some predicates of a database, to be predicted from the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from mlnlab.errors import ArgumentError
from mlnlab.logic.relations import Relation
from mlnlab.logic.vocabulary import FrozenMapping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.model.database.database import Database

# Whether atoms that a database lists as false, "!Same(A, B)", are data like those that it does not list, or
# known also when the others are to be predicted, such as pairs outside all canopies.
FalseFacts = Literal["data", "evidence"]


def hiding(database: Database, predicates: Sequence[str], false_facts: FalseFacts = "data") -> Database:
    """Return the database without the facts of some predicates, but for false facts as evidence."""
    hidden = database.without([name for name in predicates if name in database.vocabulary.predicates])
    if check_false_facts(false_facts) == "data":
        return hidden
    listed = {name: database.relations[name] for name in predicates if name in database.relations}
    known = {name: Relation(found.arity, None, found.false) for name, found in listed.items()}
    return replace(hidden, relations=FrozenMapping({**hidden.relations, **known}))


def check_false_facts(given: object) -> FalseFacts:
    """Return the treatment of false facts, or refuse an unknown one."""
    if given == "data":
        return "data"
    if given == "evidence":
        return "evidence"
    raise ArgumentError(
        'false_facts is "data" (atoms listed as false are predicted like all others) or "evidence" (they are '
        f"known beforehand), not {given!r:.40}."
    )
