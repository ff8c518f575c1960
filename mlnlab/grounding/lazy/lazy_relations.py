"""Relations of which most open atoms are never listed: unless they are active, they are taken to be false.

An atom gets a number when it is met in a positive literal. Joins go over the true and the active atoms only,
so a predicate may have any number of open ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mlnlab.grounding.question.evidence_relations import FALSE, EvidenceRelations, Listing, Reading, pack_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from mlnlab.grounding.question.evidence_relations import Numbers
    from mlnlab.grounding.question.question import Question
    from mlnlab.logic.formulas.ground_atoms import GroundAtom


@dataclass(frozen=True, slots=True, eq=False)
class Register:
    """Atoms of a predicate by their packed numbers, sorted, with their codes."""

    keys: Numbers
    codes: Numbers

    def find_codes(self, keys: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
        """Return the codes of the atoms that are here, and which are."""
        if not len(self.keys):
            return np.full(len(keys), FALSE), np.zeros(len(keys), np.bool_)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return self.codes[places], np.asarray(self.keys[places] == keys)

    def with_atoms(self, keys: Numbers, codes: Numbers) -> Register:
        """Return the register with more atoms."""
        all_keys, all_codes = np.concatenate([self.keys, keys]), np.concatenate([self.codes, codes])
        order = np.argsort(all_keys, kind="stable")
        return Register(all_keys[order], all_codes[order])


EMPTY = Register(np.zeros(0, np.int64), np.zeros(0, np.int64))


class LazyRelations(EvidenceRelations):
    """Relations with lazy predicates; ``numbers`` holds the active atoms and those of eager predicates."""

    def __init__(
        self,
        question: Question,
        numbers: Mapping[GroundAtom, int],
        false: Mapping[str, NDArray[np.uint32]],
        known: Mapping[str, Register],
        next_number: int,
    ) -> None:
        super().__init__(question, dict(numbers))
        self.next_number = next_number
        self.known = dict(known)  # the open atoms that have a number
        self._false = {name: _false_atoms(rows) for name, rows in false.items()}
        self._decided = {name: self._register(name) for name in self._false}
        active = [listing.codes for listing in self.open.values()]
        self._active = np.sort(np.concatenate([np.zeros(0, np.int64), *active]))

    def _register(self, predicate: str) -> Register:
        found = EMPTY
        for listing in (self._listing(self.true, predicate), self._false[predicate]):
            keys = pack_rows(tuple(listing.rows.T), self.sizes(predicate), len(listing.rows))
            found = found.with_atoms(keys, listing.codes)
        return found

    def is_lazy(self, predicate: str) -> bool:
        """Return whether unlisted atoms of a predicate are open, and false unless they are active."""
        return predicate in self._false

    def has_open(self, predicate: str) -> bool:
        """Return whether an atom may be open."""
        return self.is_lazy(predicate) or super().has_open(predicate)

    def is_active(self, codes: Numbers) -> NDArray[np.bool_]:
        """Return which of the codes are those of active atoms."""
        return np.isin(codes, self._active)

    def listing(self, predicate: str, reading: Reading, positive: bool) -> Listing | None:
        """Return the atoms for which a literal is read so; ``None`` where these are not listed."""
        if not self.is_lazy(predicate) or not positive or reading is Reading.ACTIVE:
            return super().listing(predicate, reading, positive)
        return self._false[predicate] if reading is Reading.KNOWN else None

    def codes(self, predicate: str, columns: Sequence[Numbers], number: int) -> Numbers:
        """Return the codes of ``number`` ground atoms; open ones that are met first get their numbers."""
        if not self.is_lazy(predicate):
            return super().codes(predicate, columns, number)
        keys = pack_rows(columns, self.sizes(predicate), number)
        codes, decided = self._decided[predicate].find_codes(keys)
        numbers, met = self.known.get(predicate, EMPTY).find_codes(keys)
        new = np.unique(keys[~decided & ~met])
        if len(new):
            fresh = np.arange(self.next_number, self.next_number + len(new))
            self.known[predicate] = self.known.get(predicate, EMPTY).with_atoms(new, fresh)
            self.next_number += len(new)
            numbers, _ = self.known[predicate].find_codes(keys)
        return np.where(decided, codes, numbers)


def _false_atoms(rows: NDArray[np.uint32]) -> Listing:
    return Listing(rows.astype(np.int64), np.full(len(rows), FALSE))
