"""Databases that no weights make possible: they break a hard formula, or a block of exclusive atoms."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.counting.counts.counts import count
from mlnlab.counting.facts.renumbering import renumber_tables
from mlnlab.errors import UnsatisfiableError
from mlnlab.logic.formulas.ground_atoms import GroundAtom
from mlnlab.logic.formulas.weights import Hard, WeightedFormula
from mlnlab.model.mln.writing import statement_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from mlnlab.logic.vocabulary import Predicate, Vocabulary
    from mlnlab.model.database.database import Database
    from mlnlab.model.mln.mln import MLN

_UNNAMED = ("", "<text>")  # what databases are called that come from no file


def refuse_broken(model: MLN, database: Database, name: str) -> None:
    """Raise a sentence where a database breaks a hard formula or a block: it would be impossible."""
    broken = broken_text(model, database, name)
    if broken:
        raise UnsatisfiableError(broken)


def broken_text(model: MLN, database: Database, name: str) -> str:
    """Name the hard formula or block that a database breaks, and by which fact; empty if none.

    The model is over the constants of the database, and ``name`` what a sentence that begins calls that.
    """
    hard = [w for w in model.formulas if isinstance(w.weight, Hard)]
    if hard:
        found = count(replace(model, formulas=tuple(hard)), database)
        for weighted, broken in zip(hard, found.false, strict=True):
            if broken:
                return _broken_formula(model, database, name, weighted, int(broken))
    exclusive = [one for one in model.vocabulary.predicates.values() if one.exclusive]
    texts = (_broken_block(model.vocabulary, database, one, name) for one in exclusive)
    return next(filter(None, texts), "")


def name_database(databases: Sequence[Database], number: int) -> str:
    """Return a database's name, or how to refer to an unnamed one, for the beginning of a sentence."""
    names = [database.name for database in databases]
    if names[number] not in _UNNAMED and names.count(names[number]) == 1:
        return names[number]
    return f"Database {number + 1} of {len(names)}" if len(names) > 1 else "The database"


def _broken_formula(model: MLN, database: Database, name: str, weighted: WeightedFormula, broken: int) -> str:
    from mlnlab.counting.groundings.groundings_shown import groundings

    times = "a grounding" if broken == 1 else f"{broken:,} groundings"
    text = (
        f"{name} breaks the hard formula {statement_text(weighted)} in {times}, so no weights"
        " make it possible."
    )
    for found in groundings(model, database, weighted.formula).sample("violated", 1):
        text += f" {'It is' if broken == 1 else 'For instance'}: {found}."
    return text + " Correct the fact or the formula, or give the formula a weight."


def _broken_block(vocabulary: Vocabulary, database: Database, predicate: Predicate, name: str) -> str:
    """Say which block of exclusive atoms has several true atoms, or none where it must have one."""
    true = {predicate.name: database.relation(predicate.name).true}
    rows = renumber_tables(true, database.vocabulary, vocabulary)[predicate.name]
    # Only blocks with true atoms are looked at: there may be millions without.
    keys = np.column_stack([np.zeros(len(rows), np.uint32), *(rows[:, k] for k in predicate.block_keys)])
    present, places, sizes = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    if (sizes > 1).any():
        twice = rows[places.ravel() == int(np.argmax(sizes > 1))][:2]
        one, other = (_atom(vocabulary, predicate, row) for row in twice)
        return (
            f"{name} says {one} and {other}, which exclude each other by their declaration, {predicate}, so "
            "that no weights make it possible."
        )
    domains = [vocabulary.domain(predicate.types[k]) for k in predicate.block_keys]
    if predicate.at_most_one or len(present) == prod(map(len, domains)):
        return ""
    seen = set(map(tuple, present[:, 1:].tolist()))
    missed = next(key for key in product(*(range(len(domain)) for domain in domains)) if key not in seen)
    known = {
        k: tuple(domain)[place]
        for k, domain, place in zip(predicate.block_keys, domains, missed, strict=True)
    }
    shown = ", ".join(known.get(k, predicate.types[k]) for k in range(predicate.arity))
    missing = " and ".join(predicate.types[k] for k in predicate.exclusive)
    return (
        f"{name} says of no {missing} that {predicate.name}({shown}), but one must be, by the declaration "
        f"{predicate}, so that no weights make it possible. Declare it with ? if there may be none."
    )


def _atom(vocabulary: Vocabulary, predicate: Predicate, row: NDArray[np.uint32]) -> GroundAtom:
    domains = [tuple(vocabulary.domain(type_)) for type_ in predicate.types]
    return GroundAtom(
        predicate.name, tuple(domain[n] for domain, n in zip(domains, row.tolist(), strict=True))
    )
