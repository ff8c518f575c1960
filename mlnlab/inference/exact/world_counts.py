"""How many worlds a question has at least, told before its atoms are listed; the refusal of too many."""

from __future__ import annotations

from collections import Counter
from math import inf, log2, prod
from typing import TYPE_CHECKING

from mlnlab.errors import TooLargeError
from mlnlab.logic.formulas.ground_atoms import GroundAtom

if TYPE_CHECKING:
    from mlnlab.grounding.question.question import Opening
    from mlnlab.logic.vocabulary import Predicate


def too_many_worlds(atoms: int, bits: float, limit: int) -> TooLargeError:
    """Return the refusal of a question with ``atoms`` open atoms and 2^``bits`` worlds."""
    return TooLargeError(
        f"{atoms:,} ground atoms are open, which makes about 2^{bits:.0f} worlds; "
        f"enumeration visits each of them, up to {limit:,}.",
        2.0**bits if bits < 1000 else inf,
        [
            "give more evidence, or ask about fewer predicates (others are closed)",
            "use fewer constants",
            "name predicates known to be false in closed=",
        ],
    )


def refuse_before_listing(asked: Opening, limit: int) -> None:
    """Refuse at once where more worlds are certain; listing a million atoms first would take seconds."""
    opened = [asked.mln.vocabulary[name] for name in asked.opened]
    bits = sum(least_bits(asked, predicate) for predicate in opened) + least_marked_bits(asked)
    if bits > log2(limit) + 1:
        atoms = sum(
            max(0, _groundings(asked, predicate) - _count_listed_atoms(asked, predicate))
            for predicate in opened
        )
        atoms += marked_atoms(asked).total()
        raise too_many_worlds(atoms, bits, limit)


def marked_atoms(asked: Opening) -> Counter[str]:
    """Return how many atoms facts mark as unknown or soft, of the predicates that are not open anyway."""
    found: Counter[str] = Counter()
    data = asked.data
    if data is None:
        return found
    soft = {atom for atom, _ in data.soft_evidence()}
    for name in set(data.vocabulary.predicates) - asked.opened:
        unknown = {GroundAtom(name, tuple(row)) for row in data.rows(name, "unknown")}
        found[name] = len(unknown | {atom for atom in soft if atom.predicate == name})
    return +found


def least_marked_bits(asked: Opening) -> float:
    """Return at least how many bits marked atoms take; those of blocks may take none."""
    vocabulary = asked.mln.vocabulary
    return sum(n for name, n in marked_atoms(asked).items() if not vocabulary[name].exclusive)


def least_bits(asked: Opening, predicate: Predicate) -> float:
    """Return a lower bound on the bits of an open predicate's atoms; exact where it has no blocks."""
    listed = _count_listed_atoms(asked, predicate)
    if not predicate.exclusive:
        return max(0, _groundings(asked, predicate) - listed)
    sizes = [len(asked.mln.vocabulary.domain(type_)) for type_ in predicate.types]
    blocks = prod(sizes[place] for place in predicate.block_keys)
    options = prod(sizes[place] for place in predicate.exclusive) + predicate.at_most_one
    # Each listed atom settles or narrows one block.
    return max(0, blocks - listed) * log2(options) if options else 0.0


def _groundings(asked: Opening, predicate: Predicate) -> int:
    return prod(len(asked.mln.vocabulary.domain(type_)) for type_ in predicate.types)


def _count_listed_atoms(asked: Opening, predicate: Predicate) -> int:
    """Return how many atoms the facts decide."""
    data = asked.data
    if data is None or predicate.name not in data.vocabulary.predicates:
        return 0
    relation = data.relation(predicate.name)
    return len(relation.true) + len(relation.false)
