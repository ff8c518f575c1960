"""Show databases, by predicate with first facts and constants, and worlds, by their true atoms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING

from mlnlab.display.card.cards import Card, Table, table_of
from mlnlab.display.card.findings import found_while_reading
from mlnlab.display.card.markup import Element, count_of, element, shorten_text
from mlnlab.display.card.style import BREAKING
from mlnlab.display.model.models import types_table
from mlnlab.logic.formulas.ground_atoms import GroundAtom

if TYPE_CHECKING:
    from mlnlab.logic.vocabulary import Vocabulary
    from mlnlab.model.database.database import Database, Mark
    from mlnlab.model.database.world import World

_FIRST_FACTS = 3
_SAMPLES = 20  # facts of each mark that can be unfolded
_MARKS: tuple[tuple[Mark, str], ...] = (
    ("false", "listed as false"), ("unknown", "marked unknown"), ("soft", "with a probability"),
)  # fmt: skip
_MOST_ATOMS = 60  # of one predicate


def first_atoms(db: Database, predicate: str, mark: Mark = "true", most: int = _FIRST_FACTS) -> Iterator[str]:
    """Yield the first atoms of a predicate, without listing the others."""
    domains = [db.vocabulary.domain(type_) for type_ in db.vocabulary[predicate].types]
    relation = db.relation(predicate)
    for position, row in enumerate(getattr(relation, mark)[:most].tolist()):
        names = tuple(shorten_text(domain[n], 40) for domain, n in zip(domains, row, strict=True))
        probability = f"{relation.probabilities[position]:.4g} " if mark == "soft" else ""
        yield f"{probability}{GroundAtom(shorten_text(predicate), names)}"


def share(part: float, whole: int) -> str:
    """Return a part of a whole in per cent, never rounded to none or all of it."""
    if not whole:
        return "–"
    percent = 100 * part / whole
    if 0 < percent < 0.01:
        return "< 0.01 %"
    return f"{min(percent, 99.99) if part < whole else percent:.4g} %"


def _predicates_table(db: Database) -> Table:
    names = list(db.vocabulary.predicates)
    relations = [db.relation(name) for name in names]
    used = [(mark, words) for mark, words in _MARKS if any(len(getattr(r, mark)) for r in relations)]
    headings = ("predicate", "true", "possible", "density", *(words for _, words in used), "first facts")
    rows = (_predicate_row(db, name, [mark for mark, _ in used]) for name in names)
    return table_of(headings, rows, len(names), "predicates", numbers=range(1, 4 + len(used)))


def _predicate_row(db: Database, name: str, marks: Sequence[Mark]) -> tuple[str, ...]:
    relation = db.relation(name)
    true, possible = len(relation.true), db.number_of_atoms(name)
    examples = ", ".join(first_atoms(db, name)) + (", …" if true > _FIRST_FACTS else "")
    numbers = [f"{len(getattr(relation, mark)):,}" for mark in marks]
    return shorten_text(name), f"{true:,}", f"{possible:,}", share(true, possible), *numbers, examples


def _marked_atoms(db: Database) -> Iterator[tuple[str, Element]]:
    """Yield a folded list for each mark that is not simply true."""
    for mark, words in _MARKS:
        names = [name for name in db.relations if len(getattr(db.relation(name), mark))]
        total = sum(len(getattr(db.relation(name), mark)) for name in names)
        atoms = [atom for name in names for atom in first_atoms(db, name, mark, _SAMPLES)][:_SAMPLES]
        if atoms:
            listing = element("p", ", ".join(atoms) + (", …" if total > len(atoms) else ""), style=BREAKING)
            yield f"{count_of(total, 'atom')} {words}", listing


def database_card(db: Database) -> Card:
    """Return the card of a database."""
    constants = sum(len(domain) for domain in db.vocabulary.types.values())
    return Card(
        f"Database {'' if db.name.startswith('<') else shorten_text(db.name)}".rstrip(),
        f"{count_of(db.number_of_facts(), 'true atom')}, {count_of(constants, 'constant')}",
        lead=("Atoms that are not listed are false, unless a question asks for them.",),
        table=_predicates_table(db),
        remarks=found_while_reading(db.diagnostics),
        folds=(*_marked_atoms(db), ("constants by type", types_table(db.vocabulary))),
    )


# --- worlds ---------------------------------------------------------------------------------------


def _possible(vocabulary: Vocabulary, predicate: str) -> int:
    return prod(len(vocabulary.domain(type_)) for type_ in vocabulary[predicate].types)


def true_atoms_table(world: World) -> Table:
    """Return the table of the true atoms, a row for each predicate."""
    atoms: dict[str, list[str]] = {name: [] for name in world.vocabulary.predicates}
    for atom in sorted(world.true_atoms):
        atoms.setdefault(atom.predicate, []).append(str(atom))
    headings = ("predicate", "true", "possible", "true atoms")
    rows = (
        (shorten_text(name), f"{len(found):,}", f"{_possible(world.vocabulary, name):,}", list_atoms(found))
        for name, found in atoms.items()
    )
    return table_of(headings, rows, len(atoms), "predicates", numbers=(1, 2))


def list_atoms(atoms: Sequence[str], most: int = _MOST_ATOMS) -> str:
    """Return the first atoms in a line, and how many more there are."""
    shown = ", ".join(shorten_text(atom, 120) for atom in atoms[:most])
    rest = len(atoms) - most
    return (f"{shown}, … and {rest:,} more" if rest > 0 else shown) or "none"


def world_card(world: World) -> Card:
    """Return the card of a world."""
    number = count_of(len(world.true_atoms), "true atom")
    return Card("World", number, lead=("All other atoms are false.",), table=true_atoms_table(world))
