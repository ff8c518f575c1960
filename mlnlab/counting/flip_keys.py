"""Ground atoms as the kernel that follows flips knows them: by chain, relation and key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from mlnlab.errors import ArgumentError
from mlnlab.logic.ground_atoms import GroundAtom
from mlnlab.model.world import check_ground_atom

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from mlnlab.counting.flip_programs import ChangingRelation
    from mlnlab.logic.vocabulary import Vocabulary

Flips = tuple["NDArray[np.int64]", "NDArray[np.int64]", "NDArray[np.int64]"]  # chains, relations, keys


class FlipKeys:
    """Finds the numbers of atoms, and says what is wrong with those that are none."""

    def __init__(
        self, relations: Mapping[object, ChangingRelation], vocabulary: Vocabulary, chains: int
    ) -> None:
        """Take the relations by name, and the number of chains."""
        self._relations, self._vocabulary, self._number_of_chains = relations, vocabulary, chains

    def of_atoms(self, atoms: object, chain: ArrayLike) -> Flips:
        """Return the numbers of ground atoms in one chain."""
        if not isinstance(atoms, Iterable):
            raise ArgumentError(f"A list of ground atoms is needed, not {atoms!r:.60}.")
        found = [self._number(atom) for atom in atoms]
        numbers = np.array(found, np.int64).reshape(len(found), 2)
        return self._chains(chain, len(found)), numbers[:, 0].copy(), numbers[:, 1].copy()

    def _number(self, atom: object) -> tuple[int, int]:
        if not isinstance(atom, GroundAtom):
            raise ArgumentError(f'A ground atom is needed, as GroundAtom("Smokes", ("Anna",)), not {atom!r}.')
        check_ground_atom(atom, self._vocabulary)
        relation = self._relations[atom.predicate]
        key = 0
        for type_, name in zip(self._vocabulary[atom.predicate].types, atom.arguments, strict=True):
            domain = self._vocabulary.domain(type_)
            key = key * len(domain) + domain.number(name)
        return relation.number, key

    def of_rows(self, predicate: object, rows: ArrayLike, chains: ArrayLike) -> Flips:
        """Return the numbers of atoms given by rows of constant numbers."""
        if not isinstance(predicate, str) or predicate not in self._vocabulary.predicates:
            raise ArgumentError(f"There is no predicate {predicate}.")
        relation = self._relations[predicate]
        numbers = _whole_numbers(rows)
        if numbers is not None and numbers.shape == (0,):
            numbers = numbers.reshape(0, len(relation.sizes))
        if numbers is None or numbers.ndim != 2 or numbers.shape[1] != len(relation.sizes):
            raise ArgumentError(
                f"Atoms of {self._vocabulary[predicate]} are rows of {len(relation.sizes)} constant numbers."
            )
        if ((numbers < 0) | (numbers >= np.array(relation.sizes, np.int64))).any():
            raise ArgumentError(f"A row has a number that is no constant of {self._vocabulary[predicate]}.")
        keys = keys_of(numbers.astype(np.int64), relation.sizes)
        return self._chains(chains, len(keys)), np.full(len(keys), relation.number, np.int64), keys

    def _chains(self, chains: ArrayLike, number: int) -> NDArray[np.int64]:
        found = _whole_numbers(chains)
        if found is None:
            raise ArgumentError(f"A chain is given by its number, from 0, not by {chains!r:.60}.")
        if ((found < 0) | (found >= self._number_of_chains)).any():
            several = f"are {self._number_of_chains} chains, numbered from 0"
            raise ArgumentError(f"There {'is one chain, 0' if self._number_of_chains == 1 else several}.")
        if found.shape not in {(), (number,)}:
            raise ArgumentError(f"One chain is needed for all {number} atoms, or one for each.")
        return np.broadcast_to(found.astype(np.int64), (number,)).copy()


def _whole_numbers(given: ArrayLike) -> NDArray[Any] | None:
    """Return an array of whole numbers; ``None`` for anything else, also for floats."""
    try:
        found = np.asarray(given)
    except (ValueError, TypeError, OverflowError):  # rows of different lengths, or what numpy has no word for
        return None
    if found.dtype.kind in "iu":
        return found
    return found.astype(np.int64) if not found.size and found.dtype.kind == "f" else None  # an empty list


def first_of(flips: Flips, number: int) -> Flips:
    """Return the first of some flips."""
    chains, relations, keys = flips
    return chains[:number], relations[:number], keys[:number]


def keys_of(rows: NDArray[Any], sizes: Sequence[int]) -> NDArray[np.int64]:
    """Return rows of constant numbers as one number each, ordered as the rows are."""
    keys = np.zeros(len(rows), np.int64)
    for column, size in enumerate(sizes):
        keys = keys * size + rows[:, column]
    return keys
