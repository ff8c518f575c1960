"""Shares: how many of each predicate's ground atoms are true, as a card with bars (a skeleton to copy).

The type belongs to the engine, which knows nothing of pictures; the functions below it belong to a file in
``display/``. Both stand here together, so that there is one file to copy from.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, table_of
from mlnlab.display.card.markup import count_of, shorten_text
from mlnlab.display.chart.bars import Bar, bar_scene

if TYPE_CHECKING:
    from mlnlab.display.scene.items import Scene
    from mlnlab.model.database.database import Database

MOST_BARS = 30


# --- in the engine: a value -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shares:
    """The true and all ground atoms of each predicate, most true ones first."""

    rows: tuple[tuple[str, int, int], ...]

    @classmethod
    def of(cls, database: Database) -> Shares:
        """Count the atoms of a database."""
        predicates = database.vocabulary.predicates
        rows = [
            (name, len(relation.true), prod(len(database.domain(type_)) for type_ in predicates[name].types))
            for name, relation in database.relations.items()
        ]
        return cls(tuple(sorted(rows, key=lambda row: (-row[1], row[0]))))


# --- in display: pure functions from the value ----------------------------------------------------


def shares_scene(shares: Shares) -> Scene | None:
    """Return a bar for each predicate, of as many as can be told apart; nothing where there is none."""
    if not shares.rows:
        return None
    bars = [
        Bar(shorten_text(name), true / max(1, atoms), f"{true:,} of {atoms:,}")
        for name, true, atoms in shares.rows[:MOST_BARS]
    ]
    return bar_scene(bars, "True atoms", f"{count_of(len(bars), 'predicate')}.")


def shares_card(shares: Shares) -> Card:
    """Return the card: picture, the numbers as a table, and a remark on the predicates left out."""
    rows = ((shorten_text(name), f"{true:,}", f"{atoms:,}") for name, true, atoms in shares.rows)
    number = len(shares.rows)
    left = number - MOST_BARS
    return Card(
        "True atoms",
        count_of(number, "predicate"),
        picture=shares_scene(shares),
        undrawn="There are no predicates.",
        table=table_of(("predicate", "true", "ground atoms"), rows, number, "predicates", numbers=(1, 2)),
        remarks=(f"{count_of(left, 'predicate')} not drawn; the table has them.",) if left > 0 else (),
    )
