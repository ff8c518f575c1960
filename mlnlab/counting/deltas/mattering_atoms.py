"""Which ground atoms matter most: those with the largest Δn, by name."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mlnlab.counting.deltas.delta_answers import Deltas
    from mlnlab.counting.deltas.deltas import AtomDeltas

MOST_LOOKED_AT = 1_000_000  # ground atoms of a predicate


@dataclass(frozen=True, slots=True)
class MatteringAtom:
    """A ground atom, whether it is true, and its Δn of each formula."""

    predicate: str
    arguments: tuple[str, ...]
    true: bool
    changes: tuple[int, ...]

    @property
    def size(self) -> int:
        """By how many groundings the atom changes all counts together."""
        return sum(map(abs, self.changes))


def mattering_atoms(deltas: Deltas, predicate: str, number: int = 5) -> tuple[MatteringAtom, ...]:
    r"""Return the atoms of a predicate whose Δn are largest in sum, among all of them.

    Where there are more than a million, among those that are true.

    >>> import mlnlab as ml
    >>> mln = ml.MLN.from_text("Smokes(person)\nFriends(person, person)\n1 Friends(x, y) ^ Smokes(y)")
    >>> db = ml.Database.from_text("Friends(Anna, Bob)\nFriends(Carl, Bob)\nSmokes(Anna)", mln)
    >>> [(atom.arguments, atom.changes) for atom in mattering_atoms(ml.deltas(mln, db), "Smokes", 1)]
    [(('Bob',), (2,))]
    """
    found = deltas[predicate]
    rows = _looked_at(found)
    values = found.at(rows)
    sizes = np.abs(values).sum(axis=1)
    chosen = np.argsort(-sizes, kind="stable")[:number]
    domains = [deltas.vocabulary.domain(type_) for type_ in found.predicate.types]
    truths = found.truths(rows[chosen])

    def name_row(row: list[int]) -> tuple[str, ...]:
        return tuple(domain[place] for domain, place in zip(domains, row, strict=True))

    return tuple(
        MatteringAtom(predicate, name_row(row), bool(true), tuple(changes))
        for row, true, changes in zip(rows[chosen].tolist(), truths, values[chosen].tolist(), strict=True)
        if any(changes)
    )


def all_are_looked_at(deltas: Deltas, predicate: str) -> bool:
    """Tell whether the largest are the largest of all atoms, not of true ones only."""
    return prod(deltas[predicate].sizes) <= MOST_LOOKED_AT


def _looked_at(found: AtomDeltas) -> NDArray[np.uint32]:
    if prod(found.sizes) > MOST_LOOKED_AT:
        return found.true[:MOST_LOOKED_AT]
    return np.indices(found.sizes, np.uint32).reshape(len(found.sizes), prod(found.sizes)).T
