"""Folds: which databases are learned from, which rates are chosen on, and which are tested on.

A database is a world of its own, so that whole databases are left out, never single facts (thesis, section
4.3.3: five-way for Cora, four-way for WebKB; one of the training sets is held out to tune learners).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mlnlab.errors import ArgumentError, count_of
from mlnlab.model.database.database import Database


@dataclass(frozen=True, slots=True)
class Fold:
    """One split, by the names of databases; ``validation`` is a part of ``train``."""

    name: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    validation: tuple[str, ...]

    @property
    def tuning(self) -> tuple[str, ...]:
        """The databases to learn from while rates are chosen: training without validation databases."""
        return tuple(name for name in self.train if name not in self.validation)


def folds(names: Sequence[str], number: int | None = None) -> tuple[Fold, ...]:
    """Return one fold for each database, or ``number`` folds that test on several each.

    The validation set of a fold is what the next one tests on, so that each is used once.

    >>> for fold in folds(["a", "b", "c"]):
    ...     print(fold.test, fold.tuning, fold.validation)
    ('a',) ('c',) ('b',)
    ('b',) ('a',) ('c',)
    ('c',) ('b',) ('a',)
    """
    names = list(names)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ArgumentError(f"Two databases are called {twice:.60}; each needs a name of its own.")
    many = len(names) if number is None else number
    if not isinstance(many, int):
        raise ArgumentError(f"number, the number of folds, must be a whole number, not {many!r:.60}.")
    if len(names) < 2 or not 2 <= many <= len(names):
        raise ArgumentError(
            f"Cross-validation needs at least two databases, and from 2 to as many folds as databases; "
            f"there {'is' if len(names) == 1 else 'are'} {count_of(len(names), 'database')}, and"
            f" {count_of(many, 'fold')} {'was' if many == 1 else 'were'} asked for."
        )
    groups = [tuple(names[place::many]) for place in range(many)]
    return tuple(_fold(names, groups, place) for place in range(many))


def _fold(names: Sequence[str], groups: Sequence[tuple[str, ...]], place: int) -> Fold:
    test = groups[place]
    train = tuple(name for name in names if name not in test)
    # With two folds the next one is all there is to learn from: then nothing is held out of it.
    validation = groups[(place + 1) % len(groups)]
    return Fold("+".join(test), train, test, validation if len(validation) < len(train) else ())


def name_databases(databases: object) -> dict[str, Database]:
    """Return databases by their names; those without one are numbered."""
    if isinstance(databases, Database):
        raise ArgumentError(
            "One database cannot be left out of itself; give several, ml.cross_validate(mln, [a, b])."
        )
    if isinstance(databases, Mapping):
        found = {str(name): db for name, db in databases.items()}
    elif isinstance(databases, str) or not isinstance(databases, Iterable):
        raise ArgumentError(
            f"Give several databases, or a mapping from names to them, not {databases!r:.60}."
        )
    else:
        listed = list(databases)
        own = [getattr(db, "name", "").removesuffix(".db") for db in listed]
        usable = all(own) and len(set(own)) == len(own) and "<text>" not in own
        found = dict(
            zip(own if usable else [f"database {n + 1}" for n in range(len(own))], listed, strict=True)
        )
    for name, db in found.items():
        if not isinstance(db, Database):
            raise ArgumentError(f"Cross-validation is over databases; {name:.60} is {db!r:.60}.")
    return found
