"""Worlds: which atoms are true, by predicate."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from mlnlab.display.markup import Element, count_of, shortened
from mlnlab.display.style import card, quiet, title
from mlnlab.display.tables import MOST_ROWS, bounded_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.world import World

_MOST_ATOMS = 60  # of one predicate


def _possible(vocabulary: Vocabulary, predicate: str) -> int:
    return prod(len(vocabulary.domain(type_)) for type_ in vocabulary[predicate].types)


def true_atoms_table(world: World) -> Element:
    """Return the table of the true atoms, a row for each predicate."""
    atoms: dict[str, list[str]] = {name: [] for name in world.vocabulary.predicates}
    for atom in sorted(world.true_atoms):
        atoms.setdefault(atom.predicate, []).append(str(atom))
    headings = ("predicate", "true", "possible", "true atoms")
    rows = (
        (shortened(name), f"{len(found):,}", f"{_possible(world.vocabulary, name):,}", _listing(found))
        for name, found in atoms.items()
    )
    return bounded_table(headings, rows, len(atoms), "predicates", numbers=(1, 2))


def _listing(atoms: Sequence[str]) -> str:
    shown = ", ".join(shortened(atom, 120) for atom in atoms[:_MOST_ATOMS])
    rest = len(atoms) - _MOST_ATOMS
    return (f"{shown}, … and {rest:,} more" if rest > 0 else shown) or "none"


def world_display(world: World) -> Element:
    """Return the display of a world."""
    number = count_of(len(world.true_atoms), "true atom")
    return card(title("World", number), quiet("All other atoms are false."), true_atoms_table(world))


def world_text(world: World) -> str:
    """Return a world as text."""
    atoms = [f"  {shortened(str(atom), 120)}" for atom in sorted(world.true_atoms)[:MOST_ROWS]]
    rest = len(world.true_atoms) - MOST_ROWS
    more = [f"  ... and {rest:,} more"] if rest > 0 else []
    return "\n".join([f"<World: {count_of(len(world.true_atoms), 'true atom')}>", *atoms, *more])
