"""Worlds: which atoms are true, by predicate."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.markup import count_of, shorten_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.database.world import World

_MOST_ATOMS = 60  # of one predicate


def _possible(vocabulary: Vocabulary, predicate: str) -> int:
    return prod(len(vocabulary.domain(type_)) for type_ in vocabulary[predicate].types)


def true_atoms_table(world: World) -> Table:
    """Return the table of the true atoms, a row for each predicate."""
    atoms: dict[str, list[str]] = {name: [] for name in world.vocabulary.predicates}
    for atom in sorted(world.true_atoms):
        atoms.setdefault(atom.predicate, []).append(str(atom))
    headings = ("predicate", "true", "possible", "true atoms")
    rows = (
        (shorten_text(name), f"{len(found):,}", f"{_possible(world.vocabulary, name):,}", _listing(found))
        for name, found in atoms.items()
    )
    return table_of(headings, rows, len(atoms), "predicates", numbers=(1, 2))


def _listing(atoms: Sequence[str]) -> str:
    shown = ", ".join(shorten_text(atom, 120) for atom in atoms[:_MOST_ATOMS])
    rest = len(atoms) - _MOST_ATOMS
    return (f"{shown}, … and {rest:,} more" if rest > 0 else shown) or "none"


def world_card(world: World) -> Card:
    """Return the card of a world."""
    number = count_of(len(world.true_atoms), "true atom")
    return Card("World", number, lead=("All other atoms are false.",), table=true_atoms_table(world))
